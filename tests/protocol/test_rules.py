"""Rule sets and conditions as data: what each field may be, what is refused and in which words; presets."""

import json
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from protocol.cards import BIT, CARD, DECK, HEARTS, NAMES, SPADES, SUIT_OF, each, names_of, set_of
from protocol.presets import PRESETS, preset
from protocol.rules import (
    PASS_CYCLE,
    REMOVED,
    Clock,
    Conditions,
    Rules,
    RulesError,
    allowed,
    conditions_from,
    rules_from,
)

CLUBS = [name for name in NAMES if name[1] == "C"]
OTHERS = [name for name in NAMES if name[1] != "C"]

# --- one field -------------------------------------------------------------------------------------------

DEFAULTS: dict[str, Any] = {
    "players": 4, "removed": (), "pass_count": 3, "pass_cycle": ("left", "right", "across", "hold"),
    "opening": "lowest_club", "first_trick": "strict", "must_break": True, "breaks": "any_heart",
    "queen_breaks": False, "queen_lead": "free", "forced_lead": "hearts", "heart_points": "one",
    "queen_points": 13, "king_points": 0, "ace_points": 0, "jack_points": 0, "jack_card": "JD",
    "ten_clubs_doubles": False, "moon": "add", "moon_needs_jack": False, "sun": "moon", "no_trick_bonus": 0,
    "target": 100, "max_hands": 100, "tie": "extra_hands",
}  # fmt: skip

ACCEPTED: dict[str, list[Any]] = {
    "players": [3, 4, 5, 6],
    "removed": [None, [], ["2C", "3D", "4S", "AH"]],
    "pass_count": [0, 1, 2, 3, 4],
    "pass_cycle": [None, ["hold"], ["left", "left"], ["left", "right", "across", "left2", "right2", "hold"]],
    "opening": ["lowest_club", "any_club", "eldest"],
    "first_trick": ["strict", "strict_heart", "free"],
    "must_break": [True, False],
    "breaks": ["any_heart", "discard"],
    "queen_breaks": [True, False],
    "queen_lead": ["free", "broken"],
    "forced_lead": ["hearts", "points"],
    "heart_points": ["one", "pips"],
    "queen_points": [0, 1, 50],
    "king_points": [0, 1, 50],
    "ace_points": [0, 1, 50],
    "jack_points": [-10, 0],
    "jack_card": ["JD", "TD"],
    "ten_clubs_doubles": [True, False],
    "moon": ["add", "subtract", "safe", "off"],
    "moon_needs_jack": [True, False],
    "sun": ["moon", "double"],
    "no_trick_bonus": [-5, 0],
    "target": [None, 1, 10**9],
    "max_hands": [None, 1, 10**9],
    "tie": ["extra_hands", "shared"],
}

REFUSED: dict[str, tuple[list[Any], str]] = {
    "players": ([2, 7, "4", 4.0, True, None, [4]], "3, 4, 5 or 6"),
    "removed": (
        ["2C", ["2X"], [2], [["2C"]], {"2C": 1}, 4, True],
        'a list of cards such as ["2D"], or null for those of the number of players',
    ),
    "pass_count": ([-1, 5, "3", True, None], "0, 1, 2, 3 or 4"),
    "pass_cycle": (
        ["left", ["up"], [1], ["left", None], True],
        "a list of left, right, across, left2, right2, hold, or null for that of the number of players",
    ),
    "opening": (["", "2C", 0, None, ["eldest"]], "lowest_club, any_club or eldest"),
    "first_trick": (["loose", True, None], "strict, strict_heart or free"),
    "must_break": ([0, 1, "true", None], "true or false"),
    "breaks": (["any", True, None], "any_heart or discard"),
    "queen_breaks": ([0, 1, "no", None], "true or false"),
    "queen_lead": ([True, "any", None], "free or broken"),
    "forced_lead": ([True, "queen", None], "hearts or points"),
    "heart_points": ([1, "two", None], "one or pips"),
    "queen_points": ([-1, 51, 13.0, "13", True, None], "a whole number from 0 to 50"),
    "king_points": ([-1, 51, 0.5, False, None], "a whole number from 0 to 50"),
    "ace_points": ([-1, 51, float("nan"), None], "a whole number from 0 to 50"),
    "jack_points": ([10, -9, False, "-10", None], "-10 or 0"),
    "jack_card": (["JC", "AD", 0, None], "JD or TD"),
    "ten_clubs_doubles": ([1, "yes", None], "true or false"),
    "moon": ([True, "sub", None], "add, subtract, safe or off"),
    "moon_needs_jack": ([0, "JD", None], "true or false"),
    "sun": ([True, 2, None], "moon or double"),
    "no_trick_bonus": ([5, -4, False, None], "-5 or 0"),
    "target": (
        [0, -1, 10**9 + 1, 99.5, 100.0, float("inf"), "100", True],
        "a whole number from 1 to 1,000,000,000, or null",
    ),
    "max_hands": ([0, -1, 1.0, "1", True], "a whole number from 1 to 1,000,000,000, or null"),
    "tie": (["share", True, None], "extra_hands or shared"),
}


