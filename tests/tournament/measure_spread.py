"""How far a bot's payoff varies from deal to deal, measured in process: what `forecast` rests on.

    python -m tests.tournament.measure_spread 300

For each cast it prints the standard deviation of one hand's payoff, of each bot's payoff in a deal, and of
the difference between the first two bots.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from statistics import fmean, stdev
from typing import Any

from example_bots import duck, heuristic
from referee.game.rulebook import rulebook
from referee.tournament.plan import plan_from
from referee.tournament.results import DealSummary, hand_payoffs, result_of
from referee.tournament.schedule import Schedule
from tests.tournament.in_process import Player, at_random, careless, play

DUCK = Player(duck.choose_pass, duck.choose_play)
HEURISTIC = Player(heuristic.choose_pass, heuristic.choose_play)


def measure(cast: str, players: Mapping[str, Player], deals: int, **more: Any) -> None:
    """Play so many deals and print what they show."""
    plan = plan_from({"bots": list(players), "seed": "spread", "deals": deals} | more)
    schedule, pack = Schedule(plan), rulebook(plan.rules).pack_points
    summaries = []
    for deal in range(deals):
        results = [result_of(play(match, plan, players)) for match in schedule.of_deal(deal)]
        summaries.append(DealSummary(results, pack))
    hands = [
        hand_payoffs(result.seats, hand, pack)[result.seats[0]]
        for summary in summaries
        for result in summary.results
        for hand in result.hands
    ]
    paid = {bot: [summary.payoffs[bot] for summary in summaries] for bot in players}
    one, other, *_ = paid.values()
    print(f"{cast}: {deals} deals, {len(hands)} hands; a hand {stdev(hands):.1f}; a deal ", end="")
    print(
        ", ".join(f"{bot} {fmean(values):+.2f} sd {stdev(values):.2f}" for bot, values in paid.items()),
        end="",
    )
    print(f"; difference {stdev(a - b for a, b in zip(one, other, strict=True)):.2f}", flush=True)


def main() -> None:
    """Measure all casts."""
    deals = int(sys.argv[1]) if len(sys.argv) > 1 else 300

    def four(player: Player, part: float) -> dict[str, Player]:
        return {name: careless(player, seed, part) for seed, name in enumerate("abcd")}

    measure("four at random", {name: at_random(seed) for seed, name in enumerate("abcd")}, deals)
    measure("four that weigh, 1 play in 20 careless", four(HEURISTIC, 0.05), deals)
    measure("four that weigh, 1 play in 5 careless", four(HEURISTIC, 0.2), deals)
    measure("four that duck, 1 play in 10 careless", four(DUCK, 0.1), deals)
    pair = {name: careless(HEURISTIC, seed, 0.1) for seed, name in enumerate("ab")}
    measure("two that weigh, 1 play in 10 careless", pair, deals // 2)
    measure("one that weighs, one that ducks", {"weighs": HEURISTIC, "ducks": DUCK}, deals // 2)
    measure(
        "games at random",
        {name: at_random(seed) for seed, name in enumerate("abcd")},
        deals // 5,
        format="match",
    )
    measure("games of four that weigh", four(HEURISTIC, 0.1), deals // 5, format="match")


if __name__ == "__main__":
    main()
