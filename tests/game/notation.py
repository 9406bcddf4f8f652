"""Cards as people write them, for tables in tests: `cards("2C QS AH")`."""

from protocol.cards import CARD, SUIT_OF, Card, CardSet, names_of, set_of
from protocol.rules import rules_from
from referee.game.rulebook import Rulebook, rulebook

SUITS = {suit: SUIT_OF[CARD["2" + suit]] for suit in "CDSH"}
"""The whole suit of each letter, as a set."""


def card(name: str) -> Card:
    return CARD[name]


def cards(names: str) -> CardSet:
    """The set of these cards; `*H` stands for all hearts, `*C` for all clubs."""
    held = 0
    for name in names.split():
        held |= SUITS[name[1]] if name[0] == "*" else set_of([name])
    return held


def row(names: str) -> list[Card]:
    """These cards in this order."""
    return [CARD[name] for name in names.split()]


def text(held: CardSet) -> str:
    """A set of cards as it is written."""
    return " ".join(names_of(held))


def book(**fields: object) -> Rulebook:
    """The rulebook with these fields set."""
    return rulebook(rules_from(fields))