def test_the_tables_leave_no_field_out():
    assert list(DEFAULTS) == list(ACCEPTED) == list(REFUSED) == list(Rules.__struct_fields__)


def test_defaults():
    assert msgspec.structs.asdict(Rules()) == DEFAULTS


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in ACCEPTED.items() for value in values], ids=repr
)
def test_accepted(field: str, value: Any):
    rules = rules_from({field: value, **({"max_hands": 10} if field == "target" and not value else {})})
    if value is not None or field in ("target", "max_hands"):
        assert getattr(rules, field) == (tuple(value) if isinstance(value, list) else value)


@pytest.mark.parametrize(
    ("field", "value"),
    [(field, value) for field, (values, _) in REFUSED.items() for value in values],
    ids=repr,
)
def test_refused(field: str, value: Any):
    shown = json.dumps(value, separators=(",", ":"))
    with pytest.raises(RulesError) as refusal:
        rules_from({field: value})
    assert str(refusal.value) == f"The rule {field} is {shown}; it must be {REFUSED[field][1]}."
    with pytest.raises(RulesError):
        Rules(**{field: value})


def nested(levels: int) -> list[Any]:
    whole: list[Any] = []
    for _ in range(levels):
        whole = [whole]
    return whole


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("target", object(), r'"<object object at 0x\w+>"'),
        ("target", 10**5000, "too long to show"),
        ("removed", {"2C"}, r'"{\'2C\'}"'),
        ("removed", nested(5000), "too long to show"),
        ("target", "\ud800", r'"\\ud800"'),
        ("moon", "x" * 100, '"x{58}…'),
    ],
    ids=["object", "huge", "set", "deep", "half-a-character", "long"],
)
def test_a_value_that_cannot_be_written_out_is_shown_all_the_same(field: str, value: Any, shown: str):
    with pytest.raises(RulesError, match=f"^The rule {field} is {shown}; it must be"):
        rules_from({field: value})


def test_a_name_that_is_no_text_is_refused():
    with pytest.raises(RulesError, match=r"There is no rule 1; there are: players,"):
        rules_from({1: 2})  # type: ignore[dict-item]


@pytest.mark.parametrize("field", Rules.__struct_fields__)
def test_allowed_says_what_is_allowed(field: str):
    assert allowed(Rules, field) == REFUSED[field][1]


def test_every_choice_is_tried():
    for field, kind in get_type_hints(Rules).items():
        choices = [value for value in get_args(kind) if isinstance(value, (int, str))]
        assert set(choices) <= set(ACCEPTED[field]) if choices else True


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("jack_point", "There is no rule 'jack_point'; did you mean jack_points?"),
        ("Target", "There is no rule 'Target'; did you mean target?"),
        ("zzz", f"There is no rule 'zzz'; there are: {', '.join(DEFAULTS)}."),
    ],
)
def test_misspelt_rule(name: str, told: str):
    with pytest.raises(RulesError) as refusal:
        rules_from({name: 1})
    assert str(refusal.value) == told


# --- fields together -------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [3, 4, 5, 6])
def test_what_null_stands_for(players: int):
    rules = rules_from({"players": players})
    assert (rules.removed, rules.pass_cycle) == (REMOVED[players], PASS_CYCLE[players])
    assert rules == rules_from({"players": players, "removed": None, "pass_cycle": None})
    assert (52 - len(rules.removed)) % players == 0


