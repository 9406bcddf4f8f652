"""What a hand costs, when the match ends, who ranks where: tables whose ids are the rulebook's numbers."""

import pytest

from referee.game.score import end_of_match, moon_shooter, ranks, score_hand, winners
from tests.game.notation import book, cards

ALL = "QS *H"
ONE_EACH = "2H | 3H | 4H | QS 5H 6H 7H 8H 9H TH JH QH KH AH"
SPLIT = "2H 3H | QS 4H | 5H 6H 7H 8H 9H TH JH QH KH AH |"


@pytest.mark.parametrize(
    ("rules", "won", "tricks", "points", "moon"),
    [
        pytest.param({}, SPLIT, "3 3 5 2", (2, 14, 10, 0), None, id="6.1-cards"),
        pytest.param({}, ONE_EACH, "1 1 1 10", (1, 1, 1, 23), None, id="6.2-no-moon"),
        pytest.param({}, f"| {ALL} | |", "1 10 1 1", (26, 0, 26, 26), 1, id="6.3-add"),
        pytest.param({"moon": "subtract"}, f"| {ALL} | |", "1 10 1 1", (0, -26, 0, 0), 1, id="6.3-subtract"),
        pytest.param({"moon": "off"}, f"| {ALL} | |", "1 10 1 1", (0, 26, 0, 0), None, id="6.3-off"),
        pytest.param({"sun": "double"}, f"{ALL} | | |", "13 0 0 0", (0, 52, 52, 52), 0, id="6.5-double"),
        pytest.param(
            {"sun": "double"}, f"{ALL} | | |", "12 0 0 1", (0, 26, 26, 26), 0, id="6.5-not-all-tricks"
        ),
        pytest.param({}, f"{ALL} | | |", "13 0 0 0", (0, 26, 26, 26), 0, id="6.5-moon"),
        pytest.param(
            {"jack_points": -10}, SPLIT + " JD", "3 3 5 2", (2, 14, 10, -10), None, id="7.1-bonus-card"
        ),
        pytest.param(
            {"moon_needs_jack": True}, f"{ALL} | JD | |", "9 4 0 0", (26, 0, 0, 0), None, id="7.2-lacks"
        ),
        pytest.param(
            {"moon_needs_jack": True}, f"{ALL} JD | | |", "9 4 0 0", (0, 26, 26, 26), 0, id="7.2-has"
        ),
        pytest.param({"no_trick_bonus": -5}, SPLIT, "3 5 5 0", (2, 14, 10, -5), None, id="7.3-no-trick"),
        pytest.param(
            {"no_trick_bonus": -5}, f"{ALL} | | |", "9 4 0 0", (0, 26, 26, 26), 0, id="7.3-not-with-a-moon"
        ),
        pytest.param(
            {"ten_clubs_doubles": True}, f"TC {SPLIT}", "3 3 5 2", (4, 14, 10, 0), None, id="7.4-doubles"
        ),
        pytest.param({}, f"TC {SPLIT}", "3 3 5 2", (2, 14, 10, 0), None, id="7.4-not-in-use"),
        pytest.param(
            {"ten_clubs_doubles": True, "jack_points": -10},
            f"TC JD {SPLIT}",
            "3 3 5 2",
            (-16, 14, 10, 0),
            None,
            id="7.5-bonus-before-the-ten",
        ),
        pytest.param(
            {"ten_clubs_doubles": True, "no_trick_bonus": -5},
            f"TC {SPLIT}",
            "3 5 5 0",
            (4, 14, 10, -5),
            None,
            id="7.5-each-for-its-seat",
        ),
    ],
)
def test_score_hand(rules: dict, won: str, tricks: str, points: tuple[int, ...], moon: int | None):
    piles = [cards(pile) for pile in won.split("|")]
    scored = score_hand(book(**rules), piles, [int(count) for count in tricks.split()], [0] * 4)
    assert scored == (points, moon)


@pytest.mark.parametrize(
    ("totals", "retired", "rules", "subtracted"),
    [
        pytest.param([20, 10, 30, 5], [], {}, False, id="6.4-nobody-near"),
        pytest.param([30, 80, 50, 20], [], {}, False, id="6.4-shooter-wins"),
        pytest.param([60, 80, 50, 20], [], {}, True, id="6.4-another-wins"),
        pytest.param([60, 73, 50, 20], [], {}, False, id="6.4-one-short-of-the-target"),
        pytest.param([60, 74, 50, 20], [], {}, True, id="6.4-just-the-target"),
        pytest.param([46, 80, 50, 20], [], {}, False, id="6.4-tie-goes-on"),
        pytest.param([46, 80, 50, 20], [], {"tie": "shared"}, True, id="6.4-tie-shared"),
        pytest.param([40, 80, 50, 0], [3], {}, False, id="6.4-retired-is-no-lowest"),
        pytest.param([60, 10, 20, 30], [], {"max_hands": 4}, False, id="6.4-at-the-cap"),
    ],
)
def test_safe_moon(totals: list[int], retired: list[int], rules: dict, subtracted: bool):
    won = [cards(ALL), 0, 0, 0]
    scored = score_hand(book(moon="safe", **rules), won, [10, 1, 1, 1], totals, retired)
    assert scored.points == ((-26, 0, 0, 0) if subtracted else (0, 26, 26, 26))


