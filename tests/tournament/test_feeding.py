"""Who feeds points to whom: by simulation of points, and by whole hands of bots whose styles are known."""

from itertools import permutations
from math import exp
from random import Random

import pytest

from referee.tournament.feeding import Gifts
from tests.bench.feeding import DUCK, HEURISTIC, alike, feedings, mixed, outstanding
from tests.tournament.in_process import careless

STRENGTHS = (0.5, 1.0, 1.0, 2.0, 4.0, 1.5)


def simulated(seed, deals, bots=6, favour=1.0, styles=0.0):
    """Deals whose gifts go by the product of how freely one gives and how readily another takes, each pair's
    style, and chance; bot 0 may favour bot 1.
    """
    source, gifts = Random(seed), Gifts()
    style = {pair: exp(source.gauss(0, styles)) for pair in permutations(range(bots), 2)}
    style[0, 1] = favour
    for _ in range(deals):
        sitting = source.sample(range(bots), 4)
        gifts.add(
            {
                (str(giver), str(taker)): source.gammavariate(
                    2, STRENGTHS[giver] * STRENGTHS[-1 - taker] * style[giver, taker] / 2
                )
                for giver, taker in permutations(sitting, 2)
            }
        )
    return gifts.feedings()


def test_what_is_expected_is_a_product_and_never_below_nothing():
    found = simulated(1, 3000)
    for (giver, taker), feeding in found.items():
        product = STRENGTHS[int(giver)] * STRENGTHS[-1 - int(taker)]
        assert feeding.expected == pytest.approx(product, rel=0.1)
        assert feeding.given == pytest.approx(feeding.expected, rel=0.15)


@pytest.mark.parametrize("styles", [0.0, 0.2])
def test_honest_bots_of_all_strengths_hardly_ever_stand_out(styles):
    runs = 60
    called = sum(bool(outstanding(simulated(run, 300, styles=styles))) for run in range(runs))
    assert called <= (0.05 if not styles else 0.1) * runs


@pytest.mark.parametrize("favour", [2.0, 0.5])
def test_one_that_feeds_another_or_spares_it_stands_out(favour):
    found = [outstanding(simulated(run, 1000, favour=favour, styles=0.05)) for run in range(10)]
    farthest = [max(out, key=lambda pair: abs(out[pair]), default=None) for out in found]
    assert farthest.count(("0", "1")) >= 8
    assert all((out["0", "1"] > 0) is (favour > 1) for out in found if ("0", "1") in out)


def test_a_favour_that_is_small_among_styles_is_passed_over():
    assert not any(
        ("0", "1") in outstanding(simulated(run, 1000, favour=1.4, styles=0.3)) for run in range(10)
    )


def test_intervals_hold_the_truth():
    held = 0
    for run in range(200):
        low, high = simulated(run, 150, favour=1.0)["2", "4"].log_ratio.interval()
        held += low <= 0 <= high
    assert 0.91 * 200 <= held <= 0.98 * 200


@pytest.mark.parametrize("bots", [3, 4])
def test_of_four_bots_nothing_is_said_but_what_they_gave(bots):
    gifts = Gifts()
    for _ in range(50):
        gifts.add({pair: 1.0 + (pair == ("a", "b")) for pair in permutations("abcd"[:bots], 2)})
    found = gifts.feedings()
    assert found["a", "b"].given == 2
    assert {(one.expected, one.log_ratio, one.stands_out) for one in found.values()} == {(None, None, False)}


def test_a_gauntlet_compares_nobody():
    gifts = Gifts()
    for number in range(60):
        challenger = f"c{number % 6}"
        gifts.add({("hero", challenger): 1.0 + number % 3, (challenger, "hero"): 2.0})
    assert all(feeding.log_ratio is None for feeding in gifts.feedings().values())


def test_one_that_gives_nothing_to_anybody_fits_no_product():
    gifts = Gifts()
    for _ in range(10):
        gifts.add({pair: 0.0 if pair[0] == "a" else 2.0 for pair in permutations("abcde", 2)})
    assert all(feeding.expected is None for feeding in gifts.feedings().values())


def test_a_pair_that_never_gave_anything_is_not_judged():
    gifts = Gifts()
    for number in range(30):
        gifts.add(
            {pair: 0.0 if pair == ("a", "b") else 1.0 + number % 2 for pair in permutations("abcde", 2)}
        )
    assert gifts.feedings()["a", "b"].log_ratio is None
    assert gifts.feedings()["a", "c"].log_ratio is not None


@pytest.mark.parametrize("cast", [alike, mixed])
def test_whole_hands_of_honest_bots_do_not_stand_out(cast):
    assert not outstanding(feedings(cast(), 200, "spot"))


def test_whole_hands_of_one_that_spares_its_partner_stand_out():
    six = [HEURISTIC, careless(HEURISTIC, 1, 0.1), DUCK, careless(DUCK, 3, 0.1), HEURISTIC, DUCK]
    assert set(outstanding(feedings(six, 600, "spot", ("b0", "b1", "spares")))) == {("b0", "b1")}
