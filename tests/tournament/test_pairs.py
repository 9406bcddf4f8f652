"""Points won from each other bot, and who feeds points to whom."""

from itertools import permutations
from random import Random

import pytest

from referee.tournament.pairs import Pairs
from referee.tournament.results import DealSummary, HandResult, Result

BOTS = "abcd"


def simulated(source, freely, readily, favour=0.0):
    """One hand: points go by how freely one gives and how readily another takes; `a` may favour `b`."""
    given = [[0] * 4 for _ in BOTS]
    for giver, taker in permutations(range(4), 2):
        points = (
            freely[giver] + readily[taker] + source.gauss(0, 2) + (favour if (giver, taker) == (0, 1) else 0)
        )
        given[giver][taker] = round(100 * points)
    taken = tuple(sum(column) for column in zip(*given, strict=True))
    return Result(
        match="m", deal="k", seats=tuple(BOTS), hands=(HandResult(taken, given=tuple(map(tuple, given))),)
    )


def pairs_of(deals, **more):
    source, pairs = Random(1), Pairs()
    for _ in range(deals):
        pairs.add(DealSummary([simulated(source, [3, 2, 2, 4], [1, 5, 2, 2], **more)], 2600))
    return pairs


def test_points_won_from_each_other():
    pairs = Pairs()
    for points in ((0, 13, 6, 7), (4, 5, 6, 11)):
        pairs.add(
            DealSummary([Result(match="m", deal="k", seats=tuple(BOTS), hands=(HandResult(points),))], 26)
        )
    assert pairs.won_from("a", "b").value == 7
    assert pairs.won_from("b", "a").value == -7
    assert pairs.won_from("d", "c").value == -3
    assert pairs.won_from("a", "b").freedom == 1
    assert pairs.won_from("a", "stranger") is None
    assert pairs.feeding("a", "b") is None


def test_weak_bots_that_take_much_from_all_are_not_fed():
    pairs = pairs_of(400)
    for giver, taker in permutations(BOTS, 2):
        feeding = pairs.feeding(giver, taker)
        assert feeding.excess.p > 0.01
        assert abs(feeding.excess.value) < 100
    assert pairs.feeding("a", "b").given.value == pytest.approx(800, abs=40)


def test_a_bot_that_favours_another_shows():
    pairs = pairs_of(400, favour=2.0)
    assert pairs.feeding("a", "b").excess.p < 1e-6
    assert pairs.feeding("a", "b").excess.value == pytest.approx(200, abs=50)
    strongest = max(permutations(BOTS, 2), key=lambda pair: pairs.feeding(*pair).excess.value)
    assert strongest in {
        ("a", "b"),
        ("c", "d"),
        ("d", "c"),
    }  # with four, what one pair does shows in the other two


def test_three_bots_show_who_gives_but_not_what_is_ordinary():
    pairs = Pairs()
    given = ((0, 5, 1), (2, 0, 3), (8, 7, 0))
    hand = HandResult((10, 12, 4), given=given)
    pairs.add(DealSummary([Result(match="m", deal="k", seats=("a", "b", "c"), hands=(hand,))], 26))
    assert pairs.feeding("c", "a").given.value == 8
    assert pairs.feeding("c", "a").excess is None
