"""The rules compiled into card sets: tables whose ids are the rulebook's numbers."""

import pytest

from protocol.rules import Rules
from referee.game.rulebook import rulebook
from tests.game.notation import book, cards, text


def test_standard():
    standard = rulebook(Rules())
    assert (standard.seats, standard.hand_size, standard.pack_points) == (4, 13, 26)
    assert standard.deck == cards("*C *D *S *H")
    assert standard.point_cards == standard.barred_on_first_trick == cards("QS *H")
    assert standard.breaking == standard.unbroken_lead_bar == standard.forced_lead == cards("*H")
    assert [text(known) for known in (standard.opening_card, standard.bonus_card, standard.ten_of_clubs)] == [
        "2C",
        "JD",
        "TC",
    ]
    assert rulebook(Rules()) is standard


@pytest.mark.parametrize(
    ("rules", "field", "expected"),
    [
        pytest.param({"players": 3}, "deck", "*C 3D 4D 5D 6D 7D 8D 9D TD JD QD KD AD *S *H", id="2.2-three"),
        pytest.param({"players": 6}, "opening_card", "4C", id="4.1-six"),
        pytest.param({"first_trick": "free"}, "barred_on_first_trick", "", id="4.4-free"),
        pytest.param(
            {"first_trick": "strict_heart"}, "barred_on_first_trick", "QS *H", id="4.4-strict-heart"
        ),
        pytest.param({"queen_breaks": True}, "breaking", "QS *H", id="5.3-queen-breaks"),
        pytest.param({"forced_lead": "points"}, "forced_lead", "QS *H", id="5.4-points"),
        pytest.param(
            {"forced_lead": "points", "queen_points": 0, "ace_points": 7},
            "forced_lead",
            "QS AS *H",
            id="5.4-points-with-others",
        ),
        pytest.param({"queen_lead": "broken"}, "unbroken_lead_bar", "QS *H", id="5.5-queen-waits"),
        pytest.param({"queen_points": 0}, "point_cards", "*H", id="6.1-queen-free"),
        pytest.param(
            {"king_points": 10, "ace_points": 7}, "point_cards", "QS KS AS *H", id="6.1-costly-spades"
        ),
        pytest.param(
            {"removed": ["2H", "3H", "2C", "2D"]},
            "point_cards",
            "QS 4H 5H 6H 7H 8H 9H TH JH QH KH AH",
            id="6.1-hearts-removed",
        ),
        pytest.param({"jack_card": "TD"}, "bonus_card", "TD", id="7.1-ten"),
    ],
)
def test_card_sets(rules: dict, field: str, expected: str):
    assert text(getattr(book(**rules), field)) == text(cards(expected))


@pytest.mark.parametrize(
    ("rules", "held", "points"),
    [
        pytest.param({}, "*C *D *S *H", 26, id="6.1-pack"),
        pytest.param({}, "KS AS *C *D", 0, id="6.1-nothing"),
        pytest.param({}, "QS 2H AH", 15, id="6.1-standard"),
        pytest.param({"heart_points": "pips"}, "2H TH", 12, id="6.1-pips"),
        pytest.param({"heart_points": "pips"}, "JH QH KH AH", 50, id="6.1-pips-of-courts"),
        pytest.param({"heart_points": "pips", "queen_points": 25}, "*S *H", 129, id="6.1-spot"),
        pytest.param({"heart_points": "pips", "queen_points": 14}, "QS AH", 28, id="6.1-alike"),
        pytest.param({"king_points": 10, "ace_points": 7}, "QS KS AS 3H", 31, id="6.1-costly-spades"),
        pytest.param({"jack_points": -10}, "JD TD 5H", 1, id="6.1-bonus-card-is-apart"),
    ],
)
def test_penalty(rules: dict, held: str, points: int):
    assert book(**rules).penalty(cards(held)) == points


@pytest.mark.parametrize(
    ("rules", "hand", "first", "direction"),
    [
        pytest.param({}, 1, 1, "left", id="3.2-first"),
        pytest.param({}, 4, 1, "hold", id="3.2-fourth"),
        pytest.param({}, 5, 1, "left", id="3.2-again"),
        pytest.param({}, 1, 3, "across", id="3.2-begins-later"),
        pytest.param({}, 2, 4, "left", id="3.2-begins-at-the-end"),
        pytest.param({"pass_count": 0}, 1, 1, "hold", id="3.1-none"),
        pytest.param({"pass_count": 1}, 1, 1, "left", id="3.1-one"),
    ],
)
def test_direction(rules: dict, hand: int, first: int, direction: str):
    assert book(**rules).direction(hand, first) == direction
