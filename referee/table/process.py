"""One bot process: three pipes around a `Conversation`.  It moves bytes when it is told that it can, and
never waits.
"""

import fcntl
import math
import os
import select
import struct
import termios
from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from protocol.rules import Clock
from referee.table.conversation import Chair, Conversation, Verdicts
from referee.table.keep.launch import Exited, Keeper, Launch
from referee.table.poller import READ, WRITE, Poller

_CHUNK: Final = 65_536
_KEEP: Final = 65_536
_LAST_WORDS: Final = 16
"""How many chunks are read of a process that has exited: its pipe holds one; a child it left may go on
writing.
"""
_STDERR_REST_S: Final = 0.01
"""The pause after a full chunk of stderr, so that a flood costs little: 6.5 MB a second at most."""
LEAVE_GRACE_S: Final = 1.0
"""How long a process may take to leave after its stdin is closed.  [protocol 2.4]"""

Tap: TypeAlias = Callable[[Literal["<", ">"], bytes], None]
"""Is shown all bytes: `<` before what the bot is to read, `>` before what it wrote.  [protocol 7]"""


class Tail:
    """The first and the last 64 KiB of a stream."""

    def __init__(self) -> None:
        self.total = 0
        self._first = bytearray()
        self._last = bytearray()

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = _KEEP - len(self._first)
        if room > 0:
            self._first += data[:room]
            data = data[room:]
        self._last += data
        if len(self._last) > 2 * _KEEP:
            del self._last[:-_KEEP]

    def __bytes__(self) -> bytes:
        last = bytes(self._last[-_KEEP:])
        left_out = self.total - len(self._first) - len(last)
        gap = f"\n[... {left_out} bytes left out ...]\n".encode() if left_out else b""
        return bytes(self._first) + gap + last


