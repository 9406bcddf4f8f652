"""House rules and conditions as data: every field, what it may be, and why some cannot stand together.

What a rule means at the table is `spec/rules.md`; the numbers in brackets are its.  `presets.py` names the
rule sets that people play.
"""

import json
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, Literal, TypeAlias, get_args, get_type_hints

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from protocol.cards import CARD, CardName

Direction: TypeAlias = Literal["left", "right", "across", "left2", "right2", "hold"]
OnFault: TypeAlias = Literal["retire", "substitute", "hand", "match"]
Sandbox: TypeAlias = Literal["auto", "none", "bwrap"]

REMOVED: Final[dict[int, tuple[CardName, ...]]] = {
    3: ("2D",),
    4: (),
    5: ("2C", "2D"),
    6: ("2C", "2D", "3C", "2S"),
}
"""The cards taken out so that the deck divides, by number of players.  [rules 2.2]"""

PASS_CYCLE: Final[dict[int, tuple[Direction, ...]]] = {
    3: ("left", "right", "hold"),
    4: ("left", "right", "across", "hold"),
    5: ("left", "right", "left2", "right2", "hold"),
    6: ("left", "right", "left2", "right2", "across", "hold"),
}
"""The directions of successive hands, by number of players.  [rules 3.2]"""


class RulesError(ValueError):
    """A rule or condition that cannot be: a sentence that names the field, its value and what is allowed."""


class Rules(Struct, frozen=True, kw_only=True):
    """One set of house rules; each default is the standard game.  [rules]

    `removed` and `pass_cycle` may be left out (None): they become those of the number of players.
    Build one with `rules_from`, which tells people what is wrong; the constructor raises RulesError too.
    """

    players: Literal[3, 4, 5, 6] = 4
    removed: tuple[CardName, ...] | None = None
    pass_count: Literal[0, 1, 2, 3, 4] = 3
    pass_cycle: tuple[Direction, ...] | None = None
    opening: Literal["lowest_club", "any_club", "eldest"] = "lowest_club"
    first_trick: Literal["strict", "strict_heart", "free"] = "strict"
    must_break: bool = True
    breaks: Literal["any_heart", "discard"] = "any_heart"
    queen_breaks: bool = False
    queen_lead: Literal["free", "broken"] = "free"
    forced_lead: Literal["hearts", "points"] = "hearts"
    heart_points: Literal["one", "pips"] = "one"
    queen_points: int = 13
    king_points: int = 0
    ace_points: int = 0
    jack_points: Literal[-10, 0] = 0
    jack_card: Literal["JD", "TD"] = "JD"
    ten_clubs_doubles: bool = False
    moon: Literal["add", "subtract", "safe", "off"] = "add"
    moon_needs_jack: bool = False
    sun: Literal["moon", "double"] = "moon"
    no_trick_bonus: Literal[-5, 0] = 0
    target: int | None = 100
    max_hands: int | None = 100
    tie: Literal["extra_hands", "shared"] = "extra_hands"

    def __post_init__(self) -> None:
        _check_fields(self, _RULE_RANGES, "rule")
        if self.removed is None:
            force_setattr(self, "removed", REMOVED[self.players])
        if self.pass_cycle is None:
            force_setattr(self, "pass_cycle", PASS_CYCLE[self.players])
        _check_together(self)


class Clock(Struct, frozen=True, kw_only=True):
    """The part of the conditions that a bot is told: its time, in milliseconds.  [protocol 4.1]"""

    turn_ms: int = 2000
    start_ms: int = 10000
    bank_ms: int = 0


class Conditions(Clock, frozen=True, kw_only=True):
    """What the organiser sets beside the rules of the game: time, the price of a fault, confinement.

    The limits are those of one bot with all that it starts; 0 is none.
    """

    on_fault: OnFault = "retire"
    strikes: int = 0
    sandbox: Sandbox = "auto"
    anonymous: bool = False
    freeze: bool = False
    memory_mb: int = 1024
    scratch_mb: int = 256
    file_mb: int = 128
    processes: int = 256
    open_files: int = 256

    def __post_init__(self) -> None:
        _check_fields(self, _CONDITION_RANGES, "condition")

    def clock(self) -> Clock:
        """The part that is sent to bots."""
        return Clock(turn_ms=self.turn_ms, start_ms=self.start_ms, bank_ms=self.bank_ms)


_MOST: Final = 1_000_000_000
"""More than anybody wants, and a whole number in every language that a bot may be written in."""
_RULE_RANGES: Final[dict[str, tuple[int, int]]] = {
    "queen_points": (0, 50),
    "king_points": (0, 50),
    "ace_points": (0, 50),
    "target": (1, _MOST),
    "max_hands": (1, _MOST),
}
_CONDITION_RANGES: Final[dict[str, tuple[int, int]]] = {
    "turn_ms": (1, _MOST),
    "start_ms": (1, _MOST),
    "bank_ms": (0, _MOST),
    "strikes": (0, _MOST),
    "memory_mb": (0, _MOST),
    "scratch_mb": (0, _MOST),
    "file_mb": (0, _MOST),
    "processes": (0, _MOST),
    "open_files": (0, _MOST),
}


