"""Strengths from finishing orders: the likelihood's maximum, the truth, and every order of arrival."""

from itertools import combinations, permutations
from math import exp, log
from random import Random

import pytest

from referee.tournament.ranking import PRIOR, FinishingOrders, Ladder
from referee.tournament.results import HandResult, Result

ORDERS = [
    ("abcd", (1, 2, 3, 4)),
    ("abcd", (2, 1, 2, 4)),
    ("bcde", (1, 1, 3, 4)),
    ("aced", (1, 2, 3, 3)),
    ("abbb", (3, 1, 1, 4)),  # three copies of one bot
    ("aeee", (1, 2, 2, 2)),
    ("cdea", (1, 1, 1, 1)),  # all alike: says nothing
]


def finishing(games):
    orders = FinishingOrders()
    for bots, ranks in games:
        orders.add_order(bots, ranks)
    return orders


def drawn_in_order(worth, source):
    """A finishing order as the model has it: the best drawn in proportion to its worth, then the next."""
    left, order = list(worth), []
    while left:
        order.append(source.choices(left, [worth[bot] for bot in left])[0])
        left.remove(order[-1])
    return order


def log_likelihood(strengths, games):
    """Written out from the definition, one draw at a time, with the prior's half-matches."""
    total = 0.0
    for bots, ranks in games:
        for rank in sorted(set(ranks)):
            left = [bot for bot, other in zip(bots, ranks, strict=True) if other >= rank]
            best = [bot for bot, other in zip(bots, ranks, strict=True) if other == rank]
            if len(best) < len(left):
                for bot in best:
                    total += strengths[bot] - log(sum(exp(strengths[other]) for other in left))
    share = PRIOR / (len(strengths) - 1)
    for one, other in combinations(strengths, 2):
        both = log(exp(strengths[one]) + exp(strengths[other]))
        total += share * (strengths[one] + strengths[other] - 2 * both)
    return total


def test_the_fit_is_where_the_likelihood_is_greatest():
    fitted = finishing(ORDERS).strengths()
    best = dict.fromkeys("abcde", 0.0)
    step = 1.0
    while step > 1e-7:  # brute force: walk uphill one coordinate at a time, in ever smaller steps
        moved = False
        for bot in best:
            for way in (step, -step):
                tried = best | {bot: best[bot] + way}
                if log_likelihood(tried, ORDERS) > log_likelihood(best, ORDERS) + 1e-13:
                    best, moved = tried, True
        if not moved:
            step /= 2
    mean = sum(best.values()) / len(best)
    assert fitted == pytest.approx({bot: strength - mean for bot, strength in best.items()}, abs=1e-4)
    assert log_likelihood(fitted, ORDERS) >= log_likelihood(best, ORDERS) - 1e-9


def test_no_order_of_arrival_changes_a_single_bit():
    source = Random(1)
    worth = dict(zip("abcdefgh", (8, 5, 4, 3, 2, 1, 1, 0.5), strict=True))
    games = []
    for _ in range(300):
        company = source.sample(sorted(worth), 4)
        order = drawn_in_order({bot: worth[bot] for bot in company}, source)
        games.append((tuple(company), tuple(order.index(bot) + 1 for bot in company)))
    expected = finishing(games).strengths()
    for _ in range(5):
        source.shuffle(games)
        seats = [source.sample(range(4), 4) for _ in games]
        moved = [
            (tuple(bots[at] for at in order), tuple(ranks[at] for at in order))
            for (bots, ranks), order in zip(games, seats, strict=True)
        ]
        assert finishing(moved).strengths() == expected


def test_the_truth_is_found():
    source = Random(2)
    worth = {"a": exp(1.0), "b": exp(0.4), "c": exp(0.0), "d": exp(-0.4), "e": exp(-1.0)}
    orders = FinishingOrders()
    for _ in range(6000):
        company = source.sample(sorted(worth), 4)
        orders.add_order(drawn_in_order({bot: worth[bot] for bot in company}, source), (1, 2, 3, 4))
    assert orders.strengths() == pytest.approx({bot: log(value) for bot, value in worth.items()}, abs=0.08)


def test_one_who_always_wins_has_a_strength_all_the_same():
    strengths = finishing([("ab", (1, 2))] * 20).strengths()
    assert strengths["a"] == -strengths["b"]
    assert exp(strengths["a"] - strengths["b"]) == pytest.approx((20 + PRIOR) / PRIOR)
    assert finishing([("ab", (1, 1))]).strengths() == {"a": 0, "b": 0}
    assert finishing([]).strengths() == {}


def result(seats, points, retired=()):
    hand = HandResult(tuple(points), forfeited=tuple(retired))
    return Result(match="m", deal="k", seats=tuple(seats), hands=(hand,), retired=tuple(retired))


def test_a_bot_that_retired_comes_last_whatever_its_points():
    orders = FinishingOrders()
    orders.add(result("abcd", (0, 5, 8, 13), retired=(0,)))
    strengths = orders.strengths()
    assert sorted(strengths, key=strengths.get) == ["a", "d", "c", "b"]


def test_a_match_without_a_hand_says_nothing():
    void = Result(match="m", deal="k", seats=tuple("abcd"), hands=(), retired=(2,))
    orders, ladder = FinishingOrders(), Ladder()
    orders.add(void)
    ladder.add(void)
    assert orders.strengths() == {}
    assert ladder.ratings == {}


def test_the_ladder_sorts_the_bots():
    source, ladder = Random(4), Ladder()
    worth = {"a": 6.0, "b": 3.0, "c": 2.0, "d": 1.0, "e": 0.4}
    for _ in range(600):
        company = source.sample(sorted(worth), 4)
        order = drawn_in_order({bot: worth[bot] for bot in company}, source)
        ladder.add(result(order, (0, 3, 8, 15)))
    ratings = ladder.ratings
    assert sorted(ratings, key=lambda bot: -ratings[bot].mu) == list("abcde")
    assert all(rating.sigma < ladder.rating("stranger").sigma / 3 for rating in ratings.values())
    assert ladder.rating("stranger").mu == 25


def test_in_the_ladder_seats_make_no_difference_and_copies_move_together():
    for seats in permutations("abc"):
        ladder = Ladder()
        ladder.add(result(seats, [("a", "b", "c").index(bot) for bot in seats]))
        assert [ladder.rating(bot).mu for bot in "abc"] == pytest.approx([28.02, 25.83, 21.15], abs=1)
    duel = Ladder()
    duel.add(result("abbb", (0, 5, 8, 13)))
    assert set(duel.ratings) == {"a", "b"}
    assert duel.rating("a").mu > 25 > duel.rating("b").mu
