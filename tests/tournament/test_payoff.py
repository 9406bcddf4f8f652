"""Payoffs by simulation: tournaments whose truth is known, and how often the intervals hold it."""

from itertools import pairwise
from random import Random

import pytest

from referee.tournament.draw import order
from referee.tournament.intervals import NORMAL, Spread, t_chance, t_two_sided, z_of_t, z_two_sided
from referee.tournament.payoff import Payoffs
from referee.tournament.results import DealSummary, HandResult, Result
from referee.tournament.schedule import Schedule
from tests.tournament.test_schedule import plan_of

RUNS = 1000
MATCHES = [Schedule(plan_of(4)).of_deal(deal) for deal in range(24)]


def simulated(strengths, deals, source, seats=4, spread=2.5, start=0):
    """The payoffs of so many deals of a full schedule: strength less that of the others, and chance."""
    groups = order(len(strengths), seats)
    for place in range(start, start + deals):
        group = groups[place % len(groups)]
        points = [strengths[bot] + source.gauss(0, spread) for bot in group]
        total = sum(points)
        yield {bot: own - (total - own) / (seats - 1) for bot, own in zip(group, points, strict=True)}


def accumulated(deals):
    payoffs = Payoffs()
    for deal in deals:
        payoffs.add(deal)
    return payoffs


def against_the_others(strengths, bot):
    return strengths[bot] - (sum(strengths) - strengths[bot]) / (len(strengths) - 1)


@pytest.mark.parametrize(
    ("bots", "deals"),
    [
        pytest.param(4, 40, id="four-bots"),
        pytest.param(8, 70, id="eight-bots-a-full-round"),
        pytest.param(6, 25, id="six-bots-within-a-round"),
        pytest.param(12, 60, id="twelve-bots-few-deals"),
    ],
)
def test_intervals_hold_the_truth_95_times_in_100(bots, deals):
    fits = differences = means = 0
    for run in range(RUNS):
        source = Random(run)
        strengths = [source.gauss(0, 1.5) for _ in range(bots)]
        payoffs = accumulated(simulated(strengths, deals, source))
        fit = payoffs.fit()
        bot, other = source.sample(range(bots), 2)
        truth, of_other = against_the_others(strengths, bot), against_the_others(strengths, other)
        low, high = fit.payoff(bot).interval()
        fits += low <= truth <= high
        low, high = fit.difference(bot, other).interval()
        differences += low <= truth - of_other <= high
        low, high = payoffs.mean(bot).interval()
        means += low <= truth <= high
    assert 0.93 * RUNS <= fits <= 0.97 * RUNS
    assert 0.93 * RUNS <= differences <= 0.97 * RUNS
    if bots == 4:
        assert means == fits


@pytest.mark.parametrize("bots", [4, 8])
def test_a_null_comparison_is_called_significant_5_times_in_100(bots):
    called = 0
    for run in range(RUNS):
        fit = accumulated(simulated([0.0] * bots, 50, Random(run))).fit()
        called += fit.difference(0, 1).p <= 0.05
    assert 0.035 * RUNS <= called <= 0.065 * RUNS


def played_deals(strengths, deals, source):
    """Whole hands: on each deal each bot's style suits the cards more or less, in all four seatings."""
    for number in range(deals):
        suits = [source.gauss(0, 4) for _ in strengths]
        results = []
        for match in MATCHES[number]:
            at = [int(label[1]) for label in match.labels]
            wanted = [9 - strengths[bot] - suits[bot] + source.gauss(0, 4) for bot in at]
            less = (sum(wanted) - 26) / 4
            points = tuple(round(100 * (value - less)) for value in wanted)
            results.append(
                Result(match=match.id, deal=match.seed, seats=match.labels, hands=(HandResult(points),))
            )
        yield DealSummary(results, 2600)


