"""User ids for bots, where the arena is root: one for each start, which nobody else on the machine has."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Final

_FIRST, _SLOTS, _ARENAS = 1_400_000_000, 4_096, 100_000
"""A range that no distribution gives to people, packages or containers, shared out by process id."""
_SMALL_FIRST, _SMALL = 20_000, 40_000
"""For a container that has only the usual 65,536."""

_DAC_OVERRIDE, _DAC_READ_SEARCH = 1, 2

_count = itertools.count()


def fresh() -> int | None:
    """A user id that no other bot has now, or None where there are too few."""
    number = os.getpid() % _ARENAS * _SLOTS + next(_count) % _SLOTS
    last = _last_id()
    if last >= 2_000_000_000:
        return _FIRST + number
    return _SMALL_FIRST + number % _SMALL if last >= _SMALL_FIRST + _SMALL else None


def _last_id() -> int:
    """The highest user id up to which all can be used here."""
    try:
        rows = Path("/proc/self/uid_map").read_text().splitlines()
    except OSError:
        return -1
    last = -1
    for first, _, count in sorted(tuple(map(int, row.split())) for row in rows):
        if first <= last + 1:
            last = max(last, first + count - 1)
    return last


def reading_capabilities() -> tuple[int, ...]:
    """What lets another user enter and read what is root's; Landlock then says which files that is."""
    from referee.table.privileges import held

    bits: Final = held()
    return tuple(each for each in (_DAC_OVERRIDE, _DAC_READ_SEARCH) if bits >> each & 1)
