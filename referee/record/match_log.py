"""The match log as a file: lines written as things happen, and lines read back.  What they mean is `replay`'s
business.  [match log]
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from referee.errors import ArenaError, why
from referee.game.events import Event, MatchRecord

LOG_VERSION: Final = 1

_SYNC_REST_S: Final = 0.02
"""How long the disk is left alone after a sync: hands between quick bots take a tenth of that."""


class ResumeRecord(Struct, frozen=True, tag_field="type", tag="resume"):
    """The match was interrupted before this line and went on after it."""

    at: str
    arena: str


class Used(Struct, frozen=True):
    """What one seat's bot has used: its thinking as its rivals waited for it, processor time, and memory."""

    wall_ms: int
    cpu_ms: int
    peak_kb: int


class UsedRecord(Struct, frozen=True, tag_field="type", tag="used"):
    """What the bots had used when they had left, in the order of the seats.  It changes nothing."""

    seats: tuple[Used, ...]


Remark: TypeAlias = ResumeRecord | UsedRecord
"""A line that tells of the match's surroundings and is no part of it."""

LogRecord: TypeAlias = Event | Remark

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(LogRecord)


class LogError(ArenaError):
    """A log that cannot be read, written or followed."""


class LogLine(NamedTuple):
    """One line of a log: its number from 1, where it starts in bytes, and what it says."""

    number: int
    offset: int
    record: LogRecord


class LogFile(NamedTuple):
    """A log that was read: the header, the lines after it, and whether a torn line was left off its end."""

    path: Path
    header: MatchRecord
    lines: list[LogLine]
    torn: bool


class MatchLog:
    """A log being written.  Every record is with the operating system before `write` returns, and on the disk
    after `sync`.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._syncing: threading.Thread | None = None
        self._due = threading.Event()
        self._closing = threading.Event()
        self._failure: OSError | None = None

    @classmethod
    def create(cls, path: Path) -> MatchLog:
        """Start a new log.  Raises LogError if the file exists: a log is never overwritten."""
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
            return cls(path, _held(path, os.open(path, flags, 0o600)))
        except FileExistsError:
            if not path.is_file():
                what = "a directory" if path.is_dir() else "no regular file"
                raise LogError(f"{path} is {what}; name another with --log.") from None
            raise LogError(f"{path} exists and is never overwritten; name another file with --log.") from None
        except OSError as error:
            raise LogError(f"Cannot write the log {path}: {why(error)}; name another with --log.") from None

    @classmethod
    def reopen(cls, path: Path, length: int) -> MatchLog:
        """Go on with a log whose first `length` bytes are good."""
        try:
            descriptor = _held(path, os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC))
            os.ftruncate(descriptor, length)
            if length and os.pread(descriptor, 1, length - 1) != b"\n":
                os.write(descriptor, b"\n")
        except OSError as error:
            raise LogError(f"Cannot go on writing {path}: {why(error)}.") from None
        return cls(path, descriptor)

    def write(self, record: LogRecord) -> None:
        """Append one record."""
        line = _encoder.encode(record) + b"\n"
        if self._failure:
            raise self._lost(self._failure)
        try:
            if os.write(self._descriptor, line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # noqa: TRY301
        except OSError as error:
            raise self._lost(error) from None

    def sync(self) -> None:
        """Put all that was written on the disk, soon; that it failed is told by the next `write` or `close`.

        A disk may take long over it, so a thread does it: bots are waiting for their next question.  Hands
        that end faster than the disk is worth asking are synced together.
        """
        if self._syncing is None:
            self._syncing = threading.Thread(target=self._sync_when_due, name="match log sync", daemon=True)
            self._syncing.start()
        self._due.set()

    def close(self) -> None:
        """Put what is left on the disk and close the file; one in which nothing was written is removed."""
        if self._syncing:
            self._closing.set()
            self._due.set()
            self._syncing.join()
        self._fsync()
        if not os.fstat(self._descriptor).st_size:
            with contextlib.suppress(OSError):
                self.path.unlink()
        os.close(self._descriptor)
        if self._failure:
            raise self._lost(self._failure)

    def _sync_when_due(self) -> None:
        while self._due.wait() and not self._closing.is_set():
            self._due.clear()
            self._fsync()
            self._closing.wait(_SYNC_REST_S)

    def _fsync(self) -> None:
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EROFS):  # a pipe or a device has nothing to sync
                self._failure = error

    def _lost(self, error: OSError) -> LogError:
        return LogError(
            f"Cannot write to the log {self.path}: {why(error)}. The match has stopped and nothing written "
            f"is lost; make room and go on with: arena run --resume {self.path}"
        )


class MemoryLog:
    """A log that is kept in memory: `data` is what the file would hold."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, record: LogRecord) -> None:
        """Append one record."""
        self.data += _encoder.encode(record)
        self.data += b"\n"

    def sync(self) -> None:
        """Nothing to do: what is kept in memory is lost with it."""


def utc_now() -> str:
    """The time as a log tells it, such as 2026-11-30T09:15:00Z."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _held(path: Path, descriptor: int) -> int:
    """Lock the file for as long as it is open, so that nobody goes on with a match that is being played."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise LogError(f"{path} is being written by another arena; wait for it, or end it.") from None
    except OSError:  # a file system without locks: better unlocked than not at all
        pass
    return descriptor


def read_log(path: Path) -> LogFile:
    """Read a log whole.  A torn last line is left off; anything else that is no line of a log raises LogError
    naming it.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LogError(f"Cannot read {path}: {why(error)}.") from None
    lines: list[LogLine] = []
    offset = 0
    torn = False
    rows = data.split(b"\n")
    for number, row in enumerate(rows, start=1):
        last = number == len(rows)
        if last and not row:
            break
        if number == 1:
            _check_version(path, row)
        try:
            lines.append(LogLine(number, offset, _decode(row)))
        except ValueError as error:
            if not last:
                raise LogError(f"{path} line {number} is no line of a match log: {error}.") from None
            torn = True
        offset += len(row) + 1
    if not lines:
        raise LogError(f"{path} is no match log: it is empty or was cut off in its first line.")
    header = lines[0].record
    if not isinstance(header, MatchRecord):
        raise LogError(
            f"{path} is no match log: its first line is of type {header.__struct_config__.tag}, not match."
        )
    return LogFile(path, header, lines[1:], torn)


def _decode(row: bytes) -> LogRecord:
    try:
        row.decode()
        return _decoder.decode(row)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


class _Version(Struct):
    type: str = ""
    log: object = None


def _check_version(path: Path, row: bytes) -> None:
    """Tell a file that is no log, or a log of another version, from one that is damaged."""
    try:
        first = msgspec.json.decode(row, type=_Version)
    except (ValueError, RecursionError):
        raise LogError(f"{path} is no match log: its first line is not JSON of type match.") from None
    if first.type != "match":
        raise LogError(
            f"{path} is no match log: its first line is of type {first.type or 'none'!r}, not match."
        )
    if first.log is None:
        raise LogError(f"{path} is no match log: its first line lacks the field log.")
    if first.log != LOG_VERSION or isinstance(first.log, float | bool):
        raise LogError(
            f"{path} is a match log of version {first.log}; this arena reads version {LOG_VERSION}. "
            "Read it with the arena that wrote it (the field arena of its first line)."
        )
