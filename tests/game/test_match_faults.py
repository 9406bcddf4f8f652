"""What faults cost, as transcripts: what goes into the match machine, and what comes out, in order.

The deck has twelve cards, so that a whole hand can be read.  Without a pass seat 0 leads its 2 of clubs,
seat 3 takes the clubs and leads 2D, seat 0 takes the diamonds with what is discarded on them and leads 2H,
and seat 3 takes the hearts.
"""

from hashlib import sha256
from textwrap import dedent

import pytest

from protocol.messages import Pass, Play, Ready
from protocol.rules import Conditions, OnFault, Rules, rules_from
from referee.game.events import (
    Answered,
    Dealt,
    Failed,
    FaultRecord,
    HandOverRecord,
    Input,
    PassRecord,
    PlayRecord,
    SeatRecord,
)
from referee.game.match import Match, OutOfTurn
from tests.game import plain
from tests.game.driver import Driver, give, hands, header, play, ready, transcript

KEPT = ["2C", "3C", "4C", "5C", "2D", "3D", "4D", "5D", "QS", "2H", "3H", "4H"]
DEAL = "2C 5D 2H | 3C QS 3H | 4C 3D 4D | 5C 2D 4H"
POLICIES: tuple[OnFault, ...] = ("retire", "substitute", "hand", "match")


def house(**fields: object) -> Rules:
    removed = [card for card in plain.PACK if card not in KEPT]
    return rules_from({"removed": removed, "pass_count": 0} | fields)


def sat_down(on_fault: OnFault = "retire", strikes: int = 0, watch=(), **fields: object) -> Driver:
    """A match whose first hand is dealt."""
    terms = Conditions(on_fault=on_fault, strikes=strikes)
    driver = Driver(header(house(**fields), terms), lambda hand: hands(DEAL), watch)
    driver.sit()
    return driver


def failed(seat: int, kind: str = "timeout", detail: str = "no answer") -> Failed:
    return Failed(seat, kind, detail)  # type: ignore[arg-type]


def put(driver: Driver, *inputs: Input) -> list[str]:
    """What the last of these inputs causes."""
    for what in inputs[:-1]:
        driver.put(what)
    return transcript(driver.put(inputs[-1]))


def lines(text: str) -> list[str]:
    return dedent(text).strip().splitlines()


# --- no fault --------------------------------------------------------------------------------------------


def test_sound_hand():
    driver = sat_down(watch=[2])
    assert transcript(driver.effects) == lines("""
        ask 0
        ask 1
        ask 2
        ask 3
        match: bot 0, bot 1, bot 2, bot 3
        want deal 1
        deal 1 by 0, hold: 2C 5D 2H, 3C QS 3H, 4C 3D 4D, 5C 2D 4H
        ask 0
    """)
    clubs = [play(0, "2C"), play(1, "3C"), play(2, "4C")]
    assert put(driver, *clubs) == ["2 plays 4C", "tell 2 2 played 4C", "ask 3"]
    diamonds = [play(3, "5C"), play(3, "2D"), play(0, "5D"), play(1, "QS"), play(2, "3D")]
    assert put(driver, *diamonds) == ["2 plays 3D", "tell 2 2 played 3D", "ask 0"]
    assert put(driver, play(0, "2H"), play(1, "3H"), play(2, "4D"), play(3, "4H")) == lines("""
        3 plays 4H
        tell 2 3 played 4H
        hand over: 13 0 0 3 makes 13 0 0 3
        tell 0 hand over 13 0 0 3 makes 13 0 0 3
        tell 1 hand over 13 0 0 3 makes 13 0 0 3
        tell 2 hand over 13 0 0 3 makes 13 0 0 3
        tell 3 hand over 13 0 0 3 makes 13 0 0 3
        want deal 2
        deal 2 by 1, hold: 2C 5D 2H, 3C QS 3H, 4C 3D 4D, 5C 2D 4H
        ask 0
    """)