TOGETHER: list[tuple[dict[str, Any], str]] = [
    ({"removed": ["2C", "2D", "2C", "2S"]}, "The rule removed lists 2C twice; a deck has one of each card."),
    (
        {"removed": ["2C"]},
        "The rule removed leaves 51 cards, which 4 players cannot share evenly; "
        "remove none, or 4, and so on.",
    ),
    (
        {"players": 5, "removed": []},
        "The rule removed leaves 52 cards, which 5 players cannot share evenly; "
        "remove 2 cards, or 7, and so on.",
    ),
    (
        {"removed": OTHERS[3:-1] + CLUBS[:-4], "queen_points": 0, "pass_count": 4},
        "The rule pass_count is 4, more than the 2 cards of a hand.",
    ),
    (
        {"removed": [*CLUBS, "2D", "2S", "3S"]},
        "The rule opening is lowest_club, but removed leaves no club in the deck.",
    ),
    (
        {"removed": [*CLUBS, "2D", "2S", "3S"], "opening": "any_club"},
        "The rule opening is any_club, but removed leaves no club in the deck.",
    ),
    ({"pass_cycle": []}, 'The rule pass_cycle is empty; write ["hold"] for a game without passing.'),
    (
        {"players": 5, "pass_cycle": ["left", "across"]},
        "The rule pass_cycle has across, but nobody sits across at a table of 5.",
    ),
    (
        {"players": 3, "pass_cycle": ["across"]},
        "The rule pass_cycle has across, but nobody sits across at a table of 3.",
    ),
    (
        {"removed": [name for name in NAMES if name[1] == "H"] + ["2C", "3C", "4C"]},
        "The rule removed takes out every heart; Hearts needs some.",
    ),
    ({"removed": list(NAMES)}, "The rule removed takes out every heart; Hearts needs some."),
    (
        {"target": None, "max_hands": None},
        "The rules target and max_hands are both null: the match would never end; set one.",
    ),
]
for FIELD, VALUE, NEEDS in (
    ("queen_points", 13, "QS"),
    ("king_points", 10, "KS"),
    ("ace_points", 7, "AS"),
    ("jack_points", -10, "JD"),
    ("moon_needs_jack", True, "JD"),
    ("ten_clubs_doubles", True, "TC"),
):
    SHOWN = msgspec.json.encode(VALUE).decode()
    TOGETHER.append(
        (
            {"removed": [NEEDS, "2C", "2D", "2S"], "queen_points": 0, FIELD: VALUE},
            f"The rule {FIELD} is {SHOWN}, but removed takes {NEEDS} out of the deck.",
        )
    )


@pytest.mark.parametrize(("fields", "told"), TOGETHER, ids=[told for _, told in TOGETHER])
def test_cannot_stand_together(fields: dict[str, Any], told: str):
    with pytest.raises(RulesError) as refusal:
        rules_from(fields)
    assert str(refusal.value) == told


@pytest.mark.parametrize(
    "fields",
    [
        {"removed": ["QS", "KS", "AS", "JD"], "queen_points": 0},
        {"removed": ["TD", "2C", "2D", "2S"], "jack_points": -10},
        {"removed": ["JD", "2C", "2D", "2S"], "jack_points": -10, "jack_card": "TD", "moon_needs_jack": True},
        {"removed": [*CLUBS, "2D", "2S", "3S"], "opening": "eldest"},
        {"removed": [*CLUBS[:-1]]},
        {"removed": [name for name in NAMES if name[1] == "H" and name != "AH"]},
        {"players": 6, "pass_cycle": ["across"]},
        {"players": 3, "pass_cycle": ["left2", "right2"]},
        {"removed": OTHERS[3:-1] + CLUBS[:-4], "queen_points": 0, "pass_count": 2},
    ],
)
def test_can_stand_together(fields: dict[str, Any]):
    rules_from(fields)


def test_rules_come_back_from_json():
    for name in PRESETS:
        rules = preset(name)
        assert msgspec.json.decode(msgspec.json.encode(rules), type=Rules) == rules


# --- presets ---------------------------------------------------------------------------------------------


def test_presets():
    assert list(PRESETS) == [
        "standard", "black_lady", "complete", "parlour", "nowplay", "household", "microsoft", "pagat",
        "bicycle", "openspiel", "first_trick_blood", "queen_breaks", "omnibus", "omnibus_full", "spot",
        "three", "five", "six", "black_maria", "duplicate", "short",
    ]  # fmt: skip
    for name, fields in PRESETS.items():
        rules = preset(name)
        plain = Rules(players=rules.players)
        differing = {field for field in DEFAULTS if getattr(rules, field) != getattr(plain, field)}
        assert differing | ({"players"} & set(fields)) == set(fields)
    assert preset("standard") == preset("black_lady") == Rules()


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("complete", "forced_lead", "points"),
        ("parlour", "breaks", "discard"),
        ("nowplay", "first_trick", "strict_heart"),
        ("household", "tie", "shared"),
        ("microsoft", "tie", "shared"),
        ("pagat", "moon", "safe"),
        ("pagat", "first_trick", "free"),
        ("bicycle", "queen_breaks", True),
        ("openspiel", "max_hands", 1),
        ("first_trick_blood", "first_trick", "free"),
        ("queen_breaks", "queen_breaks", True),
        ("omnibus", "jack_points", -10),
        ("omnibus_full", "ten_clubs_doubles", True),
        ("spot", "queen_points", 25),
        ("spot", "target", 500),
        ("three", "removed", ("2D",)),
        ("five", "removed", ("2C", "2D")),
        ("six", "removed", ("2C", "2D", "3C", "2S")),
        ("black_maria", "removed", ("2C",)),
        ("black_maria", "pass_cycle", ("right",)),
        ("duplicate", "target", None),
        ("short", "target", 50),
    ],
)
def test_preset(name: str, field: str, value: Any):
    assert getattr(preset(name), field) == value


