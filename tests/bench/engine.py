"""Random legal hands a second: our `Hand` beside OpenSpiel's engine, driven from Python in the same run.

    python tests/bench/engine.py [--rounds 15] [--hands 400]

A hand is dealt, passed, played to its 52nd card at random and scored.  The engines take turns, one round
each, by the clock of the CPU, so that a busy machine is as unkind to all of them.  OpenSpiel's engine is C++;
what is measured is what a Python program gets of it.  It is driven in three ways: with each card of the deal
drawn from the outcomes that it names, all as likely; by a random legal action at every step, the deal's too,
which leaves their odds out; and with the deal handed to it.  Needs open_spiel.
"""

import argparse
from collections.abc import Callable
from random import choice, random, shuffle
from statistics import median
from time import process_time

import pyspiel

from protocol.cards import Card, CardSet
from protocol.rules import rules_from
from referee.game.hand import Hand
from referee.game.rulebook import rulebook
from referee.game.score import score_hand


def pick(cards: CardSet) -> Card:
    """One card of a set, each as likely."""
    skip = int(random() * cards.bit_count())
    while skip:
        cards &= cards - 1
        skip -= 1
    return (cards & -cards).bit_length() - 1


def pick_three(cards: CardSet) -> CardSet:
    """Three cards of a set."""
    rest = cards
    for _ in range(3):
        rest ^= 1 << pick(rest)
    return cards ^ rest


def ours(hands: int) -> float:
    """CPU seconds for this many hands."""
    book = rulebook(rules_from({"queen_breaks": True}))
    pack = [1 << card for card in range(52)]
    start = process_time()
    for number in range(hands):
        pack.sort(key=lambda _: random())
        held = [sum(pack[first : first + 13]) for first in range(0, 52, 13)]
        direction = book.direction(number + 1)
        if direction != "hold":
            passes = [pick_three(cards) for cards in held]
            for seat, cards in enumerate(passes):
                held[seat] ^= cards
            for seat, cards in enumerate(passes):
                held[book.receiver(seat, direction)] |= cards
        hand = Hand(book, held)
        for _ in range(52):
            hand.play(pick(hand.legal))
        score_hand(book, hand.won, hand.tricks_won, [0] * 4)
    return process_time() - start


def openspiel_outcomes(hands: int) -> float:
    """CPU seconds for this many hands of OpenSpiel's, each card of the deal one of its chance outcomes."""
    game = pyspiel.load_game("hearts")
    start = process_time()
    for _ in range(hands):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                action, _ = choice(state.chance_outcomes())
                state.apply_action(action)
            else:
                state.apply_action(choice(state.legal_actions()))
        state.returns()
    return process_time() - start


def openspiel_loop(hands: int) -> float:
    """CPU seconds for this many hands of OpenSpiel's, each step a random one of its legal actions."""
    game = pyspiel.load_game("hearts")
    start = process_time()
    for _ in range(hands):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(choice(state.legal_actions()))
        state.returns()
    return process_time() - start


def openspiel_dealt(hands: int) -> float:
    """The same, with the direction and the cards of the deal handed to it."""
    game = pyspiel.load_game("hearts")
    pack = list(range(52))
    start = process_time()
    for number in range(hands):
        shuffle(pack)
        state = game.new_initial_state()
        state.apply_action(number % 4)
        for card in pack:
            state.apply_action(card)
        while not state.is_terminal():
            state.apply_action(choice(state.legal_actions()))
        state.returns()
    return process_time() - start


ENGINES: dict[str, Callable[[int], float]] = {
    "ours": ours,
    "OpenSpiel, chance outcomes": openspiel_outcomes,
    "OpenSpiel, legal actions": openspiel_loop,
    "OpenSpiel, dealt by hand": openspiel_dealt,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--hands", type=int, default=400, help="hands in a round")
    args = parser.parse_args()
    for engine in ENGINES.values():
        engine(args.hands // 4)  # warm up
    rounds = [{name: engine(args.hands) for name, engine in ENGINES.items()} for _ in range(args.rounds)]
    print(f"hands a second, median of {args.rounds} rounds of {args.hands}, in turns")
    for name in ENGINES:
        rate = args.hands / median(seconds[name] for seconds in rounds)
        ratio = median(seconds[name] / seconds["ours"] for seconds in rounds)
        print(
            f"{name:>26} {rate:>8,.0f}" + ("" if name == "ours" else f"   ours is {ratio:.2f} times as fast")
        )


if __name__ == "__main__":
    main()
