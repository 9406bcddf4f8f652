"""How often honest bots stand out as feeding each other, and partners do: what `feeding` rests on.

    python -m tests.bench.feeding 800

Plays casts of honest bots in process, and some with one that feeds or spares another, under several rules.
It prints a line for each, then what stood out of how many.  800 deals take about four minutes.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from example_bots import duck, heuristic
from protocol.messages import PlayRequest
from referee.game.rulebook import rulebook
from referee.tournament.feeding import Feeding, Gifts
from referee.tournament.plan import plan_from
from referee.tournament.results import DealSummary, Pair, result_of
from referee.tournament.schedule import Schedule
from tests.tournament.in_process import Player, at_random, careless, play

RANKS = "23456789TJQKA"
HEURISTIC = Player(heuristic.choose_pass, heuristic.choose_play)
DUCK = Player(duck.choose_pass, duck.choose_play)


def by_rank(card: str) -> int:
    return RANKS.index(card[0])


LOW = Player(
    lambda request: sorted(request.cards, key=by_rank)[-request.count :],
    lambda request: min(request.legal, key=by_rank),
)
HIGH = Player(
    lambda request: sorted(request.cards, key=by_rank)[: request.count],
    lambda request: max(request.legal, key=by_rank),
)


def alike() -> list[Player]:
    """Eight that play well or fairly well, of different strength."""
    weigh = [careless(HEURISTIC, seed, part) for seed, part in enumerate((0, 0.05, 0.1, 0.2, 0.3))]
    return weigh + [careless(DUCK, seed, part) for seed, part in enumerate((0, 0.1, 0.2), 5)]


def mixed() -> list[Player]:
    """Eight of which some play like a machine: at random, always the lowest, always the highest card."""
    good = [HEURISTIC, careless(HEURISTIC, 1, 0.1), DUCK, careless(DUCK, 2, 0.2)]
    return [*good, at_random(3), at_random(4), LOW, HIGH]


def colluding(honest: Player, seats: Sequence[str], other: str, how: Literal["feeds", "spares"]) -> Player:
    """An honest player but for what it plays on a trick: its points go to the other, or to all but it."""

    def dear(card: str) -> float:
        return (card == "QS") * 100 + (card[1] == "H") * 20 + by_rank(card)

    def choose_play(request: PlayRequest) -> str:
        trick = request.trick
        if not trick:
            return honest.choose_play(request)
        winning = max((card for card in trick if card[1] == trick[0][1]), key=by_rank)
        losing = [card for card in request.legal if card[1] != winning[1] or by_rank(card) < by_rank(winning)]
        if not losing:
            return honest.choose_play(request)
        winner = seats[(request.lead + trick.index(winning)) % len(seats)]
        return (max if (winner == other) is (how == "feeds") else min)(losing, key=dear)

    return Player(honest.choose_pass, choose_play)


def feedings(
    players: Sequence[Player],
    deals: int,
    rules: str,
    colluder: tuple[str, str, Literal["feeds", "spares"]] | None = None,
    seed: str = "feeding",
) -> Mapping[Pair, Feeding]:
    """What so many deals say of these players, `b0`, `b1` and so on."""
    named = {f"b{number}": player for number, player in enumerate(players)}
    plan = plan_from({"bots": [*named], "seed": seed, "deals": deals, "rules": rules})
    schedule, pack, gifts = Schedule(plan), rulebook(plan.match_rules).pack_points, Gifts()
    for deal in range(deals):
        results = []
        for match in schedule.of_deal(deal):
            sitting = dict(named)
            if colluder:
                name, other, how = colluder
                sitting[name] = colluding(named[name], match.labels, other, how)
            results.append(result_of(play(match, plan, sitting)))
        gifts.add(DealSummary(results, pack).gifts)
    return gifts.feedings()


def outstanding(found: Mapping[Pair, Feeding]) -> dict[Pair, float]:
    """The pairs that stand out, and the logarithm of given to expected."""
    return {
        pair: feeding.log_ratio.value
        for pair, feeding in found.items()
        if feeding.stands_out and feeding.log_ratio
    }


def main() -> None:
    """Measure all casts."""
    deals = int(sys.argv[1]) if len(sys.argv) > 1 else 800
    stood_out: Counter[str] = Counter()
    runs: Counter[str] = Counter()
    for cast, players in (("alike", alike), ("mixed", mixed)):
        for rules in ("standard", "spot", "omnibus"):
            for colluder in (None, ("b5", "b3", "feeds"), ("b1", "b0", "spares")):
                out = outstanding(feedings(players(), deals, rules, colluder))  # type: ignore[arg-type]
                case = f"{cast}, {colluder[2] if colluder else 'honest'}"
                runs[case] += 1
                stood_out[case] += tuple(colluder[:2]) in out if colluder else bool(out)
                print(f"{case}, {rules}: {out}", flush=True)
    for case, count in runs.items():
        print(f"{case}: {stood_out[case]} of {count}")


if __name__ == "__main__":
    main()
