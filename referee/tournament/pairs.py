"""What passed between each two bots: points won from each other, and who feeds points to whom.

The first says who beats whom.  The second is how collusion shows: a bot whose cards carry more points into
one rival's tricks than into the others', beyond what that rival takes from everybody.  Accumulated deal by
deal, in memory of the order of bots x bots.
"""

from collections import defaultdict
from collections.abc import Mapping
from itertools import permutations

from msgspec import Struct

from referee.tournament.fit import Estimate
from referee.tournament.intervals import Spread
from referee.tournament.results import DealSummary, Pair


class Feeding(Struct, frozen=True):
    """How one bot feeds another: the points a hand its cards carry into the other's tricks, and the excess.

    `excess` is measured in each deal against the other bots at the table: what I give you, less what I give
    them, less what they give you, plus what they give each other.  It is 0 in expectation when points go by
    how freely a bot gives and how readily another takes.  None where fewer than four bots have sat at one
    table.
    """

    given: Estimate
    excess: Estimate | None


class Pairs:
    """The two tables of pairs, so far."""

    def __init__(self) -> None:
        self._margins: defaultdict[Pair, Spread] = defaultdict(Spread)
        self._gifts: defaultdict[Pair, Spread] = defaultdict(Spread)
        self._excess: defaultdict[Pair, Spread] = defaultdict(Spread)

    def add(self, deal: DealSummary) -> None:
        """Take in one complete deal."""
        for pair, points in deal.margins.items():
            self._margins[pair].add(points)
        for pair, points in deal.gifts.items():
            self._gifts[pair].add(points)
        for pair, points in _excesses(deal.gifts).items():
            self._excess[pair].add(points)

    def won_from(self, one: str, other: str) -> Estimate | None:
        """The points a hand by which `one` did better than `other` at one table; None if they never met."""
        return _estimate(self._margins.get((one, other)))

    def feeding(self, giver: str, taker: str) -> Feeding | None:
        """How `giver` feeds `taker`; None if they never met, or nobody counted."""
        given = _estimate(self._gifts.get((giver, taker)))
        return None if given is None else Feeding(given, _estimate(self._excess.get((giver, taker))))


def _excesses(gifts: Mapping[Pair, float]) -> dict[Pair, float]:
    bots = sorted({giver for giver, _ in gifts})
    if len(bots) < 4 or len(gifts) < len(bots) * (len(bots) - 1):
        return {}
    others = len(bots) - 2
    row = {bot: sum(gifts[bot, other] for other in bots if other != bot) for bot in bots}
    column = {bot: sum(gifts[other, bot] for other in bots if other != bot) for bot in bots}
    total = sum(row.values())
    excesses: dict[Pair, float] = {}
    for giver, taker in permutations(bots, 2):
        given, back = gifts[giver, taker], gifts[taker, giver]
        # What is left when every gift from or to either of the two is taken away.
        elsewhere = total - row[giver] - column[giver] - row[taker] - column[taker] + given + back
        excesses[giver, taker] = (
            given
            - (row[giver] - given) / others
            - (column[taker] - given) / others
            + elsewhere / (others * (others - 1))
        )
    return excesses


def _estimate(spread: Spread | None) -> Estimate | None:
    return None if spread is None else Estimate(spread.mean, spread.error, spread.count - 1)
