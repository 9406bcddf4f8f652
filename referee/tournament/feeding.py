"""Who feeds points to whom: what one bot's cards carry into another's tricks, beside what is to be expected.

A bot that plays badly gives much to all, and one that takes many tricks takes from all.  So what is expected
of a pair is a product, how freely the one gives times how readily the other takes, fitted to all pairs that
have met (quasi-independence: there is no pair of a bot with itself), and then freed of the pair's own share:
it is what both give and take elsewhere, and never negative.

Honest styles meet in ways that no product tells, so pairs differ from it without any collusion, the more the
less the bots are alike.  A pair therefore stands out only if it is farther from what is expected than `LEAST`
and than `SPREADS` times the spread of all pairs, and this by more than chance explains: 5% for all pairs
together, by the jackknife over parts of the deals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import log, prod, sqrt
from statistics import fmean, median
from typing import Final, TypeAlias

from msgspec import Struct

from referee.tournament.fit import Estimate
from referee.tournament.intervals import t_chance
from referee.tournament.results import Pair

FEWEST_BOTS: Final = 5
"""With four, what one pair does shows as much in others: there is too little elsewhere to compare it with."""
LEAST: Final = log(1.15)
"""The least size of what stands out, as the logarithm of given to expected."""
SPREADS: Final = 2.5
"""Chosen by `tests/bench/feeding.py`: how often honest bots stand out, and partners."""
ALPHA: Final = 0.05

_OF_MEDIAN: Final = 1.4826
"""How many times the median distance the standard deviation is; what stands out hardly moves a median."""

_PARTS: Final = 50
_STEPS: Final = 200
_PRECISE: Final = 1e-6

Sums: TypeAlias = dict[Pair, tuple[float, int]]
"""For each pair what was given a hand, summed over the deals in which they met, and how many these are."""


class Feeding(Struct, frozen=True):
    """What one bot gives another, in points a hand on its cards in the other's tricks, and what is expected.

    `log_ratio` is the logarithm of the one to the other.  Both are None where nothing is known of them.
    """

    given: float
    expected: float | None = None
    log_ratio: Estimate | None = None
    stands_out: bool = False


class Gifts:
    """What passed between each two bots so far, in parts that are left out by turns."""

    def __init__(self) -> None:
        self._parts: list[defaultdict[Pair, list[float]]] = [
            defaultdict(lambda: [0.0, 0]) for _ in range(_PARTS)
        ]
        self._deals = 0

    def add(self, gifts: Mapping[Pair, float]) -> None:
        """Take in the gifts of one complete deal."""
        part = self._parts[self._deals % _PARTS]
        self._deals += 1
        for pair, points in gifts.items():
            sums = part[pair]
            sums[0] += points
            sums[1] += 1

    def feedings(self) -> dict[Pair, Feeding]:
        """How each bot feeds each other one that it has met."""
        whole = _added(self._parts)
        given = {pair: points / deals for pair, (points, deals) in whole.items()}
        bots = {giver for giver, _ in given}
        expected = _expected(whole) if len(bots) >= FEWEST_BOTS else None
        if expected is None:
            return {pair: Feeding(points) for pair, points in given.items()}
        ratios = {pair: _log(points, expected[pair]) for pair, points in given.items()}
        known = {pair: ratio for pair, ratio in ratios.items() if ratio is not None}
        errors = self._errors(whole, known) if _freedom(known) > 0 else {}
        spread = _OF_MEDIAN * median(map(abs, known.values())) if known else 0.0
        freedom = min(self._deals, _PARTS) - 1
        feedings = {}
        for pair, points in given.items():
            estimate, out = None, False
            if pair in errors:
                estimate = Estimate(known[pair], errors[pair], freedom)
                beyond = abs(known[pair]) - max(LEAST, SPREADS * spread)
                # Half the chance of two sides: what is given too freely is not also given too rarely.
                out = beyond > 0 and _chance(beyond, errors[pair], freedom) / 2 * len(errors) < ALPHA
            feedings[pair] = Feeding(points, expected[pair], estimate, out)
        return feedings

    def _errors(self, whole: Sums, ratios: Mapping[Pair, float]) -> dict[Pair, float]:
        """The standard error of each ratio, where it is known without any one of the parts."""
        parts = [part for part in self._parts if part]
        if len(parts) < 2:
            return {}
        without: dict[Pair, list[float]] = {pair: [] for pair in ratios}
        for part in parts:
            rest = {
                pair: (points - part[pair][0], deals - int(part[pair][1]))
                if pair in part
                else (points, deals)
                for pair, (points, deals) in whole.items()
            }
            rest = {pair: sums for pair, sums in rest.items() if sums[1]}
            expected = _expected(rest) or {}
            for pair in without.keys() & expected.keys():
                ratio = _log(rest[pair][0] / rest[pair][1], expected[pair])
                if ratio is not None:
                    without[pair].append(ratio)
        return {
            pair: sqrt(sum((value - fmean(values)) ** 2 for value in values) * (1 - 1 / len(parts)))
            for pair, values in without.items()
            if len(values) == len(parts)
        }


def _added(parts: Iterable[Mapping[Pair, list[float]]]) -> Sums:
    whole: Sums = {}
    for part in parts:
        for pair, (points, deals) in part.items():
            before = whole.get(pair, (0.0, 0))
            whole[pair] = before[0] + points, before[1] + int(deals)
    return whole


def _expected(sums: Sums) -> dict[Pair, float] | None:
    """What is expected a hand of each pair, by iterative proportional fitting.

    None if a bot gives or takes nothing, or only with one other: then no product fits.
    """
    gives, takes = _totals(sums, 0), _totals(sums, 1)
    if min(*gives.values(), *takes.values()) <= 0:
        return None
    freely, readily = dict.fromkeys(gives, 1.0), dict.fromkeys(takes, 1.0)
    for _ in range(_STEPS):
        shares = dict.fromkeys(gives, 0.0)
        for (giver, taker), (_, deals) in sums.items():
            shares[giver] += deals * readily[taker]
        freely = {giver: points / shares[giver] for giver, points in gives.items()}
        shares = dict.fromkeys(takes, 0.0)
        for (giver, taker), (_, deals) in sums.items():
            shares[taker] += deals * freely[giver]
        before, readily = readily, {taker: points / shares[taker] for taker, points in takes.items()}
        if all(abs(before[taker] - value) <= _PRECISE * value for taker, value in readily.items()):
            break
    expected = {}
    for (giver, taker), (points, deals) in sums.items():
        fitted = freely[giver] * readily[taker]
        share, totals = deals * fitted, (gives[giver], takes[taker])
        if any(total <= max(points, share) for total in totals):
            return None
        # Without the pair, its row and its column would be fitted to what is left of their totals.
        expected[giver, taker] = fitted * prod((total - points) / (total - share) for total in totals)
    return expected


def _totals(sums: Sums, side: int) -> dict[str, float]:
    totals: defaultdict[str, float] = defaultdict(float)
    for pair, (points, _) in sums.items():
        totals[pair[side]] += points
    return dict(totals)


def _freedom(pairs: Iterable[Pair]) -> int:
    """How many numbers of these pairs the products leave free."""
    pairs = list(pairs)
    return len(pairs) - len({giver for giver, _ in pairs}) - len({taker for _, taker in pairs}) + 1


def _log(points: float, expected: float) -> float | None:
    return log(points / expected) if points > 0 else None


def _chance(value: float, error: float, freedom: int) -> float:
    return t_chance(value / error, freedom) if error else 0.0