def test_sound_pass_is_applied_when_all_are_in_and_in_the_order_of_seats():
    driver = sat_down(watch=[1], pass_count=1)
    assert transcript(driver.effects)[-5:] == lines("""
        deal 1 by 0, left: 2C 5D 2H, 3C QS 3H, 4C 3D 4D, 5C 2D 4H
        ask 0
        ask 1
        ask 2
        ask 3
    """)
    assert put(driver, give(3, "4H")) == []
    assert put(driver, give(1, "3C")) == []
    assert put(driver, give(0, "2C")) == []
    assert put(driver, give(2, "4D")) == lines("""
        0 passes 2C
        1 passes 3C
        2 passes 4D
        3 passes 4H
        tell 1 0 passed
        tell 1 1 passed
        tell 1 2 passed
        tell 1 3 passed
        ask 1
    """)
    assert driver.match.request(1, 7, 1000).cards == ("2C", "QS", "3H")


# --- in play ---------------------------------------------------------------------------------------------

FAULT_IN_PLAY = {
    "retire": """
        fault of 1, hand 1 trick 1: illegal_play, must follow clubs; retire
        tell 1 match over fault, ranks none, scores 0 0 0 0, retired 1
        dismiss 1
        1 plays 3C by referee
        ask 2
    """,
    "substitute": """
        fault of 1, hand 1 trick 1: illegal_play, must follow clubs; substitute
        1 plays 3C by referee
        ask 2
    """,
    "hand": """
        fault of 1, hand 1 trick 1: illegal_play, must follow clubs; hand
        hand over: 0 16 0 0 makes 0 16 0 0
        tell 0 hand over 0 16 0 0 makes 0 16 0 0
        tell 1 hand over 0 16 0 0 makes 0 16 0 0
        tell 2 hand over 0 16 0 0 makes 0 16 0 0
        tell 3 hand over 0 16 0 0 makes 0 16 0 0
        want deal 2
        deal 2 by 1, hold: 2C 5D 2H, 3C QS 3H, 4C 3D 4D, 5C 2D 4H
        ask 0
    """,
    "match": """
        fault of 1, hand 1 trick 1: illegal_play, must follow clubs; match
        match over: fault, ranks 1 4 1 1, scores 0 0 0 0, retired 1
        tell 0 match over fault, ranks 1 4 1 1, scores 0 0 0 0, retired 1
        dismiss 0
        tell 1 match over fault, ranks 1 4 1 1, scores 0 0 0 0, retired 1
        dismiss 1
        tell 2 match over fault, ranks 1 4 1 1, scores 0 0 0 0, retired 1
        dismiss 2
        tell 3 match over fault, ranks 1 4 1 1, scores 0 0 0 0, retired 1
        dismiss 3
    """,
}


@pytest.mark.parametrize("policy", POLICIES)
def test_illegal_play(policy: OnFault):
    driver = sat_down(policy)
    assert put(driver, play(0, "2C"), play(1, "QS")) == lines(FAULT_IN_PLAY[policy])
    (fault,) = driver.records(FaultRecord)
    assert (fault.cards, fault.reply) == (("QS",), None)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", ["timeout", "malformed", "wrong_id", "unasked"])
def test_a_fault_of_the_line_costs_what_an_illegal_play_does(policy: OnFault, kind: str):
    told = "illegal_play, must follow clubs"
    expected = [line.replace(told, f"{kind}, no answer") for line in lines(FAULT_IN_PLAY[policy])]
    assert put(sat_down(policy), play(0, "2C"), failed(1, kind)) == expected


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", ["exit", "closed", "too_long"])
def test_a_process_of_no_more_use_is_started_anew_if_its_seat_plays_on(policy: OnFault, kind: str):
    told = "illegal_play, must follow clubs"
    expected = [line.replace(told, f"{kind}, no answer") for line in lines(FAULT_IN_PLAY[policy])]
    if policy in ("substitute", "hand"):
        expected.insert(1, "restart 1")
    assert put(sat_down(policy), play(0, "2C"), failed(1, kind)) == expected


@pytest.mark.parametrize("policy", POLICIES)
def test_a_process_that_will_not_start_again_retires(policy: OnFault):
    told = "illegal_play, must follow clubs"
    like = "match" if policy == "match" else "retire"
    expected = [line.replace(told, "launch, no answer") for line in lines(FAULT_IN_PLAY[like])]
    assert put(sat_down(policy), play(0, "2C"), failed(1, "launch")) == expected


