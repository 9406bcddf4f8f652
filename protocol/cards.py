"""Cards and sets of cards: small integers inside, two-letter names at the edge.

A `Card` is an int from 0 to 51: 13 times its suit (clubs, diamonds, spades, hearts) plus its rank (2 to ace).
A `CardSet` is an int with bit `card` set for each card in it, so that following suit is one `&`.
"""

from collections.abc import Iterable, Iterator
from typing import Final, Literal, TypeAlias

Card: TypeAlias = int
CardSet: TypeAlias = int

# fmt: off
CardName: TypeAlias = Literal[
    "2C", "3C", "4C", "5C", "6C", "7C", "8C", "9C", "TC", "JC", "QC", "KC", "AC",
    "2D", "3D", "4D", "5D", "6D", "7D", "8D", "9D", "TD", "JD", "QD", "KD", "AD",
    "2S", "3S", "4S", "5S", "6S", "7S", "8S", "9S", "TS", "JS", "QS", "KS", "AS",
    "2H", "3H", "4H", "5H", "6H", "7H", "8H", "9H", "TH", "JH", "QH", "KH", "AH",
]
# fmt: on

RANKS: Final = "23456789TJQKA"
SUITS: Final = "CDSH"
SUIT_WORDS: Final = ("clubs", "diamonds", "spades", "hearts")

NAMES: Final[tuple[CardName, ...]] = CardName.__args__  # type: ignore[attr-defined]
CARD: Final[dict[str, Card]] = {name: card for card, name in enumerate(NAMES)}
"""The card of each name: `CARD["QS"]`."""

BIT: Final[dict[str, CardSet]] = {name: 1 << card for card, name in enumerate(NAMES)}
"""The set that holds just the card of that name."""

DECK: Final[CardSet] = (1 << 52) - 1
CLUBS: Final[CardSet] = (1 << 13) - 1
DIAMONDS: Final[CardSet] = CLUBS << 13
SPADES: Final[CardSet] = CLUBS << 26
HEARTS: Final[CardSet] = CLUBS << 39
SUIT_OF: Final[tuple[CardSet, ...]] = tuple(CLUBS << 13 * (card // 13) for card in range(52))
"""The whole suit of each card, as a set."""


class _NamesOfSuit(dict[CardSet, tuple[CardName, ...]]):
    """The names of each set of cards of one suit, worked out at its first use (at most 4 x 8192 entries)."""

    def __missing__(self, cards: CardSet) -> tuple[CardName, ...]:
        highest = cards.bit_length() - 1
        names = self[cards] = (*self[cards ^ 1 << highest], NAMES[highest])
        return names


_names = _NamesOfSuit({0: ()})


def names_of(cards: CardSet) -> tuple[CardName, ...]:
    """The names of `cards`, sorted: clubs, diamonds, spades, hearts, each from the 2 up.  [protocol 3.3]"""
    names = _names.get(cards)  # cards of one suit, as most legal sets are
    if names:
        return names
    return _names[cards & CLUBS] + _names[cards & DIAMONDS] + _names[cards & SPADES] + _names[cards & HEARTS]


def each(cards: CardSet) -> Iterator[Card]:
    """The cards of a set, lowest first."""
    while cards:
        lowest = cards & -cards
        yield lowest.bit_length() - 1
        cards ^= lowest


def set_of(names: Iterable[str]) -> CardSet:
    """The set of the cards with these names.  Raises KeyError for a name that is no card."""
    cards = 0
    for name in names:
        cards |= BIT[name]
    return cards
