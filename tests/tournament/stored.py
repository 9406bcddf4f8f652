"""Deals as a worker would return them, played by functions: quick, and the same every time."""

from __future__ import annotations

from referee.tournament.plan import Entrant, Plan
from referee.tournament.results import DealSummary, result_of
from referee.tournament.schedule import Schedule
from referee.tournament.work import Payoff, Played, bundles, lineup_of, row_of
from tests.tournament.in_process import at_random, play

PLAN = Plan(
    bots=tuple(Entrant(name, name, f"content of {name}") for name in ("ann", "bob", "cyd", "dan")),
    seed="store",
    deals=3,
)


def played(plan: Plan = PLAN, deals: range = range(3), salt: int = 0) -> Played:
    """These deals as a worker would return them."""
    schedule = Schedule(plan)
    matches, lineups, logs, payoffs = [], {}, [], []
    for deal in deals:
        results = []
        for planned in schedule.of_deal(deal):
            players = {name: at_random(salt + at) for at, name in enumerate(plan.labels)}
            result = result_of(play(planned, plan, players))
            lineup = lineup_of(plan, result.seats)
            lineups[lineup[0]] = lineup
            matches.append(row_of(planned, result, lineup[0], (), "2026-11-30T00:00:00Z"))
            logs.append((planned.id, f"log of {planned.id}, {salt}\n".encode()))
            results.append(result)
        summary = DealSummary(results, 26)
        payoffs.append(Payoff(deal, summary.payoffs, summary.played))
    return Played(
        matches=tuple(matches),
        lineups=tuple(lineups.values()),
        logs=tuple(bundles(logs)),
        payoffs=tuple(payoffs),
        faults={},
        stderr={},
        hands=len(matches),
        seconds=1.0,
    )
