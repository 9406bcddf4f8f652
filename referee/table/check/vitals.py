"""What the system says of a bot's processes: whether they are stopped, compute, how much memory they hold.

Linux tells it in /proc; elsewhere nothing is known.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from msgspec import Struct

from referee.table.keep.orphans import children

_ENOUGH = 1000
_SHARE = 0.2
"""The share of a processor that tells computing from waiting."""


class Vitals(Struct, frozen=True):
    """A process and all that it has started, at one instant.

    A sandbox may stand between us and the bot, and hold its pipes too: so `stopped` is whether any of them
    is, and `hears` and `speaks` are whether one that has started no other still holds stdin and stdout.
    """

    stopped: bool
    running: bool
    """Whether any of them has, or waits for, a processor."""
    cpu_s: float
    memory_mb: int
    hears: bool
    speaks: bool


def vitals(pid: int) -> Vitals | None:
    """How the process is; None if it has gone or the system does not tell."""
    if sys.platform != "linux":
        return None
    rows = {member: row for member in family(pid) if (row := _stat(member))}
    if pid not in rows:
        return None
    ticks = sum(int(row[11]) + int(row[12]) for row in rows.values())
    pages = sum(int(row[21]) for row in rows.values())
    leaves = [member for member in rows if not children(member)]
    return Vitals(
        stopped=any(row[0] == b"T" for row in rows.values()),
        running=any(row[0] == b"R" for row in rows.values()),
        cpu_s=ticks / os.sysconf("SC_CLK_TCK"),
        memory_mb=pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000,
        hears=any(_holds(leaf, 0) for leaf in leaves),
        speaks=any(_holds(leaf, 1) for leaf in leaves),
    )


def computes(before: Vitals | None, after: Vitals | None, passed_s: float) -> bool:
    """Whether it computed between these two instants.

    On a busy machine it may get hardly any time; where threads do the work, only the time tells.
    """
    if before is None or after is None:
        return False
    return (before.running and after.running) or after.cpu_s - before.cpu_s > _SHARE * passed_s


def family(pid: int) -> list[int]:
    """A process and its descendants, as far as they have not lost their parents."""
    found = [pid]
    for member in found:  # it grows meanwhile
        found += children(member)
        if len(found) > _ENOUGH:
            break
    return found


def _holds(pid: int, descriptor: int) -> bool:
    """Whether a process has this descriptor open, as far as we may look."""
    try:
        held = {path.name for path in Path(f"/proc/{pid}/fd").iterdir()}
    except OSError:
        return True
    return str(descriptor) in held


def _stat(pid: int) -> list[bytes] | None:
    """The fields of /proc/PID/stat from the third, the state, on."""
    try:
        # The command's name, in parentheses, may itself hold spaces and parentheses.
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