def rules_from(fields: Mapping[str, Any]) -> Rules:
    """The rules with these fields set and the standard for all others.

    Raises RulesError with a sentence that names the field, its value and what is allowed.
    """
    _check_names(fields, Rules, "rule")
    return Rules(**{name: _tupled(value) for name, value in fields.items()})


def conditions_from(fields: Mapping[str, Any]) -> Conditions:
    """The conditions with these fields set and the defaults for all others.  Raises RulesError likewise."""
    _check_names(fields, Conditions, "condition")
    return Conditions(**fields)


def allowed(record: type[Struct], name: str) -> str:
    """What a field of `Rules` or `Conditions` may be, in words: `"0 to 50"`, `"JD or TD"`."""
    low_high = (_RULE_RANGES | _CONDITION_RANGES).get(name)
    if low_high is None:
        return _words_of(_kinds(record)[name])
    words = "a whole number from {:,} to {:,}".format(*low_high)
    return words + (", or null" if type(None) in get_args(_kinds(record)[name]) else "")


@cache
def _kinds(record: type[Struct]) -> dict[str, object]:
    return get_type_hints(record)


def _words_of(kind: object) -> str:
    if kind is bool:
        return "true or false"
    if kind == tuple[CardName, ...] | None:
        return 'a list of cards such as ["2D"], or null for those of the number of players'
    if kind == tuple[Direction, ...] | None:
        return f"a list of {', '.join(get_args(Direction))}, or null for that of the number of players"
    *most, last = map(str, get_args(kind))
    return f"{', '.join(most)} or {last}"


def _check_names(fields: Mapping[str, Any], record: type[Struct], what: str) -> None:
    known = record.__struct_fields__
    for name in fields:
        if name not in known:
            close = get_close_matches(str(name), known, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(known)}."
            raise RulesError(f"There is no {what} {name!r}; {hint}")


def _check_fields(record: Struct, ranges: Mapping[str, tuple[int, int]], what: str) -> None:
    for name, kind in _kinds(type(record)).items():
        value = getattr(record, name)
        if not _fits(value, kind, ranges.get(name)):
            must = allowed(type(record), name)
            raise RulesError(f"The {what} {name} is {_shown(value)}; it must be {must}.")


def _fits(value: object, kind: object, low_high: tuple[int, int] | None) -> bool:
    """Whether a value is of this kind, just so: a set is no list, and 100.0 no whole number."""
    try:
        if type(msgspec.convert(value, kind, strict=True)) is not type(value):
            return False
    except (msgspec.ValidationError, UnicodeEncodeError):  # the latter of half a character
        return False
    return low_high is None or value is None or low_high[0] <= value <= low_high[1]  # type: ignore[operator]


def _shown(value: object) -> str:
    """A value as JSON, or as near to it as it comes, at most 60 characters of it."""
    try:
        text = json.dumps(value, default=repr, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):  # of thousands of digits or of levels
        return "too long to show"
    return text if len(text) <= 60 else text[:59] + "…"


def _check_together(rules: Rules) -> None:
    """Refuse fields that cannot stand together."""
    removed, cycle = rules.removed, rules.pass_cycle
    assert removed is not None
    assert cycle is not None
    for card in removed:
        if removed.count(card) > 1:
            raise RulesError(f"The rule removed lists {card} twice; a deck has one of each card.")
    if all(name in removed for name in CARD if name[1] == "H"):
        raise RulesError("The rule removed takes out every heart; Hearts needs some.")
    cards = 52 - len(removed)
    if cards % rules.players:
        raise RulesError(
            f"The rule removed leaves {cards} cards, which {rules.players} players cannot share evenly; "
            f"remove {_some_cards(52 % rules.players)}, or {52 % rules.players + rules.players}, and so on."
        )
    hand_size = cards // rules.players
    if hand_size < rules.pass_count:
        raise RulesError(
            f"The rule pass_count is {rules.pass_count}, more than the {hand_size} cards of a hand."
        )
    if rules.opening != "eldest" and all(name in removed for name in CARD if name[1] == "C"):
        raise RulesError(f"The rule opening is {rules.opening}, but removed leaves no club in the deck.")
    if not cycle:
        raise RulesError('The rule pass_cycle is empty; write ["hold"] for a game without passing.')
    if "across" in cycle and rules.players % 2:
        raise RulesError(
            f"The rule pass_cycle has across, but nobody sits across at a table of {rules.players}."
        )
    for field, card, is_off in (
        ("queen_points", "QS", rules.queen_points == 0),
        ("king_points", "KS", rules.king_points == 0),
        ("ace_points", "AS", rules.ace_points == 0),
        ("jack_points", rules.jack_card, rules.jack_points == 0),
        ("moon_needs_jack", rules.jack_card, not rules.moon_needs_jack),
        ("ten_clubs_doubles", "TC", not rules.ten_clubs_doubles),
    ):
        if card in removed and not is_off:
            value = _shown(getattr(rules, field))
            raise RulesError(f"The rule {field} is {value}, but removed takes {card} out of the deck.")
    if rules.target is None and rules.max_hands is None:
        raise RulesError("The rules target and max_hands are both null: the match would never end; set one.")


def _some_cards(count: int) -> str:
    return {0: "none", 1: "1 card"}.get(count, f"{count} cards")


def _tupled(value: object) -> Any:
    return tuple(value) if isinstance(value, list) else value
