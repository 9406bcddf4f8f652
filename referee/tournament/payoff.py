"""What each bot is paid a hand, and how sure that is: deals go in one by one, and none is kept.

`Payoffs` answers in two ways.  The *mean* is what the bot was paid, averaged over its deals.  The *fit* is
what it would be paid by opponents that are all the other bots equally often (`fit`).  Where all pairs have
met equally often the two are the same number; where they have not (a bot came later, a tournament was stopped
within a round), only the fit compares like with like.

In a gauntlet everybody meets the hero and nobody else.  There the payoff is the mean, what each was paid
against the hero (`Means`), and nothing is said of opponents that it never met.

Both have 95% intervals clustered by deal: hands of one deal are not independent, so the deal is the unit.
Memory is of the order of bots x bots, and some numbers for each group of bots that has met.
"""

from collections import defaultdict
from collections.abc import Mapping
from itertools import permutations
from typing import Protocol

from referee.tournament.fit import Estimate, Fit, against_others, estimate
from referee.tournament.intervals import Spread
from referee.tournament.linear import Matrix


class Comparison(Protocol):
    """What each bot is paid a hand, and by how much more than another: the column `payoff` and its order."""

    bots: tuple[str, ...]

    def payoff(self, bot: str) -> Estimate:
        """What the bot is paid a hand."""
        ...

    def difference(self, one: str, other: str) -> Estimate | None:
        """How much more the one is paid than the other; None if nothing connects them."""
        ...


class Means:
    """The comparison of a gauntlet: what each bot was paid, averaged over its deals, and no model.

    The hero and a challenger are compared in the deals in which they met, two challengers by their means,
    which come from different deals.
    """

    def __init__(
        self, bots: tuple[str, ...], paid: Mapping[str, Spread], leads: Mapping[tuple[str, str], Spread]
    ) -> None:
        self.bots = bots
        self._paid = paid
        self._leads = leads

    def payoff(self, bot: str) -> Estimate:
        """What the bot was paid a hand."""
        return _estimate(self._paid[bot])

    def difference(self, one: str, other: str) -> Estimate:
        """How much more the one was paid than the other."""
        if met := self._leads.get((one, other)):
            return _estimate(met)
        a, b = self._paid[one], self._paid[other]
        return estimate(a.mean - b.mean, a.error**2 + b.error**2, min(a.count, b.count) - 1)


class Payoffs:
    """The payoffs of a tournament so far.  Give it every complete deal once, in any order."""

    def __init__(self, *, gauntlet: bool = False) -> None:
        self._gauntlet = gauntlet
        self._leads: defaultdict[tuple[str, str], Spread] = defaultdict(Spread)
        self._spreads: dict[str, Spread] = {}
        self._numbers: dict[str, int] = {}
        self._groups: dict[tuple[int, ...], list[float]] = {}
        self._products: Matrix = []

    def add(self, payoffs: Mapping[str, float], played: Mapping[str, float] | None = None) -> None:
        """Take in the payoffs of one deal, by bot.

        `played` are the payoffs by the points as they were played, where they are not the same: what is
        between them is what the bot's forfeits cost it.
        """
        played = payoffs if played is None else played
        for bot, payoff in payoffs.items():
            self._number(bot)
            self._spreads[bot].add(payoff)
        if self._gauntlet:
            for pair in permutations(payoffs, 2):
                self._leads[pair].add(payoffs[pair[0]] - payoffs[pair[1]])
            return
        bots = sorted(payoffs, key=self._numbers.__getitem__)
        group = tuple(self._numbers[bot] for bot in bots)
        scores = against_others([played.get(bot, 0.0) for bot in bots])
        costs = [payoffs[bot] - played.get(bot, 0.0) for bot in bots]
        sums = self._groups.setdefault(group, [0.0] * (2 * len(group) + 1))
        sums[0] += 1
        for at, value in enumerate(scores + costs, 1):
            sums[at] += value
        entries = [(2 * number, score) for number, score in zip(group, scores, strict=True)]
        entries += [(2 * number + 1, cost) for number, cost in zip(group, costs, strict=True) if cost]
        for at, value in entries:
            row = self._products[at]
            for beside, other in entries:
                row[beside] += value * other

    @property
    def bots(self) -> tuple[str, ...]:
        """All bots that have played, in order of appearance."""
        return tuple(self._numbers)

    def deals(self, bot: str) -> int:
        """How many deals the bot has played."""
        return self._spreads[bot].count if bot in self._spreads else 0

    def mean(self, bot: str) -> Estimate:
        """What the bot was paid a hand, averaged over its deals."""
        return _estimate(self._spreads[bot])

    def compare(self) -> Comparison:
        """What the bots are ranked by, as of now: the means in a gauntlet, the fit in all else."""
        return Means(self.bots, self._spreads, self._leads) if self._gauntlet else self.fit()

    def fit(self) -> Fit:
        """The strengths that explain the payoffs best, as of now."""
        return Fit(self.bots, [self.deals(bot) for bot in self.bots], self._groups, self._products)

    def _number(self, bot: str) -> int:
        if bot not in self._numbers:
            self._numbers[bot] = len(self._numbers)
            self._spreads[bot] = Spread()
            for row in self._products:
                row += (0.0, 0.0)
            size = 2 * len(self._numbers)
            self._products += [[0.0] * size, [0.0] * size]
        return self._numbers[bot]


def _estimate(spread: Spread) -> Estimate:
    return estimate(spread.mean, spread.error**2, spread.count - 1)
