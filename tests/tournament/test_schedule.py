"""The matches of a plan: seatings, pass directions, ids that last, batches, and a million deals."""

import sys
import tracemalloc
from collections import Counter, defaultdict
from itertools import combinations, islice, permutations
from math import factorial

import pytest
from msgspec.structs import replace

from referee.tournament.plan import Entrant, Plan, plan_from
from referee.tournament.schedule import Schedule, deals_to_keep


def plan_of(bots, deals=24, **more):
    return plan_from({"bots": [f"b{number}" for number in range(bots)], "seed": "s", "deals": deals} | more)


def circle(match):
    """Who sits around the table, from the first bot on."""
    start = match.seats.index(min(match.seats, key=lambda chair: (chair.bot, chair.copy)))
    return match.seats[start:] + match.seats[:start]


PLANS = [
    pytest.param(plan_of(4), id="four-bots"),
    pytest.param(plan_of(7), id="seven-bots"),
    pytest.param(plan_of(2), id="two-bots"),
    pytest.param(plan_of(3), id="three-bots-four-seats"),
    pytest.param(plan_of(5, rules="five"), id="five-seats"),
    pytest.param(plan_of(9, rules="six"), id="six-seats"),
    pytest.param(plan_of(6, format="match"), id="games"),
    pytest.param(plan_of(6, format="gauntlet", hero="b2"), id="gauntlet"),
    pytest.param(plan_of(6, withdrawn=["b0", "b4"]), id="withdrawn"),
]


@pytest.mark.parametrize("plan", PLANS)
def test_in_each_deal_each_chair_sits_in_each_seat_once(plan):
    schedule = Schedule(plan)
    for deal in range(plan.deals):
        matches = schedule.of_deal(deal)
        assert len(matches) == schedule.lanes
        assert len({match.seed for match in matches}) == len({match.first_hand for match in matches}) == 1
        for block in range(schedule.blocks):
            seats = defaultdict(Counter)
            for match in (match for match in matches if match.block == block):
                assert len(set(match.seats)) == plan.rules.players
                for seat, chair in enumerate(match.seats):
                    seats[chair][seat] += 1
            assert all(counts == Counter(range(plan.rules.players)) for counts in seats.values())


@pytest.mark.parametrize("plan", PLANS)
def test_ids_are_unique_and_deals_have_cards_of_their_own(plan):
    matches = list(Schedule(plan))
    assert len(matches) == len(Schedule(plan)) == len({match.id for match in matches})
    assert len({match.seed for match in matches}) == plan.deals
    assert [match.deal for match in matches] == sorted(match.deal for match in matches)


@pytest.mark.parametrize(
    ("bots", "rules", "directions"),
    [(4, "standard", 4), (3, "three", 3), (5, "five", 5), (4, "black_maria", 1)],
)
def test_directions_and_orders_are_not_confounded(bots, rules, directions):
    plan = plan_of(3 if rules == "black_maria" else bots, deals=1, rules=rules)
    orders = factorial(plan.rules.players - 1)
    schedule = Schedule(plan)
    seen = Counter()
    for deal in range(directions * orders):
        first = schedule.of_deal(deal)[0]
        assert first.first_hand == 1 + deal % directions
        seen[first.first_hand, circle(first)] += 1
    assert len(seen) == directions * orders
    assert set(seen.values()) == {1}


