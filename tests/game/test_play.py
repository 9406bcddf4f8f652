"""What may be played and why not: tables whose ids are the rulebook's numbers."""

import pytest

from protocol.cards import NAMES, set_of
from referee.game.hand import Hand, IllegalPlay
from referee.game.play import breaks_hearts, legal_follow, legal_lead, trick_winner, why_illegal
from tests.game.notation import SUITS, book, card, cards, row, text

STANDARD = "2C 5C KC 3D 9D JD 4S QS AS 2H 7H TH KH"


@pytest.mark.parametrize(
    ("rules", "hand", "broken", "first", "legal"),
    [
        pytest.param({}, STANDARD, False, True, "2C", id="4.1-lowest-club"),
        pytest.param({"players": 5}, "3C 5C KC", False, True, "3C", id="4.1-lowest-club-of-five"),
        pytest.param({"opening": "any_club"}, STANDARD, False, True, "2C 5C KC", id="4.1-any-club"),
        pytest.param(
            {"opening": "eldest"}, "4S QS 2H", False, True, "4S QS", id="4.1-eldest-hearts-not-broken"
        ),
        pytest.param(
            {"opening": "eldest", "must_break": False}, "4S 2H", True, True, "4S 2H", id="4.1-eldest"
        ),
        pytest.param({}, "2C 4S QS 2H", False, False, "2C 4S QS", id="5.1-not-broken"),
        pytest.param({}, "2C 4S QS 2H", True, False, "2C 4S QS 2H", id="5.1-broken"),
        pytest.param({}, "2H 9H", False, False, "2H 9H", id="5.4-hearts-alone"),
        pytest.param({}, "QS 9H", False, False, "QS", id="5.4-hearts-and-queen"),
        pytest.param({"forced_lead": "points"}, "QS 9H", False, False, "QS 9H", id="5.4-points"),
        pytest.param({"forced_lead": "points"}, "KS QS 9H", False, False, "QS KS", id="5.4-points-and-king"),
        pytest.param(
            {"forced_lead": "points", "king_points": 1},
            "KS QS 9H",
            False,
            False,
            "QS KS 9H",
            id="5.4-points-and-costly-king",
        ),
        pytest.param({"queen_lead": "broken"}, "3D QS 9H", False, False, "3D", id="5.5-queen-waits"),
        pytest.param(
            {"queen_lead": "broken"}, "3D QS 9H", True, False, "3D QS 9H", id="5.5-queen-free-again"
        ),
        pytest.param({"queen_lead": "broken"}, "QS 9H", False, False, "QS 9H", id="4.8-nothing-left"),
    ],
)
def test_legal_lead(rules: dict, hand: str, broken: bool, first: bool, legal: str):
    assert text(legal_lead(book(**rules), cards(hand), broken, first)) == legal


@pytest.mark.parametrize(
    ("rules", "hand", "led", "first", "legal"),
    [
        pytest.param({}, "2C KC QS", "C", False, "2C KC", id="4.3-must-follow"),
        pytest.param({}, "2C KC QS", "C", True, "2C KC", id="4.3-must-follow-on-the-first-trick"),
        pytest.param({}, "5D QS AH", "C", False, "5D QS AH", id="4.3-void-plays-any"),
        pytest.param({}, "5D QS AH", "C", True, "5D", id="4.4-strict"),
        pytest.param({"first_trick": "strict_heart"}, "5D QS AH", "C", True, "5D", id="4.4-strict-heart"),
        pytest.param({"first_trick": "free"}, "5D QS AH", "C", True, "5D QS AH", id="4.4-free"),
        pytest.param({"ace_points": 7}, "5D KS AS", "C", True, "5D KS", id="4.4-costly-ace"),
        pytest.param({"jack_points": -10}, "JD QS", "C", True, "JD", id="4.4-bonus-card"),
        pytest.param({}, "QS AH", "C", True, "QS AH", id="4.5-points-alone"),
        pytest.param({"first_trick": "strict_heart"}, "QS AH", "C", True, "AH", id="4.5-must-be-a-heart"),
        pytest.param({"first_trick": "strict_heart"}, "QS", "C", True, "QS", id="4.5-no-heart"),
    ],
)
def test_legal_follow(rules: dict, hand: str, led: str, first: bool, legal: str):
    assert text(legal_follow(book(**rules), cards(hand), SUITS[led], first)) == legal


