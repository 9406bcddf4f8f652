"""All that the results of a directory say, gathered in two passes that keep no match.

One pass goes by deal, the unit of every statistic.  The other goes by match id, the order in which the ladder
is fed: a fixed one, and without a pattern, for ids are hashes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import groupby
from typing import Final, TypeAlias

from msgspec import Struct

from referee.game.rulebook import rulebook
from referee.tournament.feeding import Feeding
from referee.tournament.plan import Plan
from referee.tournament.ranking import Ladder, Rating
from referee.tournament.results import DealSummary, Pair, Result
from referee.tournament.standings import Adjacent, Standing, Standings
from referee.tournament.store import Store

MODEL: Final = "Plackett-Luce (Weng and Lin 2011), as openskill has it"
"""The model behind the ladder."""

_TRACE_POINTS: Final = 200

Trace: TypeAlias = list[tuple[int, dict[str, Rating]]]
"""The ladder after so many matches, again and again."""


class Findings(Struct, frozen=True, kw_only=True):
    """What a tournament has shown so far."""

    plan: Plan
    matches: int
    deals: int
    hands: int
    bots: list[Standing]
    adjacent: list[Adjacent]
    standings: Standings
    feedings: dict[Pair, Feeding]
    """What each bot's cards carried into each other's tricks, by giver and taker."""
    points: dict[str, Counter[int]]
    """How often each bot had how many points in a hand that it did not forfeit."""
    trace: Trace

    @property
    def labels(self) -> list[str]:
        """All bots, the best first."""
        return [bot.name for bot in self.bots]


def gather(store: Store, plan: Plan) -> Findings:
    """Read all results that count."""
    pack_points = rulebook(plan.match_rules).pack_points
    standings = Standings(plan.hero)
    points: defaultdict[str, Counter[int]] = defaultdict(Counter)
    matches = deals = hands = 0
    for _, results in groupby(store.results("deal"), key=lambda result: result.deal):
        deal = DealSummary(results, pack_points)
        standings.add(deal)
        deals += 1
        matches += len(deal.results)
        for result in deal.results:
            hands += len(result.hands)
            _count_points(result, points)
    ratings, trace = _climb(store, matches)
    return Findings(
        plan=plan,
        matches=matches,
        deals=deals,
        hands=hands,
        bots=standings.table(ratings) if matches else [],
        adjacent=standings.adjacent() if matches else [],
        standings=standings,
        feedings=standings.gifts.feedings(),
        points=points,
        trace=trace,
    )


def _climb(store: Store, matches: int) -> tuple[dict[str, Rating], Trace]:
    """The ladder at the end, and on the way to it."""
    ladder = Ladder()
    step = max(1, matches // _TRACE_POINTS)
    trace: Trace = []
    number = 0
    for number, result in enumerate(store.results("match.id"), start=1):
        ladder.add(result)
        if number % step == 0:
            trace.append((number, ladder.ratings))
    if number % step:
        trace.append((number, ladder.ratings))
    return ladder.ratings, trace


def _count_points(result: Result, points: defaultdict[str, Counter[int]]) -> None:
    for hand in result.hands:
        for seat, bot in enumerate(result.seats):
            if seat not in hand.forfeited:
                points[bot][hand.points[seat]] += 1