@pytest.mark.parametrize(
    ("rules", "won", "shooter"),
    [
        pytest.param({}, f"| | {ALL} |", 2, id="6.2-all"),
        pytest.param({}, "| | *H | QS", None, id="6.2-without-the-queen"),
        pytest.param({"queen_points": 0}, "| | *H | QS", 2, id="6.2-queen-costs-nothing"),
        pytest.param({"king_points": 1}, f"KS | | {ALL} |", None, id="6.2-without-the-king"),
        pytest.param({"moon": "off"}, f"| | {ALL} |", None, id="6.3-off"),
        pytest.param({"moon_needs_jack": True}, f"JD | | {ALL} |", None, id="7.2-without-the-bonus-card"),
        pytest.param({"moon_needs_jack": True, "jack_card": "TD"}, f"JD | | TD {ALL} |", 2, id="7.2-ten"),
    ],
)
def test_moon_shooter(rules: dict, won: str, shooter: int | None):
    assert moon_shooter(book(**rules), [cards(pile) for pile in won.split("|")]) == shooter


@pytest.mark.parametrize(
    ("rules", "totals", "played", "retired", "reason"),
    [
        pytest.param({}, [99, 40, 41, 52], 9, [], None, id="8.1-below"),
        pytest.param({}, [100, 40, 41, 52], 9, [], "target", id="8.1-just"),
        pytest.param({}, [101, 40, 41, 52], 9, [], "target", id="8.1-above"),
        pytest.param({"target": None}, [300, 40, 41, 52], 9, [], None, id="8.1-none"),
        pytest.param({}, [102, 40, 40, 52], 9, [], None, id="8.2-extra-hands"),
        pytest.param({"tie": "shared"}, [102, 40, 40, 52], 9, [], "target", id="8.2-shared"),
        pytest.param({}, [20, 40, 40, 52], 99, [], None, id="8.5-below"),
        pytest.param({}, [20, 40, 40, 52], 100, [], "max_hands", id="8.5-just"),
        pytest.param({}, [102, 40, 40, 52], 100, [], "max_hands", id="8.5-tie"),
        pytest.param({}, [102, 40, 41, 52], 100, [], "target", id="8.5-and-target"),
        pytest.param({"max_hands": None}, [20, 40, 40, 52], 1000, [], None, id="8.5-none"),
        pytest.param({}, [102, 40, 40, 52], 9, [1], "target", id="8.6-tie-with-a-retired-seat"),
        pytest.param({}, [40, 102, 40, 52], 9, [1], None, id="8.6-tie-beside-a-retired-seat"),
        pytest.param({}, [102, 0, 0, 0], 9, [1, 2, 3], "target", id="8.6-one-sound"),
    ],
)
def test_end_of_match(rules: dict, totals: list[int], played: int, retired: list[int], reason: str | None):
    assert end_of_match(book(**rules), totals, played, retired) == reason


@pytest.mark.parametrize(
    ("totals", "retired", "best", "places"),
    [
        pytest.param([10, 25, 25, 40], [], [0], (1, 2, 2, 4), id="8.4-tie"),
        pytest.param([25, 10, 10, 40], [], [1, 2], (3, 1, 1, 4), id="8.4-tie-for-the-lowest"),
        pytest.param([-5, 10, 0, 40], [], [0], (1, 3, 2, 4), id="8.3-below-zero"),
        pytest.param([10, 25, 30, 40], [0], [1], (4, 1, 2, 3), id="8.6-retired"),
        pytest.param([-10, 25, 25, -40], [0, 3], [1, 2], (3, 1, 1, 3), id="8.6-two-retired"),
        pytest.param([10, 25, 30, 40], [0, 1, 2, 3], [], (1, 1, 1, 1), id="8.6-all-retired"),
    ],
)
def test_winners_and_ranks(totals: list[int], retired: list[int], best: list[int], places: tuple[int, ...]):
    assert winners(totals, retired) == best
    assert ranks(totals, retired) == places
