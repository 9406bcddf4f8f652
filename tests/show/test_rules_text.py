"""The rules in plain words: a sentence for each value of each field, and the differences marked."""

# ruff: noqa: E501  a sentence stands whole in its row

from typing import Any

import pytest
from hypothesis import given, settings

from protocol.presets import PRESETS, preset
from protocol.rules import Rules, rules_from
from referee.show.rules_text import RuleLine, preset_lines, rule_lines
from tests.game.strategies import rules

SECTIONS = ["table", "passing", "play", "scoring", "end"]

# fmt: off
SENTENCES: list[tuple[dict[str, Any], str, str]] = [
    ({}, "players", "Four players, each for themselves."),
    ({"players": 3}, "players", "Three players, each for themselves."),
    ({"players": 5}, "players", "Five players, each for themselves."),
    ({"players": 6}, "players", "Six players, each for themselves."),
    ({}, "removed", "The whole pack of 52 is dealt, 13 cards to each."),
    ({"players": 3}, "removed", "The pack is dealt without the 2 of diamonds, 17 cards to each."),
    ({"players": 5}, "removed", "The pack is dealt without the 2 of clubs and the 2 of diamonds, 10 cards to each."),
    ({"players": 6}, "removed", "The pack is dealt without the 2 of clubs, the 2 of diamonds, the 3 of clubs and the 2 of spades, 8 cards to each."),
    ({"pass_count": 0}, "pass_count", "No cards are passed."),
    ({"pass_count": 1}, "pass_count", "Before the first trick everybody passes one card, all at once and unseen."),
    ({"pass_count": 2}, "pass_count", "Before the first trick everybody passes two cards, all at once and unseen."),
    ({}, "pass_count", "Before the first trick everybody passes three cards, all at once and unseen."),
    ({"pass_count": 4}, "pass_count", "Before the first trick everybody passes four cards, all at once and unseen."),
    ({}, "pass_cycle", "From hand to hand the cards go to the left, to the right, across, then no pass; and again from the start."),
    ({"players": 5}, "pass_cycle", "From hand to hand the cards go to the left, to the right, to the second seat on the left, to the second seat on the right, then no pass; and again from the start."),
    ({"pass_cycle": ["right"]}, "pass_cycle", "The cards always go to the right."),
    ({"pass_cycle": ["hold"]}, "pass_cycle", "Every hand is played as dealt."),
    ({"pass_cycle": ["hold", "across"]}, "pass_cycle", "From hand to hand the cards go no pass, then across; and again from the start."),
    ({}, "opening", "Whoever holds the 2 of clubs after the pass leads it to the first trick."),
    ({"players": 6}, "opening", "Whoever holds the 4 of clubs after the pass leads it to the first trick."),
    ({"opening": "any_club"}, "opening", "Whoever holds the 2 of clubs after the pass leads to the first trick, any club they like."),
    ({"opening": "eldest"}, "opening", "The player to the dealer's left leads to the first trick, any card that may be led."),
    ({}, "first_trick", "On the first trick no card that costs points may be discarded, unless there is no other to play."),
    ({"first_trick": "strict_heart"}, "first_trick", "On the first trick no card that costs points may be discarded, unless there is no other to play; then it must be a heart if you have one."),
    ({"first_trick": "free"}, "first_trick", "On the first trick any card may be discarded, those that cost points too."),
    ({}, "must_break", "Hearts may not be led before they are broken."),
    ({"must_break": False}, "must_break", "Hearts may be led at any time."),
    ({}, "breaks", "Hearts are broken by the first heart that is played, in whatever way."),
    ({"breaks": "discard"}, "breaks", "Hearts are broken when one is discarded on another suit, not when one leads or follows."),
    ({}, "queen_breaks", "Playing the queen of spades leaves hearts unbroken."),
    ({"queen_breaks": True}, "queen_breaks", "The queen of spades breaks hearts too, in whatever way she is played."),
    ({"queen_breaks": True, "breaks": "discard"}, "queen_breaks", "The queen of spades breaks hearts too, when she is discarded on another suit."),
    ({}, "queen_lead", "The queen of spades may be led at any time."),
    ({"queen_lead": "broken"}, "queen_lead", "The queen of spades may not be led before hearts are broken either."),
    ({}, "forced_lead", "A leader who has nothing but hearts may lead them, broken or not; with the queen of spades as the only other card, she must be led."),
    ({"queen_lead": "broken"}, "forced_lead", "A leader who has nothing but hearts, or hearts and the queen of spades, may lead any of them, broken or not."),
    ({"forced_lead": "points"}, "forced_lead", "A leader who has nothing but hearts, the queen of spades and other cards that cost points may lead any of them, broken or not."),
    ({}, "heart_points", "Each heart taken costs 1 point."),
    ({"heart_points": "pips"}, "heart_points", "Each heart taken costs its pips: 2 to 10, the jack 11, the queen 12, the king 13, the ace 14."),
    ({}, "queen_points", "The queen of spades costs 13 points."),
    ({"queen_points": 0}, "queen_points", "The queen of spades costs nothing."),
    ({"queen_points": 1}, "queen_points", "The queen of spades costs 1 point."),
    ({}, "king_points", "The king of spades costs nothing."),
    ({"king_points": 10}, "king_points", "The king of spades costs 10 points."),
    ({}, "ace_points", "The ace of spades costs nothing."),
    ({"ace_points": 7}, "ace_points", "The ace of spades costs 7 points."),
    ({}, "moon", "Whoever takes every card that costs points has shot the moon: nothing for them and 26 for each of the others."),
    ({"moon": "subtract"}, "moon", "Whoever takes every card that costs points has shot the moon: 26 points off their total, and nothing for the others."),
    ({"moon": "safe"}, "moon", "Whoever takes every card that costs points has shot the moon: nothing for them and 26 for each of the others; but if that would end the match without the shooter as its only winner, 26 points off the shooter's total instead."),
    ({"moon": "off"}, "moon", "There is no moon: taking every card that costs points costs all 26."),
    ({}, "sun", "A moon with every trick of the hand counts like any other."),
    ({"sun": "double"}, "sun", "A moon with every trick of the hand counts twice, 52."),
    ({}, "jack_points", "No card takes points off."),
    ({"jack_points": -10}, "jack_points", "Whoever takes the bonus card has 10 points taken off."),
    ({"jack_points": -10}, "jack_card", "The bonus card is the jack of diamonds."),
    ({"jack_points": -10, "jack_card": "TD"}, "jack_card", "The bonus card is the ten of diamonds."),
    ({"jack_points": -10}, "moon_needs_jack", "It is a moon with or without the bonus card."),
    ({"moon_needs_jack": True}, "moon_needs_jack", "It is a moon only with the jack of diamonds as well."),
    ({}, "no_trick_bonus", "Taking no trick earns nothing more."),
    ({"no_trick_bonus": -5}, "no_trick_bonus", "Whoever takes no trick has 5 points taken off, except in a hand with a moon."),
    ({}, "ten_clubs_doubles", "The ten of clubs is a card like any other."),
    ({"ten_clubs_doubles": True}, "ten_clubs_doubles", "Whoever takes the ten of clubs has all points of the hand doubled, moon and bonuses included."),
    ({}, "target", "The match ends after the hand in which somebody reaches 100 points."),
    ({"target": 1}, "target", "The match ends after the hand in which somebody reaches 1 point."),
    ({"target": None}, "target", "No number of points ends the match."),
    ({}, "max_hands", "The match ends after 100 hands at the latest; a tie is shared then."),
    ({"max_hands": 1}, "max_hands", "The match ends after one hand at the latest; a tie is shared then."),
    ({"target": None, "max_hands": 8}, "max_hands", "The match ends after 8 hands."),
    ({"max_hands": None}, "max_hands", "No number of hands ends the match."),
    ({}, "tie", "If two or more share the lowest total then, further hands are played until one has it alone."),
    ({"tie": "shared"}, "tie", "Players who share the lowest total share the win."),
]
# fmt: on


