"""The referee's side of the keeper: what to launch, what is sent, and what became of it.

Nothing here waits for a bot: `Keeper.fileno()` turns readable when there are `events()` to read.
"""

from __future__ import annotations

import array
import contextlib
import errno
import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import msgspec

from referee.errors import ArenaError, why
from referee.table.keep import TAMPERED

# The keeper imports itself by this line instead of being run as a script: the package is then found without
# site-packages (-S), its compiled form is used, and nothing beside the file can shadow a standard module.
_BOOT = "import sys; sys.path.append(sys.argv[1]); from referee.table.keep.keeper import main; main()"
_ROOT = str(Path(__file__).resolve().parents[3])
_SEND_LIMIT_S = 10.0
_CLOSE_LIMIT_S = 5.0


@dataclass(frozen=True, slots=True)
class Landlock:
    """What a bot may touch, on kernels that have Landlock; the usual devices are always allowed.

    A path that does not exist is skipped. `net` false denies TCP where the kernel can (ABI 4); UDP and
    unix sockets with a path are beyond Landlock.  Below `lists` only the names of files can be seen.
    """

    read: tuple[str, ...]
    write: tuple[str, ...]
    net: bool = False
    lists: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cage:
    """What else surrounds a bot; each field may be left at "nothing".

    The keeper makes `scratch` afresh for every start and removes it afterwards, and `base` when it ends
    itself.  It ends a bot that fills its scratch with more than `scratch_mb` or uses more than `memory_mb`,
    with all that it has started.  `user` and
    `capabilities` are for a keeper that is root.  `calls` names a filter of system calls.  `inside` is the
    bot's own command where `argv` is that of a wrapper, to be told from it when it cannot be run, and
    `inside_scratches` are file systems there, limited in size, on which its files are counted.
    """

    base: str = ""
    scratch: str = ""
    scratch_mb: int = 0
    memory_mb: int = 0
    user: int | None = None
    capabilities: tuple[int, ...] = ()
    calls: Literal["", "bot", "build", "alone"] = ""
    inside: tuple[str, ...] = ()
    inside_path: str = ""
    inside_scratches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """One bot to start: `argv[0]` without a slash is looked up in the PATH of `env`.

    A limit is set as soft and hard limit, cut down to the hard limit that is already there.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    limits: Mapping[str, int]
    landlock: Landlock | None = None
    cage: Cage = Cage()


@dataclass(frozen=True, slots=True)
class Spawned:
    """A launch under way: its key in every event, and the referee's ends of its pipes, all non-blocking.

    The descriptors are the caller's to close.
    """

    key: int
    stdin: int
    stdout: int
    stderr: int


class Started(msgspec.Struct, frozen=True, tag="started", tag_field="event"):
    """The bot's own program runs now, as process `pid`."""

    key: int
    pid: int


class Failed(msgspec.Struct, frozen=True, tag="failed", tag_field="event"):
    """The bot could not be started; `why` is for the operator.  No other event follows."""

    key: int
    errno: int
    why: str


class Exited(msgspec.Struct, frozen=True, tag="exited", tag_field="event"):
    """The bot has ended: `status` is its exit code, or minus the signal that ended it.

    `cpu_ms` counts all that it has started and that has ended with it.  `peak_kb` is what they held at once
    when it was looked at, four times a second, or the most that one of them ever held; it is never below
    the 10 MB or so that the keeper itself is large, for the bot begins as a copy of it.  `why` is there if
    the keeper ended it for what it used: the end of a sentence.  It is told, too, of a bot that has been
    killed and has not ended for seconds, as when another process holds it up with ptrace.
    """

    key: int
    status: int
    cpu_ms: int
    peak_kb: int
    why: str = ""


class Thawed(msgspec.Struct, frozen=True, tag="thawed", tag_field="event"):
    """The bot goes on after it was frozen."""

    key: int


Event = Started | Failed | Exited | Thawed
_decoder = msgspec.json.Decoder(Event)


