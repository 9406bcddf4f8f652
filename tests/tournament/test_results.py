"""From a match's records to what is kept of it, and to what a deal's matches say together."""

import pytest
from msgspec import json

from referee.tournament.plan import plan_from
from referee.tournament.prefix import Prefix
from referee.tournament.results import (
    DealSummary,
    Fault,
    HandResult,
    Result,
    charged,
    hand_payoffs,
    result_of,
)
from referee.tournament.schedule import Schedule
from tests.tournament.in_process import at_random, first_cards, gone_after, play

PACK = 26
NAMES = "abcd"


def plan_of(on_fault="retire", bots=NAMES, **more):
    conditions = {"on_fault": on_fault}
    return plan_from({"bots": list(bots), "seed": "s", "deals": 3, "conditions": conditions} | more)


def results_of(plan, players, deal=0, **more):
    return [result_of(play(planned, plan, players, **more)) for planned in Schedule(plan).of_deal(deal)]


def hand(points, seats="abcd", **more):
    return Result(match="m", deal="k", seats=tuple(seats), hands=(HandResult(tuple(points), **more),))


def test_a_sound_match_leaves_its_points_and_who_gave_them_to_whom():
    plan = plan_of()
    players = {name: at_random(seed) for seed, name in enumerate(NAMES)}
    for deal in range(3):
        for planned, result in zip(
            Schedule(plan).of_deal(deal), results_of(plan, players, deal), strict=True
        ):
            assert (result.match, result.deal, result.seats) == (planned.id, planned.seed, planned.labels)
            (only,) = result.hands
            assert only.forfeited == result.retired == result.faults == ()
            taken = [sum(row[seat] for row in only.given) for seat in range(4)]
            assert sum(taken) == PACK
            if only.moon is None:
                assert tuple(taken) == only.points
            assert all(us >= 13 for us in result.us)
            assert sum(hand_payoffs(result.seats, only, PACK).values()) == pytest.approx(0)


def test_results_go_through_json():
    players = {name: gone_after(5) if name == "b" else first_cards() for name in NAMES}
    for result in results_of(plan_of(), players):
        assert json.decode(json.encode(result), type=Result) == result


def test_games_have_many_hands_and_one_ranking():
    plan = plan_of(format="match")
    (result, *_) = results_of(plan, {name: at_random(seed) for seed, name in enumerate(NAMES)})
    totals = [sum(points) for points in zip(*(hand.points for hand in result.hands), strict=True)]
    assert max(totals) >= 100
    assert result.ranks[totals.index(min(totals))] == 1


@pytest.mark.parametrize("policy", ["retire", "hand", "match"])
def test_a_bot_that_goes_forfeits_its_hand_and_the_others_keep_what_they_played(policy):
    players = {name: gone_after(5) if name == "b" else first_cards() for name in NAMES}
    plan = plan_of(policy)
    results = results_of(plan, players)
    for result in results:
        seat = result.seats.index("b")
        (only,) = result.hands
        assert only.forfeited == (seat,)
        assert [fault.kind for fault in result.faults] == ["exit"]
        assert result.ranks[seat] == 4
        paid = hand_payoffs(result.seats, only, PACK)
        assert paid["b"] == -PACK
        for other, points in zip(result.seats, only.points, strict=True):
            if other != "b":
                assert paid[other] == pytest.approx((sum(only.points) - points) / 3 - points)
        assert sum(only.points) == {"retire": PACK, "hand": PACK, "match": 0}[policy] or only.moon is not None
    deal = DealSummary(results, PACK)
    assert deal.payoffs["b"] == -PACK
    assert deal.played["b"] == pytest.approx(-PACK) if policy == "hand" else deal.played["b"] > -PACK
    assert deal.payoffs["a"] == deal.played["a"]
    assert not any("b" in pair for pair in deal.margins)


def test_substituted_faults_are_faults_and_no_forfeits():
    players = {name: gone_after(12) if name == "b" else first_cards() for name in NAMES}
    for result in results_of(plan_of("substitute"), players):
        assert result.hands[0].forfeited == result.retired == ()
        assert [fault.kind for fault in result.faults] == ["exit"]


def test_a_bot_that_cannot_be_started_is_charged_and_nobody_else_is():
    plan = plan_of()
    players = dict.fromkeys(NAMES, first_cards())
    results = results_of(plan, players, absent=frozenset("c"))
    for result in results:
        seat = result.seats.index("c")
        assert (result.hands, result.retired) == ((), (seat,))
        assert result.faults == (Fault(seat, "launch"),)
    assert DealSummary(results, PACK).payoffs == {"c": -PACK}


def test_with_a_stand_in_the_block_stays_whole():
    plan = plan_of()
    results = [
        charged(result, [result.seats.index("c")])
        for result in results_of(plan, dict.fromkeys(NAMES, first_cards()))
    ]
    deal = DealSummary(results, PACK)
    assert deal.payoffs["c"] == -PACK
    assert sum(deal.played.values()) == pytest.approx(0)
    assert set(deal.payoffs) == set(NAMES)
    assert all(result.ranks[result.seats.index("c")] == 4 for result in results)


def test_a_bot_is_measured_against_others_never_against_its_copies():
    only = HandResult((2, 10, 6, 8))
    assert hand_payoffs("abbb", only, PACK) == {"a": 6, "b": -6}
    assert hand_payoffs("aabc", only, PACK) == {"a": 1, "b": 1, "c": -2}
    forfeit = HandResult((2, 10, 6, 8), forfeited=(1,))
    assert hand_payoffs("abbb", forfeit, PACK) == {"a": 6, "b": pytest.approx((-26 - 4 - 6) / 3)}


def test_identical_bots_are_paid_nothing_whatever_the_cards():
    deal = DealSummary(results_of(plan_of(), dict.fromkeys(NAMES, first_cards())), PACK)
    assert all(payoff == pytest.approx(0) for payoff in deal.payoffs.values())
    duel = DealSummary(results_of(plan_of(bots="ab"), dict.fromkeys("ab", first_cards())), PACK)
    assert duel.payoffs == {"a": pytest.approx(0), "b": pytest.approx(0)}


def test_margins_and_gifts_of_a_deal():
    given = ((1, 13, 0, 0), (2, 3, 0, 1), (0, 0, 4, 0), (1, 0, 1, 0))
    deal = DealSummary([hand((4, 16, 5, 1), given=given), hand((0, 26, 0, 0))], PACK)
    assert deal.margins["a", "b"] == (12 + 26) / 2
    assert deal.margins["b", "a"] == -19
    assert deal.gifts["a", "b"] == 13
    assert deal.gifts["b", "a"] == 2
    assert ("a", "a") not in deal.gifts


def test_a_prefix_gives_out_whole_deals_in_order_and_takes_each_result_once():
    plan = plan_of()
    schedule = Schedule(plan)
    players = {name: at_random(seed) for seed, name in enumerate(NAMES)}
    played = [(planned.deal, result_of(play(planned, plan, players))) for planned in schedule]
    prefix = Prefix(schedule.lanes, PACK)
    given_out = [
        (step, {result.deal for result in deal.results})
        for step, (number, result) in enumerate(played[4:] + played[:3] + played + played)
        for deal in prefix.add(number, result)
    ]
    seeds = [schedule.of_deal(number)[0].seed for number in range(3)]
    # Deals 1 and 2 are there from the first, but wait for the last match of deal 0.
    assert given_out == [(14, {seeds[0]}), (14, {seeds[1]}), (14, {seeds[2]})]
    assert prefix.deals == 3