class Process:
    """A bot's process in the hands of the loop that polls for it.

    Its pipes are watched by the loop's poller, which calls `on_output`, `on_errors` and `on_room`; the loop
    itself calls `flush` when the conversation has news, `at_alarm` when `alarm` has passed, and `on_exit`
    with the keeper's word.  All return verdicts for the matches. `wake_by` is told when what came through a
    pipe has moved `alarm` forward.
    """

    def __init__(
        self,
        name: str,
        launch: Launch,
        clock: Clock,
        keeper: Keeper,
        poller: Poller[Verdicts],
        wake_by: Callable[[float], None],
        tap: Tap | None = None,
    ) -> None:
        self.name = name
        self.tap = tap
        self.conversation = Conversation(clock)
        self.chairs: set[Chair] = set()
        self.errors = Tail()
        self.gone = False
        """Whether the keeper has said its last word on it."""
        self.usage: Exited | None = None
        self.leaving = False
        self.freezes = False
        """Whether it is stopped whenever nothing is asked of it, if it plays one table at a time."""
        self._frozen = self._thawing = False
        self._keeper = keeper
        self._poller = poller
        self._wake_by = wake_by
        self._unsent = bytearray()
        self._kill_at = math.inf
        self._rest_until = math.inf
        spawned = keeper.spawn(launch)
        self.key = spawned.key
        self._stdin, self._stdout, self._stderr = spawned.stdin, spawned.stdout, spawned.stderr
        poller.watch(self._stdout, READ, self.on_output)
        poller.watch(self._stderr, READ, self.on_errors)

    @property
    def alarm(self) -> float:
        """When `at_alarm` is to be called at the latest."""
        return min(self.conversation.deadline, self._kill_at, self._rest_until)

    @property
    def unread(self) -> int | None:
        """How many bytes it has been sent and has not read; None once its stdin is closed."""
        if self._stdin < 0:
            return None
        waiting: int = struct.unpack("i", fcntl.ioctl(self._stdin, termios.FIONREAD, b"\0" * 4))[0]
        return waiting + len(self._unsent)

    # --- bytes -------------------------------------------------------------------------------------------

    def flush(self, now: float) -> Verdicts:
        """Write what the conversation has to say, as far as the pipe takes it."""
        if self._frozen and self.conversation.asks:
            self._thaw()  # the question is written, and its time begins, when the bot is known to go on
            return []
        data, verdicts = self.conversation.send(now)
        if data and self.tap:
            self.tap("<", data)
        if data and self._stdin >= 0:
            if self._stdout >= 0:
                self._poller.watch(
                    self._stdout, READ, self.on_output
                )  # it may have been muted for speaking out of turn
            if self._unsent:
                self._unsent += data
            else:
                self._write(data)
        return verdicts

    def _freeze(self) -> None:
        conversation = self.conversation
        if (
            self.freezes
            and not (self._frozen or self.leaving or conversation.dead)
            and (conversation.ready and conversation.idle and conversation.tables == 1)
        ):
            self._frozen = True
            self._keeper.freeze(self.key)

    def _thaw(self) -> None:
        if self._frozen and not self._thawing:
            self._thawing = True
            self._keeper.thaw(self.key)

    def on_thaw(self) -> None:
        """It goes on, and can be asked."""
        self._frozen = self._thawing = False

    def on_room(self, _now: float) -> Verdicts:
        """Its stdin takes bytes again."""
        data = bytes(self._unsent)
        self._unsent.clear()
        self._write(data)
        return []

    def _write(self, data: bytes) -> None:
        try:
            written = os.write(self._stdin, data)
        except BlockingIOError:
            written = 0
        except OSError:  # it has closed its stdin: what it does next tells more
            self._close_stdin()
            return
        if written == len(data):
            if self.leaving:
                self._close_stdin()
            else:
                self._poller.forget(self._stdin)
        else:
            self._unsent += data[written:]
            self._poller.watch(self._stdin, WRITE, self.on_room)

    def on_output(self, now: float) -> Verdicts:
        """Its stdout has bytes, or has ended."""
        try:
            data = os.read(self._stdout, _CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        conversation = self.conversation
        if not data:
            self._close_stdout()
            verdicts = conversation.end_of_output(now)
            self._wake_by(self.alarm)
            return verdicts
        if self.tap:
            self.tap(">", data)
        verdicts = conversation.receive(data, now)
        if conversation.indebted or conversation.dead:
            self._poller.forget(self._stdout)
        self._freeze()
        return verdicts

    def on_errors(self, now: float) -> Verdicts:
        """Its stderr has bytes, or has ended."""
        try:
            data = os.read(self._stderr, _CHUNK)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            self._close_stderr()
            return []
        self.errors.add(data)
        if len(data) == _CHUNK:
            self._rest_until = now + _STDERR_REST_S
            self._wake_by(self._rest_until)
            self._poller.forget(self._stderr)
        return []

    # --- time and the end --------------------------------------------------------------------------------

    def at_alarm(self, now: float) -> Verdicts:
        """Some time has come: a deadline (the pipe is read once more first), the end of a rest, or the end of
        patience.
        """
        verdicts: Verdicts = []
        if now >= self._rest_until:
            self._rest_until = math.inf
            if self._stderr >= 0:
                self._poller.watch(self._stderr, READ, self.on_errors)
        if now >= self._kill_at:
            self._kill_at = math.inf
            self._keeper.kill(self.key)
        if now >= self.conversation.deadline:
            if self._stdout >= 0:
                verdicts = self.on_output(now)
            late = self.conversation.expire(now)
            if late:
                self._drop_unsent_requests()
                verdicts += late
                self._freeze()
        return verdicts

    def _drop_unsent_requests(self) -> None:
        """A request that timed out before it was written is not worth writing; what has begun must be
        finished.
        """
        end = self._unsent.find(b"\n")
        if end >= 0:
            del self._unsent[end + 1 :]

    def leave(self, now: float) -> None:
        """Ask it to leave by closing its stdin; it is killed if it has not gone a second later."""
        if self.leaving or self.gone:
            return
        self.leaving = True
        self._thaw()
        self._kill_at = now + LEAVE_GRACE_S
        self.flush(now)
        if not self._unsent:
            self._close_stdin()

    def kill(self) -> None:
        """End it now, and whatever it has started."""
        if not self.gone:
            self.leaving = True
            self._keeper.kill(self.key)

    def abandon(self) -> None:
        """Close its pipes: nobody is there any more to hear it.  The keeper sees to its end."""
        self._finish()

    def on_start_failure(self, why: str) -> Verdicts:
        """The keeper could not start it."""
        self._finish()
        return self.conversation.failed_to_start(why)

    def on_exit(self, exited: Exited, now: float) -> Verdicts:
        """It has ended: hear its last words, then tell the conversation."""
        verdicts: Verdicts = []
        for _ in range(_LAST_WORDS):
            if self._stdout < 0 or self.conversation.dead:
                break
            before = self._stdout
            verdicts += self.on_output(now)
            if before == self._stdout and not _readable(before):
                break
        while self._stderr >= 0 and _readable(self._stderr) and self.errors.total < 4 * _KEEP:
            self.on_errors(now)
        self.usage = exited
        self._finish()
        return verdicts + self.conversation.exited(exited.status, exited.why)

    def _finish(self) -> None:
        self.gone = True
        self._kill_at = self._rest_until = math.inf
        self._close_stdin()
        self._close_stdout()
        self._close_stderr()

    def _close_stdin(self) -> None:
        self._unsent.clear()
        self._stdin = self._close(self._stdin)

    def _close_stdout(self) -> None:
        self._stdout = self._close(self._stdout)

    def _close_stderr(self) -> None:
        self._stderr = self._close(self._stderr)

    def _close(self, descriptor: int) -> int:
        if descriptor >= 0:
            self._poller.forget(descriptor)
            os.close(descriptor)
        return -1


def _readable(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
