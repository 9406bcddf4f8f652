"""What may be played, which play breaks hearts, who wins a trick: each function a rule of the rulebook."""

from collections.abc import Sequence
from typing import Final

from protocol.cards import CLUBS, DIAMONDS, HEARTS, SPADES, SUIT_OF, SUIT_WORDS, Card, CardSet, names_of
from referee.game.rulebook import QUEEN, Rulebook

_WORD_OF: Final = dict(zip((CLUBS, DIAMONDS, SPADES, HEARTS), SUIT_WORDS, strict=True))


def legal_lead(book: Rulebook, hand: CardSet, broken: bool, first_trick: bool) -> CardSet:
    """The cards of `hand` that may lead a trick.  [rules 4.1, 5.1, 5.4, 5.5]"""
    if first_trick and book.rules.opening != "eldest":
        return hand & (book.opening_card if book.rules.opening == "lowest_club" else CLUBS)
    if broken:
        return hand
    if not hand & ~book.forced_lead:
        return hand
    return hand & ~book.unbroken_lead_bar or hand


def legal_follow(book: Rulebook, hand: CardSet, led: CardSet, first_trick: bool) -> CardSet:
    """The cards of `hand` that may follow when the suit `led` was led.  [rules 4.3, 4.4, 4.5]"""
    following = hand & led
    if following:
        return following
    if first_trick:
        return hand & ~book.barred_on_first_trick or _only_points(book, hand)
    return hand


def _only_points(book: Rulebook, hand: CardSet) -> CardSet:
    """A void seat that holds point cards alone on the first trick.  [rules 4.5]"""
    return (hand & HEARTS if book.rules.first_trick == "strict_heart" else 0) or hand


def breaks_hearts(book: Rulebook, card: Card, led: CardSet) -> bool:
    """Whether this card breaks hearts.  [rules 5.2, 5.3]

    `led` is the led suit of its trick; for the card that leads, its own.
    """
    bit = 1 << card
    return bool(bit & book.breaking) and (book.rules.breaks == "any_heart" or not bit & led)


def trick_winner(trick: Sequence[Card], table: CardSet, leader: int) -> int:
    """The seat that wins a finished trick: the highest card of the led suit.  [rules 4.6]

    `table` is the trick as a set.
    """
    highest = (table & SUIT_OF[trick[0]]).bit_length() - 1
    return (leader + trick.index(highest)) % len(trick)


def why_illegal(book: Rulebook, hand: CardSet, card: Card, led: CardSet, first_trick: bool) -> str:
    """The rule that a card which is not legal breaks, in words.  [rules 4, 5]

    `led` is the led suit of the trick, 0 when the seat leads.
    """
    bit = 1 << card
    if not bit & hand:
        return "not in your hand"
    if led and hand & led:
        return f"must follow {_WORD_OF[led]}"
    if led:
        has_others = hand & ~book.barred_on_first_trick
        return "no point card on the first trick" if has_others else "must discard a heart"
    if first_trick and book.rules.opening == "lowest_club":
        return f"must lead {names_of(book.opening_card)[0]}"
    if first_trick and book.rules.opening == "any_club":
        return "must lead a club"
    what = "the queen of spades" if bit == QUEEN else "hearts"
    return f"{what} may not be led before hearts are broken"
