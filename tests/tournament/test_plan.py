"""Plans: what is refused and in which words, TOML there and back, and what may change under way."""

import tomllib

import pytest
from msgspec.structs import replace

from protocol.presets import PRESETS, preset
from protocol.rules import Conditions
from referee.errors import ArenaError
from referee.tournament.plan import Entrant, PlanError, changes, plan_from, plan_from_toml, plan_to_toml

FOUR = {"bots": ["a", "b", "c", "d"], "seed": "s"}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"bots": ["a"]}, "A tournament needs two bots at least that are not withdrawn."),
        (
            {"bots": ["a", "b"], "withdrawn": ["b"]},
            "A tournament needs two bots at least that are not withdrawn.",
        ),
        ({"bots": ["a", "a"]}, "Two bots are called a; give one of them another label."),
        (
            {"bots": ["a", "b c"]},
            "The label 'b c' will not do: 1 to 32 letters, digits, dots, dashes and underscores.",
        ),
        ({"bots": ["a", 3]}, "The plan's bots[1] is not as it should be: Expected `object`, got `int`."),
        ({"bots": "ab"}, "The plan's bots is not as it should be: Expected `array`, got `str`."),
        ({"bots": [{"name": "a", "nme": "b"}]}, "A bot of a plan has no 'nme'; did you mean name?"),
        ({"seed": ""}, "The seed is empty; leave it out, and one is drawn."),
        ({"deals": 0}, "The number of deals is 0; one is the least."),
        ({"deals": "9"}, "The plan's deals is not as it should be: Expected `int`, got `str`."),
        ({"dels": 9}, "A plan has no 'dels'; did you mean deals?"),
        ({"stop_when": 0}, "stop_when is 0.0; it is a number of points a hand, above 0."),
        ({"stop_when": float("nan")}, "stop_when is nan; it is a number of points a hand, above 0."),
        ({"format": "gauntlet"}, "A gauntlet needs a hero: the bot that meets each of the others."),
        ({"hero": "a"}, "A hero is for the format gauntlet; this one is duplicate."),
        ({"format": "gauntlet", "hero": "e"}, "'e' is the hero, but the bots are: a, b, c, d."),
        (
            {"format": "gauntlet", "hero": "a", "withdrawn": ["a"]},
            "The hero a is withdrawn; without it there is no gauntlet.",
        ),
        ({"withdrawn": ["e"]}, "'e' is withdrawn, but the bots are: a, b, c, d."),
        ({"rules": "standart"}, "In the plan: There is no rule set 'standart'; did you mean standard?"),
        ({"rules": 4}, "In the plan: the rules are neither the name of a rule set nor a table of rules."),
        (
            {"rules": {"target": 0}},
            "In the plan: The rule target is 0; it must be a whole number from 1 to 1,000,000,000, or null.",
        ),
        ({"conditions": []}, "In the plan: the conditions are not a table."),
        ({"conditions": {"turn": 3}}, "In the plan: There is no condition 'turn'; did you mean turn_ms?"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_in_a_sentence(fields, sentence):
    with pytest.raises(PlanError) as refused:
        plan_from(FOUR | fields)
    assert str(refused.value) == sentence
    assert isinstance(refused.value, ArenaError)
    assert isinstance(refused.value, ValueError)


@pytest.mark.parametrize("missing", ["bots", "seed"])
def test_a_plan_says_who_plays_and_on_which_cards(missing):
    with pytest.raises(PlanError, match=f"The plan says nothing of its {missing}"):
        plan_from({name: value for name, value in FOUR.items() if name != missing})


def test_opponents_are_anonymous_unless_the_plan_says_otherwise():
    assert plan_from(FOUR).conditions.anonymous
    assert plan_from(FOUR | {"conditions": {"turn_ms": 5}}).conditions == Conditions(
        turn_ms=5, anonymous=True
    )
    assert not plan_from(FOUR | {"conditions": {"anonymous": False}}).conditions.anonymous


def test_single_hands_whatever_the_target_unless_games_are_played():
    rules = plan_from(FOUR | {"rules": {"preset": "pagat", "jack_points": -10}}).match_rules
    assert (rules.max_hands, rules.target, rules.first_trick, rules.jack_points) == (1, None, "free", -10)
    assert plan_from(FOUR | {"format": "match"}).match_rules == preset("standard")


@pytest.mark.parametrize("rules", PRESETS)
def test_toml_there_and_back(rules):
    plan = plan_from(
        {
            "bots": [
                {"name": "a", "run": 'python3 "a b.py"\t\\x\u007f\u20ac\U0001f0a1\n', "fingerprint": "00ff"},
                "b",
                "c",
            ],
            "seed": "s\u2028",
            "deals": 10**6,
            "format": "match",
            "withdrawn": ["b"],
            "stop_when": 0.5,
            "rules": rules,
            "conditions": {"turn_ms": 50, "sandbox": "none"},
        }
    )
    text = plan_to_toml(plan)
    assert plan_from_toml(text) == plan
    assert tomllib.loads(text)["deals"] == 10**6


def test_a_plan_that_is_not_toml():
    with pytest.raises(PlanError, match="The plan is not TOML: "):
        plan_from_toml("bots = [")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"deals": 5}, None),
        ({"stop_when": 0.5}, None),
        ({"withdrawn": ("a",)}, None),
        ({"bots": tuple(map(Entrant, "abcde"))}, None),
        ({"seed": "t"}, 'The seed was "s" and is now "t".'),
        ({"format": "match"}, 'The format was "duplicate" and is now "match".'),
        ({"rules": preset("parlour")}, 'The rule breaks was "any_heart" and is now "discard".'),
        (
            {"conditions": Conditions(anonymous=True, turn_ms=1)},
            "The condition turn_ms was 2000 and is now 1.",
        ),
        (
            {"bots": tuple(map(Entrant, "abdc"))},
            "The bots were a, b, c, d and are now a, b, d, c; new ones go to the end, and to take one out "
            "is to withdraw it.",
        ),
        (
            {"bots": (Entrant("a", fingerprint="f"), *map(Entrant, "bcd"))},
            "The bot a is not what it was: its content has changed.",
        ),
    ],
)
def test_what_may_change_in_a_tournament_under_way(change, reason):
    plan = plan_from(FOUR)
    assert changes(plan, replace(plan, **change)) == ([] if reason is None else [reason])
