"""The strengths of bots by least squares: what each would be paid by all the others, met equally often.

In a deal, a bot's payoff by the points as played is its strength less the mean strength of the others in the
group, and chance.  Its forfeits cost it beyond that; they are no strength of the others, so what they cost a
hand is averaged for itself and added.

The errors are of the sandwich kind, clustered by deal, with the small-sample factor F / (F - p) for F free
payoffs (one less than the bots of each deal) and p strengths.  For one group of bots that is the usual
n / (n - 1), and all comes to the mean over deals and its interval.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from math import isnan, nan, sqrt

from msgspec import Struct

from referee.tournament.intervals import t_chance, t_two_sided
from referee.tournament.linear import Matrix, inverse, times, zeros

_DUST = 1e-9
"""Payoffs of bots that play alike differ by less than this, and only by rounding."""


class Estimate(Struct, frozen=True):
    """A number, its standard error, and that error's degrees of freedom; with none there is no interval."""

    value: float
    error: float
    freedom: int

    def interval(self, alpha: float = 0.05) -> tuple[float, float] | None:
        """The interval that holds the true value with chance 1 - alpha; None when too little is known."""
        if self.freedom < 1:
            return None
        half = t_two_sided(alpha, self.freedom) * self.error
        return self.value - half, self.value + half

    @property
    def p(self) -> float:
        """The chance of a value as far from 0 if the truth were 0; 1 when nothing is known."""
        if self.freedom < 1 or not self.error:
            return 1.0 if not self.value or self.freedom < 1 else 0.0
        return t_chance(self.value / self.error, self.freedom)


class Fit:
    """Strengths by least squares, and what they say of each bot and of each two.

    `groups` holds for each group of bots how many deals it had, the sums of their scores (each payoff as
    played less the mean of the others') and the sums of what forfeits cost; `products` the sums of the
    products of any two of these in a deal, bot `b` at 2b and 2b + 1.

    Where two sets of bots have never met, not even through others, each set is measured against its own mean,
    and bots of different sets are not compared.
    """

    def __init__(
        self,
        bots: tuple[str, ...],
        deals: Sequence[int],
        groups: Mapping[tuple[int, ...], Sequence[float]],
        products: Matrix,
    ) -> None:
        self.bots = bots
        self._deals = deals
        self._at = {bot: number for number, bot in enumerate(bots)}
        size = len(bots)
        self._set_of = _connected(size, groups)
        members = [self._set_of.count(name) for name in self._set_of]
        scale = [count / (count - 1) if count > 1 else 0.0 for count in members]
        information, scores, costs = zeros(size), [0.0] * size, [0.0] * size
        free = 0.0
        for group, (count, *sums) in groups.items():
            free += count * (len(group) - 1)
            for at, one in enumerate(group):
                scores[one] += sums[at]
                costs[one] += sums[len(group) + at] / deals[one]
                for other in group:
                    information[one][other] += count * _curvature(len(group), one == other)
        for one, other in product(range(size), repeat=2):
            # Strengths are known but for a constant; this pins their sum at 0 in each set, and no more.
            information[one][other] += self._set_of[one] == self._set_of[other]
        spread = inverse(information)
        strengths = times(spread, scores)
        self._payoffs = [
            factor * strength + cost for factor, strength, cost in zip(scale, strengths, costs, strict=True)
        ]
        # How much each bot's payoff moves with each score, and with each cost if there are any.
        kinds = 2 if any(costs) else 1
        moves = zeros(size, kinds * size)
        for one, other in product(range(size), repeat=2):
            moves[one][kinds * other] = scale[one] * spread[one][other]
        if kinds == 2:
            for one in range(size):
                moves[one][2 * one + 1] = 1 / deals[one]
        scatter = _scatter(groups, products, strengths, costs, kinds)
        spread_scatter = [times(scatter, row) for row in moves]
        parameters = size - len(set(self._set_of))
        inflation = free / (free - parameters) if free > parameters else nan
        self._covariance = [[inflation * value for value in times(spread_scatter, row)] for row in moves]

    def payoff(self, bot: str) -> Estimate:
        """What the bot would be paid a hand if its opponents were all the others, equally often."""
        at = self._at[bot]
        return estimate(self._payoffs[at], self._covariance[at][at], self._deals[at] - 1)

    def difference(self, one: str, other: str) -> Estimate | None:
        """The payoff of one bot less that of the other, paired by deal; None if nothing connects them."""
        a, b = self._at[one], self._at[other]
        if self._set_of[a] != self._set_of[b]:
            return None
        covariance = self._covariance
        variance = covariance[a][a] - 2 * covariance[a][b] + covariance[b][b]
        freedom = min(self._deals[a], self._deals[b]) - 1
        return estimate(self._payoffs[a] - self._payoffs[b], variance, freedom)


def against_others(values: Sequence[float]) -> list[float]:
    """Each value less the mean of the others; alone it is 0."""
    total, others = sum(values), len(values) - 1
    return [value - (total - value) / others for value in values] if others else [0.0]


def _scatter(
    groups: Mapping[tuple[int, ...], Sequence[float]],
    products: Matrix,
    strengths: Sequence[float],
    costs: Sequence[float],
    kinds: int,
) -> Matrix:
    """How the scores, and costs if there are any, vary from deal to deal around what the fit predicts."""
    places = [at for at in range(len(products)) if kinds == 2 or at % 2 == 0]
    scatter = [[products[row][column] for column in places] for row in places]
    for group, (count, *sums) in groups.items():
        predicted = against_others(against_others([strengths[bot] for bot in group]))
        where = [kinds * bot for bot in group]
        if kinds == 2:
            predicted += [costs[bot] for bot in group]
            where += [2 * bot + 1 for bot in group]
        for place, mean, total in zip(where, predicted, sums, strict=False):
            row = scatter[place]
            for beside, other_mean, other_total in zip(where, predicted, sums, strict=False):
                row[beside] += count * mean * other_mean - total * other_mean - mean * other_total
    return scatter


def estimate(value: float, variance: float, freedom: int) -> Estimate:
    """The estimate with this variance, if any is known; what is only rounding is nothing."""
    if isnan(variance):
        return Estimate(value, nan, 0)
    error = sqrt(max(variance, 0.0))
    return Estimate(value if abs(value) > _DUST else 0.0, error if error > _DUST else 0.0, freedom)


def _curvature(size: int, same: bool) -> float:
    """What one deal of a group adds to the normal equations, for a bot with itself or with another."""
    if size == 1:
        return 0.0
    return size / (size - 1) if same else -size / (size - 1) ** 2


def _connected(size: int, groups: Mapping[tuple[int, ...], Sequence[float]]) -> list[int]:
    """For each bot the lowest number among those it is connected with, by having met or through others."""
    parent = list(range(size))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    for group in groups:
        for number in group[1:]:
            low, high = sorted((root(group[0]), root(number)))
            parent[high] = low
    return [root(number) for number in range(size)]