def test_what_was_written_and_how_long_it_took_is_recorded():
    driver = sat_down("substitute")
    driver.put(play(0, "2C"))
    driver.put(Failed(1, "malformed", "not JSON", reply="3C please", us=42))
    (fault,) = driver.records(FaultRecord)
    assert (fault.reply, fault.us, fault.cards) == ("3C please", 42, None)


def test_who_made_a_move_and_how():
    """A bot's move carries its time and its note, the caretaker's neither."""
    driver = sat_down("substitute", pass_count=1)
    driver.put(Answered(0, Pass(7, ("5D",), "the diamond"), us=11))
    driver.put(failed(1))
    driver.put(give(2, "3D"))
    driver.put(Failed(3, "illegal_pass", "no cards", us=12))
    made = [(record.us, record.note, record.by) for record in driver.records(PassRecord)]
    assert made == [
        (11, "the diamond", None),
        (None, None, None),
        (None, None, "referee"),
        (None, None, "referee"),
    ]
    assert [(fault.us, fault.cards) for fault in driver.records(FaultRecord)] == [(None, None), (12, None)]
    driver.put(Answered(0, Play(7, "2C", "the only one"), us=13))
    driver.put(failed(1))
    made = [(record.us, record.note, record.by) for record in driver.records(PlayRecord)]
    assert made == [(13, "the only one", None), (None, None, "referee")]


def test_what_is_out_of_turn_is_said():
    driver = sat_down(pass_count=1)
    with pytest.raises(OutOfTurn, match=r"^seat 0 was asked for a Pass$"):
        driver.put(play(0, "2C"))
    with pytest.raises(OutOfTurn, match=r"^no deal is wanted now$"):
        driver.put(Dealt(tuple(hands(DEAL))))
    driver.put(give(0, "2C"))
    with pytest.raises(OutOfTurn, match=r"^seat 0 was not asked$"):
        driver.put(give(0, "2C"))
    match = Match(header(house()))
    match.begin()
    for seat in range(4):
        match.advance(ready(seat))
    with pytest.raises(OutOfTurn, match=r"^a deal gives each of 4 seats 3 cards of the deck$"):
        match.advance(Dealt(()))


# --- retirement ------------------------------------------------------------------------------------------


def test_the_caretaker_plays_a_retired_seat_to_the_end_of_the_match():
    driver = sat_down("retire", max_hands=2, moon="off")
    assert put(driver, failed(0)) == lines("""
        fault of 0, hand 1 trick 1: timeout, no answer; retire
        tell 0 match over fault, ranks none, scores 0 0 0 0, retired 0
        dismiss 0
        0 plays 2C by referee
        ask 1
    """)
    assert put(driver, play(1, "3C"), play(2, "4C"), play(3, "5C"), play(3, "2D")) == lines("""
        3 plays 2D
        0 plays 5D by referee
        ask 1
    """)
    assert put(driver, play(1, "QS"), play(2, "3D")) == ["2 plays 3D", "0 plays 2H by referee", "ask 1"]
    assert put(driver, play(1, "3H"), play(2, "4D"), play(3, "4H")) == lines("""
        3 plays 4H
        hand over: 13 0 0 3 makes 13 0 0 3
        tell 1 hand over 13 0 0 3 makes 13 0 0 3
        tell 2 hand over 13 0 0 3 makes 13 0 0 3
        tell 3 hand over 13 0 0 3 makes 13 0 0 3
        want deal 2
        deal 2 by 1, hold: 2C 5D 2H, 3C QS 3H, 4C 3D 4D, 5C 2D 4H
        0 plays 2C by referee
        ask 1
    """)
    clubs = [play(1, "3C"), play(2, "4C"), play(3, "5C"), play(3, "2D")]
    assert put(driver, *clubs, play(1, "3H"), play(2, "3D")) == lines("""
        2 plays 3D
        0 plays 2H by referee
        ask 1
    """)
    assert put(driver, play(1, "QS"), play(2, "4D"), play(3, "4H")) == lines("""
        3 plays 4H
        hand over: 1 0 0 15 makes 14 0 0 18
        tell 1 hand over 1 0 0 15 makes 14 0 0 18
        tell 2 hand over 1 0 0 15 makes 14 0 0 18
        tell 3 hand over 1 0 0 15 makes 14 0 0 18
        match over: max_hands, ranks 4 1 1 3, scores 14 0 0 18, retired 0
        tell 1 match over max_hands, ranks 4 1 1 3, scores 14 0 0 18, retired 0
        dismiss 1
        tell 2 match over max_hands, ranks 4 1 1 3, scores 14 0 0 18, retired 0
        dismiss 2
        tell 3 match over max_hands, ranks 4 1 1 3, scores 14 0 0 18, retired 0
        dismiss 3
    """)


