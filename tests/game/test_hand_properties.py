"""Laws of a hand under any rule set: always a card to play, the answer of the rulebook, points conserved."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.cards import CARD, CardSet, names_of
from referee.game.hand import Hand, IllegalPlay
from referee.game.rulebook import Rulebook
from referee.game.score import score_hand
from tests.game import plain
from tests.game.strategies import deals


def state(hand: Hand) -> dict[str, object]:
    """Everything a hand is made of, copied."""
    values = {name: getattr(hand, name) for name in Hand.__slots__}
    return {name: list(value) if isinstance(value, list) else value for name, value in values.items()}


@settings(max_examples=250, deadline=None)
@given(deals(), st.integers(0, 5), st.randoms(use_true_random=False))
def test_hand_follows_the_plain_rulebook(dealt: tuple[Rulebook, list[CardSet]], dealer: int, lot: Random):
    book, cards = dealt
    rules = book.rules
    dealer %= book.seats
    hand = Hand(book, cards, dealer)
    held = [list(names_of(seat_cards)) for seat_cards in cards]
    won: list[list[str]] = [[] for _ in range(book.seats)]
    tricks_won = [0] * book.seats
    broken = not rules.must_break
    lead = turn = plain.opener(rules, held, dealer)
    trick: list[str] = []
    for step in range(book.seats * book.hand_size):
        number = step // book.seats + 1
        legal = plain.legal(rules, held[turn], trick, number, broken)
        assert not hand.over
        assert (hand.turn, hand.lead, hand.broken) == (turn, lead, broken)
        assert list(names_of(hand.legal)) == legal
        assert legal
        assert [CARD[card] for card in trick] == hand.trick
        assert hand.first_trick == (number == 1)
        card = lot.choice(legal)
        hand.play(CARD[card])
        held[turn].remove(card)
        trick.append(card)
        broken = plain.broken_after(rules, broken, trick)
        turn = (turn + 1) % book.seats
        if len(trick) == book.seats:
            winner = plain.winner(rules, trick, lead)
            assert hand.tricks[-1] == (lead, tuple(CARD[name] for name in trick), winner)
            won[winner] += trick
            tricks_won[winner] += 1
            lead = turn = winner
            trick = []
            assert hand.taken == [sum(plain.worth(rules, name) for name in pile) for pile in won]
    assert hand.over
    assert hand.legal == 0
    assert [sorted(names_of(pile)) for pile in hand.won] == [sorted(pile) for pile in won]
    assert hand.tricks_won == tricks_won
    totals = [lot.randrange(0, 120) for _ in range(book.seats)]
    played = lot.randrange(0, 20)
    retired = lot.sample(range(book.seats), lot.choice([0, 0, 1, 2]))
    scored = score_hand(book, hand.won, hand.tricks_won, totals, retired)
    assert (list(scored.points), scored.moon) == plain.score(rules, won, tricks_won, totals, played, retired)


@settings(max_examples=150, deadline=None)
@given(deals(), st.randoms(use_true_random=False))
def test_points_are_conserved(dealt: tuple[Rulebook, list[CardSet]], lot: Random):
    """The points of a hand add up to the pack's sum or the moon's swing, once the extras are taken out."""
    book, cards = dealt
    rules = book.rules
    hand = Hand(book, cards)
    while not hand.over:
        hand.play(CARD[lot.choice(names_of(hand.legal))])
    points, moon = score_hand(book, hand.won, hand.tricks_won, [0] * book.seats)
    bare = list(points)
    for seat, pile in enumerate(names_of(pile) for pile in hand.won):
        if rules.ten_clubs_doubles and "TC" in pile:
            assert bare[seat] % 2 == 0
            bare[seat] //= 2
        if rules.jack_card in pile:
            bare[seat] -= rules.jack_points
        if moon is None and not pile:
            bare[seat] -= rules.no_trick_bonus
    pack = sum(plain.worth(rules, card) for card in plain.deck(rules))
    assert sum(hand.taken) == pack
    if moon is None:
        assert sum(bare) == pack
        assert bare == hand.taken
        return
    swing = pack * 2 if rules.sun == "double" and hand.tricks_won[moon] == book.hand_size else pack
    assert rules.moon != "off"
    assert hand.taken[moon] == pack
    others = [bare[seat] for seat in range(book.seats) if seat != moon]
    assert (bare[moon], others) in [(0, [swing] * len(others)), (-swing, [0] * len(others))]


@settings(max_examples=60, deadline=None)
@given(deals(), st.randoms(use_true_random=False))
def test_an_illegal_card_changes_nothing(dealt: tuple[Rulebook, list[CardSet]], lot: Random):
    book, cards = dealt
    hand = Hand(book, cards)
    while not hand.over:
        before = state(hand)
        for card in range(52):
            if not 1 << card & hand.legal:
                with pytest.raises(IllegalPlay):
                    hand.play(card)
        assert state(hand) == before
        hand.play(CARD[lot.choice(names_of(hand.legal))])
    for card in range(52):
        with pytest.raises(IllegalPlay, match="not in your hand"):
            hand.play(card)
