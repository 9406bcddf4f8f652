"""Random rule sets of any number of players, deals for them, and conditions."""

from random import Random
from typing import Any, get_args, get_type_hints

from hypothesis import assume
from hypothesis import strategies as st

from protocol.cards import CardSet, each
from protocol.rules import REMOVED, Conditions, Direction, OnFault, Rules, rules_from
from referee.game.rulebook import Rulebook, rulebook
from tests.game import plain

NEEDED = {
    "queen_points": "QS",
    "king_points": "KS",
    "ace_points": "AS",
    "ten_clubs_doubles": "TC",
}
CHOICES: dict[str, tuple[Any, ...]] = {
    name: tuple(value for value in get_args(kind) if isinstance(value, (int, str)))
    for name, kind in get_type_hints(Rules).items()
    if name not in ("removed", "pass_cycle", "target", "max_hands")
}


@st.composite
def rules(draw: st.DrawFn, max_hands: int | None = None, hand_size: int | None = None) -> Rules:
    """Any rule set: every field takes every value, and the deck is often a short one of the test's own."""
    fields: dict[str, Any] = {}
    players = fields["players"] = draw(st.sampled_from([3, 4, 5, 6]))
    for name, choices in CHOICES.items():
        if name == "players":
            continue
        if choices:
            fields[name] = draw(st.sampled_from(choices))
        elif isinstance(getattr(Rules(), name), bool):
            fields[name] = draw(st.booleans())
        else:
            fields[name] = draw(st.sampled_from([0, 1, 7, 10, 13, 25, 50]))
    cut = draw(st.booleans()) if hand_size is None else True
    if cut:
        size = draw(st.integers(max(1, fields["pass_count"]), min(hand_size or 52, 52 // players)))
        kept = Random(draw(st.integers(0, 2**32))).sample(plain.PACK, size * players)
        fields["removed"] = tuple(card for card in plain.PACK if card not in kept)
    removed = fields.get("removed", REMOVED[players])
    for name, card in NEEDED.items():
        if card in removed:
            fields[name] = type(fields[name])(0)
    if fields["jack_card"] in removed:
        fields["jack_points"], fields["moon_needs_jack"] = 0, False
    if sum(card[1] == "C" for card in removed) == 13:
        fields["opening"] = "eldest"
    assume(sum(card[1] == "H" for card in removed) < 13)
    ways = [way for way in get_args(Direction) if way != "across" or players % 2 == 0]
    fields["pass_cycle"] = draw(
        st.none() | st.lists(st.sampled_from(ways), min_size=1, max_size=5).map(tuple)
    )
    if max_hands is not None:
        fields["max_hands"] = draw(st.integers(1, max_hands))
        fields["target"] = draw(st.none() | st.sampled_from([1, 20, 50, 100, 500]))
    return rules_from(fields)


def cards_of(book: Rulebook, number: int) -> list[CardSet]:
    """A deal from a number; one in two crowds the point cards together, or the rare rules would never act."""
    lot = Random(number)
    pull = lot.choice([1, 1, 0.3, 0.05])
    weight = {card: pull if 1 << card & book.point_cards else 1 for card in each(book.deck)}
    deck = sorted(weight, key=lambda card: lot.random() * weight[card])
    size = book.hand_size
    return [sum(1 << card for card in deck[seat * size : (seat + 1) * size]) for seat in range(book.seats)]


@st.composite
def deals(draw: st.DrawFn, hand_size: int | None = None) -> tuple[Rulebook, list[CardSet]]:
    """A rulebook and a deal for it."""
    book = rulebook(draw(rules(hand_size=hand_size)))
    return book, cards_of(book, draw(st.integers(0, 2**32)))


def conditions() -> st.SearchStrategy[Conditions]:
    """Every price of a fault, with and without strikes."""
    return st.builds(
        Conditions,
        on_fault=st.sampled_from(get_args(OnFault)),
        strikes=st.sampled_from([0, 0, 1, 2]),
        anonymous=st.booleans(),
    )
