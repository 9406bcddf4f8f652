"""The sequential rule by simulation: what it claims falsely, how soon it stops; boundaries as printed."""

from itertools import combinations
from random import Random

import pytest

from referee.tournament.forecast import SPREAD, forecast
from referee.tournament.intervals import z_two_sided
from referee.tournament.payoff import Payoffs
from referee.tournament.plan import plan_from
from referee.tournament.stopping import LOOKS, StoppingRule, boundaries, looks_at, pairs_of
from tests.tournament.test_payoff import simulated
from tests.tournament.test_schedule import plan_of

RUNS = 1000


def run(strengths, deals, seed, closer_than=None, looks=LOOKS, spread=2.5, payoffs_of=simulated):
    """Play until the rule stops: the verdicts of the last look, and the number of deals."""
    rule = StoppingRule(deals, combinations(range(len(strengths)), 2), closer_than, looks)
    payoffs, verdicts, played = Payoffs(), (), 0
    for payoff in payoffs_of(strengths, deals, Random(seed), spread=spread):
        payoffs.add(payoff)
        played += 1
        if played == rule.next_look:
            verdicts = rule.look(payoffs.fit())
            if rule.finished:
                break
    return verdicts, played


def duels(strengths, deals, source, spread=2.5):
    """The payoffs of two bots, one against three and three against one."""
    for _ in range(deals):
        margin = strengths[0] - strengths[1] + source.gauss(0, spread)
        yield {0: margin, 1: -margin}


def test_between_two_bots_that_are_alike_one_run_in_twenty_is_called_different():
    false = sum(run([0, 0], 200, seed, payoffs_of=duels)[0][0].claim == "apart" for seed in range(RUNS))
    assert 0.03 * RUNS <= false <= 0.065 * RUNS


def test_among_four_bots_that_are_alike_any_pair_is_called_different_in_one_run_of_twenty_at_most():
    false = 0
    for seed in range(RUNS):
        verdicts, _ = run([0, 0, 0, 0], 120, seed)
        false += any(verdict.claim == "apart" for verdict in verdicts)
    assert 0.02 * RUNS <= false <= 0.065 * RUNS


def test_looking_each_time_as_if_it_were_the_only_look_fools_one_run_in_five():
    """What the rule is for: the same looks at the 5% of a single one."""
    false = 0
    for seed in range(300):
        payoffs, looks = Payoffs(), looks_at(200)
        for played, payoff in enumerate(duels([0, 0], 200, Random(seed)), 1):
            payoffs.add(payoff)
            if played in looks and payoffs.fit().difference(0, 1).p <= 0.05:
                false += 1
                break
    assert false > 0.14 * 300


def test_no_pair_is_falsely_called_close():
    """One pair differs by just what would be close, the others by more; all the rest is easy to get right."""
    false = 0
    for seed in range(300):
        # A payoff is 4/3 of a strength's lead over the mean of four; 0.75 of strength is 1 point.
        verdicts, _ = run([0.0, 0.75, 3, 6], 200, seed, closer_than=1.0)
        false += any(
            verdict.claim == "close" and (verdict.one, verdict.other) == (0, 1) for verdict in verdicts
        )
    assert false <= 0.075 * 300


def test_it_stops_early_when_there_are_differences():
    stops = [run([0, 2, 4, 6], 1000, seed)[1] for seed in range(20)]
    assert all(stop <= 300 for stop in stops)


def test_it_stops_early_when_all_are_close():
    for seed in range(10):
        verdicts, played = run([0, 0, 0, 0], 4000, seed, closer_than=1.0)
        assert played < 4000
        assert {verdict.claim for verdict in verdicts} <= {"close", "apart"}


def test_bots_that_play_alike_are_close_at_once():
    verdicts, played = run([0, 0, 0, 0], 1000, 1, closer_than=0.5, spread=0)
    assert played == 100
    assert {verdict.claim for verdict in verdicts} == {"close"}


def test_a_pair_of_which_little_is_known_is_not_judged():
    rule = StoppingRule(20, [("a", "b"), ("a", "stranger")], 1.0, looks=2)
    payoffs = Payoffs()
    for number in range(10):
        payoffs.add({"a": 9.0 + number % 2, "b": -9.0 - number % 2})
    assert [(verdict.difference, verdict.claim) for verdict in rule.look(payoffs.fit())] == [(None, None)] * 2
    assert rule.next_look == 20


def test_in_a_gauntlet_the_hero_is_judged_by_the_deals_with_each_challenger():
    """It does well on the whole, thanks to one that never starts, and yet loses to the other."""
    rule = StoppingRule(200, [("hero", "better"), ("hero", "dud")], None, looks=2)
    payoffs = Payoffs(gauntlet=True)
    for number in range(50):
        chance = (number % 3) - 1.0
        payoffs.add({"hero": -2 + chance, "better": 2 - chance})
        payoffs.add({"hero": 10 + chance, "dud": -26.0})
    assert payoffs.mean("hero").value > payoffs.mean("better").value
    better, dud = rule.look(payoffs.compare())
    assert (better.claim, better.difference.value < 0) == ("apart", True)
    assert (dud.claim, dud.difference.value > 0) == ("apart", True)