def line(fields: dict[str, Any], field: str) -> RuleLine:
    return next(line for line in rule_lines(rules_from(fields)) if line.field == field)


@pytest.mark.parametrize(
    ("fields", "field", "text"), SENTENCES, ids=[f"{field}-{fields}" for fields, field, _ in SENTENCES]
)
def test_sentence(fields: dict[str, Any], field: str, text: str):
    assert line(fields, field).text == text


def test_each_value_has_a_sentence_of_its_own():
    told: dict[str, dict[str, object]] = {}
    for fields, field, text in SENTENCES:
        value = getattr(rules_from(fields), field)
        assert told.setdefault(field, {}).setdefault(text, value) == value
    assert set(told) == set(Rules.__struct_fields__)


@pytest.mark.parametrize(
    ("fields", "field", "standard"),
    [
        ({}, "target", None),
        ({"target": 50}, "target", "The match ends after the hand in which somebody reaches 100 points."),
        ({"must_break": False}, "must_break", "Hearts may not be led before they are broken."),
        ({"queen_points": 25}, "moon", line({}, "moon").text),
        ({"jack_points": -10}, "jack_card", None),
        ({"jack_points": -10, "jack_card": "TD"}, "jack_card", "The bonus card is the jack of diamonds."),
        ({"moon_needs_jack": True}, "moon_needs_jack", "It is a moon with or without the bonus card."),
    ],
)
def test_difference_from_standard(fields: dict[str, Any], field: str, standard: str | None):
    assert line(fields, field).standard == standard


