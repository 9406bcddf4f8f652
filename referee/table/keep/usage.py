# ruff: noqa: PTH116, PTH123, PTH208
"""What a bot and all that it has started hold and use, as /proc tells it.  On other systems nothing is seen.

A bot's processes are found by descent: what has left its tree is an orphan, and is ended within the second.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
from functools import cache

from referee.table.keep.orphans import children

TYPE_CHECKING = False  # as `typing` has it, which would take longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_MOST = 1000
_FILES = 300
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def tree(root: int) -> list[int]:
    """A process and its descendants, parents first; of a great many only the first."""
    found = [root]
    for pid in found:
        if len(found) >= _MOST:
            break
        found += children(pid)
    return found


def stop(root: int) -> None:
    """Stop a process and its descendants, parents first: what is stopped cannot fork."""
    stopped = [root]
    for pid in stopped:
        _send(pid, signal.SIGSTOP)
        if len(stopped) < _MOST:
            stopped += children(pid)


def go_on(root: int) -> None:
    """Let them go on, children first, so that no parent sees one of its children stopped."""
    for pid in reversed(tree(root)):
        _send(pid, signal.SIGCONT)


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def statuses(pids: Iterable[int]) -> dict[str, bytes]:
    """The status of each process by its place in /proc: that of a living thread, if the first has ended.

    A process may play on so, and /proc tells of what it holds only there.
    """
    found = {}
    for pid in pids:
        for place in _places(pid):
            status = _read(f"{place}/status")
            if b"RssAnon:" in status:
                found[place] = status
                break
    return found


def _places(pid: int) -> Iterator[str]:
    yield f"/proc/{pid}"
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            yield f"/proc/{pid}/task/{thread}"


def memory_kb(statuses: Mapping[str, bytes], most: int) -> int:
    """The memory that these processes hold: what they have written to, not the files that they have mapped.

    Files in memory are counted once, open or mapped.  What else processes share is counted for each of them;
    only if that makes more than `most` it is divided, which takes the kernel longer.
    """
    files = nameless_bytes(statuses, _memory_device()) // 1024
    private = sum(_field_kb(status, b"RssAnon:") for status in statuses.values())
    shared = sum(_field_kb(status, b"RssShmem:") for status in statuses.values())
    if most and private + max(shared, files) > most:
        private = shared = 0
        for place, status in statuses.items():
            rollup = _read(f"{place}/smaps_rollup")
            private += _field_kb(rollup or status, b"Pss_Anon:" if rollup else b"RssAnon:")
            shared += _field_kb(rollup or status, b"Pss_Shmem:" if rollup else b"RssShmem:")
    return private + max(shared, files)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:  # it has just ended, or has become another user
        return b""


def _field_kb(text: bytes, name: bytes) -> int:
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(name))


@cache
def _memory_device() -> int:
    """The device that files in memory lie on."""
    if sys.platform != "linux":
        return -1
    file = os.memfd_create("")
    try:
        return os.fstat(file).st_dev
    finally:
        os.close(file)


def cpu_s(pids: Iterable[int]) -> float:
    """The processor time of these processes and of the children that they have waited for."""
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/stat", "rb") as file:
            ticks += sum(map(int, file.read().rpartition(b")")[2].split()[11:15]))
    return ticks / _TICKS_PER_S


def nameless_bytes(places: Iterable[str], device: int) -> int:
    """What files on `device` take which have no name any more, or never had one, but are open."""
    seen: dict[int, int] = {}
    for place in places:
        folder = f"{place}/fd"
        with contextlib.suppress(OSError):
            for name in os.listdir(folder)[:_FILES]:
                with contextlib.suppress(OSError):
                    what = os.stat(f"{folder}/{name}")
                    if stat.S_ISREG(what.st_mode) and not what.st_nlink and what.st_dev == device:
                        seen[what.st_ino] = what.st_blocks * 512
    return sum(seen.values())
