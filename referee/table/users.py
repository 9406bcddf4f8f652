"""User ids for bots, where the arena is root: one for each start, which nobody else on the machine has."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_FIRST, _SLOTS, _ARENAS = 1_400_000_000, 4_096, 100_000
"""A range that no distribution gives to people, packages or containers, shared out by process id."""
_SMALL_FIRST, _SMALL = 20_000, 40_000
"""For a container that has only the usual 65,536."""

NOBODY: Final = 65_534

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


def reading_capabilities(programs: Iterable[str]) -> tuple[int, ...]:
    """What lets another user enter and read what is root's; Landlock then says which files that is.

    To run a program that only root may run takes more, and so does a container that withholds the lesser.
    """
    from referee.table.keep.privileges import DAC_OVERRIDE, DAC_READ_SEARCH, held

    bits = held()
    modes = [Path(name).stat().st_mode for name in programs if Path(name).is_file()]
    lesser = bits >> DAC_READ_SEARCH & 1 and all(mode & 0o001 or not mode & 0o100 for mode in modes)
    return (DAC_READ_SEARCH,) if lesser else (DAC_OVERRIDE,)