def test_the_deal_is_the_unit_and_not_the_hand():
    """The intervals that take each hand for itself are too narrow; those clustered by deal are not."""
    clustered = unclustered = 0
    runs = RUNS // 4
    for run in range(runs):
        payoffs, hands = Payoffs(), Spread()
        for deal in played_deals([0.0] * 4, 24, Random(run)):
            payoffs.add(deal.payoffs)
            for result in deal.results:
                (hand,) = result.hands
                own = hand.points[result.seats.index("b0")]
                hands.add((sum(hand.points) - own) / 3 - own)
        low, high = payoffs.fit().payoff("b0").interval()
        clustered += low <= 0 <= high
        low, high = hands.interval()
        unclustered += low <= 0 <= high
    assert 0.92 * runs <= clustered <= 0.98 * runs
    assert unclustered < 0.85 * runs


@pytest.mark.parametrize(("bots", "deals"), [(4, 17), (5, 10), (8, 140)])
def test_where_all_pairs_have_met_equally_often_the_fit_is_the_mean(bots, deals):
    payoffs = accumulated(simulated([bot * 0.7 for bot in range(bots)], deals, Random(1)))
    fit = payoffs.fit()
    for bot in range(bots):
        assert fit.payoff(bot).value == pytest.approx(payoffs.mean(bot).value)
        if bots == 4:
            assert fit.payoff(bot).interval() == pytest.approx(payoffs.mean(bot).interval())


def test_a_bot_that_came_later_is_compared_with_like():
    """The newcomer meets the strong half only; its mean is as bad as they are good, its fit is not."""
    source = Random(3)
    strengths = [3.0, 2.0, 1.0, -1.0, -2.0, -3.0, 0.0]
    payoffs = Payoffs()
    for deal in simulated(strengths[:6], 3000, source, spread=1):
        payoffs.add(deal)
    for _ in range(1000):
        points = {bot: strengths[bot] + source.gauss(0, 1) for bot in (0, 1, 2, 6)}
        payoffs.add({bot: own - (sum(points.values()) - own) / 3 for bot, own in points.items()})
    truth = against_the_others(strengths, 6)
    assert payoffs.mean(6).value == pytest.approx(-2, abs=0.15)
    assert payoffs.fit().payoff(6).value == pytest.approx(truth, abs=0.15)
    for better, worse in pairwise([0, 1, 2, 6, 3, 4, 5]):
        assert payoffs.fit().difference(better, worse).value > 0


def test_the_order_of_the_deals_makes_no_difference():
    deals = list(simulated([0.0, 1, 2, 3, 4], 50, Random(5)))
    one, other = accumulated(deals).fit(), accumulated(deals[::-1]).fit()
    for bot in range(5):
        assert one.payoff(bot).value == pytest.approx(other.payoff(bot).value)
        assert one.payoff(bot).error == pytest.approx(other.payoff(bot).error)


def test_what_forfeits_cost_is_the_offenders_and_nobody_elses():
    """Bot 7 crashes in every hand, and a caretaker plays on for it as well as the others play."""
    payoffs, source = Payoffs(), Random(2)
    for played in simulated([0.0] * 8, 700, source):
        payoffs.add(played | {7: -26.0} if 7 in played else played, played)
    fit = payoffs.fit()
    assert payoffs.mean(7).value == -26
    assert fit.payoff(7).value == pytest.approx(-26)
    assert fit.payoff(7).interval()[1] - fit.payoff(7).interval()[0] < 0.1
    assert all(abs(fit.payoff(bot).value) < 0.4 for bot in range(7))
    assert fit.payoff(0).value == pytest.approx(payoffs.mean(0).value)


