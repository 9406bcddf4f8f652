"""What a plan can find out, said before it is played: how many hands, and which difference they show.

All follows from one number, how far a bot's payoff varies from deal to deal, and that depends on the bots.
Measured over 1,000 deals by `tests/tournament/measure_spread.py`: 2.6 for four bots that play by weighing
cards and look away in one play of twenty, 3.1 for four that only duck, 3.6 for four that weigh and look away
in one play of five, 4.2 for four that play at random, 2.2 to 2.8 for two bots one against three and three
against one, and 1.0 to 1.3 a hand for whole games to 100.  (One hand alone: 9.5.)  A forecast takes 3.0, and
1.1 for games; for other numbers of players it takes the same, which nobody has measured.
"""

from math import ceil, sqrt
from typing import Final

from msgspec import Struct

from referee.game.rulebook import rulebook
from referee.tournament.intervals import NORMAL, z_two_sided
from referee.tournament.plan import Plan
from referee.tournament.schedule import Schedule

SPREAD: Final = 3.0
GAME_SPREAD: Final = 1.1
GAME_HANDS: Final = 11
"""Hands in a game to 100 (11.2 and 11.5 measured over 800 games each)."""

_PACK: Final = 26
_POWER: Final = 0.8
_ALPHA: Final = 0.05


class Forecast(Struct, frozen=True):
    """What is to be played, and the difference between two bots that it shows four times out of five.

    `hands` is exact but for whole games.  `wanted` is the difference asked about, `deals_wanted` the deals
    that it takes.
    """

    deals: int
    matches: int
    hands: int
    difference: float
    wanted: float
    deals_wanted: int

    def __str__(self) -> str:
        return (
            f"{self.deals:,} deals, {self.matches:,} matches, {self.hands:,} hands.  If two bots differ by "
            f"{self.difference:.2g} points a hand, this shows it four times out of five; for {self.wanted:g} "
            f"points it takes about {self.deals_wanted:,} deals."
        )


def forecast(plan: Plan, wanted: float | None = None, spread: float | None = None) -> Forecast:
    """What `plan` can find out.

    `wanted` is the difference to ask about, by default the plan's `stop_when` or half a point; `spread` is
    what a run of such bots has shown.
    """
    games = plan.match_rules.max_hands != 1
    book = rulebook(plan.match_rules)
    if spread is None:
        spread = (GAME_SPREAD if games else SPREAD) * book.pack_points / _PACK
    wanted = wanted or plan.stop_when or 0.5
    matches = len(Schedule(plan))
    unit = (z_two_sided(_ALPHA) + NORMAL.inv_cdf(_POWER)) * spread * sqrt(_variance(plan))
    return Forecast(
        deals=plan.deals,
        matches=matches,
        hands=matches * (_hands_of_game(plan) if games else 1),
        difference=unit / sqrt(plan.deals),
        wanted=wanted,
        deals_wanted=ceil((unit / wanted) ** 2),
    )


def _variance(plan: Plan) -> float:
    """The variance of the difference between two payoffs, times the deals, if a payoff's in a deal is 1.

    In a full round a bot plays `seats` of `bots` deals, and the payoffs of a deal sum to 0.  In a gauntlet
    the hero and each challenger are compared in the deals that are theirs.
    """
    bots = len(plan.active)
    if plan.hero is not None:
        return 4 * (bots - 1)
    seats = min(bots, plan.rules.players)
    return 2 * bots**2 / (seats * (bots - 1))


def _hands_of_game(plan: Plan) -> int:
    rules = plan.match_rules
    longest = rules.max_hands or 10**9
    return longest if rules.target is None else min(longest, max(1, round(GAME_HANDS * rules.target / 100)))
