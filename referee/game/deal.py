"""Deals and the caretaker's choices: all that looks random in a match, made from its seed.  [spec/dealing.md]

Everything is SHA-256, so that a program in any language can check a deal against its seed, and the seed
cannot be found from a deal.
"""

from collections.abc import Iterator
from hashlib import sha256

from protocol.cards import Card, CardSet, each
from referee.game.rulebook import Rulebook


def deal(seed: str, hand: int, book: Rulebook) -> tuple[CardSet, ...]:
    """The cards of each seat in hand number `hand` of the match with this seed.  [dealing 2.1, 2.2, 2.3]

    A Fisher-Yates shuffle of the sorted deck: for `i` from the last place down to 1, the next byte of the
    stream that is below the largest multiple of `i + 1` chooses the place that card `i` changes with.
    Seat `s` gets the `s`-th run of a hand's length.
    """
    deck = list(each(book.deck))
    stream = _stream(seed, hand)
    for i in range(len(deck) - 1, 0, -1):
        fair = 256 - 256 % (i + 1)
        byte = next(stream)
        while byte >= fair:
            byte = next(stream)
        j = byte % (i + 1)
        deck[i], deck[j] = deck[j], deck[i]
    size = book.hand_size
    return tuple(sum(1 << card for card in deck[s * size : (s + 1) * size]) for s in range(book.seats))


def caretaker_card(seed: str, hand: int, seat: int, trick: int, legal: CardSet) -> Card:
    """The legal card that the caretaker plays for a seat: the same in every replay.  [dealing 3.2]"""
    cards = list(each(legal))
    return cards[_number(seed, hand, seat, trick) % len(cards)]


def caretaker_pass(seed: str, hand: int, seat: int, cards: CardSet, count: int) -> CardSet:
    """The `count` cards that the caretaker passes for a seat.  [dealing 3.3]"""
    left, number, chosen = list(each(cards)), _number(seed, hand, seat, 0), 0
    for _ in range(count):
        number, at = divmod(number, len(left))
        chosen |= 1 << left.pop(at)
    return chosen


def _stream(seed: str, hand: int) -> Iterator[int]:
    """The bytes of a hand, without end.  [dealing 2.1]"""
    block = 0
    while True:
        yield from _block(seed, b"deal", hand, block)
        block += 1


def _number(seed: str, hand: int, seat: int, trick: int) -> int:
    """The caretaker's number.  [dealing 3.1]"""
    return int.from_bytes(_block(seed, b"care", hand, seat, trick), "big")


def _block(seed: str, word: bytes, *numbers: int) -> bytes:
    """32 bytes for a word and some numbers.  [dealing 1.1, 1.2]"""
    key = sha256(seed.encode()).digest()
    return sha256(key + word + b"".join(number.to_bytes(4, "big") for number in numbers)).digest()
