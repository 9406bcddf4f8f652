"""One hand of Hearts as a small state machine: cards in, tricks out.  No matches, bots or faults here."""

from collections.abc import Sequence

from protocol.cards import SUIT_OF, Card, CardSet
from referee.game.play import breaks_hearts, legal_follow, legal_lead, trick_winner, why_illegal
from referee.game.rulebook import Rulebook


class IllegalPlay(ValueError):
    """A card that the rules do not allow now; the hand is unchanged."""


class Hand:
    """A hand from the first lead to the last trick.  [rules 4, 5]

    `turn` is the seat to play, `legal` the set it may play, `trick` the cards on the table, leader first.
    `tricks` are the finished tricks as (leader, cards, winner).  Give `cards` as they are after the pass.
    """

    __slots__ = (
        "_breaking",
        "_led",
        "_table",
        "book",
        "broken",
        "cards",
        "lead",
        "legal",
        "taken",
        "trick",
        "tricks",
        "tricks_won",
        "turn",
        "won",
    )

    def __init__(self, book: Rulebook, cards: Sequence[CardSet], dealer: int = 0) -> None:
        self.book = book
        self.cards = list(cards)
        self.broken = not book.rules.must_break
        self.trick: list[Card] = []
        self.tricks: list[tuple[int, tuple[Card, ...], int]] = []
        self.taken = [0] * book.seats
        """Penalty points in each seat's tricks so far."""
        self.won: list[CardSet] = [0] * book.seats
        self.tricks_won = [0] * book.seats
        self._led: CardSet = 0
        self._table: CardSet = 0  # the cards of `trick`
        self._breaking: CardSet = 0 if self.broken else book.breaking  # none once hearts are broken
        if book.rules.opening == "eldest":
            self.turn = (dealer + 1) % book.seats
        else:
            self.turn = next(seat for seat, held in enumerate(cards) if held & book.opening_card)
        self.lead = self.turn
        self.legal: CardSet = legal_lead(book, self.cards[self.turn], self.broken, first_trick=True)

    @property
    def over(self) -> bool:
        """Whether every card has been played."""
        return len(self.tricks) == self.book.hand_size

    @property
    def first_trick(self) -> bool:
        return not self.tricks

    def play(self, card: Card) -> None:
        """Play `card` for the seat whose turn it is.  [rules 4, 5]

        Raises IllegalPlay, and changes nothing, if the card may not be played now.
        """
        bit = 1 << card
        if not bit & self.legal:
            raise IllegalPlay(self.why_illegal(card))
        trick, seat = self.trick, self.turn
        self.cards[seat] ^= bit
        if trick:
            led = self._led
            self._table |= bit
        else:
            led = self._led = SUIT_OF[card]
            self._table = bit
        if bit & self._breaking and breaks_hearts(self.book, card, led):
            self.broken = True
            self._breaking = 0
        trick.append(card)
        seats = self.book.seats
        if len(trick) < seats:
            self.turn = seat = (seat + 1) % seats
            held = self.cards[seat]
            self.legal = held & led or legal_follow(self.book, held, led, not self.tricks)
        else:
            self._finish_trick()

    def _finish_trick(self) -> None:
        book, trick, table = self.book, self.trick, self._table
        winner = trick_winner(trick, table, self.lead)
        if table & book.point_cards:
            self.taken[winner] += book.penalty(table)
        self.won[winner] |= table
        self.tricks_won[winner] += 1
        self.tricks.append((self.lead, tuple(trick), winner))
        self.trick = []
        self.lead = self.turn = winner
        self.legal = legal_lead(book, self.cards[winner], self.broken, first_trick=False)

    def why_illegal(self, card: Card) -> str:
        """The rule that `card` would break now, in words.  [rules 4, 5]"""
        led = self._led if self.trick else 0
        return why_illegal(self.book, self.cards[self.turn], card, led, self.first_trick)
