"""When enough has been played: looks at fixed numbers of deals, and what each may claim.

Whoever looks often enough sees a difference where there is none.  So the rule looks only at complete prefixes
in deal order, at tenths of the deals planned, and spends its 5% chance of a false claim over the looks as Lan
and DeMets do, in the manner of O'Brien and Fleming: next to nothing on the first looks, most of it on the
last, which then is nearly as sharp as a single look would be.

Two kinds of claims are made of a pair of bots.  *Apart*: their payoffs differ.  *Close*: they differ by less
than `stop_when`.  Over all pairs and all looks, the chance that any pair is wrongly called apart is at most
5%, and so is the chance that any is wrongly called close, whatever the truth.  Each kind is kept by Holm's
step-down: among `u` pairs for which the claim has not been made, each may spend 1/u of the 5%.  Holm needs
nothing of how the pairs depend on each other, and they do: every bot is in many.  For two bots there is one
pair and no price.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations
from math import ceil, erfc, exp, inf, pi, sqrt
from typing import Final, Literal

from msgspec import Struct

from referee.tournament.fit import Estimate
from referee.tournament.intervals import z_of_t, z_two_sided
from referee.tournament.payoff import Comparison
from referee.tournament.plan import Plan
from referee.tournament.results import Pair

ALPHA: Final = 0.05
LOOKS: Final = 10
FEWEST_DEALS: Final = 20
"""With fewer deals of either bot a pair is not judged: the error of a mean is itself too little known."""

_POINTS: Final = 60


class Verdict(Struct, frozen=True):
    """What a look says of two bots: how much higher the first's payoff is, and what may be claimed."""

    one: str
    other: str
    difference: Estimate | None
    claim: Literal["apart", "close"] | None


class StoppingRule:
    """The looks of one tournament: take each when `next_look` deals are complete, with what just these paid.

    The claims of earlier looks stand.  After a crash, take all looks again from the first.
    """

    def __init__(
        self, deals: int, pairs: Iterable[Pair], closer_than: float | None, looks: int = LOOKS
    ) -> None:
        self.looks = looks_at(deals, looks)
        self._times = tuple(look / deals for look in self.looks)
        self._pairs = tuple(pairs)
        self._closer_than = closer_than
        self._claims: dict[Pair, set[Literal["apart", "close"]]] = {pair: set() for pair in self._pairs}
        self._taken = 0

    @property
    def next_look(self) -> int | None:
        """The number of deals after which to look next; None when all looks are taken, or all is decided."""
        return None if self.finished or self._taken == len(self.looks) else self.looks[self._taken]

    @property
    def finished(self) -> bool:
        """Whether every pair is told apart or shown to be close."""
        return all(self._claims.values())

    def look(self, paid: Comparison) -> tuple[Verdict, ...]:
        """Judge all pairs by the first `next_look` deals."""
        found = {pair: _known(paid, pair) for pair in self._pairs}
        surprise = {pair: _deviate(abs(one.value), one) for pair, one in found.items() if one is not None}
        self._step_down("apart", surprise)
        if self._closer_than is not None:
            room = {
                pair: _deviate(self._closer_than - abs(one.value), one) for pair, one in found.items() if one
            }
            self._step_down("close", room)
        self._taken += 1
        return tuple(Verdict(*pair, found[pair], self._claim(pair)) for pair in self._pairs)

    def _step_down(self, claim: Literal["apart", "close"], evidence: dict[Pair, float]) -> None:
        """Make the claim for the pairs with the strongest evidence, each on its share of what is left."""
        left = sum(claim not in claims for claims in self._claims.values())
        for pair in sorted(evidence, key=evidence.__getitem__, reverse=True):
            if claim in self._claims[pair]:
                continue
            # A false claim of being close comes from one side only: half of what the boundary spends.
            share = ALPHA / left if claim == "apart" else 2 * ALPHA / left
            if evidence[pair] < boundaries(share, self._times)[self._taken]:
                return
            self._claims[pair].add(claim)
            left -= 1

    def _claim(self, pair: Pair) -> Literal["apart", "close"] | None:
        claims = self._claims[pair]
        return "apart" if "apart" in claims else "close" if claims else None