def test_standard_differs_in_nothing():
    assert [rule for rule in rule_lines(Rules()) if rule.standard] == []


@pytest.mark.parametrize(
    ("fields", "gone"),
    [
        ({}, {"jack_card", "moon_needs_jack"}),
        ({"pass_count": 0}, {"pass_cycle"}),
        ({"must_break": False}, {"breaks", "queen_breaks", "queen_lead", "forced_lead"}),
        ({"moon": "off"}, {"sun", "moon_needs_jack"}),
        ({"removed": ["QS", "2C", "2D", "2S"], "queen_points": 0}, {"queen_breaks", "queen_lead"}),
        ({"removed": ["TC", "2C", "2D", "2S"]}, {"ten_clubs_doubles"}),
    ],
)
def test_rules_without_effect_are_left_out(fields: dict[str, Any], gone: set[str]):
    fields = {"jack_points": -10} | fields if fields else fields
    told = {rule.field for rule in rule_lines(rules_from(fields))}
    assert set(Rules.__struct_fields__) - told == gone


def test_cards_that_are_not_in_the_pack():
    short = {"removed": ["QS", "KS", "AS", "2S"], "queen_points": 0}
    assert line(short, "queen_points").text == "The queen of spades is not in the pack."
    assert line(short, "king_points").text == "The king of spades is not in the pack."
    assert (
        line(short, "forced_lead").text == "A leader who has nothing but hearts may lead them, broken or not."
    )


@settings(max_examples=100, deadline=None)
@given(rules())
def test_any_rule_set_can_be_told(house: Rules):
    told = rule_lines(house)
    assert [SECTIONS.index(rule.section) for rule in told] == sorted(
        SECTIONS.index(rule.section) for rule in told
    )
    assert {rule.section for rule in told} == set(SECTIONS)
    fields = [rule.field for rule in told if rule.field]
    assert len(fields) == len(set(fields))
    assert all(rule.text.endswith(".") and rule.text != rule.standard for rule in told)
    assert [rule.text for rule in told if not rule.field] == [
        "Follow the suit that was led if you can; if you have none of it, play any card.",
        "The highest card of the suit led takes the trick and leads the next; there are no trumps.",
        "The lowest total wins.",
    ]


def test_each_preset_has_a_line():
    assert [name for name, _ in preset_lines()] == list(PRESETS)
    lines = [text for _, text in preset_lines()]
    assert len(set(lines)) == len(lines)
    assert all(0 < len(text) <= 100 for text in lines)


@pytest.mark.parametrize("name", [name for name, fields in PRESETS.items() if fields])
def test_each_preset_tells_its_differences(name: str):
    differing = {rule.field for rule in rule_lines(preset(name)) if rule.standard}
    told = {rule.field for rule in rule_lines(preset(name))}
    assert set(PRESETS[name]) & told <= differing
