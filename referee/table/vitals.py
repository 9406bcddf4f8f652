"""What the system says of a bot's processes: whether they are stopped, compute, how much memory they hold.

Linux tells it in /proc; elsewhere nothing is known.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from msgspec import Struct

from referee.table.orphans import children

_ENOUGH = 1000


class Vitals(Struct, frozen=True):
    """A process and all that it has started, at one instant."""

    stopped: bool
    """Whether it itself is stopped, as by SIGSTOP."""
    cpu_s: float
    memory_mb: int


def vitals(pid: int) -> Vitals | None:
    """How the process is; None if it has gone or the system does not tell."""
    if sys.platform != "linux":
        return None
    rows = {member: row for member in family(pid) if (row := _stat(member))}
    if pid not in rows:
        return None
    ticks = sum(int(row[11]) + int(row[12]) for row in rows.values())
    pages = sum(int(row[21]) for row in rows.values())
    return Vitals(
        stopped=rows[pid][0] == b"T",
        cpu_s=ticks / os.sysconf("SC_CLK_TCK"),
        memory_mb=pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000,
    )


def family(pid: int) -> list[int]:
    """A process and its descendants, as far as they have not lost their parents."""
    found = [pid]
    for member in found:  # it grows meanwhile
        found += children(member)
        if len(found) > _ENOUGH:
            break
    return found


def _stat(pid: int) -> list[bytes] | None:
    """The fields of /proc/PID/stat from the third, the state, on."""
    try:
        # The command's name, in parentheses, may itself hold spaces and parentheses.
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