class Keeper:
    """A running keeper process.  To be used from one thread, and by the process that started it."""

    def __init__(self, process: subprocess.Popen[bytes], channel: socket.socket) -> None:
        self._process = process
        self._channel = channel
        self._received = bytearray()
        self._last_key = 0
        self._closed = False

    @classmethod
    def start(cls) -> Keeper:
        """Start a keeper; it need not be waited for, what is sent meanwhile is not lost."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with theirs:
                # Its stdin is the channel: descriptor 0 is the one number that nothing else can be given.
                process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-X", f"utf8={sys.flags.utf8_mode}", "-c", _BOOT, _ROOT],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    cwd="/",
                    start_new_session=True,
                )
        except OSError as error:
            ours.close()
            raise ArenaError(f"the keeper cannot be started: {why(error)}") from error
        ours.setblocking(False)
        return cls(process, ours)

    @property
    def pid(self) -> int:
        """The keeper's own process id."""
        return self._process.pid

    def fileno(self) -> int:
        """The descriptor that is readable whenever `events` has something to return or to raise."""
        return self._channel.fileno()

    def spawn(self, launch: Launch) -> Spawned:
        """Have a bot started.  `Started` or `Failed` follows, and `Exited` some time after `Started`."""
        key = self._last_key + 1
        command = {
            "do": "spawn",
            "key": key,
            "argv": launch.argv,
            "env": dict(launch.env),
            "cwd": launch.cwd,
            "limits": dict(launch.limits),
            "landlock": asdict(launch.landlock) if launch.landlock else None,
            "cage": asdict(launch.cage),
        }
        ours: list[int] = []
        theirs: list[int] = []
        try:
            for downward in (True, False, False):
                read_end, write_end = os.pipe()
                ours.append(write_end if downward else read_end)
                theirs.append(read_end if downward else write_end)
                os.set_blocking(ours[-1], False)
            self._send(command, theirs)
        except BaseException as error:
            _close(ours)
            if isinstance(error, OSError):
                raise ArenaError(f"no pipes for another bot: {why(error)}") from error
            raise
        finally:
            _close(theirs)
        self._last_key = key
        return Spawned(key, *ours)

    def kill(self, key: int) -> None:
        """End a bot and whatever it has started.  `Exited` follows, unless it had been sent already."""
        self._send({"do": "kill", "key": key})

    def freeze(self, key: int) -> None:
        """Stop a bot, and all that it has started, where it stands."""
        self._send({"do": "freeze", "key": key})

    def thaw(self, key: int) -> None:
        """Let a frozen bot go on; `Thawed` follows."""
        self._send({"do": "thaw", "key": key})

    def events(self) -> list[Event]:
        """What has happened since the last call, without waiting.  `ArenaError` if the keeper has ended."""
        ended = False
        while True:
            try:
                chunk = self._channel.recv(65_536)
            except BlockingIOError:
                break
            except OSError:  # reset: it ended with commands unread
                chunk = b""
            if not chunk:
                ended = True
                break
            self._received += chunk
        *lines, rest = self._received.split(b"\n")
        self._received = bytearray(rest)
        events: list[Event] = [_decoder.decode(line) for line in lines]
        if ended and not events:
            raise self._loss()
        return events

    def close(self) -> None:
        """End every bot and the keeper; returns when the keeper is gone.  May be called again."""
        if self._closed:
            return
        self._closed = True
        self._channel.close()
        try:
            self._process.wait(_CLOSE_LIMIT_S)
        except subprocess.TimeoutExpired:  # a bot is stuck in the kernel, or the keeper was stopped
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, command: Mapping[str, object], descriptors: Sequence[int] = ()) -> None:
        """Write one command whole; descriptors travel with its first bytes, so they arrive in order.

        The keeper always reads at once and never blocks on writing, so the wait here is for its next turn.
        """
        line = memoryview(json.dumps(command).encode() + b"\n")
        control = (
            [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        )
        deadline = time.monotonic() + _SEND_LIMIT_S
        while line:
            try:
                line = line[self._channel.sendmsg([line], control) :]
                control = []
            except OSError as error:
                if error.errno == errno.ETOOMANYREFS:  # the system's limit on descriptors that are under way
                    time.sleep(0.001)
                elif not isinstance(error, BlockingIOError):
                    raise self._loss() from error
                elif not self._has_room(deadline):
                    self._channel.shutdown(socket.SHUT_RDWR)  # half a command is sent: there is no going on
                    raise ArenaError(f"the keeper (process {self.pid}) has stopped reading") from error

    def _has_room(self, deadline: float) -> bool:
        poll = select.poll()
        poll.register(self._channel, select.POLLOUT)
        return bool(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))

    def _loss(self) -> ArenaError:
        """The error to raise once the keeper is known to have gone."""
        if self._closed:
            return ArenaError("the keeper has been closed")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)  # it has closed the channel, so this is its last moment
        if self._process.returncode == TAMPERED:
            return ArenaError(
                f"a bot has lowered the limits of the keeper (process {self.pid}), which has had to end: "
                "at another sandbox than none it cannot"
            )
        return ArenaError(
            f"the keeper (process {self.pid}) ended with status {self._process.returncode}: "
            "no bot can be started or watched any more"
        )


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
