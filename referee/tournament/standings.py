"""The table: all that a tournament says of its bots, deal by deal, drawn up when it is asked for."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from referee.tournament.feeding import Gifts
from referee.tournament.fit import Estimate
from referee.tournament.pairs import Pairs
from referee.tournament.payoff import Payoffs
from referee.tournament.ranking import FinishingOrders, Rating
from referee.tournament.results import DealSummary, Result


class Standing(Struct, frozen=True, kw_only=True):
    """One bot's line.  Everything is a hand's worth: payoff, points, and the rates of wins, moons and faults.

    `payoff` is the fit, against all others equally often, and `mean` the plain mean over the bot's deals; in
    a gauntlet `payoff` is the mean too.  Both have 95% intervals clustered by deal, None where too little is
    known.  A win is the first rank in a match, parted among those who share it.  `forfeits` counts hands.
    """

    name: str
    deals: int
    hands: int
    payoff: float
    ci95: tuple[float, float] | None
    mean: float
    mean_ci95: tuple[float, float] | None
    strength: float
    rating: Rating | None
    points: float
    wins: float
    moons: float
    forfeits: int
    faults: dict[str, int]
    us: int


class Adjacent(Struct, frozen=True):
    """Two neighbours of the table: how much higher the better's payoff is, and how likely by chance."""

    better: str
    worse: str
    difference: float
    ci95: tuple[float, float] | None
    p: float


class Standings:
    """What has been played so far; a gauntlet has a hero.  Give it every complete deal once."""

    def __init__(self, hero: str | None = None) -> None:
        self._hero = hero
        self.payoffs = Payoffs(gauntlet=hero is not None)
        self.pairs = Pairs()
        self.gifts = Gifts()
        self.orders = FinishingOrders()
        self._counts: dict[str, _Counts] = {}

    def add(self, deal: DealSummary) -> None:
        """Take in one complete deal."""
        self.payoffs.add(deal.payoffs, deal.played)
        self.pairs.add(deal)
        self.gifts.add(deal.gifts)
        for result in deal.results:
            ranks = result.ranks
            if result.hands:
                self.orders.add_order(result.seats, ranks)
            self._count(result, ranks)

    def table(self, ratings: Mapping[str, Rating] | None = None) -> list[Standing]:
        """All bots, best payoff first.  `ratings` are those of the ladder, which is fed in its own order."""
        paid = self.payoffs.compare()
        strengths = self.orders.strengths()
        lines: list[Standing] = []
        for bot in sorted(self.payoffs.bots):
            counts = self._counts[bot]
            payoff, mean = paid.payoff(bot), self.payoffs.mean(bot)
            hands = max(counts.hands, 1)
            lines.append(
                Standing(
                    name=bot,
                    deals=self.payoffs.deals(bot),
                    hands=counts.hands,
                    payoff=payoff.value,
                    ci95=payoff.interval(),
                    mean=mean.value,
                    mean_ci95=mean.interval(),
                    strength=strengths.get(bot, 0.0),
                    rating=(ratings or {}).get(bot),
                    points=counts.points / hands,
                    wins=counts.wins / max(counts.matches, 1),
                    moons=counts.moons / hands,
                    forfeits=counts.forfeits,
                    faults=dict(sorted(counts.faults.items())),
                    us=counts.us,
                )
            )
        return sorted(lines, key=lambda line: -line.payoff)

    def adjacent(self) -> list[Adjacent]:
        """Each two neighbours of the table: whether their order is more than chance.

        The hero of a gauntlet is nobody's neighbour: a challenger's own payoff says how it did against it.
        """
        paid = self.payoffs.compare()
        ranked = (bot for bot in self.payoffs.bots if bot != self._hero)
        order = sorted(ranked, key=lambda bot: (-paid.payoff(bot).value, bot))
        return [
            Adjacent(better, worse, difference.value, difference.interval(), difference.p)
            for better, worse in pairwise(order)
            if (difference := paid.difference(better, worse)) is not None
        ]

    def won_from(self) -> dict[str, dict[str, Estimate]]:
        """For each bot and each other, the points a hand by which the first did better at the same table."""
        bots = sorted(self.payoffs.bots)
        return {
            one: {other: won for other in bots if (won := self.pairs.won_from(one, other)) is not None}
            for one in bots
        }

    def _count(self, result: Result, ranks: Sequence[int]) -> None:
        winners = ranks.count(1)
        for seat, bot in enumerate(result.seats):
            counts = self._counts.setdefault(bot, _Counts())
            counts.matches += 1
            counts.hands += len(result.hands)
            counts.points += sum(hand.points[seat] for hand in result.hands)
            counts.moons += sum(hand.moon == seat for hand in result.hands)
            counts.forfeits += sum(seat in hand.forfeited for hand in result.hands) or (
                not result.hands and seat in result.retired
            )
            counts.wins += (ranks[seat] == 1) / winners if result.hands else 0
            counts.us += result.us[seat] if result.us else 0
        for fault in result.faults:
            self._counts[result.seats[fault.seat]].faults[fault.kind] += 1


class _Counts:
    def __init__(self) -> None:
        self.matches = 0
        self.hands = 0
        self.points = 0
        self.moons = 0
        self.wins = 0.0
        self.forfeits = 0
        self.us = 0
        self.faults: Counter[str] = Counter()
