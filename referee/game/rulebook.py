"""The house rules compiled once into card sets and point tables, so that play itself only does arithmetic."""

from functools import lru_cache
from typing import Final

from protocol.cards import BIT, CLUBS, DECK, HEARTS, Card, CardSet, each, set_of
from protocol.rules import Direction, Rules

QUEEN: Final = BIT["QS"]

_STEPS: Final[dict[Direction, int]] = {"left": 1, "right": -1, "left2": 2, "right2": -2, "hold": 0}


class Rulebook:
    """One rule set, ready to play by.  Make it with `rulebook(rules)`, which keeps it."""

    __slots__ = (
        "_worths",
        "barred_on_first_trick",
        "bonus_card",
        "breaking",
        "deck",
        "forced_lead",
        "hand_size",
        "opening_card",
        "pack_points",
        "point_cards",
        "points",
        "rules",
        "seats",
        "ten_of_clubs",
        "unbroken_lead_bar",
    )

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.seats = rules.players
        self.deck: CardSet = DECK & ~set_of(rules.removed or ())
        self.hand_size = self.deck.bit_count() // rules.players
        self.points: tuple[int, ...] = tuple(_penalty(rules, card) for card in range(52))
        """Penalty points of each card; the bonus card is not among them.  [rules 6.1]"""
        self.point_cards: CardSet = sum(1 << card for card in each(self.deck) if self.points[card])
        self._worths: tuple[tuple[int, CardSet], ...] = tuple(
            (worth, sum(1 << card for card in each(self.point_cards) if self.points[card] == worth))
            for worth in sorted(set(self.points) - {0})
        )
        self.pack_points = self.penalty(self.deck)
        """All penalty points in the deck, 26 in the standard game: the swing of a moon.  [rules 6.2, 6.3]"""
        self.opening_card: CardSet = (self.deck & CLUBS) & -(self.deck & CLUBS)
        self.barred_on_first_trick: CardSet = 0 if rules.first_trick == "free" else self.point_cards
        self.breaking: CardSet = HEARTS | (QUEEN if rules.queen_breaks else 0)
        self.unbroken_lead_bar: CardSet = HEARTS | (QUEEN if rules.queen_lead == "broken" else 0)
        points_too = QUEEN | self.point_cards if rules.forced_lead == "points" else 0
        self.forced_lead: CardSet = HEARTS | points_too
        """A leader who holds nothing outside this set may lead any of it, broken or not.  [rules 5.4]"""
        self.bonus_card: CardSet = BIT[rules.jack_card]
        self.ten_of_clubs: CardSet = BIT["TC"]

    def direction(self, hand: int, first_hand: int = 1) -> Direction:
        """Where hand number `hand` passes, when hand 1 stands at `first_hand` of the cycle.  [rules 3.2]"""
        cycle = self.rules.pass_cycle
        assert cycle is not None
        return cycle[(first_hand + hand - 2) % len(cycle)] if self.rules.pass_count else "hold"

    def receiver(self, seat: int, direction: Direction) -> int:
        """The seat that `seat` passes to; itself on a hold hand.  [rules 3.2]

        Seats go clockwise, so the one to the left is the next higher.
        """
        step = self.seats // 2 if direction == "across" else _STEPS[direction]
        return (seat + step) % self.seats

    def penalty(self, cards: CardSet) -> int:
        """The penalty points in a set of cards."""
        points = 0
        for worth, alike in self._worths:
            points += worth * (cards & alike).bit_count()
        return points


@lru_cache(maxsize=64)
def rulebook(rules: Rules) -> Rulebook:
    """The compiled form of a rule set."""
    return Rulebook(rules)


def _penalty(rules: Rules, card: Card) -> int:
    if 1 << card & HEARTS:
        return card % 13 + 2 if rules.heart_points == "pips" else 1
    bit = 1 << card
    return {QUEEN: rules.queen_points, BIT["KS"]: rules.king_points, BIT["AS"]: rules.ace_points}.get(bit, 0)
