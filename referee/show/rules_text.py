"""The rules in plain words, as a player reads them before sitting down.  Text only, no layout.

Each field of `Rules` has one sentence for each of its values.  `spec/rules.md` is the rulebook in full.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from protocol.cards import SUIT_WORDS, SUITS, CardName, names_of
from protocol.presets import PRESETS
from protocol.rules import Direction, Rules
from referee.game.rulebook import rulebook


class RuleLine(NamedTuple):
    """One rule: its section, its field ("" for a rule that is always the same), and what it says.

    `standard` is what the standard game says instead, or None where this rule is the standard's.
    """

    section: str
    field: str
    text: str
    standard: str | None = None


_PRESETS: Final[dict[str, str]] = {
    "standard": "the game as most people know it, to 100 points",
    "black_lady": "another name for the standard game",
    "complete": "with hearts and the queen of spades alone, either may be led before hearts are broken",
    "parlour": "only a discarded heart breaks hearts",
    "nowplay": "only a discarded heart breaks hearts; points forced on trick 1 are a heart; ties share",
    "household": "only a discarded heart breaks hearts; ties share the win",
    "microsoft": "the game that came with Windows: ties share the win",
    "pagat": "points may fall on the first trick; a moon never loses the match; ties share the win",
    "bicycle": "a discarded heart or queen of spades breaks hearts; ties share the win",
    "openspiel": "one hand, and the queen of spades breaks hearts: the game of the OpenSpiel library",
    "first_trick_blood": "points may fall on the first trick",
    "queen_breaks": "the queen of spades breaks hearts too",
    "omnibus": "the jack of diamonds takes 10 points off",
    "omnibus_full": "the jack of diamonds takes 10 points off, and the ten of clubs doubles",
    "spot": "Spot Hearts: hearts cost their pips, the queen of spades 25; to 500 points",
    "three": "three players, 17 cards each",
    "five": "five players, 10 cards each",
    "six": "six players, 8 cards each",
    "black_maria": "three players; king and ace of spades cost too; no breaking and no moon",
    "duplicate": "one hand only, for comparing bots on the same deal",
    "short": "a short game, to 50 points",
}

_NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six")
_RANK_WORDS: Final = {"T": "ten", "J": "jack", "Q": "queen", "K": "king", "A": "ace"}
_TO: Final[dict[Direction, str]] = {
    "left": "to the left",
    "right": "to the right",
    "across": "across",
    "left2": "to the second seat on the left",
    "right2": "to the second seat on the right",
    "hold": "nowhere",
}


def preset_lines() -> list[tuple[str, str]]:
    """The name of each rule set and a line on what it is.  [rules 9]"""
    return [(name, _PRESETS[name]) for name in PRESETS]


def rule_lines(rules: Rules) -> list[RuleLine]:
    """Every rule that acts in this rule set, in the order of a game."""
    lines = []
    for section, field, say, applies in _RULES:
        if applies(rules):
            text, standard = say(rules), say(Rules())
            lines.append(RuleLine(section, field, text, None if text == standard else standard))
    return lines


# --- the table and the pass ------------------------------------------------------------------------------


def _players(rules: Rules) -> str:
    return f"{_NUMBERS[rules.players].capitalize()} players, each for themselves."


def _removed(rules: Rules) -> str:
    size = rulebook(rules).hand_size
    each = f"{size} cards" if size > 1 else "1 card"
    if not rules.removed:
        return f"The whole pack of 52 is dealt, {each} to each."
    return f"The pack is dealt without {_listed([_card(name) for name in rules.removed])}, {each} to each."


def _pass_count(rules: Rules) -> str:
    if not rules.pass_count:
        return "No cards are passed."
    cards = "card" if rules.pass_count == 1 else "cards"
    count = f"{_NUMBERS[rules.pass_count]} {cards}"
    return f"Before the first trick everybody passes {count}, all at once and unseen."


def _pass_cycle(rules: Rules) -> str:
    assert rules.pass_cycle is not None
    *most, last = [_TO[way] if way != "hold" else "no pass" for way in rules.pass_cycle]
    if not most:
        return "Every hand is played as dealt." if last == "no pass" else f"The cards always go {last}."
    return f"From hand to hand the cards go {', '.join(most)}, then {last}; and again from the start."


# --- play ------------------------------------------------------------------------------------------------


def _opening(rules: Rules) -> str:
    if rules.opening == "eldest":
        return "The player to the dealer's left leads to the first trick, any card that may be led."
    lowest = _card(names_of(rulebook(rules).opening_card)[0])
    if rules.opening == "any_club":
        return f"Whoever holds {lowest} after the pass leads to the first trick, any club they like."
    return f"Whoever holds {lowest} after the pass leads it to the first trick."


def _follow(_: Rules) -> str:
    return "Follow the suit that was led if you can; if you have none of it, play any card."


def _trick(_: Rules) -> str:
    return "The highest card of the suit led takes the trick and leads the next; there are no trumps."


def _first_trick(rules: Rules) -> str:
    if rules.first_trick == "free":
        return "On the first trick any card may be discarded, those that cost points too."
    barred = "On the first trick no card that costs points may be discarded, unless there is no other to play"
    return barred + (
        "; then it must be a heart if you have one." if rules.first_trick == "strict_heart" else "."
    )


def _must_break(rules: Rules) -> str:
    if rules.must_break:
        return "Hearts may not be led before they are broken."
    return "Hearts may be led at any time."


def _breaks(rules: Rules) -> str:
    if rules.breaks == "discard":
        return "Hearts are broken when one is discarded on another suit, not when one leads or follows."
    return "Hearts are broken by the first heart that is played, in whatever way."


def _queen_breaks(rules: Rules) -> str:
    if not rules.queen_breaks:
        return "Playing the queen of spades leaves hearts unbroken."
    how = (
        "when she is discarded on another suit"
        if rules.breaks == "discard"
        else "in whatever way she is played"
    )
    return f"The queen of spades breaks hearts too, {how}."


def _queen_lead(rules: Rules) -> str:
    if rules.queen_lead == "broken":
        return "The queen of spades may not be led before hearts are broken either."
    return "The queen of spades may be led at any time."


def _forced_lead(rules: Rules) -> str:
    if rules.forced_lead == "points":
        return (
            "A leader who has nothing but hearts, the queen of spades and other cards that cost points "
            "may lead any of them, broken or not."
        )
    if "QS" in (rules.removed or ()):
        return "A leader who has nothing but hearts may lead them, broken or not."
    if rules.queen_lead == "broken":
        return (
            "A leader who has nothing but hearts, or hearts and the queen of spades, "
            "may lead any of them, broken or not."
        )
    return (
        "A leader who has nothing but hearts may lead them, broken or not; "
        "with the queen of spades as the only other card, she must be led."
    )


# --- scoring ---------------------------------------------------------------------------------------------


def _heart_points(rules: Rules) -> str:
    if rules.heart_points == "pips":
        return "Each heart taken costs its pips: 2 to 10, the jack 11, the queen 12, the king 13, the ace 14."
    return "Each heart taken costs 1 point."


def _spade(what: str, card: CardName, field: str) -> Callable[[Rules], str]:
    def say(rules: Rules) -> str:
        points = getattr(rules, field)
        if card in (rules.removed or ()):
            return f"The {what} of spades is not in the pack."
        return f"The {what} of spades costs {_points(points) if points else 'nothing'}."

    return say


def _moon(rules: Rules) -> str:
    swing = rulebook(rules).pack_points
    if rules.moon == "off":
        return f"There is no moon: taking every card that costs points costs all {swing}."
    shot = "Whoever takes every card that costs points has shot the moon"
    if rules.moon == "subtract":
        return f"{shot}: {swing} points off their total, and nothing for the others."
    if rules.moon == "safe":
        return (
            f"{shot}: nothing for them and {swing} for each of the others; but if that would end the match "
            f"without the shooter as its only winner, {swing} points off the shooter's total instead."
        )
    return f"{shot}: nothing for them and {swing} for each of the others."


def _sun(rules: Rules) -> str:
    if rules.sun == "double":
        return f"A moon with every trick of the hand counts twice, {2 * rulebook(rules).pack_points}."
    return "A moon with every trick of the hand counts like any other."


def _jack_points(rules: Rules) -> str:
    if rules.jack_points:
        return "Whoever takes the bonus card has 10 points taken off."
    return "No card takes points off."


def _jack_card(rules: Rules) -> str:
    return f"The bonus card is {_card(rules.jack_card)}."


def _moon_needs_jack(rules: Rules) -> str:
    if rules.moon_needs_jack:
        return f"It is a moon only with {_card(rules.jack_card)} as well."
    return "It is a moon with or without the bonus card."


def _no_trick_bonus(rules: Rules) -> str:
    if rules.no_trick_bonus:
        bonus = "Whoever takes no trick has 5 points taken off"
        return f"{bonus}, except in a hand with a moon." if rules.moon != "off" else f"{bonus}."
    return "Taking no trick earns nothing more."


def _ten_clubs_doubles(rules: Rules) -> str:
    if rules.ten_clubs_doubles:
        return "Whoever takes the ten of clubs has all points of the hand doubled, moon and bonuses included."
    return "The ten of clubs is a card like any other."


# --- the end ---------------------------------------------------------------------------------------------


def _target(rules: Rules) -> str:
    if rules.target is None:
        return "No number of points ends the match."
    return f"The match ends after the hand in which somebody reaches {_points(rules.target)}."


def _max_hands(rules: Rules) -> str:
    if rules.max_hands is None:
        return "No number of hands ends the match."
    hands = "one hand" if rules.max_hands == 1 else f"{rules.max_hands} hands"
    return f"The match ends after {hands}" + (
        " at the latest; a tie is shared then." if rules.target else "."
    )


def _winner(_: Rules) -> str:
    return "The lowest total wins."


def _tie(rules: Rules) -> str:
    if rules.tie == "shared" or rules.target is None:
        return "Players who share the lowest total share the win."
    return "If two or more share the lowest total then, further hands are played until one has it alone."


def _card(name: CardName) -> str:
    return f"the {_RANK_WORDS.get(name[0], name[0])} of {SUIT_WORDS[SUITS.index(name[1])]}"


def _points(points: int) -> str:
    return "1 point" if points == 1 else f"{points} points"


def _listed(things: list[str]) -> str:
    *most, last = things
    return f"{', '.join(most)} and {last}" if most else last


def _always(_: Rules) -> bool:
    return True


def _must(rules: Rules) -> bool:
    return rules.must_break


def _queen_matters(rules: Rules) -> bool:
    return rules.must_break and "QS" not in (rules.removed or ())


def _moons(rules: Rules) -> bool:
    return rules.moon != "off"


def _bonus(rules: Rules) -> bool:
    return rules.jack_points != 0


_RULES: Final[tuple[tuple[str, str, Callable[[Rules], str], Callable[[Rules], bool]], ...]] = (
    ("table", "players", _players, _always),
    ("table", "removed", _removed, _always),
    ("passing", "pass_count", _pass_count, _always),
    ("passing", "pass_cycle", _pass_cycle, lambda rules: rules.pass_count > 0),
    ("play", "opening", _opening, _always),
    ("play", "", _follow, _always),
    ("play", "", _trick, _always),
    ("play", "first_trick", _first_trick, _always),
    ("play", "must_break", _must_break, _always),
    ("play", "breaks", _breaks, _must),
    ("play", "queen_breaks", _queen_breaks, _queen_matters),
    ("play", "queen_lead", _queen_lead, _queen_matters),
    ("play", "forced_lead", _forced_lead, _must),
    ("scoring", "heart_points", _heart_points, _always),
    ("scoring", "queen_points", _spade("queen", "QS", "queen_points"), _always),
    ("scoring", "king_points", _spade("king", "KS", "king_points"), _always),
    ("scoring", "ace_points", _spade("ace", "AS", "ace_points"), _always),
    ("scoring", "moon", _moon, _always),
    ("scoring", "sun", _sun, _moons),
    ("scoring", "jack_points", _jack_points, _always),
    ("scoring", "jack_card", _jack_card, _bonus),
    (
        "scoring",
        "moon_needs_jack",
        _moon_needs_jack,
        lambda rules: _moons(rules) and (_bonus(rules) or rules.moon_needs_jack),
    ),
    ("scoring", "no_trick_bonus", _no_trick_bonus, _always),
    ("scoring", "ten_clubs_doubles", _ten_clubs_doubles, lambda rules: "TC" not in (rules.removed or ())),
    ("end", "target", _target, _always),
    ("end", "max_hands", _max_hands, _always),
    ("end", "", _winner, _always),
    ("end", "tie", _tie, _always),
)
"""Section, field, sentence, and whether the rule acts at all beside the others."""