@pytest.mark.parametrize(
    ("rules", "played", "led", "breaks"),
    [
        pytest.param({}, "4H", "D", True, id="5.2-discarded"),
        pytest.param({}, "4H", "H", True, id="5.2-led-or-followed"),
        pytest.param({}, "4D", "H", False, id="5.2-no-heart"),
        pytest.param({"breaks": "discard"}, "4H", "D", True, id="5.2-discard-discarded"),
        pytest.param({"breaks": "discard"}, "4H", "H", False, id="5.2-discard-led-or-followed"),
        pytest.param({}, "QS", "D", False, id="5.3-queen-does-not"),
        pytest.param({"queen_breaks": True}, "QS", "S", True, id="5.3-queen-led-or-followed"),
        pytest.param(
            {"queen_breaks": True, "breaks": "discard"}, "QS", "S", False, id="5.3-queen-not-discarded"
        ),
        pytest.param({"queen_breaks": True, "breaks": "discard"}, "QS", "C", True, id="5.3-discarded"),
        pytest.param({"queen_breaks": True}, "KS", "D", False, id="5.3-king-does-not"),
    ],
)
def test_breaks_hearts(rules: dict, played: str, led: str, breaks: bool):
    assert breaks_hearts(book(**rules), card(played), SUITS[led]) is breaks


@pytest.mark.parametrize(
    ("trick", "leader", "winner"),
    [
        pytest.param("5D 9D KD 2D", 0, 2, id="4.6-highest"),
        pytest.param("5D AH AS AC", 3, 3, id="4.6-discards-never"),
        pytest.param("2S 3S 4S 5S", 1, 0, id="4.6-around-the-table"),
        pytest.param("5C AD KC", 2, 1, id="4.6-three"),
        pytest.param("5H 2H 3H 4H 6H JC", 4, 2, id="4.6-six"),
    ],
)
def test_trick_winner(trick: str, leader: int, winner: int):
    assert trick_winner(row(trick), cards(trick), leader) == winner


@pytest.mark.parametrize(
    ("rules", "hand", "played", "led", "first", "why"),
    [
        pytest.param({}, "2C 3D", "AS", "", False, "not in your hand", id="3-not-held-leading"),
        pytest.param({}, "2C 3D", "AS", "C", False, "not in your hand", id="3-not-held-following"),
        pytest.param({}, "2C 3D", "3D", "C", False, "must follow clubs", id="4.3-clubs"),
        pytest.param({}, "2D 3C", "3C", "D", False, "must follow diamonds", id="4.3-diamonds"),
        pytest.param({}, "2S 3D", "3D", "S", False, "must follow spades", id="4.3-spades"),
        pytest.param({}, "2H 3D", "3D", "H", True, "must follow hearts", id="4.3-hearts"),
        pytest.param({}, "2D QS", "QS", "C", True, "no point card on the first trick", id="4.4-queen"),
        pytest.param({}, "2D 3H", "3H", "C", True, "no point card on the first trick", id="4.4-heart"),
        pytest.param(
            {"first_trick": "strict_heart"},
            "2D QS 3H",
            "QS",
            "C",
            True,
            "no point card on the first trick",
            id="4.4-queen-under-strict-heart",
        ),
        pytest.param(
            {"first_trick": "strict_heart"}, "QS 3H", "QS", "C", True, "must discard a heart", id="4.5-queen"
        ),
        pytest.param({}, "2C 3C", "3C", "", True, "must lead 2C", id="4.1-lowest-club"),
        pytest.param({"players": 6}, "4C 3D", "3D", "", True, "must lead 4C", id="4.1-lowest-club-of-six"),
        pytest.param({"opening": "any_club"}, "2C 3D", "3D", "", True, "must lead a club", id="4.1-any-club"),
        pytest.param(
            {"opening": "eldest"},
            "2C 3H",
            "3H",
            "",
            True,
            "hearts may not be led before hearts are broken",
            id="5.1-eldest",
        ),
        pytest.param(
            {}, "2C 3H", "3H", "", False, "hearts may not be led before hearts are broken", id="5.1-heart"
        ),
        pytest.param(
            {"opening": "any_club"},
            "2C 3H",
            "3H",
            "",
            False,
            "hearts may not be led before hearts are broken",
            id="5.1-heart-later",
        ),
        pytest.param(
            {"queen_lead": "broken"},
            "2C QS",
            "QS",
            "",
            False,
            "the queen of spades may not be led before hearts are broken",
            id="5.5-queen",
        ),
    ],
)
def test_why_illegal(rules: dict, hand: str, played: str, led: str, first: bool, why: str):
    suit = SUITS[led] if led else 0
    assert why_illegal(book(**rules), cards(hand), card(played), suit, first) == why