def test_changes_on_top_of_a_preset():
    rules = preset("spot", {"target": 200, "moon": "add"})
    assert (rules.target, rules.moon, rules.queen_points) == (200, "add", 25)
    with pytest.raises(RulesError, match=r"did you mean moon\?"):
        preset("spot", {"mon": "add"})


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("standart", "There is no rule set 'standart'; did you mean standard?"),
        ("zzz", f"There is no rule set 'zzz'; there are: {', '.join(PRESETS)}."),
    ],
)
def test_misspelt_preset(name: str, told: str):
    with pytest.raises(RulesError) as refusal:
        preset(name)
    assert str(refusal.value) == told


# --- conditions ------------------------------------------------------------------------------------------


CONDITIONS: dict[str, tuple[list[Any], list[Any], str]] = {
    "turn_ms": ([1, 60_000], [0, -1, 1.5, "2s", None, True], "a whole number from 1 to 1,000,000,000"),
    "start_ms": ([1, 60_000], [0, -1, None], "a whole number from 1 to 1,000,000,000"),
    "bank_ms": ([0, 60_000], [-1, None], "a whole number from 0 to 1,000,000,000"),
    "on_fault": (["retire", "substitute", "hand", "match"], [""], "retire, substitute, hand or match"),
    "strikes": ([0, 3], [-1, None, True], "a whole number from 0 to 1,000,000,000"),
    "sandbox": (["auto", "none", "bwrap"], ["docker", None, True], "auto, none or bwrap"),
    "anonymous": ([True, False], [1, "yes", None], "true or false"),
    "freeze": ([True, False], [0, None], "true or false"),
    "memory_mb": ([0, 4096], [-1, 0.5, None], "a whole number from 0 to 1,000,000,000"),
    "scratch_mb": ([0, 4096], [-1, None], "a whole number from 0 to 1,000,000,000"),
    "file_mb": ([0, 4096], [-1, None], "a whole number from 0 to 1,000,000,000"),
    "processes": ([0, 4096], [-1, None], "a whole number from 0 to 1,000,000,000"),
    "open_files": ([0, 4096], [-1, None], "a whole number from 0 to 1,000,000,000"),
}


def test_the_table_of_conditions_leaves_no_field_out():
    assert set(CONDITIONS) == set(Conditions.__struct_fields__)


@pytest.mark.parametrize(
    ("field", "good", "bad", "may_be"), [(field, *row) for field, row in CONDITIONS.items()], ids=CONDITIONS
)
def test_conditions(field: str, good: list[Any], bad: list[Any], may_be: str):
    assert allowed(Conditions, field) == may_be
    for value in good:
        assert getattr(conditions_from({field: value}), field) == value
    for value in bad:
        with pytest.raises(RulesError) as refusal:
            conditions_from({field: value})
        shown = msgspec.json.encode(value).decode()
        assert str(refusal.value) == f"The condition {field} is {shown}; it must be {may_be}."


def test_default_conditions():
    terms = Conditions()
    assert (terms.turn_ms, terms.start_ms, terms.bank_ms) == (2000, 10000, 0)
    assert (terms.on_fault, terms.strikes, terms.sandbox, terms.anonymous) == ("retire", 0, "auto", False)


def test_bots_are_told_the_clock_and_no_more():
    terms = conditions_from({"turn_ms": 7, "start_ms": 8, "bank_ms": 9, "on_fault": "match"})
    assert terms.clock() == Clock(turn_ms=7, start_ms=8, bank_ms=9)
    assert type(terms.clock()) is Clock


def test_misspelt_condition():
    with pytest.raises(RulesError, match="There is no condition 'turn'; did you mean turn_ms"):
        conditions_from({"turn": 1})


# --- cards -----------------------------------------------------------------------------------------------


def test_cards_are_numbered_by_suit_and_rank():
    assert NAMES[:13] == tuple(CLUBS)
    assert [NAMES[card] for card in (0, 12, 13, 36, 51)] == ["2C", "AC", "2D", "QS", "AH"]
    assert [CARD[name] for name in NAMES] == list(range(52))
    assert [BIT[name] for name in NAMES] == [1 << card for card in range(52)]
    assert [NAMES[card][1] for card in range(52) if SUIT_OF[card] == SPADES] == ["S"] * 13
    assert all(1 << card & SUIT_OF[card] for card in range(52))
    assert sum({*SUIT_OF}) == DECK


def test_sets_of_cards():
    held = set_of(["AH", "2C", "QS"])
    assert names_of(held) == ("2C", "QS", "AH")
    assert list(each(held)) == [0, 36, 51]
    assert names_of(0) == ()
    assert names_of(DECK) == NAMES
    assert names_of(HEARTS) == NAMES[39:]
    with pytest.raises(KeyError):
        set_of(["1C"])