def play_hand(driver: Driver, discard: str = "QS") -> list[str]:
    """The rest of a hand, each seat's lowest card first, and `discard` from seat 1 on the diamonds."""
    told: list[str] = []
    over = len(driver.records(HandOverRecord))
    while driver.asked and len(driver.records(HandOverRecord)) == over:
        seat = driver.asked[0]
        legal = driver.match.request(seat, 7, 1000).legal
        told += put(driver, play(seat, discard if discard in legal else legal[0]))
    return told


def test_a_retired_seats_total_may_end_the_match_but_is_no_lowest():
    driver = sat_down("retire", target=26, moon="off")
    driver.put(failed(0))  # from here on the caretaker holds the seat that takes the diamonds
    play_hand(driver)
    assert driver.match.scores == (13, 0, 0, 3)
    told = play_hand(driver)
    assert driver.match.scores == (26, 0, 0, 6)
    assert driver.match.end is None  # seats 1 and 2 tie for the lowest
    told = play_hand(driver, discard="3H")
    assert driver.match.scores == (27, 0, 0, 21)
    assert "match over" not in "".join(told)

    driver = sat_down("retire", target=26, moon="off", tie="shared")
    driver.put(failed(0))
    play_hand(driver)
    assert "match over: target, ranks 4 1 1 3, scores 26 0 0 6, retired 0" in play_hand(driver)


def test_a_retired_seat_ranks_last_although_its_total_is_the_lowest():
    driver = sat_down("retire", target=13, moon="off", tie="shared")
    driver.put(play(0, "2C"))
    driver.put(failed(1))
    told = play_hand(driver)
    assert "1 plays QS by referee" in told
    assert "match over: target, ranks 3 4 1 2, scores 13 0 0 3, retired 1" in told


def test_one_left_has_won_and_the_match_ends_after_that_hand():
    driver = sat_down("retire", moon="off")
    assert put(driver, failed(0))[-1] == "ask 1"
    assert put(driver, failed(1))[-1] == "ask 2"
    assert put(driver, play(2, "4C"), failed(3)) == lines("""
        fault of 3, hand 1 trick 1: timeout, no answer; retire
        tell 3 match over fault, ranks none, scores 0 0 0 0, retired 0 1 3
        dismiss 3
        3 plays 5C by referee
        3 plays 2D by referee
        0 plays 5D by referee
        1 plays QS by referee
        ask 2
    """)
    assert put(driver, play(2, "3D"), play(2, "4D")) == lines("""
        2 plays 4D
        3 plays 4H by referee
        hand over: 13 0 0 3 makes 13 0 0 3
        tell 2 hand over 13 0 0 3 makes 13 0 0 3
        match over: one_left, ranks 2 2 1 2, scores 13 0 0 3, retired 0 1 3
        tell 2 match over one_left, ranks 2 2 1 2, scores 13 0 0 3, retired 0 1 3
        dismiss 2
    """)


def test_one_left_and_the_target_reached_is_an_end_by_the_target():
    driver = sat_down("retire", moon="off", target=13)
    for seat in (0, 1):
        driver.put(failed(seat))
    driver.put(play(2, "4C"))
    driver.put(failed(3))
    assert "match over: target, ranks 2 2 1 2, scores 13 0 0 3, retired 0 1 3" in play_hand(driver)


def test_none_left_is_void():
    driver = sat_down("retire")
    for seat in (0, 1, 2):
        driver.put(failed(seat))
    assert put(driver, failed(3)) == lines("""
        fault of 3, hand 1 trick 1: timeout, no answer; retire
        tell 3 match over fault, ranks none, scores 0 0 0 0, retired 0 1 2 3
        dismiss 3
        match over: void, ranks none, scores 0 0 0 0, retired 0 1 2 3
    """)
    with pytest.raises(OutOfTurn):
        driver.put(play(3, "5C"))