# --- a hand ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "hands", "dealer", "leader"),
    [
        pytest.param({}, "*D | *S | *C | *H", 0, 2, id="4.1-two-of-clubs"),
        pytest.param({}, "*D | *S | *C | *H", 2, 2, id="4.1-the-dealer-does-not-matter"),
        pytest.param({"opening": "any_club"}, "*D | *S | *H | *C", 0, 3, id="4.1-any-club"),
        pytest.param({"opening": "eldest"}, "*C | *D | *S | *H", 0, 1, id="4.1-eldest"),
        pytest.param({"opening": "eldest"}, "*C | *D | *S | *H", 3, 0, id="4.1-eldest-around-the-table"),
    ],
)
def test_who_leads(rules: dict, hands: str, dealer: int, leader: int):
    hand = Hand(book(**rules), [cards(held) for held in hands.split("|")], dealer)
    assert (hand.turn, hand.lead) == (leader, leader)


def test_seat_0_deals_unless_another_is_named():
    hand = Hand(book(opening="eldest"), [cards(suit) for suit in ("*C", "*D", "*S", "*H")])
    assert hand.turn == 1


SHORT = "2C 5D 2H | 3C QS 3H | 4C 3D 4D | 5C 2D 4H"
QUEEN_FALLS = "2C 3C 4C 5C 2D 5D QS 3D 2H 3H 4D 4H"
HEART_FALLS = "2C 3C 4C 5C 2D 5D 3H 3D 2H QS 4D 4H"


@pytest.mark.parametrize(
    ("rules", "plays", "broken_from"),
    [
        pytest.param({}, HEART_FALLS, "3H", id="5.2-discarded"),
        pytest.param({}, QUEEN_FALLS, "2H", id="5.2-led"),
        pytest.param({"breaks": "discard"}, HEART_FALLS, "3H", id="5.2-discard-discarded"),
        pytest.param({"breaks": "discard"}, QUEEN_FALLS, None, id="5.2-discard-led-and-followed"),
        pytest.param({"queen_breaks": True}, QUEEN_FALLS, "QS", id="5.3-queen"),
        pytest.param(
            {"queen_breaks": True, "breaks": "discard"}, QUEEN_FALLS, "QS", id="5.3-queen-discarded"
        ),
        pytest.param({"must_break": False}, QUEEN_FALLS, "2C", id="5.1-no-need"),
    ],
)
def test_breaking_in_a_hand(rules: dict, plays: str, broken_from: str | None):
    held = [cards(part) for part in SHORT.split("|")]
    removed = [name for name in NAMES if not set_of([name]) & sum(held)]
    hand = Hand(book(removed=removed, **rules), held)
    order = plays.split()
    since = order.index(broken_from) if broken_from else len(order)
    for place, name in enumerate(order):
        hand.play(card(name))
        assert hand.broken is (place >= since)
    assert hand.over


def test_a_hand_card_by_card():
    """Seat 1 has the clubs, seat 2 discards the queen on them once the first trick is over."""
    spades = "2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AS"
    hand = Hand(book(), [cards("*D"), cards("*C"), cards(spades), cards("*H")])
    assert (hand.turn, text(hand.legal)) == (1, "2C")
    hand.play(card("2C"))
    assert text(hand.legal) == spades.replace("QS ", "")  # 4.4
    with pytest.raises(IllegalPlay, match="no point card on the first trick"):
        hand.play(card("QS"))
    hand.play(card("AS"))
    assert text(hand.legal) == text(cards("*H"))  # 4.5
    hand.play(card("2H"))
    assert hand.broken  # 5.2
    hand.play(card("2D"))
    assert hand.tricks == [(1, tuple(row("2C AS 2H 2D")), 1)]
    assert (hand.taken, hand.tricks_won, hand.trick) == ([0, 1, 0, 0], [0, 1, 0, 0], [])
    hand.play(card("3C"))
    assert hand.trick == row("3C")
    hand.play(card("QS"))
    hand.play(card("3H"))
    hand.play(card("3D"))
    assert hand.taken == [0, 15, 0, 0]
    assert text(hand.won[1]) == "2C 3C 2D 3D QS AS 2H 3H"
    assert not hand.over
    for _ in range(11 * 4):
        hand.play(hand.legal.bit_length() - 1)
    assert hand.over
    assert (hand.taken, hand.tricks_won, hand.legal) == ([0, 26, 0, 0], [0, 13, 0, 0], 0)


def test_a_card_that_is_not_held_is_refused_as_such():
    hand = Hand(book(), [cards("*C"), cards("*D"), cards("*S"), cards("*H")])
    hand.play(card("2C"))
    with pytest.raises(IllegalPlay, match="not in your hand"):
        hand.play(card("3C"))
    with pytest.raises(IllegalPlay, match="not in your hand"):
        hand.play(card("2C"))


def test_hearts_count_as_broken_where_they_need_no_breaking():
    hand = Hand(book(must_break=False), [cards("*C"), cards("*D"), cards("*S"), cards("*H")])
    assert hand.broken  # 5.1
