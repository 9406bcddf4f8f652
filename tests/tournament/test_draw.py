"""The order of groups: each once a round, pairs even in every prefix, and the old order within the new."""

from collections import Counter
from itertools import combinations
from math import comb

import pytest

from referee.tournament.draw import Order, order, place_among, rank


def met(groups, bots):
    meetings = Counter(dict.fromkeys(combinations(range(bots), 2), 0))
    for group in groups:
        meetings.update(combinations(group, 2))
    return meetings


@pytest.mark.parametrize("seats", [3, 4, 5, 6])
@pytest.mark.parametrize("bots", range(5, 13))
def test_each_group_once_a_round_and_pairs_even_in_every_prefix(bots, seats):
    if bots < seats:
        pytest.skip("too few to fill the seats")
    groups = order(bots, seats)
    assert sorted(groups) == list(combinations(range(bots), seats))
    meetings = met((), bots)
    for group in groups:
        meetings.update(combinations(group, 2))
        # Measured.  For twelve bots at four seats, groups in random order come to 18.
        assert max(meetings.values()) - min(meetings.values()) <= (5 if seats <= 4 else 7)
    assert set(meetings.values()) == {comb(bots - 2, seats - 2)}


@pytest.mark.parametrize("seats", [3, 4, 6])
@pytest.mark.parametrize("bots", [6, 7, 9])
@pytest.mark.parametrize("more", [1, 3])
def test_without_the_newcomers_the_order_is_what_it_was(bots, seats, more):
    before, after = order(bots, seats), order(bots + more, seats)
    assert [group for group in after if max(group) < bots] == list(before)
    for place in range(2 * len(before)):
        turn, there = divmod(place_among(place, bots, bots + more, seats), len(after))
        assert (turn, after[there]) == (place // len(before), before[place % len(before)])


def test_ranks_number_the_groups_from_0_and_never_change():
    ranks = {rank(group): group for group in combinations(range(9), 4)}
    assert sorted(ranks) == list(range(comb(9, 4)))
    assert max(number for number, group in ranks.items() if max(group) < 6) == comb(6, 4) - 1


def test_a_hundred_bots_meet_evenly_without_a_list_of_all_groups():
    groups = Order(100, 4)
    meetings = met((groups[place] for place in range(2000)), 100)
    each = Counter(bot for place in range(2000) for bot in groups[place])
    assert len(groups) == 100_000  # of 3.9 million
    assert max(each.values()) - min(each.values()) <= 20  # of 80; 36 or so if drawn by lot
    assert max(meetings.values()) <= 8  # 2.4 on average


def test_too_few_bots_are_no_group():
    with pytest.raises(ValueError, match="cannot seat 3 bots in groups of 4"):
        Order(3, 4)
