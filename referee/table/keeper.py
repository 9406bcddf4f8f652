"""The keeper: a small process that starts the bots for the referee and makes sure that none survives.

It needs nothing but the standard library, and little of that.  What a bot's process does before it is the bot
stands in `child.py`, how strays are found in `orphans.py`, the referee's side in `launch.py`.

Both ways one JSON object per line.  Commands: `spawn` (with the bot's stdin, stdout and stderr by
SCM_RIGHTS), `kill`, `freeze` and `thaw`, each with the `key` that the referee chose at `spawn`.  Events:
`started`, `failed`, `exited`.  When the channel ends, for whatever reason, every bot and all that it started
is killed, and the keeper ends.
"""

from __future__ import annotations

import array
import contextlib
import errno
import json
import os
import select
import signal
import socket
import sys
import time
from collections import deque

from referee.table import child
from referee.table.orphans import Orphanage

TYPE_CHECKING = False  # as `typing` has it, which would take longer to import than all of this
if TYPE_CHECKING:
    from resource import struct_rusage
    from typing import Any

_LOOK_S = 1.0  # how often orphans of living bots are looked for
_RETRY_MS = 50  # how soon a sweep is repeated if no SIGCHLD comes first
_REAPED_PER_TURN = 1000
_CHANNEL = 0
_PIPES = 3
_CLOEXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


class Bot:
    """A child of ours, from its fork until it is reaped."""

    def __init__(self, key: int, pid: int, report: int) -> None:
        self.key = key
        self.pid = pid
        self.report = report  # readable once its fate is known: see child.become; -1 after that
        self.failed = False

    def signal(self, number: int) -> None:
        """Signal its whole process group: safe until it is reaped, its number is not given away before."""
        for send in (os.killpg, os.kill):  # just forked, it has no group of its own yet
            with contextlib.suppress(ProcessLookupError, PermissionError):
                send(self.pid, number)