def test_intervals_hold_the_truth_with_forfeits_too():
    hits = 0
    for run in range(RUNS // 2):
        payoffs, source = Payoffs(), Random(run)
        for played in simulated([0.0] * 6, 60, source):
            costs = {bot: -6.5 if bot == 5 and source.random() < 0.3 else 0.0 for bot in played}
            payoffs.add({bot: own + costs[bot] for bot, own in played.items()}, played)
        low, high = payoffs.fit().payoff(5).interval()
        hits += low <= -6.5 * 0.3 <= high
    assert 0.93 * RUNS / 2 <= hits <= 0.97 * RUNS / 2


def duels(deals, source, leads):
    """A gauntlet: the hero leads each challenger by so much, in deals of their own."""
    payoffs = Payoffs(gauntlet=True)
    for _ in range(deals):
        for challenger, lead in leads.items():
            paid = lead + source.gauss(0, 2.5)
            payoffs.add({"hero": paid, challenger: -paid})
    return payoffs


def test_in_a_gauntlet_each_is_paid_what_it_was_against_the_hero():
    payoffs, source = duels(30, Random(1), {"good": -2.0, "bad": 3.0}), Random(2)
    for _ in range(30):
        paid = source.gauss(1, 2)
        payoffs.add({"hero": paid, "dud": -26.0}, {"hero": paid, "dud": -paid})
    compared = payoffs.compare()
    assert compared.payoff("dud").interval() == (-26, -26)
    for bot in payoffs.bots:
        assert compared.payoff(bot) == payoffs.mean(bot)
    good, bad = compared.payoff("good"), compared.payoff("bad")
    apart = compared.difference("good", "bad")
    assert apart.value == pytest.approx(good.value - bad.value)
    assert apart.error == pytest.approx((good.error**2 + bad.error**2) ** 0.5)
    met = compared.difference("good", "hero")
    assert met.value == pytest.approx(2 * good.value), "in their own deals, not in those of the others"
    assert met.p == pytest.approx(good.p)


def test_intervals_of_a_gauntlet_hold_the_truth():
    runs, payoff, difference = RUNS // 2, 0, 0
    for run in range(runs):
        compared = duels(25, Random(run), {"good": -2.0, "bad": 3.0}).compare()
        low, high = compared.payoff("good").interval()
        payoff += low <= 2 <= high
        low, high = compared.difference("good", "bad").interval()
        difference += low <= 5 <= high
    assert 0.93 * runs <= payoff <= 0.97 * runs
    assert 0.93 * runs <= difference <= 0.98 * runs


def test_challengers_that_play_like_the_hero_differ_by_nothing():
    payoffs = Payoffs(gauntlet=True)
    for number in range(30):
        dust = 1e-16 * (number % 3)
        payoffs.add({"hero": dust, "same": -dust})
    alike = payoffs.compare().difference("hero", "same")
    assert (alike.value, alike.error, alike.p) == (0, 0, 1)


def test_sets_that_never_met_are_not_compared():
    payoffs = Payoffs()
    for _ in range(3):
        payoffs.add({"a": 1.0, "b": -1.0})
        payoffs.add({"c": 2.0, "d": -2.0})
    payoffs.add({"e": -26.0}, {"e": 0.0})
    fit = payoffs.fit()
    assert fit.difference("a", "c") is None
    assert fit.difference("c", "d").value == pytest.approx(4)
    assert fit.payoff("c").value == pytest.approx(2)
    assert fit.payoff("e").value == -26


def test_bots_that_play_alike_are_known_to_differ_by_nothing():
    fit = accumulated([dict.fromkeys("abcd", 1e-16)] * 30).fit()
    alike = fit.difference("a", "b")
    assert (alike.value, alike.error, alike.p) == (0, 0, 1)
    assert fit.payoff("a").interval() == (0, 0)


def test_one_deal_has_no_interval():
    payoffs = accumulated([{"a": 1.0, "b": -1.0}])
    assert payoffs.fit().payoff("a").interval() is payoffs.mean("a").interval() is None
    assert payoffs.fit().difference("a", "b").p == 1


@pytest.mark.parametrize(
    ("alpha", "freedom", "t"),
    [(0.05, 1, 12.7062), (0.05, 2, 4.3027), (0.05, 10, 2.2281), (0.01, 30, 2.7500), (0.05, 10**6, 1.9600)],
)
def test_students_t_as_it_is_printed(alpha, freedom, t):
    assert t_two_sided(alpha, freedom) == pytest.approx(t, abs=5e-5)
    assert t_chance(t, freedom) == pytest.approx(alpha, rel=1e-3)


def test_t_and_z_are_as_unlikely_as_each_other():
    assert z_of_t(-2.2281, 10) == pytest.approx(-z_two_sided(0.05), abs=1e-4)
    assert z_of_t(0, 5) == pytest.approx(0)
    assert z_of_t(1e9, 1000) == float("inf")
    assert NORMAL.cdf(z_two_sided(0.05)) == pytest.approx(0.975)