def test_who_watches_sees_the_caretaker_too_until_it_retires():
    driver = sat_down("retire", watch=[1, 3])
    assert put(driver, failed(0)) == lines("""
        fault of 0, hand 1 trick 1: timeout, no answer; retire
        tell 0 match over fault, ranks none, scores 0 0 0 0, retired 0
        dismiss 0
        0 plays 2C by referee
        tell 1 0 played 2C
        tell 3 0 played 2C
        ask 1
    """)
    assert put(driver, failed(1))[-3:] == ["1 plays 3C by referee", "tell 3 1 played 3C", "ask 2"]


def test_a_new_process_in_a_seat_may_watch_or_not():
    driver = sat_down("substitute", watch=[1, 3])
    driver.put(failed(0, "exit"))
    driver.match.rejoin(0, Ready(7, "bot", "2", watch=True))
    driver.match.rejoin(3, Ready(7, "bot", "2"))
    told = put(driver, play(1, "3C"))
    assert told == ["1 plays 3C", "tell 0 1 played 3C", "tell 1 1 played 3C", "ask 2"]
    driver.match.rejoin(1, Ready(7, "bot", "2", watch=True))
    assert put(driver, play(2, "4C")) == ["2 plays 4C", "tell 0 2 played 4C", "tell 1 2 played 4C", "ask 3"]


# --- in the pass -----------------------------------------------------------------------------------------

