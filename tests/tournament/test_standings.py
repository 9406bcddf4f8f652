"""From planned matches to the table, with real hands: bots of known order, one that crashes, copies."""

from itertools import pairwise

import pytest
from msgspec import json

from referee.tournament.plan import plan_from
from referee.tournament.prefix import Prefix
from referee.tournament.ranking import Ladder
from referee.tournament.results import result_of
from referee.tournament.schedule import Schedule
from referee.tournament.standings import Standing, Standings
from tests.tournament.in_process import Player, at_random, first_cards, gone_after, play


def low_cards() -> Player:
    """Takes as few tricks as it can without looking: passes and leads from the top of nothing."""
    ranks = "23456789TJQKA"
    return Player(
        lambda request: sorted(request.cards, key=lambda card: ranks.index(card[0]))[-request.count :],
        lambda request: min(request.legal, key=lambda card: ranks.index(card[0])),
    )


def high_cards() -> Player:
    ranks = "23456789TJQKA"
    return Player(
        lambda request: sorted(request.cards, key=lambda card: ranks.index(card[0]))[: request.count],
        lambda request: max(request.legal, key=lambda card: ranks.index(card[0])),
    )


def played(plan, players, **more):
    schedule = Schedule(plan)
    prefix, standings, ladder = Prefix(schedule.lanes, 26), Standings(plan.hero), Ladder()
    results = []
    for planned in schedule:
        result = result_of(play(planned, plan, players, **more))
        results.append(result)
        for deal in prefix.add(planned.deal, result):
            standings.add(deal)
    for result in sorted(results, key=lambda result: result.match):
        ladder.add(result)
    return standings, ladder, results


@pytest.fixture(scope="module")
def league():
    players = {
        "low": low_cards(),
        "random": at_random(1),
        "other": at_random(2),
        "high": high_cards(),
        "crash": gone_after(3),
        "first": first_cards(),
    }
    plan = plan_from({"bots": list(players), "seed": "league", "deals": 90})
    return played(plan, players)


def test_the_table_is_best_first_and_the_best_is_known(league):
    standings, ladder, _ = league
    table = standings.table(ladder.ratings)
    names = [line.name for line in table]
    assert names[0] == "low"
    assert names[-1] == "crash"
    assert names.index("high") > names.index("random")
    assert all(one.payoff >= other.payoff for one, other in pairwise(table))
    assert all(line.ci95[0] < line.payoff < line.ci95[1] for line in table if line.name != "crash")
    strengths = {line.name: line.strength for line in table}
    assert strengths["low"] == max(strengths.values())
    ratings = {line.name: line.rating.mu for line in table}
    assert max(ratings, key=ratings.get) == "low"


def test_a_crashing_bot_pays_26_a_hand_and_its_forfeits_are_counted(league):
    standings, _, _ = league
    crash = next(line for line in standings.table() if line.name == "crash")
    assert crash.hands == crash.forfeits == 4 * crash.deals
    assert crash.mean == -26
    assert crash.faults == {"exit": crash.hands}
    assert crash.wins == 0
    assert crash.rating is None


def test_counts_add_up(league):
    standings, _, results = league
    table = standings.table()
    assert sum(line.hands for line in table) == 4 * len(results) == 4 * 360
    assert sum(line.points * line.hands for line in table) == pytest.approx(
        sum(sum(result.hands[0].points) for result in results)
    )
    assert sum(line.wins * line.hands for line in table) == pytest.approx(len(results))
    assert sum(line.us for line in table) == sum(sum(result.us) for result in results)


def test_neighbours_and_crosstable(league):
    standings, _, _ = league
    names = [line.name for line in standings.table()]
    neighbours = standings.adjacent()
    assert [(pair.better, pair.worse) for pair in neighbours] == list(pairwise(names))
    assert all(pair.difference >= 0 for pair in neighbours)
    assert neighbours[-1].p < 1e-6
    won = standings.won_from()
    assert won["low"]["high"].value > 3
    assert won["high"]["low"].value == -won["low"]["high"].value
    assert "crash" not in won["low"]
    assert standings.gifts.feedings()["low", "high"].given > 0


def test_the_table_is_json(league):
    standings, ladder, _ = league
    table = standings.table(ladder.ratings)
    assert json.decode(json.encode(table), type=list[Standing]) == table


def test_two_bots_one_against_three():
    plan = plan_from({"bots": ["low", "high"], "seed": "duel", "deals": 20})
    standings, ladder, _ = played(plan, {"low": low_cards(), "high": high_cards()})
    low, high = standings.table(ladder.ratings)
    assert (low.name, low.deals, low.hands) == ("low", 20, 320)
    assert low.payoff == pytest.approx(-high.payoff)
    assert low.payoff == pytest.approx(low.mean)
    assert low.ci95[0] > 0


def test_a_gauntlet_says_what_each_was_paid_against_the_hero():
    players = {"hero": low_cards(), "high": high_cards(), "random": at_random(1), "like": low_cards()}
    fields = {"bots": [*players], "seed": "gauntlet", "deals": 20, "format": "gauntlet", "hero": "hero"}
    standings, _, _ = played(plan_from(fields), players)
    table = {line.name: line for line in standings.table()}
    for line in table.values():
        assert (line.payoff, line.ci95) == (line.mean, line.mean_ci95)
    won = standings.won_from()
    for name in ("high", "random", "like"):
        assert table[name].payoff == pytest.approx(won[name]["hero"].value)
    challengers = [line.name for line in standings.table() if line.name != "hero"]
    assert [(pair.better, pair.worse) for pair in standings.adjacent()] == list(pairwise(challengers))
    for pair in standings.adjacent():
        assert pair.difference == pytest.approx(table[pair.better].payoff - table[pair.worse].payoff)


def test_nothing_played_is_an_empty_table():
    assert Standings().table() == []
    assert Standings().adjacent() == []
