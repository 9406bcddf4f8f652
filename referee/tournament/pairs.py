"""Points won from each other: who beats whom, deal by deal, in memory of the order of bots x bots."""

from collections import defaultdict

from referee.tournament.fit import Estimate
from referee.tournament.intervals import Spread
from referee.tournament.results import DealSummary, Pair


class Pairs:
    """The table of pairs, so far."""

    def __init__(self) -> None:
        self._margins: defaultdict[Pair, Spread] = defaultdict(Spread)

    def add(self, deal: DealSummary) -> None:
        """Take in one complete deal."""
        for pair, points in deal.margins.items():
            self._margins[pair].add(points)

    def won_from(self, one: str, other: str) -> Estimate | None:
        """The points a hand by which `one` did better than `other` at one table; None if they never met."""
        spread = self._margins.get((one, other))
        return None if spread is None else Estimate(spread.mean, spread.error, spread.count - 1)
