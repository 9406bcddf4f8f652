"""Which bots meet in which deal: an order of all groups in which pairs meet equally often.

Bots are numbered in the order in which they entered.  A round holds every group of `seats` bots once, so at
the end of a round all pairs have met equally often, and so have all threes.  Within a round the order is
chosen so that every prefix is nearly as even.

The order grows with the bots: leave a later bot's groups out of it and what remains is the order that there
was without that bot.  So when a bot is added, what was played stays part of the plan.  It is built so: the
order for `n` bots is the order for `n - 1` bots with the groups of the newcomer mixed in evenly, and of the
companies that the newcomer may still sit down with, it takes the one whose members have met least.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, islice
from math import comb
from random import Random
from typing import Final, TypeAlias

Group: TypeAlias = tuple[int, ...]
"""The numbers of the bots at one table, ascending."""

WINDOW: Final = 128
"""How many companies a newcomer chooses from; up to 10 bots at four seats these are all that are left."""

LONGEST_ROUND: Final = 100_000
"""Rounds of more groups (41 bots at four seats) are cut here; pairs stay as even, and memory bounded."""

_AHEAD: Final = 64


class Order:
    """The order of one round's groups, worked out as far as it is asked for.  `order` makes and keeps it."""

    def __init__(self, bots: int, seats: int) -> None:
        if not 2 <= seats <= bots:
            raise ValueError(f"cannot seat {bots} bots in groups of {seats}")
        self.length = min(comb(bots, seats), LONGEST_ROUND)
        self._seats = seats
        self._levels = [_Level(count, seats) for count in range(seats, bots + 1)]

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, place: int) -> Group:
        """The group at a place of the round."""
        if not 0 <= place < self.length:
            raise IndexError(place)
        top = self._levels[-1]
        if place >= len(top.groups):
            self._work_out(min(place + _AHEAD, self.length))
        return top.groups[place]

    def _work_out(self, length: int) -> None:
        lengths = [length]
        for level in reversed(self._levels[1:]):
            lengths.append(lengths[-1] - level.of_newcomer(lengths[-1]))
        older: list[Group] = []
        for level, needed in zip(self._levels, reversed(lengths), strict=True):
            level.extend(older, needed)
            older = level.groups


class _Level:
    """The order when there were `bots` bots, and how often each two of them have met in it so far."""

    def __init__(self, bots: int, seats: int) -> None:
        self.bots = bots
        self.seats = seats
        self.groups: list[Group] = []
        self._met = [[0] * bots for _ in range(bots)]
        self._coming = _shuffled(bots - 1, seats - 1)
        self._window = list(islice(self._coming, WINDOW))

    def of_newcomer(self, length: int) -> int:
        """How many of the first `length` groups the newest bot sits in: its share, rounded down."""
        return length * self.seats // self.bots

    def extend(self, older: list[Group], length: int) -> None:
        """Work the order out up to `length`, given the order of the bots before the newest."""
        while len(self.groups) < length:
            place = len(self.groups)
            before = self.of_newcomer(place)
            group = self._choose() if self.of_newcomer(place + 1) > before else older[place - before]
            self.groups.append(group)
            for one, other in combinations(group, 2):
                self._met[other][one] += 1

    def _choose(self) -> Group:
        """The newest bot in the company whose members, it included, have met least often."""
        newest, met = self.bots - 1, self._met
        with_newest = met[newest]

        def meetings(at: int) -> int:
            company = self._window[at]
            known = sum(with_newest[bot] for bot in company)
            return known + sum(met[other][one] for one, other in combinations(company, 2))

        chosen = self._window.pop(min(range(len(self._window)), key=meetings))
        self._window.extend(islice(self._coming, 1))
        return (*chosen, newest)


@lru_cache(maxsize=16)
def order(bots: int, seats: int) -> Order:
    """The order in which groups of `seats` out of `bots` bots meet."""
    return Order(bots, seats)


def place_among(place: int, bots: int, more_bots: int, seats: int) -> int:
    """Where a place of the order for `bots` bots comes in that for `more_bots`, rounds counted through."""
    for count in range(bots + 1, more_bots + 1):
        place = place * count // (count - seats)
    return place


def rank(group: Group) -> int:
    """The number of a group among all of its size: those of the first bots first, whoever joins later."""
    return sum(comb(bot, at) for at, bot in enumerate(group, 1))


def _unrank(number: int, size: int) -> Group:
    """The group with this rank."""
    group: list[int] = []
    for at in range(size, 0, -1):
        bot = at - 1
        while comb(bot + 1, at) <= number:
            bot += 1
        number -= comb(bot, at)
        group.append(bot)
    return tuple(reversed(group))


def _shuffled(bots: int, size: int) -> Iterator[Group]:
    """All groups once, shuffled by Fisher and Yates; only the ranks that have changed place are kept.

    Python promises that `random()` gives the same numbers for the same seed in every version.
    """
    count, source, moved = comb(bots, size), Random(bots), dict[int, int]()
    for at in range(count):
        other = at + int(source.random() * (count - at))
        yield _unrank(moved.get(other, other), size)
        moved[other] = moved.get(at, at)
        moved.pop(at, None)