def test_claims_stand_and_looks_end():
    rule = StoppingRule(60, [("a", "b"), ("c", "d")], None, looks=3)
    assert rule.looks == (20, 40, 60)
    payoffs = Payoffs()
    for number in range(60):
        chance = (number % 3) - 1
        payoffs.add({"a": 9.0 + chance, "b": -9.0 - chance, "c": float(chance), "d": -float(chance)})
        if number + 1 == rule.next_look:
            verdicts = rule.look(payoffs.fit())
    assert [verdict.claim for verdict in verdicts] == ["apart", None]
    assert rule.next_look is None
    assert not rule.finished


@pytest.mark.parametrize(
    ("times", "printed"),
    [
        pytest.param((1.0,), (1.9600,), id="one-look"),
        pytest.param((0.5, 1.0), (2.9626, 1.9686), id="two-looks"),
        pytest.param((0.2, 0.4, 0.6, 0.8, 1.0), (4.8769, 3.3569, 2.6803, 2.2898, 2.0310), id="five-looks"),
    ],
)
def test_the_boundaries_are_those_of_lan_and_demets(times, printed):
    assert boundaries(0.05, times) == pytest.approx(printed, abs=2e-4)


def test_boundaries_keep_their_chance_when_walked_into():
    times = tuple(look / 10 for look in range(1, 11))
    bounds, source, crossed = boundaries(0.2, times), Random(1), 0
    for _ in range(20_000):
        at = 0.0
        for time, bound in zip(times, bounds, strict=True):
            at += source.gauss(0, 0.1**0.5)
            if abs(at) >= bound * time**0.5:
                crossed += 1
                break
    assert crossed / 20_000 == pytest.approx(0.2, abs=0.01)


def test_looks_are_at_equal_parts_and_the_last_at_the_end():
    assert looks_at(1000) == (100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
    assert looks_at(7) == (1, 2, 3, 4, 5, 6, 7)
    assert looks_at(10**6)[-1] == 10**6


def test_pairs_of_a_plan():
    assert len(pairs_of(plan_of(6))) == 15
    assert pairs_of(plan_of(3, format="gauntlet", hero="b1")) == (("b1", "b0"), ("b1", "b2"))
    assert len(pairs_of(plan_of(6, withdrawn=["b1"]))) == 10


def test_a_forecast_says_what_is_played_and_what_it_shows():
    seen = forecast(plan_of(4, deals=1000))
    assert (seen.deals, seen.matches, seen.hands) == (1000, 4000, 4000)
    assert str(seen) == (
        "1,000 deals, 4,000 matches, 4,000 hands.  If two bots differ by 0.43 points a hand, this shows it "
        "four times out of five; for 0.5 points it takes about 754 deals."
    )
    assert forecast(plan_of(8, deals=1000)).deals_wanted == pytest.approx(754 * (64 / 7) / (16 / 3), abs=1)
    assert forecast(plan_of(4, deals=1000, stop_when=1.0)).deals_wanted == 189
    assert forecast(plan_of(2, deals=1000)).hands == 8000
    assert forecast(plan_of(4, deals=1000, format="match")).hands == 44_000
    assert forecast(plan_of(4, rules="spot")).difference > 4 * forecast(plan_of(4)).difference


@pytest.mark.parametrize(
    ("bots", "seats"),
    [pytest.param(4, 4, id="four"), pytest.param(8, 4, id="eight"), pytest.param(5, 5, id="five-seats")],
)
def test_what_is_forecast_is_found_four_times_out_of_five(bots, seats):
    plan = plan_from(
        {"bots": [f"b{n}" for n in range(bots)], "seed": "s", "rules": {"players": seats}, "deals": 210}
    )
    seen = forecast(plan)
    # What makes a payoff vary by SPREAD from deal to deal, and strengths that make just that difference.
    spread = SPREAD * ((seats - 1) / seats) ** 0.5
    lead = seen.difference * (bots - 1) / bots
    found = 0
    for seed in range(300):
        payoffs = Payoffs()
        strengths = [lead] + [0.0] * (bots - 1)
        for payoff in simulated(strengths, plan.deals, Random(seed), seats, spread):
            payoffs.add(payoff)
        found += payoffs.fit().difference(0, 1).p <= 0.05
    assert found / 300 == pytest.approx(0.8, abs=0.07)
    assert z_two_sided(0.05) == pytest.approx(1.96, abs=1e-3)