class Keeper:
    """The loop and what it knows."""

    def __init__(self, channel: socket.socket, wakeup: int) -> None:
        self._channel = channel
        self._wakeup = wakeup
        self._bots: dict[int, Bot] = {}  # by process id
        self._orphans = Orphanage()
        self._descriptors: deque[list[int]] = deque()  # those received, of spawns not yet read
        self._received = bytearray()
        self._to_send = bytearray()
        self._open = True
        self._sweeping = False
        self._next_look = 0.0
        self._poll = select.poll()
        self._poll.register(channel, select.POLLIN)
        self._poll.register(wakeup, select.POLLIN)

    def run(self) -> None:
        """Serve until the channel ends and nothing that was started is left."""
        while self._open or self._bots or self._sweeping:
            self._turn()

    def abandon(self) -> None:
        """Take no more commands, and let nothing live."""
        if self._open:
            self._open = False
            self._poll.unregister(self._channel)
            self._channel.close()
        for bot in self._bots.values():
            bot.signal(signal.SIGKILL)
        self._sweeping = True

    def _turn(self) -> None:
        patience = _RETRY_MS if self._sweeping else int(_LOOK_S * 1000) if self._bots else None
        ready = {number for number, _ in self._poll.poll(patience)}
        if self._wakeup in ready:
            os.read(self._wakeup, 4096)
        if self._open and self._channel.fileno() in ready:
            self._read()
        for bot in [bot for bot in self._bots.values() if bot.report in ready]:
            self._settle(bot)
        self._reap()
        if self._sweeping or (self._bots and time.monotonic() >= self._next_look):
            self._sweeping = self._orphans.sweep(self._bots)
            self._next_look = time.monotonic() + _LOOK_S
        self._write()

    # The channel.

    def _read(self) -> None:
        """Take in what has come and carry out the commands that are complete."""
        try:
            chunk, ancillary, flags, _ = self._channel.recvmsg(
                65_536, socket.CMSG_SPACE(_PIPES * array.array("i").itemsize), _CLOEXEC
            )
        except BlockingIOError:
            return
        except OSError:
            chunk, ancillary, flags = b"", [], 0
        # A read ends with the first descriptors it meets: one set at a time, in the order of the spawns.
        for _level, _kind, block in ancillary:
            received = array.array("i", block[: len(block) // 4 * 4])
            for descriptor in received:
                os.set_inheritable(descriptor, False)
            self._descriptors.append(list(received))
        if flags & socket.MSG_CTRUNC and not ancillary:  # no room in our table of descriptors
            self._descriptors.append([])
        if not chunk:
            self.abandon()
            return
        self._received += chunk
        *lines, rest = self._received.split(b"\n")
        self._received = bytearray(rest)
        for line in lines:
            self._obey(json.loads(line))

    def _tell(self, **event: object) -> None:
        self._to_send += json.dumps(event).encode() + b"\n"

    def _write(self) -> None:
        """Send what the channel takes.  It never blocks, however long the referee does not read."""
        while self._open and self._to_send:
            try:
                del self._to_send[: self._channel.send(self._to_send)]
            except BlockingIOError:
                break
            except OSError:
                self.abandon()
        if self._open:
            self._poll.modify(self._channel, select.POLLIN | (select.POLLOUT if self._to_send else 0))

    # The commands.

    def _obey(self, command: dict[str, Any]) -> None:
        match command["do"]:
            case "spawn":
                self._spawn(command)
            case "kill":
                self._signal(command["key"], signal.SIGKILL)
                self._sweeping = True
            case "freeze":
                self._signal(command["key"], signal.SIGSTOP)
            case "thaw":
                self._signal(command["key"], signal.SIGCONT)
            case other:
                raise ValueError(f"unknown command {other!r}")

    def _spawn(self, order: dict[str, Any]) -> None:
        pipes = self._descriptors.popleft()
        try:
            bot = self._fork(order, pipes)
        except OSError as error:
            why = f"the system lets no more processes start: {error.strerror}"
            self._tell(event="failed", key=order["key"], errno=error.errno, why=why)
        else:
            self._bots[bot.pid] = bot
            self._poll.register(bot.report, select.POLLIN)
        finally:
            for pipe in pipes:
                os.close(pipe)

    def _fork(self, order: dict[str, Any], pipes: list[int]) -> Bot:
        if len(pipes) != _PIPES:
            raise OSError(errno.EMFILE, "the keeper has no descriptors left")
        keeper = os.getpid()
        report, childs_end = os.pipe()
        try:
            pid = os.fork()
            if not pid:
                child.become(order, pipes, childs_end, keeper)
        except OSError:
            os.close(report)
            raise
        finally:
            os.close(childs_end)
        return Bot(order["key"], pid, report)

    def _signal(self, key: int, number: int) -> None:
        for bot in self._bots.values():
            if bot.key == key:
                bot.signal(number)

    # The bots.

    def _settle(self, bot: Bot) -> None:
        """Learn whether a bot has started: its report closes at exec, or says why there was none."""
        report = os.read(bot.report, child.REPORT_BYTES)
        self._poll.unregister(bot.report)
        os.close(bot.report)
        bot.report = -1
        if report:
            bot.failed = True
            number, why = json.loads(report)
            self._tell(event="failed", key=bot.key, errno=number, why=why)
        else:
            self._tell(event="started", key=bot.key, pid=bot.pid)

    def _reap(self) -> None:
        """Take leave of the dead, each bot's group being killed while its number is still its own."""
        if sys.platform != "linux":  # macOS has no waitid: the group is killed a moment too late
            for bot in list(self._bots.values()):
                pid, status, usage = os.wait4(bot.pid, os.WNOHANG)
                if pid:
                    bot.signal(signal.SIGKILL)
                    self._bury(pid, status, usage)
            return
        for _ in range(_REAPED_PER_TURN):
            try:
                dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if dead is None:
                return
            if bot := self._bots.get(dead.si_pid):
                bot.signal(signal.SIGKILL)
            self._bury(*os.wait4(dead.si_pid, 0))
        self._sweeping = True  # there are more

    def _bury(self, pid: int, status: int, usage: struct_rusage) -> None:
        self._orphans.reaped(pid)
        bot = self._bots.pop(pid, None)
        if bot is None:
            return
        self._sweeping = True
        if bot.report >= 0:
            self._settle(bot)
        if not bot.failed:
            self._tell(
                event="exited",
                key=bot.key,
                status=os.waitstatus_to_exitcode(status),
                cpu_ms=round((usage.ru_utime + usage.ru_stime) * 1000),
                peak_kb=usage.ru_maxrss // (1024 if sys.platform == "darwin" else 1),
            )


def _disregard_signals() -> None:
    """Let no signal end this process (the end of the channel does) nor be ignored by the bots.

    What has a handler, exec sets back to the default; what is ignored (by Python, or before by a `nohup`)
    would stay ignored.  So a handler that does nothing serves both.
    """
    asked_to_leave = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD}
    for number in signal.valid_signals():
        if number in asked_to_leave or signal.getsignal(number) != signal.SIG_DFL:
            signal.signal(number, lambda _number, _frame: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def main() -> None:
    """Be the keeper of whoever holds the other end of stdin."""
    while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:  # a bot's pipes must not come to lie there
        pass
    os.close(spare)
    if sys.platform == "linux":
        from referee.table.syscalls import PR_SET_CHILD_SUBREAPER, PR_SET_DUMPABLE, prctl

        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_DUMPABLE, 0)  # or a bot of the same user could attach to it with ptrace
    wakeup, write_end = os.pipe()
    for end in (wakeup, write_end):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    _disregard_signals()

    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=_CHANNEL)
    channel.setblocking(False)
    keeper = Keeper(channel, wakeup)
    try:
        keeper.run()
    except BaseException:  # a mistake of ours must not cost more than this process
        keeper.abandon()
        keeper.run()
        raise
