"""How strong the example bots are: one of a kind against others, on the same deals in every seat.

    python tests/bench/strength.py [--deals 2000]

Each deal is one hand, played once with the bot in question in each seat.  Its payoff is the mean of the
others' points minus its own.  The interval counts deals, since the hands of one deal are not independent.
"""

import argparse
import time
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple, Protocol

from example_bots import duck, heuristic
from example_bots.random_bot import RandomBot
from protocol.cards import CardName
from protocol.messages import Pass, PassRequest, Play, PlayRequest, Ready
from protocol.rules import Conditions, Rules
from referee.game.deal import deal
from referee.game.events import Answered, Dealt, MatchRecord, SeatRecord
from referee.game.match import Match


class Player(Protocol):
    """A bot's two choices: a module, or an object that remembers."""

    def choose_pass(self, request: PassRequest) -> Sequence[CardName]: ...
    def choose_play(self, request: PlayRequest) -> CardName: ...


class Payoff(NamedTuple):
    """Mean payoff per hand and the half width of its 95% interval."""

    mean: float
    within: float
    hands: int

    def __str__(self) -> str:
        return f"{self.mean:+.2f} +- {self.within:.2f} points a hand ({self.hands} hands)"


def bot(name: str) -> Player:
    """One of the example bots; the random one is seeded, so that a figure can be had again."""
    bots: dict[str, Player] = {"random": RandomBot(seed=1), "duck": duck, "heuristic": heuristic}
    return bots[name]


def play_hand(rules: Rules, seed: str, first_hand: int, players: Sequence[Player]) -> tuple[int, ...]:
    """The points of one hand, played in this process.  Raises if a bot commits a fault."""
    header = MatchRecord(
        arena="bench",
        id=seed,
        started="",
        seed=seed,
        first_hand=first_hand,
        rules=rules,
        conditions=Conditions(on_fault="match"),
        seats=tuple(SeatRecord(seat=seat, name=f"seat-{seat}") for seat in range(rules.players)),
    )
    match = Match(header)
    match.begin()
    for seat, player in enumerate(players):
        if on_start := getattr(player, "on_start", None):
            on_start(match.start_request(seat, 0))
        match.advance(Answered(seat, Ready(0, "", "")))
    match.advance(Dealt(deal(seed, 1, match.book)))
    while match.awaiting:
        for seat in sorted(match.awaiting):
            request = match.request(seat, 1, 1000)
            if isinstance(request, PlayRequest):
                match.advance(Answered(seat, Play(1, players[seat].choose_play(request))))
            elif isinstance(request, PassRequest):
                match.advance(Answered(seat, Pass(1, tuple(players[seat].choose_pass(request)))))
    assert match.end is not None
    if match.end.retired:
        raise RuntimeError(f"seat {match.end.retired[0]} committed a fault in the hand of seed {seed!r}")
    return match.end.scores


def compare(
    one: Player, others: Player, deals: int, rules: Rules | None = None, seed: str = "strength"
) -> Payoff:
    """The payoff of `one` at tables of `others`."""
    rules = rules or Rules(target=None, max_hands=1)
    payoffs = []
    for number in range(deals):
        in_each_seat = []
        for chair in range(rules.players):
            players = [one if seat == chair else others for seat in range(rules.players)]
            points = play_hand(rules, f"{seed}-{number}", 1 + number % 4, players)
            in_each_seat.append((sum(points) - points[chair]) / (rules.players - 1) - points[chair])
        payoffs.append(fmean(in_each_seat))
    return Payoff(fmean(payoffs), 1.96 * stdev(payoffs) / deals**0.5, deals * rules.players)


def main() -> None:
    parser = argparse.ArgumentParser(description="How strong the example bots are.")
    parser.add_argument("--deals", type=int, default=2000, help="deals for each comparison (default 2000)")
    parser.add_argument("--seed", default="strength", help="other text, other deals")
    options = parser.parse_args()
    for one, others in (("duck", "random"), ("heuristic", "duck"), ("heuristic", "random")):
        began = time.perf_counter()
        payoff = compare(bot(one), bot(others), options.deals, seed=options.seed)
        print(f"{one} against three {others}: {payoff}, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
