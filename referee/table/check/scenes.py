"""Rigged hands: deals and stand-ins that bring one seat into a situation, whatever it passes and plays.

Pure, and no second implementation of the rules: a scene says who holds what and what the stand-ins prefer,
and the match machine says what is legal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from protocol.cards import CLUBS, DIAMONDS, HEARTS, SPADES, SUIT_OF, Card, CardSet, each
from protocol.messages import Pass, Play
from protocol.rules import Direction
from referee.game.deal import caretaker_card, caretaker_pass, deal
from referee.game.match import Match
from referee.game.rulebook import Rulebook

SceneName: TypeAlias = Literal["opening", "void", "lead", "whole"]
MomentName: TypeAlias = Literal["pass", "forced", "follow", "void", "lead", "whole"]


class Scene(Struct, frozen=True):
    """A hand as it is dealt, and what the stand-ins do in it until the situation has come.

    `gives` holds what each stand-in passes, `leads` the suits that they lead if they can: on the first trick,
    and after it.
    """

    deal: tuple[CardSet, ...]
    gives: tuple[CardSet, ...]
    leads: tuple[CardSet, CardSet]


class Place(Struct, frozen=True):
    """Where the bot sits in a hand, and what the rules say about this hand."""

    book: Rulebook
    bot: int
    direction: Direction
    eldest: int
    """The seat that leads first under `eldest`."""

    @property
    def passes(self) -> int:
        """How many cards are passed."""
        return self.book.rules.pass_count if self.direction != "hold" else 0

    @property
    def eldest_leads(self) -> bool:
        return self.book.rules.opening == "eldest"


def place_of(match: Match, bot: int) -> Place:
    """The place of the bot in the hand that is to be dealt now."""
    return Place(match.book, bot, match.direction, (match.dealer + 1) % match.book.seats)


# --- the scenes ------------------------------------------------------------------------------------------


def opening(place: Place) -> Scene | None:
    """The bot's first card is its only legal one; then it can follow suit with a choice.

    It opens the hand with the card that it got in the pass; where the eldest opens it follows with its only
    card of the first suit.  Of another suit it is dealt two cards more than it can pass away.
    """
    first = _first_suit(place)
    if not first or (place.eldest_leads and place.eldest == place.bot):
        return None
    book, passes = place.book, place.passes
    key = first & -first if place.eldest_leads else book.opening_card
    long = max((suit & book.deck & ~first for suit in (DIAMONDS, SPADES, CLUBS)), key=int.bit_count)
    others = book.deck & ~first
    received = key | _take(others & ~long, passes - 1)
    dealt = _take(long, passes + 2)
    dealt |= _take(others & ~dealt & ~received & ~long, _room(place, received) - dealt.bit_count())
    dealt |= _take(others & ~dealt & ~received, _room(place, received) - dealt.bit_count())
    return _lay(place, dealt, received, (first, long))


def void(place: Place) -> Scene | None:
    """The bot has no card of the first suit; it holds point cards and others, whatever it passes."""
    first = _first_suit(place)
    if not first or (place.eldest_leads and place.eldest == place.bot):
        return None
    dealt, received = _mixed(place, place.book.deck & ~first, 0)
    return _lay(place, dealt, received, (first, first))


def lead(place: Place) -> Scene | None:
    """The bot's only card of the first suit is the highest: it wins the first trick and leads the next.

    It holds hearts and others, whatever it passes.
    """
    first = _first_suit(place)
    if first.bit_count() < 2:
        return None
    top = 1 << (first.bit_length() - 1)
    dealt, received = _mixed(place, place.book.deck & ~first, top)
    return _lay(place, dealt, received, (first, first))


SCENES: Final[dict[SceneName, Callable[[Place], Scene | None]]] = {
    "opening": opening,
    "void": void,
    "lead": lead,
    "whole": lambda _: None,
}
"""What makes each scene, or None where it cannot be; a whole hand is dealt like any other."""


def _first_suit(place: Place) -> CardSet:
    """The suit that is led first: clubs, or whatever the deck has most of where the eldest may choose."""
    deck = place.book.deck
    if not place.eldest_leads:
        return deck & CLUBS
    return max((suit & deck for suit in (CLUBS, DIAMONDS, SPADES)), key=int.bit_count)


def _mixed(place: Place, pool: CardSet, key: CardSet) -> tuple[CardSet, CardSet]:
    """What the bot is dealt and what it gets with `key`: hearts and others of `pool` in both."""
    hearts = pool & HEARTS
    others = pool & ~HEARTS & ~place.book.point_cards or pool & ~HEARTS
    left = place.passes - key.bit_count()
    received = key | _take(hearts, left // 2) | _take(others, left - left // 2)
    pool &= ~received
    room = _room(place, received)
    dealt = _take(hearts & pool, room // 2)
    dealt |= _take(others & pool, room - dealt.bit_count())
    dealt |= _take(pool & ~dealt, room - dealt.bit_count())
    return dealt, received


def _room(place: Place, received: CardSet) -> int:
    """How many cards the bot is dealt beside `received`, which on a hold hand it is dealt too."""
    return place.book.hand_size - (0 if place.passes else received.bit_count())


def _lay(place: Place, dealt: CardSet, received: CardSet, leads: tuple[CardSet, CardSet]) -> Scene | None:
    """The whole deal: `received` lies with whoever passes to the bot, all else is spread evenly by suit."""
    book, bot, passes = place.book, place.bot, place.passes
    hands = [0] * book.seats
    gives = [0] * book.seats
    if passes:
        giver = next(seat for seat in range(book.seats) if book.receiver(seat, place.direction) == bot)
        hands[bot], hands[giver], gives[giver] = dealt, received, received
        if received.bit_count() != passes:
            return None
    else:
        hands[bot] = dealt | received
    if hands[bot].bit_count() != book.hand_size:
        return None
    seat = bot
    for card in each(book.deck & ~dealt & ~received):
        seat = (seat + 1) % book.seats
        while hands[seat].bit_count() >= book.hand_size:
            seat = (seat + 1) % book.seats
        hands[seat] |= 1 << card
    for seat, held in enumerate(hands):
        if seat != bot and not gives[seat]:
            spare = _take(held & ~leads[0] & ~leads[1], passes)
            gives[seat] = spare | _take(held & ~spare, passes - spare.bit_count())
    return Scene(tuple(hands), tuple(gives), leads)


def _take(cards: CardSet, count: int) -> CardSet:
    """The lowest `count` cards of a set, by rank and not by suit; fewer if it has no more."""
    lowest = sorted(each(cards), key=lambda card: (card % 13, card))[: max(count, 0)]
    return sum(1 << card for card in lowest)


# --- the situations --------------------------------------------------------------------------------------


def _is_pass(match: Match, bot: int) -> bool:
    return match.stage is Pass


def _is_forced(match: Match, bot: int) -> bool:
    return match.stage is Play and match.hand.legal.bit_count() == 1


def _is_follow(match: Match, bot: int) -> bool:
    legal = match.hand.legal if match.stage is Play and match.hand.trick else 0
    if legal.bit_count() < 2 or legal == match.hand.cards[bot]:
        return False
    return not legal & ~SUIT_OF[match.hand.trick[0]]


def _is_void(match: Match, bot: int) -> bool:
    if match.stage is not Play or not match.hand.trick:
        return False
    return not match.hand.cards[bot] & SUIT_OF[match.hand.trick[0]]


def _is_lead(match: Match, bot: int) -> bool:
    """The bot leads; where hearts must be broken first, they are not, and that bars some of its cards."""
    if match.stage is not Play or match.hand.trick:
        return False
    barred = match.hand.cards[bot] & ~match.hand.legal
    return bool(barred) or not match.book.rules.must_break


MOMENTS: Final[dict[MomentName, Callable[[Match, int], bool]]] = {
    "pass": _is_pass,
    "forced": _is_forced,
    "follow": _is_follow,
    "void": _is_void,
    "lead": _is_lead,
    "whole": lambda match, bot: True,
}
"""Whether what the bot is to be asked now is the situation of that name."""


# --- the stand-ins ---------------------------------------------------------------------------------------


def dealt(scene: Scene | None, match: Match) -> tuple[CardSet, ...]:
    """The deal of a scene, or any deal."""
    return scene.deal if scene else deal(match.header.seed, match.hand_number, match.book)


def given(scene: Scene | None, match: Match, seat: int) -> CardSet:
    """What the stand-in in this seat passes."""
    if scene:
        return scene.gives[seat]
    count = match.book.rules.pass_count
    return caretaker_pass(match.header.seed, match.hand_number, seat, match.dealt[seat], count)


def played(scene: Scene | None, match: Match, seat: int) -> Card:
    """What the stand-in in this seat plays: in a scene a low card of its suit, and hearts only if it must."""
    hand, book = match.hand, match.book
    if scene is None:
        number = len(hand.tricks) + 1
        return caretaker_card(match.header.seed, match.hand_number, seat, number, hand.legal)
    pool = hand.legal & ~book.breaking or hand.legal
    if not hand.trick:
        pool = pool & scene.leads[0 if hand.first_trick else 1] or pool
    return min(each(pool), key=lambda card: (card % 13, card))