FAULTS_IN_THE_PASS = {
    "retire": """
        0 passes 5D
        2 passes 3D
        fault of 1, hand 1 trick 0: illegal_pass, 2C is not in your hand; retire
        fault of 3, hand 1 trick 0: exit, no answer; retire
        tell 1 match over fault, ranks none, scores 0 0 0 0, retired 1
        dismiss 1
        tell 3 match over fault, ranks none, scores 0 0 0 0, retired 1 3
        dismiss 3
        1 passes 3H by referee
        3 passes 2D by referee
        ask 0
    """,
    "substitute": """
        0 passes 5D
        2 passes 3D
        fault of 1, hand 1 trick 0: illegal_pass, 2C is not in your hand; substitute
        fault of 3, hand 1 trick 0: exit, no answer; substitute
        restart 3
        1 passes 3H by referee
        3 passes 2D by referee
        ask 0
    """,
    "hand": """
        0 passes 5D
        2 passes 3D
        fault of 1, hand 1 trick 0: illegal_pass, 2C is not in your hand; hand
        fault of 3, hand 1 trick 0: exit, no answer; hand
        restart 3
        hand over: 0 16 0 16 makes 0 16 0 16
        tell 0 hand over 0 16 0 16 makes 0 16 0 16
        tell 1 hand over 0 16 0 16 makes 0 16 0 16
        tell 2 hand over 0 16 0 16 makes 0 16 0 16
        tell 3 hand over 0 16 0 16 makes 0 16 0 16
        want deal 2
        deal 2 by 1, right: 2C 5D 2H, 3C QS 3H, 4C 3D 4D, 5C 2D 4H
        ask 0
        ask 1
        ask 2
        ask 3
    """,
    "match": """
        0 passes 5D
        2 passes 3D
        fault of 1, hand 1 trick 0: illegal_pass, 2C is not in your hand; match
        fault of 3, hand 1 trick 0: exit, no answer; match
        match over: fault, ranks 1 3 1 3, scores 0 0 0 0, retired 1 3
        tell 0 match over fault, ranks 1 3 1 3, scores 0 0 0 0, retired 1 3
        dismiss 0
        tell 1 match over fault, ranks 1 3 1 3, scores 0 0 0 0, retired 1 3
        dismiss 1
        tell 2 match over fault, ranks 1 3 1 3, scores 0 0 0 0, retired 1 3
        dismiss 2
        tell 3 match over fault, ranks 1 3 1 3, scores 0 0 0 0, retired 1 3
        dismiss 3
    """,
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("order", ["0123", "3210", "1302"])
def test_all_passes_are_judged_before_any_is_punished(policy: OnFault, order: str):
    """Valid passes first, then faults, both in the order of seats; whatever order they came in."""
    driver = sat_down(policy, pass_count=1)
    inputs = [give(0, "5D"), give(1, "2C"), give(2, "3D"), failed(3, "exit")]
    told = put(driver, *[inputs[int(seat)] for seat in order])
    assert told == lines(FAULTS_IN_THE_PASS[policy])
    assert driver.records(FaultRecord)[0].cards == ("2C",)


@pytest.mark.parametrize(
    ("cards", "detail"),
    [
        ("2C", "passed 1 cards; 2 are to be passed"),
        ("2C 5D 2H", "passed 3 cards; 2 are to be passed"),
        ("", "passed 0 cards; 2 are to be passed"),
        ("5D 5D", "passed 5D twice"),
        ("5D QS", "QS is not in your hand"),
        ("AS 5D", "AS is not in your hand"),
    ],
)
def test_illegal_pass(cards: str, detail: str):
    driver = sat_down("substitute", pass_count=2)
    told = put(driver, give(1, "3C QS"), give(2, "4C 3D"), give(3, "5C 2D"), give(0, cards))
    assert told[3] == f"fault of 0, hand 1 trick 0: illegal_pass, {detail}; substitute"


def test_a_retired_seat_is_not_asked_to_pass_again():
    driver = sat_down("retire", pass_count=1, pass_cycle=["left"])
    driver.put(failed(0))
    driver.put(give(1, "QS"))
    driver.put(give(2, "3D"))
    driver.put(give(3, "2D"))
    told = play_hand(driver)
    assert told[-4:] == [
        "deal 2 by 1, left: 2C 5D 2H, 3C QS 3H, 4C 3D 4D, 5C 2D 4H",
        "ask 1",
        "ask 2",
        "ask 3",
    ]
    told = put(driver, give(3, "5C"), give(2, "4C"), give(1, "3C"))
    assert told[:3] == ["1 passes 3C", "2 passes 4C", "3 passes 5C"]
    assert told[3] in [f"0 passes {card} by referee" for card in ("2C", "5D", "2H")]


def test_all_retire_in_one_pass():
    driver = sat_down("retire", pass_count=1)
    told = put(driver, failed(0), failed(1), failed(2), failed(3))
    assert told[-1] == "match over: void, ranks none, scores 0 0 0 0, retired 0 1 2 3"
    assert [line for line in told if line.startswith("dismiss")] == [f"dismiss {seat}" for seat in range(4)]
    assert driver.records(PassRecord) == []


def test_three_retire_in_one_pass():
    driver = sat_down("retire", pass_count=1)
    told = put(driver, failed(0), failed(1), give(2, "4D"), failed(3))
    assert told[0] == "2 passes 4D"
    assert "ask 2" in told
    assert play_hand(driver)[-3].startswith("match over: one_left, ranks 2 2 1 2")


# --- the policy of the hand ------------------------------------------------------------------------------


def test_hands_lost_to_faults_count_towards_the_target():
    driver = sat_down("hand", target=32)
    assert put(driver, failed(0))[-1] == "ask 0"
    told = put(driver, failed(0))
    assert "match over: target, ranks" not in "".join(told)  # three seats tie for the lowest
    driver = sat_down("hand", target=32, tie="shared")
    driver.put(failed(0))
    assert put(driver, failed(0))[-9:-7] == [
        "match over: target, ranks 4 1 1 1, scores 32 0 0 0",
        "tell 0 match over target, ranks 4 1 1 1, scores 32 0 0 0",
    ]


def test_hands_lost_to_faults_count_towards_the_cap():
    driver = sat_down("hand", max_hands=2)
    driver.put(failed(0))
    assert put(driver, play(0, "2C"), failed(1, "exit")) == lines("""
        fault of 1, hand 2 trick 1: exit, no answer; hand
        restart 1
        hand over: 0 16 0 0 makes 16 16 0 0
        tell 0 hand over 0 16 0 0 makes 16 16 0 0
        tell 1 hand over 0 16 0 0 makes 16 16 0 0
        tell 2 hand over 0 16 0 0 makes 16 16 0 0
        tell 3 hand over 0 16 0 0 makes 16 16 0 0
        match over: max_hands, ranks 3 3 1 1, scores 16 16 0 0
        tell 0 match over max_hands, ranks 3 3 1 1, scores 16 16 0 0
        dismiss 0
        tell 1 match over max_hands, ranks 3 3 1 1, scores 16 16 0 0
        dismiss 1
        tell 2 match over max_hands, ranks 3 3 1 1, scores 16 16 0 0
        dismiss 2
        tell 3 match over max_hands, ranks 3 3 1 1, scores 16 16 0 0
        dismiss 3
    """)


def test_a_hand_that_was_broken_off_shows_the_tricks_played():
    driver = sat_down("hand")
    for what in (play(0, "2C"), play(1, "3C"), play(2, "4C"), play(3, "5C"), play(3, "2D"), failed(0)):
        driver.put(what)
    notice = driver.told(2)[-1]
    assert [trick.cards for trick in notice.tricks] == [("2C", "3C", "4C", "5C")]
    assert (notice.points, notice.moon) == ((16, 0, 0, 0), None)
    assert driver.records(FaultRecord)[0].trick == 2
    assert driver.match.tricks == ()


# --- strikes ---------------------------------------------------------------------------------------------


def test_strikes_are_counted_by_seat_and_through_the_match():
    driver = sat_down("match", strikes=1)
    assert put(driver, failed(0)) == lines("""
        fault of 0, hand 1 trick 1: timeout, no answer; substitute
        0 plays 2C by referee
        ask 1
    """)
    assert put(driver, play(1, "QS"))[0].endswith("illegal_play, must follow clubs; substitute")
    assert put(driver, play(2, "4C"), play(3, "5C"), play(3, "4H"))[0].endswith(
        "illegal_play, hearts may not be led before hearts are broken; substitute"
    )
    assert put(driver, failed(0, "malformed"))[:2] == [
        "fault of 0, hand 1 trick 2: malformed, no answer; match",
        "match over: fault, ranks 4 1 1 1, scores 0 0 0 0, retired 0",
    ]


@pytest.mark.parametrize("kind", ["exit", "closed", "too_long", "launch"])
def test_strikes_do_not_forgive_a_lost_process(kind: str):
    driver = sat_down("retire", strikes=5)
    assert put(driver, failed(0, kind))[0] == f"fault of 0, hand 1 trick 1: {kind}, no answer; retire"


def test_strikes_in_one_pass():
    driver = sat_down("retire", strikes=1, pass_count=1, pass_cycle=["left"])
    told = put(driver, give(0, "5D"), give(1, "QS"), give(2, "2C"), failed(3))
    assert [line for line in told if line.startswith("fault")] == [
        "fault of 2, hand 1 trick 0: illegal_pass, 2C is not in your hand; substitute",
        "fault of 3, hand 1 trick 0: timeout, no answer; substitute",
    ]
    assert not driver.match.retired
    assert play_hand(driver)[-1] == "ask 3"
    told = put(driver, give(0, "5D"), failed(1), failed(2), give(3, "2D"))
    assert [line for line in told if line.startswith("fault")] == [
        "fault of 1, hand 2 trick 0: timeout, no answer; substitute",
        "fault of 2, hand 2 trick 0: timeout, no answer; retire",
    ]


def test_a_struck_seat_is_substituted_while_another_loses_the_hand():
    driver = sat_down("hand", strikes=1, pass_count=1)
    told = put(driver, failed(0), failed(1, "exit"), give(2, "3D"), give(3, "2D"))
    assert told[:6] == lines("""
        2 passes 3D
        3 passes 2D
        fault of 0, hand 1 trick 0: timeout, no answer; substitute
        fault of 1, hand 1 trick 0: exit, no answer; hand
        restart 1
        hand over: 0 16 0 0 makes 0 16 0 0
    """)


# --- before the first deal -------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
def test_a_fault_before_the_first_deal_is_void_for_all(policy: OnFault):
    driver = Driver(header(house(), Conditions(on_fault=policy, strikes=3)))
    driver.begin()
    assert put(driver, failed(2, "launch"), ready(1, watch=True), failed(0, "timeout"), ready(3)) == lines("""
        match: -, bot 1, -, bot 3
        fault of 0, hand 0 trick 0: timeout, no answer; void
        fault of 2, hand 0 trick 0: launch, no answer; void
        match over: void, ranks none, scores 0 0 0 0, retired 0 2
        tell 0 match over void, ranks none, scores 0 0 0 0, retired 0 2
        dismiss 0
        tell 1 match over void, ranks none, scores 0 0 0 0, retired 0 2
        dismiss 1
        tell 2 match over void, ranks none, scores 0 0 0 0, retired 0 2
        dismiss 2
        tell 3 match over void, ranks none, scores 0 0 0 0, retired 0 2
        dismiss 3
    """)
    assert [(fault.cards, fault.us) for fault in driver.records(FaultRecord)] == [(None, None), (None, None)]


def test_a_bot_of_another_protocol_cannot_play():
    driver = Driver(header(house()))
    driver.begin()
    told = put(driver, ready(0), ready(1, protocol=2), ready(2), ready(3))
    assert told[1] == ("fault of 1, hand 0 trick 0: launch, speaks protocol 2; this referee speaks 1; void")
    assert told[2] == "match over: void, ranks none, scores 0 0 0 0, retired 1"


# --- the caretaker ---------------------------------------------------------------------------------------


def caretaker_number(seed: str, hand: int, seat: int, trick: int) -> int:
    """[dealing 3.1], written anew."""
    where = b"".join(part.to_bytes(4, "big") for part in (hand, seat, trick))
    return int(sha256(sha256(seed.encode("utf-8")).digest() + b"care" + where).hexdigest(), 16)


@pytest.mark.parametrize("seed", ["seed", "another", "Ñandú ♥"])
def test_the_caretaker_goes_by_seed_hand_seat_and_trick(seed: str):
    """Everybody but seat 2 retires at the first pass; each card they give and play is the one foretold."""
    rules = rules_from({"target": None, "max_hands": 1})
    driver = Driver(header(rules, seed=seed))
    driver.sit()
    dealt = [list(cards) for cards in driver.records()[-1].cards]
    for seat in (0, 1, 3):
        driver.put(failed(seat))
    driver.put(give(2, " ".join(dealt[2][:3])))
    while driver.asked:
        driver.put(play(2, driver.match.request(2, 7, 1000).legal[0]))

    for record in driver.records(PassRecord):
        if record.by:
            left, number, foretold = dealt[record.seat][:], caretaker_number(seed, 1, record.seat, 0), []
            for _ in range(3):
                number, place = divmod(number, len(left))
                foretold.append(left.pop(place))
            assert sorted(record.cards) == sorted(foretold)
    held = [set(cards) for cards in dealt]
    for record in driver.records(PassRecord):
        held[record.seat] -= set(record.cards)
        held[(record.seat + 1) % 4] |= set(record.cards)
    trick: list[str] = []
    broken = False
    for record in driver.records(PlayRecord):
        hand = [card for card in plain.PACK if card in held[record.seat]]
        legal = plain.legal(rules, hand, trick, record.trick, broken)
        if record.by:
            number = caretaker_number(seed, 1, record.seat, record.trick)
            assert record.card == legal[number % len(legal)]
        held[record.seat].remove(record.card)
        trick.append(record.card)
        broken = plain.broken_after(rules, broken, trick)
        trick = [] if len(trick) == 4 else trick
    assert sum(record.by is None for record in driver.records(PlayRecord)) == 13


# --- who sits --------------------------------------------------------------------------------------------


def test_seats_must_be_those_of_the_rules():
    head = header(house())
    count = "the rules seat 4 players, but the header has {} seats"
    for seats, why in (
        (head.seats[:3], count.format(3)),
        ((*head.seats, SeatRecord(seat=4, name="e")), count.format(5)),
        (head.seats[::-1], "its seats must be numbered from 0 to 3, in this order"),
    ):
        wrong = type(head)(
            arena="", id="", started="", seed="", rules=head.rules, conditions=head.conditions, seats=seats
        )
        with pytest.raises(ValueError, match=f"^{why}$"):
            Match(wrong)


@pytest.mark.parametrize(
    ("anonymous", "names"),
    [(False, ("a", "b", "c", "d")), (True, ("seat-0", "seat-1", "seat-2", "seat-3"))],
)
def test_labels_may_be_withheld(anonymous: bool, names: tuple[str, ...]):
    match = Match(header(house(), Conditions(anonymous=anonymous)), table="t9")
    match.begin()
    request = match.request(2, id=7, ms=1000)
    assert request == match.start_request(2, 7)
    assert (request.players, request.seat, request.table, request.protocol) == (names, 2, "t9", 1)