def pairs_of(plan: Plan) -> tuple[Pair, ...]:
    """The pairs that a plan sets out to tell apart: every two bots, in a gauntlet the hero and each other."""
    if plan.hero is not None:
        return tuple((plan.hero, other) for other in plan.active if other != plan.hero)
    return tuple(combinations(plan.active, 2))


def looks_at(deals: int, looks: int = LOOKS) -> tuple[int, ...]:
    """The numbers of deals after which to look: equal parts of the whole, the whole the last."""
    return tuple(sorted({ceil(deals * look / looks) for look in range(1, looks + 1)}))


@lru_cache(maxsize=1024)
def boundaries(alpha: float, times: tuple[float, ...]) -> tuple[float, ...]:
    """How far from 0 a standard normal statistic must be at each look to be called different from it.

    `times` are the parts of the whole that are known at each look, the last 1.  The chance of reaching a
    boundary at a look and not before is found by carrying the density of what has not reached one from look
    to look, as Armitage, McPherson and Rowe do.
    """
    alpha = min(alpha, 1.0)
    found: list[float] = []
    points: list[float] = []
    weights: list[float] = []
    before = 0.0
    for time in times:
        step = sqrt(time - before)
        spend = _spent(alpha, time) - _spent(alpha, before)
        if not found:
            bound = z_two_sided(spend) if spend > 0 else inf
        else:
            bound = _bound(spend, points, weights, step, sqrt(time))
        found.append(bound)
        edge = min(bound, 8.0) * sqrt(time)
        grid, simpson = _grid(edge)
        if points:
            density = [
                sum(
                    [
                        weight * _bell((at - point) / step)
                        for point, weight in zip(points, weights, strict=True)
                    ]
                )
                / step
                for at in grid
            ]
        else:
            density = [_bell(at / step) / step for at in grid]
        points, weights = grid, [share * height for share, height in zip(simpson, density, strict=True)]
        before = time
    return tuple(found)


def _known(paid: Comparison, pair: Pair) -> Estimate | None:
    if not all(bot in paid.bots for bot in pair):
        return None
    difference = paid.difference(*pair)
    return difference if difference is not None and difference.freedom >= FEWEST_DEALS - 1 else None


def _deviate(points: float, measured: Estimate) -> float:
    """So many points in standard errors, as a normal deviate."""
    return (
        z_of_t(points / measured.error, measured.freedom) if measured.error else inf if points > 0 else -inf
    )


def _spent(alpha: float, time: float) -> float:
    """What may have been spent of `alpha` by now: half of it on either side."""
    return 2 * erfc(z_two_sided(alpha / 2) / sqrt(2 * time)) if time > 0 else 0.0


def _bound(
    spend: float, points: Sequence[float], weights: Sequence[float], step: float, scale: float
) -> float:
    low, high = 0.0, 40.0
    for _ in range(50):
        middle = (low + high) / 2
        edge = middle * scale
        # The density is symmetric, so one side is half of the chance.
        chance = sum(
            [
                weight * erfc((edge - at) / (step * sqrt(2)))
                for at, weight in zip(points, weights, strict=True)
            ]
        )
        if chance > spend:
            low = middle
        else:
            high = middle
    return high


def _grid(edge: float) -> tuple[list[float], list[float]]:
    """Points from `-edge` to `edge`, and Simpson's weights for them."""
    width = 2 * edge / _POINTS
    points = [-edge + at * width for at in range(_POINTS + 1)]
    weights = [width / 3 * (1 if at in (0, _POINTS) else 4 if at % 2 else 2) for at in range(_POINTS + 1)]
    return points, weights


def _bell(x: float) -> float:
    return exp(-x * x / 2) / sqrt(2 * pi)
