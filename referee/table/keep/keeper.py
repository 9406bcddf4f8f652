"""The keeper: a small process that starts the bots for the referee and makes sure that none survives.

It needs nothing but the standard library, and little of that.  What a bot's process does before it is the bot
stands in `child.py`, how strays are found in `orphans.py`, the referee's side in `launch.py`.

Both ways one JSON object per line.  Commands: `spawn` (with the bot's stdin, stdout and stderr by
SCM_RIGHTS), `kill`, `freeze` and `thaw`, each with the `key` that the referee chose at `spawn`.  Events:
`started`, `failed`, `exited`, `thawed`.  When the channel ends, for whatever reason, every bot and all that
it started is killed, their scratch directories are removed, and the keeper ends.
"""

from __future__ import annotations

import array
import contextlib
import errno
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from collections import deque

from referee.table.keep import TAMPERED, child, scratch, usage
from referee.table.keep.bot import Bot
from referee.table.keep.orphans import Orphanage, children

TYPE_CHECKING = False  # as `typing` has it, which would take longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Iterable
    from resource import struct_rusage
    from typing import Any

_LOOK_S = 0.25  # how often orphans of living bots are looked for, and what the bots use
_LOOKS_PER_MEASURE = 4  # looking through a scratch directory takes longer
_LAST_S = 0.08  # how long the end of a bot is held back for the sake of what its orphans have used
_RETRY_MS = 50  # how soon a sweep is repeated if no SIGCHLD comes first
_REAPED_PER_TURN = 1000
_CHANNEL = 0
_PIPES = 3
_CLOEXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


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
        self._looks = 0
        self._kin: dict[int, Bot] = {}
        self._ending: list[Bot] = []
        self._scratches = scratch.Scratches()
        self._poll = select.poll()
        self._poll.register(channel, select.POLLIN)
        self._poll.register(wakeup, select.POLLIN)

    def run(self) -> None:
        """Serve until the channel ends and nothing that was started is left."""
        while self._open or self._bots or self._sweeping or self._ending or self._scratches.rubbish:
            self._turn()
        self._scratches.close()

    def abandon(self) -> None:
        """Take no more commands, and let nothing live."""
        if self._open:
            self._open = False
            self._poll.unregister(self._channel)
            self._channel.close()
        for bot in self._bots.values():
            bot.end()
        self._sweeping = True

    def _turn(self) -> None:
        patience = (
            _RETRY_MS if self._sweeping or self._ending else int(_LOOK_S * 1000) if self._bots else None
        )
        if self._scratches.rubbish and not self._sweeping:
            patience = 0
        ready = {number for number, _ in self._poll.poll(patience)}
        if self._wakeup in ready:
            os.read(self._wakeup, 4096)
        if self._open and self._channel.fileno() in ready:
            self._read()
        for bot in [bot for bot in self._bots.values() if bot.report in ready]:
            self._settle(bot)
        self._reap()
        due = bool(self._bots) and time.monotonic() >= self._next_look
        if due:
            began = time.monotonic()
            self._look()
            took = time.monotonic() - began
            self._next_look = began + max(_LOOK_S, 4 * took)  # processes and descriptors can be very many
        if self._sweeping or due:
            spared = {pid for pid, bot in self._bots.items() if not bot.doomed}
            self._sweeping = self._orphans.sweep(spared)
        self._take_leave()
        self._write()  # before a full scratch is cleared away, which takes longer than the referee waits
        if not self._sweeping:  # what still lives could fill them again
            self._scratches.clear_away()

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
                for bot in self._named(command["key"]):
                    bot.end()
                self._sweeping = True
            case "freeze":
                for bot in self._named(command["key"]):
                    usage.stop(bot.pid)
            case "thaw":
                for bot in self._named(command["key"]):
                    usage.go_on(bot.pid)
                self._tell(event="thawed", key=command["key"])
            case other:
                raise ValueError(f"unknown command {other!r}")

    def _spawn(self, order: dict[str, Any]) -> None:
        pipes = self._descriptors.popleft()
        why = "it can have no scratch directory"
        try:
            self._scratches.bases.add(order["cage"]["base"])
            if path := order["cage"]["scratch"]:
                self._scratches.prepare(path, order["cage"]["user"], order["key"])
            child.get_ready(order["cage"])
            why = "the system lets no more processes start"
            bot = self._fork(order, pipes)
        except OSError as error:
            why = f"{why}: {error.strerror}"
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
        return Bot(order["key"], pid, report, order["cage"])

    def _named(self, key: int) -> list[Bot]:
        return [bot for bot in self._bots.values() if bot.key == key]

    # The bots.

    def _settle(self, bot: Bot) -> None:
        """Learn whether a bot has started: its report closes at exec, or says why there was none."""
        report = os.read(bot.report, child.REPORT_BYTES)
        self._poll.unregister(bot.report)
        os.close(bot.report)
        bot.report = -1
        if report:
            bot.told = True
            number, why = json.loads(report)
            self._tell(event="failed", key=bot.key, errno=number, why=why)
        else:
            self._tell(event="started", key=bot.key, pid=bot.pid)

    def _reap(self) -> None:
        """Take leave of the dead, each bot's group being killed while its number is still its own."""
        if sys.platform != "linux":  # macOS has no waitid: the group is killed a moment too late
            for bot in list(self._bots.values()):
                pid, status, spent = os.wait4(bot.pid, os.WNOHANG)
                if pid:
                    bot.signal(signal.SIGKILL)
                    self._bury(pid, status, spent)
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

    def _bury(self, pid: int, status: int, spent: struct_rusage) -> None:
        self._orphans.reaped(pid)
        if owner := self._kin.pop(pid, None):
            owner.kin.discard(pid)
            owner.add(spent)
        bot = self._bots.pop(pid, None)
        if bot is None:
            return
        self._sweeping = True
        if bot.report >= 0:
            self._settle(bot)
        bot.add(spent)
        bot.status = os.waitstatus_to_exitcode(status)
        if bot.inside and 128 < bot.status <= 128 + signal.NSIG:  # a sandbox says so of the bot in it
            bot.status = 128 - bot.status
        bot.tell_at = time.monotonic() + _LAST_S
        # A sandbox is an orphan now, and knows what the bot in it has used.
        orphans = [each for each in children(os.getpid()) if each not in self._bots]
        for gone in bot.kin.difference(orphans):
            self._kin.pop(gone, None)
        bot.kin.intersection_update(orphans)
        for orphan in orphans:
            self._adopt(orphan, bot)
        self._ending.append(bot)

    def _adopt(self, pid: int, bot: Bot) -> None:
        if self._kin.setdefault(pid, bot) is bot:
            bot.kin.add(pid)

    def _take_leave(self) -> None:
        """Tell of the bots that have ended, once all that they have started has too."""
        now = time.monotonic()
        for bot in [bot for bot in self._ending if not bot.kin or now >= bot.tell_at]:
            self._ending.remove(bot)
            for pid in bot.kin:
                self._kin.pop(pid, None)
            self._scratches.release(bot.scratch, bot.key)
            self._tell_end(bot)
        for bot in self._bots.values():
            if bot.doomed and now >= bot.give_up_at:
                bot.status = -signal.SIGKILL
                self._tell_end(bot)

    def _tell_end(self, bot: Bot) -> None:
        if not bot.told:
            bot.told = True
            cpu_ms = round(max(bot.cpu_s, bot.seen_cpu_s) * 1000)
            self._tell(
                event="exited",
                key=bot.key,
                status=bot.status,
                cpu_ms=cpu_ms,
                peak_kb=bot.peak_kb,
                why=bot.why,
            )

    # What they use.

    def _look(self) -> None:
        """See what each bot holds, and end those that hold too much."""
        self._looks += 1
        for bot in list(self._bots.values()):
            pids = usage.tree(bot.pid)
            for pid in pids[1:]:
                self._adopt(pid, bot)
            statuses = usage.statuses(pids)
            held_kb = usage.memory_kb(statuses, bot.memory_mb * 1024)
            bot.peak_kb = max(bot.peak_kb, held_kb)
            bot.seen_cpu_s = max(bot.seen_cpu_s, usage.cpu_s(pids))
            if bot.memory_mb and held_kb > bot.memory_mb * 1024:
                self._stop_excess(bot, f"it used more than {bot.memory_mb} MB of memory")
            elif bot.scratch_mb and bot.inside:
                roots = [f"{place}/root" for place in reversed(statuses)]
                self._limit_files(bot, scratch.entries_inside(roots, bot.inside_scratches))
            elif bot.scratch_mb and bot.scratch and self._looks % _LOOKS_PER_MEASURE == 0:
                self._measure(bot, statuses)

    def _measure(self, bot: Bot, statuses: Iterable[str]) -> None:
        most = bot.scratch_mb << 20
        used, entries = scratch.measure(bot.scratch, most)
        with contextlib.suppress(OSError):
            used += usage.nameless_bytes(statuses, os.stat(bot.scratch).st_dev)  # noqa: PTH116
        if used > most:
            self._stop_excess(bot, f"it put more than {bot.scratch_mb} MB into its scratch directory")
        else:
            self._limit_files(bot, entries)

    def _limit_files(self, bot: Bot, entries: int) -> None:
        if entries > scratch.MOST_ENTRIES:
            self._stop_excess(bot, f"it made more than {scratch.MOST_ENTRIES} files in its scratch directory")

    def _stop_excess(self, bot: Bot, why: str) -> None:
        bot.why = bot.why or why
        bot.end()
        self._sweeping = True


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
        from referee.table.keep.syscalls import PR_SET_CHILD_SUBREAPER, PR_SET_DUMPABLE, prctl

        prctl(PR_SET_CHILD_SUBREAPER, 1)
        prctl(PR_SET_DUMPABLE, 0)  # or a bot of the same user could attach to it with ptrace
    wakeup, write_end = os.pipe()
    for end in (wakeup, write_end):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    _disregard_signals()

    channel = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=_CHANNEL)
    channel.setblocking(False)
    limits = _own_limits()
    keeper = Keeper(channel, wakeup)
    try:
        keeper.run()
    except BaseException:  # a mistake of ours must not cost more than this process
        tampered = _own_limits() != limits
        keeper.abandon()
        with contextlib.suppress(Exception):  # if it goes wrong once more, the first time tells why
            keeper.run()
        if tampered:
            sys.exit(TAMPERED)
        raise


def _own_limits() -> list[tuple[int, int]]:
    """What this process may use: at sandbox `none` a bot can lower it."""
    return [
        resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")
    ]