def test_four_bots_go_by_the_number_of_the_deal():
    schedule = Schedule(plan_of(4))
    for deal in range(48):
        first = schedule.of_deal(deal)[0]
        assert first.first_hand == 1 + deal % 4
        orders = [("b0", *rest) for rest in permutations(("b1", "b2", "b3"))]
        assert first.labels == orders[deal // 4 % 6]


def test_groups_of_many_bots_walk_through_all_directions_and_orders():
    plan = plan_of(7, deals=35 * 24)
    seen = defaultdict(Counter)
    for match in Schedule(plan):
        if match.rotation == 0:
            seen[frozenset(match.labels)][match.first_hand, circle(match)] += 1
    assert len(seen) == 35
    assert all(len(cells) == 24 and set(cells.values()) == {1} for cells in seen.values())


def test_in_a_few_deals_of_many_bots_directions_are_nearly_even():
    first_hands = Counter(Schedule(plan_of(12, deals=1)).of_deal(deal)[0].first_hand for deal in range(200))
    assert max(first_hands.values()) - min(first_hands.values()) <= 15


@pytest.mark.parametrize("bots", range(5, 13))
@pytest.mark.parametrize("deals", [50, 200])
def test_pairs_meet_nearly_equally_often(bots, deals):
    meetings = Counter()
    for match in Schedule(plan_of(bots, deals)):
        meetings.update(combinations(sorted(match.labels), 2))
    assert max(meetings.values()) - min(meetings.values()) <= 4 * 5  # each deal has four matches


def test_two_bots_sit_one_against_three_and_three_against_one():
    for deal in range(4):
        labels = [match.labels.count("b0") for match in Schedule(plan_of(2)).of_deal(deal)]
        assert sorted(labels) == [1, 1, 1, 1, 3, 3, 3, 3]


def test_three_bots_at_four_seats_are_doubled_in_turn():
    doubled = [max(set(match.labels), key=match.labels.count) for match in Schedule(plan_of(3)).of_deal(0)]
    assert Counter(doubled) == {"b0": 4, "b1": 4, "b2": 4}


def test_a_gauntlet_is_the_hero_against_each_of_the_field_by_turns():
    schedule = Schedule(plan_of(5, format="gauntlet", hero="b1", withdrawn=["b3"]))
    for deal in range(9):
        matches = schedule.of_deal(deal)
        assert {label for match in matches for label in match.labels} == {"b1", ("b0", "b2", "b4")[deal % 3]}
        assert sorted(match.labels.count("b1") for match in matches) == [1, 1, 1, 1, 3, 3, 3, 3]


def test_games_begin_with_the_first_direction():
    plan = plan_of(4, format="match")
    assert {match.first_hand for match in Schedule(plan)} == {1}
    assert len({circle(match) for match in Schedule(plan)}) == 6


@pytest.mark.parametrize(
    ("bots", "deals", "format"),
    [
        (4, 40, "duplicate"),
        (5, 33, "duplicate"),
        (8, 150, "duplicate"),
        (8, 150, "match"),
        (4, 40, "gauntlet"),
    ],
)
def test_a_bot_that_is_added_leaves_the_ids_of_the_others_as_they_are(bots, deals, format):
    hero = {"hero": "b1"} if format == "gauntlet" else {}
    old = plan_of(bots, deals, format=format, **hero)
    new = old.with_bots([Entrant("newcomer")])
    played = {match.id for match in Schedule(old)}
    missing = [match for match in Schedule(new) if match.id not in played]
    assert all("newcomer" in match.labels for match in missing)
    seats = 2 if format == "gauntlet" else 4
    in_newcomers_share = len(Schedule(new)) * (1 / bots if format == "gauntlet" else seats / (bots + 1))
    assert abs(len(missing) - in_newcomers_share) < 8

    whole = replace(new, deals=deals_to_keep(old, new))
    assert played <= {match.id for match in Schedule(whole)}
    assert not played <= {match.id for match in Schedule(replace(whole, deals=whole.deals - 1))}


def test_a_bot_that_is_withdrawn_leaves_the_ids_of_the_others_as_they_are():
    old = plan_of(8, deals=140)
    new = replace(old, withdrawn=("b3",))
    played = {match.id for match in Schedule(old) if "b3" not in match.labels}
    planned = {match.id for match in Schedule(new)}
    assert played <= planned
    assert not any("b3" in match.labels for match in Schedule(new))


def test_what_changes_an_id():
    plan = plan_of(4, deals=1)
    ids = {match.id for match in Schedule(plan)}

    def shared(other: Plan) -> int:
        return len(ids & {match.id for match in Schedule(other)})

    assert shared(plan) == shared(replace(plan, deals=9)) == shared(replace(plan, stop_when=0.5)) == 4
    assert shared(replace(plan, seed="t")) == 0
    assert shared(replace(plan, rules=plan_of(4, rules="omnibus").rules)) == 0
    changed = (Entrant("b0", fingerprint="other"), *plan.bots[1:])
    assert shared(replace(plan, bots=changed)) == 0


def test_two_labels_for_one_program_are_two_bots():
    twins = plan_from(
        {"bots": [{"name": name, "fingerprint": "same"} for name in "ab"], "seed": "s", "deals": 5}
    )
    assert len({match.id for match in Schedule(twins)}) == 40


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("size", [1, 7, 24, 100])
def test_batches_hold_every_match_once_and_show_no_process_a_deal_twice(plan, size):
    """A process is one chair of one lane, and may live as long as the lane does."""
    matches = []
    deals_seen = defaultdict(list)
    for batch in Schedule(plan).batches(size):
        assert 0 < len(batch.matches) <= size
        for match in batch.matches:
            matches.append(match)
            assert len(set(match.seats)) == len(match.seats)  # never twice at one table
            for chair in match.seats:
                deals_seen[batch.lane, chair].append(match.seed)
    assert {match.id for match in matches} == {match.id for match in Schedule(plan)}
    assert len(matches) == len(Schedule(plan))
    assert all(len(seeds) == len(set(seeds)) for seeds in deals_seen.values())


def test_batches_finish_a_run_of_deals_before_the_next_begins():
    starts = [{match.deal // 10 for match in batch.matches} for batch in Schedule(plan_of(5, 35)).batches(10)]
    assert starts == [{run} for run in range(4) for _ in range(4)]


def cost_of_asking(bots: int, deals: int) -> tuple[int, int]:
    """How many calls it takes to look at the ends of a schedule, and how many bytes."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    tracemalloc.start()
    sys.setprofile(count)
    schedule = Schedule(plan_of(bots, deals=deals))
    assert len(schedule) == deals * schedule.lanes
    assert schedule.of_deal(deals - 1)[0].deal == deals - 1
    assert [match.deal for match in islice(schedule, 3)] == [0, 0, 0]
    assert len(next(schedule.batches()).matches) == 50
    sys.setprofile(None)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return calls, peak


@pytest.mark.parametrize("bots", [2, 4, 8, 12])
def test_a_million_deals_cost_nothing_until_they_are_asked_for(bots):
    few, _ = cost_of_asking(bots, 1000)
    many, peak = cost_of_asking(bots, 1_000_000)
    assert many < 2 * few
    assert peak < 2_000_000
