"""What each bot is paid a hand, and how sure that is: deals go in one by one, and none is kept.

`Payoffs` answers in two ways.  The *mean* is what the bot was paid, averaged over its deals.  The *fit* is
what it would be paid by opponents that are all the other bots equally often (`fit`).  Where all pairs have
met equally often the two are the same number; where they have not (a bot came later, a tournament was stopped
within a round), only the fit compares like with like.

Both have 95% intervals clustered by deal: hands of one deal are not independent, so the deal is the unit.
Memory is of the order of bots x bots, and some numbers for each group of bots that has met.
"""

from collections.abc import Mapping

from referee.tournament.fit import Estimate, Fit, against_others
from referee.tournament.intervals import Spread
from referee.tournament.linear import Matrix


class Payoffs:
    """The payoffs of a tournament so far.  Give it every complete deal once, in any order."""

    def __init__(self) -> None:
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
        spread = self._spreads[bot]
        return Estimate(spread.mean, spread.error, spread.count - 1)

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
