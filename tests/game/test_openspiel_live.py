"""Fresh random hands under random parameters, card by card beside the OpenSpiel that is installed."""

import itertools
import random

import pytest

from protocol.cards import CARD, each, names_of, set_of
from referee.game.hand import Hand
from referee.game.rulebook import rulebook
from referee.game.score import score_hand
from tests.game.openspiel import after_pass, rules_of

pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed")

NAMES = [rank + suit for rank in "23456789TJQKA" for suit in "CDHS"]
"""OpenSpiel numbers its cards by rank first, and its suits in this order."""

DIRECTIONS = ("hold", "left", "across", "right")
SWITCHES = (
    "pass_cards",
    "no_pts_on_first_trick",
    "can_lead_any_club",
    "jd_bonus",
    "avoid_all_tricks_bonus",
    "must_break_hearts",
    "qs_breaks_hearts",
    "can_lead_hearts_instead_of_qs",
)


@pytest.mark.parametrize("switches", list(itertools.product([False, True], repeat=3)))
def test_random_hands(switches: tuple[bool, ...]):
    """Three switches are fixed for each test, the other five and the cards are drawn anew for each hand."""
    seed = random.SystemRandom().getrandbits(32)
    lot = random.Random(seed)
    for number in range(125):
        params = dict(zip(SWITCHES, switches, strict=False))
        params |= {name: lot.random() < 0.5 for name in SWITCHES[3:]}
        play_beside(params, lot, f"seed {seed}, hand {number}, {params}")


def is_point(card: str) -> bool:
    return card[1] == "H" or card == "QS"


def play_beside(params: dict[str, bool], lot: random.Random, where: str) -> None:
    book = rulebook(rules_of(params))
    state = pyspiel.load_game("hearts", params).new_initial_state()
    direction = lot.choice(DIRECTIONS) if params["pass_cards"] else "hold"
    state.apply_action(DIRECTIONS.index(direction))
    pull = lot.choice(
        [1, 1, 0.3, 0.1]
    )  # the point cards are drawn to seat 0, or the rare rules would never act
    pack = sorted(range(52), key=lambda action: lot.random() * (pull if is_point(NAMES[action]) else 1))
    pack = [pack[13 * (place % 4) + place // 4] for place in range(52)]
    for action in pack:
        state.apply_action(action)
    dealt = [set_of(NAMES[action] for action in pack[seat::4]) for seat in range(4)]
    passes = None
    if direction != "hold":
        passes = [set_of(lot.sample(names_of(cards), 3)) for cards in dealt]
        for cards in passes:
            for card in each(cards):
                state.apply_action(NAMES.index(names_of(1 << card)[0]))
    hand = Hand(book, after_pass(book, dealt, passes, direction))
    while not state.is_terminal():
        assert hand.turn == state.current_player(), where
        actions = state.legal_actions()
        assert set(names_of(hand.legal)) == {NAMES[action] for action in actions}, where
        action = lot.choice(actions)
        state.apply_action(action)
        hand.play(CARD[NAMES[action]])
    assert hand.over, where
    points = score_hand(book, hand.won, hand.tricks_won, [0] * 4).points
    assert [26 - point for point in points] == state.returns(), where
