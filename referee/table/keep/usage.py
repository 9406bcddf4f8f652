# ruff: noqa: PTH116, PTH123, PTH208
"""What a bot and all that it has started hold and use, as /proc tells it.  On other systems nothing is seen.

A bot's processes are found by descent: what has left its tree is an orphan, and is ended within the second.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat

from referee.table.keep.orphans import children

TYPE_CHECKING = False  # as `typing` has it, which would take longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Iterable

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


def memory_kb(pids: Iterable[int], most: int) -> int:
    """The memory that these processes hold: what they have written to, not the files that they have mapped.

    What they share is counted for each of them; only if that makes more than `most` it is divided, which
    takes the kernel longer.
    """
    pids = list(pids)
    total = sum(_field_kb(f"/proc/{pid}/status", (b"RssAnon:", b"RssShmem:")) for pid in pids)
    if not most or total <= most:
        return total
    divided = 0
    for pid in pids:
        share = _field_kb(f"/proc/{pid}/smaps_rollup", (b"Pss_Anon:", b"Pss_Shmem:"))
        divided += share or _field_kb(f"/proc/{pid}/status", (b"RssAnon:", b"RssShmem:"))
    return divided


def _field_kb(path: str, names: tuple[bytes, ...]) -> int:
    try:
        with open(path, "rb") as file:
            lines = file.read().splitlines()
    except OSError:  # it has just ended, or has become another user
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(names))


def cpu_s(pids: Iterable[int]) -> float:
    """The processor time of these processes and of the children that they have waited for."""
    ticks = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{pid}/stat", "rb") as file:
            ticks += sum(map(int, file.read().rpartition(b")")[2].split()[11:15]))
    return ticks / _TICKS_PER_S


def nameless_bytes(pids: Iterable[int], device: int) -> int:
    """The disk that files on `device` take which have no name any more but are still open."""
    seen: dict[int, int] = {}
    for pid in pids:
        folder = f"/proc/{pid}/fd"
        with contextlib.suppress(OSError):
            for name in os.listdir(folder)[:_FILES]:
                with contextlib.suppress(OSError):
                    what = os.stat(f"{folder}/{name}")
                    if stat.S_ISREG(what.st_mode) and not what.st_nlink and what.st_dev == device:
                        seen[what.st_ino] = what.st_blocks * 512
    return sum(seen.values())
