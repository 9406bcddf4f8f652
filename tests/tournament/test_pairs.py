"""Points won from each other bot."""

from referee.tournament.pairs import Pairs
from referee.tournament.results import DealSummary, HandResult, Result


def test_points_won_from_each_other():
    pairs = Pairs()
    for points in ((0, 13, 6, 7), (4, 5, 6, 11)):
        hand = HandResult(points)
        pairs.add(DealSummary([Result(match="m", deal="k", seats=tuple("abcd"), hands=(hand,))], 26))
    assert pairs.won_from("a", "b").value == 7
    assert pairs.won_from("b", "a").value == -7
    assert pairs.won_from("d", "c").value == -3
    assert pairs.won_from("a", "b").freedom == 1
    assert pairs.won_from("a", "stranger") is None
