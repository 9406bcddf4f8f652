"""Tournaments as they are run: played whole, gone on with, joined, left, changed, and refused."""

from __future__ import annotations

import json
import os
import re
import resource
import sqlite3
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path
from statistics import mean
from types import SimpleNamespace
from typing import Any

import pytest

from referee.errors import ArenaError
from referee.tournament.run import Progress, Run
from referee.tournament.store import Store
from tests.tournament.arena import FOUR, QUICK, ROOT, arena, logs, play, results, rogue, standings, started
from tests.tournament.stored import PLAN, played

HANDS = "the points of a hand sum to 26, or to three times that when somebody shot the moon"


def test_every_deal_is_played_in_every_seating(tmp_path: Path):
    play(tmp_path / "t", "--deals", 6)
    rows = results(tmp_path / "t")
    assert len(rows) == 24
    seatings: dict[str, set[str]] = {}
    for row in rows:
        seatings.setdefault(row[1], set()).add(row[3])
        points = json.loads(row[6])[0]["points"]
        assert sum(points) in (26, 78), HANDS
    assert [len(seats) for seats in seatings.values()] == [4] * 6
    for seats in seatings.values():
        assert {json.loads(labels)[0] for labels in seats} == {"ann", "bob", "cyd", "dan"}


def test_the_same_command_or_the_directory_alone_plays_nothing_twice(tmp_path: Path):
    folder = tmp_path / "t"
    play(folder, "--deals", 3)
    with sqlite3.connect(folder / "results.db") as database:
        before = database.execute("SELECT * FROM match ORDER BY id").fetchall()
    database.close()
    assert "12 matches have been played before; those" in play(folder, "--deals", 3)
    assert "12 matches have been played before; those" in arena("tournament", folder)
    with sqlite3.connect(folder / "results.db") as database:
        assert database.execute("SELECT * FROM match ORDER BY id").fetchall() == before
    database.close()


def test_jobs_and_batches_change_nothing(tmp_path: Path):
    play(tmp_path / "one", "--deals", 8, "--jobs", 1)
    play(tmp_path / "two", "--deals", 8, "--jobs", 2, "--batch-time", "1ms")
    assert results(tmp_path / "one") == results(tmp_path / "two")
    assert logs(tmp_path / "one") == logs(tmp_path / "two")


def test_more_deals_later_are_as_if_planned_at_once(tmp_path: Path):
    play(tmp_path / "whole", "--deals", 4)
    play(tmp_path / "parts", "--deals", 2)
    play(tmp_path / "parts", "--deals", 4)
    assert results(tmp_path / "whole") == results(tmp_path / "parts")


def test_a_newcomer_plays_only_what_is_missing(tmp_path: Path):
    folder = tmp_path / "t"
    play(folder, "--deals", 4)
    before = results(folder)
    said = arena("tournament", folder, rogue("eve", seed=9), "--deals", 10)
    assert "New: eve." in said
    after = results(folder)
    assert set(before) <= set(after)
    assert len(after) == 48, "of 10 deals with five bots, 2 are those of the first four bots"
    everybody = {bot["name"]: bot["deals"] for bot in standings(folder)["bots"]}
    assert everybody["eve"] == 8


def test_a_bot_that_is_withdrawn_keeps_its_results_and_plays_no_more(tmp_path: Path):
    folder = tmp_path / "t"
    five = (*FOUR, rogue("eve", seed=9))
    play(folder, "--deals", 5, bots=five)
    said = arena("tournament", folder, "--withdraw", "eve", "--deals", 8)
    assert "Withdrawn: eve." in said
    lines = {bot["name"]: bot for bot in standings(folder)["bots"]}
    assert lines["eve"]["withdrawn"]
    assert lines["eve"]["deals"] == 4
    assert lines["ann"]["deals"] == 11, "3 deals with eve, and the 8 without, of which 1 was there"


def test_a_changed_bot_is_refused_and_its_results_set_aside_when_accepted(tmp_path: Path):
    folder = tmp_path / "t"
    program = tmp_path / "bot.py"
    source = Path(__file__).parents[2] / "example_bots" / "duck.py"
    program.write_text(source.read_text())
    bots = (f"mine={program}", *FOUR[1:])
    play(folder, "--deals", 1, bots=bots)
    before = results(folder)
    program.write_text(source.read_text() + "# better now\n")
    said = play(folder, "--deals", 1, bots=bots, status=1)
    assert "The bot mine is not what it was" in said
    assert "--accept-changes" in said
    assert results(folder) == before
    play(folder, "--deals", 1, "--accept-changes", bots=bots)
    assert "8 matches have been played before, and 4 of them are set aside" in play(folder, bots=bots)
    after = results(folder)
    assert len(after) == 4
    assert not {row[0] for row in before} & {row[0] for row in after}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        pytest.param(("--seed", "other"), 'The seed was "test" and is now "other"', id="seed"),
        pytest.param(("--format", "match"), "The format was", id="format"),
        pytest.param(("--set", "jack_points=-10"), "The rule jack_points was 0 and is now -10", id="rule"),
        pytest.param(("--turn-time", "5s"), "The condition turn_ms was 2000 and is now 5000", id="condition"),
    ],
)
def test_another_plan_is_refused(tmp_path: Path, words: tuple[str, ...], sentence: str):
    play(tmp_path / "t", "--deals", 1)
    said = arena("tournament", tmp_path / "t", *words, status=1)
    assert sentence in said
    assert len(results(tmp_path / "t")) == 4


def test_games_and_gauntlets(tmp_path: Path):
    play(tmp_path / "games", "--format", "match", "--deals", 1, "--set", "target=30")
    rows = results(tmp_path / "games")
    assert len(rows) == 4
    assert all(len(json.loads(row[6])) > 1 for row in rows)
    play(tmp_path / "gauntlet", "--format", "gauntlet", "--hero", "ann", "--deals", 3)
    for row in results(tmp_path / "gauntlet"):
        seats = json.loads(row[3])
        assert seats.count("ann") in (1, 3)
        assert len(set(seats)) == 2


def test_a_plan_file_says_it_all_and_is_written_out(tmp_path: Path):
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'deals = 2\nseed = "file"\nbots = ["duck", {name = "other", run = "random"}]\n'
        '[rules]\nplayers = 3\n[conditions]\nsandbox = "none"\n'
    )
    arena("tournament", tmp_path / "t", "--plan", plan)
    written = (tmp_path / "t" / "plan.toml").read_text()
    assert 'seed = "file"' in written
    assert 'name = "other"' in written
    assert len(results(tmp_path / "t")) == 2 * 2 * 3


def test_it_stops_once_every_pair_is_decided(tmp_path: Path):
    bots = (f"one={FOUR[0].partition('=')[2]}", f"same={FOUR[0].partition('=')[2]}")
    said = play(tmp_path / "t", "--deals", 200, "--stop-when", 1, "--batch-time", "5s", bots=bots)
    assert "Every pair is decided" in said
    assert len(results(tmp_path / "t")) == 20 * 8, "the first look is after a tenth of the deals"


def test_a_bot_that_does_not_start_is_charged_and_a_stand_in_plays(tmp_path: Path):
    folder = tmp_path / "t"
    play(folder, "--deals", 3, bots=(*FOUR[:3], rogue("dud", "exit", at="start")))
    rows = results(folder)
    assert len(rows) == 12
    for row in rows:
        seat = json.loads(row[3]).index("dud")
        hand = json.loads(row[6])[0]
        assert hand["forfeited"] == json.loads(row[7]) == json.loads(row[8]) == [seat]
        assert json.loads(row[9]) == [{"seat": seat, "kind": "launch"}]
        assert sum(hand["points"]) in (26, 78), HANDS
    for match, lines in logs(folder).items():
        assert [line["type"] for line in lines if line["type"].startswith("match")] == [
            *("match", "match_over", "match", "match_over")
        ]
        assert {line["id"] for line in lines if line["type"] == "match"} == {match}
        assert lines[0]["seats"][0]["name"] == lines[3]["seats"][0]["name"]
    dud = standings(folder)["bots"][-1]
    assert dud["name"] == "dud"
    assert dud["payoff"] == pytest.approx(-26)
    assert dud["mean"] == pytest.approx(-26)
    assert dud["forfeits"] == 12


def test_a_bot_that_crashes_at_every_turn_stops_nothing(tmp_path: Path):
    folder = tmp_path / "t"
    play(folder, "--deals", 2, bots=(*FOUR[:3], rogue("crash", "traceback", at="play", times=0)))
    assert len(results(folder)) == 8
    crash = standings(folder)["bots"][-1]
    assert (crash["name"], crash["forfeits"], crash["faults"]) == ("crash", 8, {"exit": 8})
    assert "Traceback" in (folder / "stderr" / "crash.txt").read_text()


def test_bots_are_told_no_names(tmp_path: Path):
    folder = tmp_path / "t"
    spy = tmp_path / "spy.py"
    spy.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    if asked['type'] == 'start':\n"
        "        print(asked['players'], file=sys.stderr, flush=True)\n"
        "        ready = {'type': 'ready', 'id': asked['id'], 'name': 'spy', 'version': '1'}\n"
        "        print(json.dumps(ready), flush=True)\n"
        "    elif 'id' in asked:\n"
        "        break\n"
    )
    play(folder, "--deals", 1, bots=(*FOUR[:3], f"spy={spy}"))
    said = (folder / "stderr" / "spy.txt").read_text()
    assert "seat-0" in said
    assert "ann" not in said
    play(tmp_path / "open", "--deals", 1, "--no-anonymous", bots=(*FOUR[:3], f"spy={spy}"))
    assert "ann" in (tmp_path / "open" / "stderr" / "spy.txt").read_text()


def test_two_tournaments_in_one_directory_are_one_too_many(tmp_path: Path):
    folder = tmp_path / "t"
    with started("tournament", folder, *FOUR, *QUICK, "--deals", 5000) as first:
        assert first.stdout
        while "tournament of" not in first.stdout.readline():
            pass
        said = play(folder, "--deals", 5000, status=1)
    assert "Another tournament is being played" in said
    assert str(first.pid) in said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        pytest.param(("no-such-bot", *FOUR), "There is no bot", id="no-such-bot"),
        pytest.param((FOUR[0],), "needs two bots at least", id="one-bot"),
        pytest.param((*FOUR, "--format", "gauntlet"), "needs a hero", id="no-hero"),
        pytest.param((*FOUR, "--plan", "missing.toml"), "Cannot read the plan", id="no-plan"),
        pytest.param((*FOUR, "--stop-when", "0"), "stop_when", id="no-room"),
        pytest.param((), "needs two bots at least", id="nothing-there"),
    ],
)
def test_bad_input_is_told_in_a_sentence_and_leaves_nothing(
    tmp_path: Path, words: tuple[str, ...], sentence: str
):
    said = arena("tournament", tmp_path / "t", *words, status=1)
    assert sentence in said
    assert len(said.strip().splitlines()) == 1
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize("word", ["duck", "bot.py", "mybot"])
def test_a_bot_for_a_directory_is_told_in_a_sentence(tmp_path: Path, word: str):
    (tmp_path / "bot.py").touch()
    (tmp_path / "mybot").mkdir()
    (tmp_path / "mybot" / "bot.toml").write_text('name = "mybot"\nrun = "true"')
    surroundings = os.environ | {"PYTHONPATH": str(ROOT)}
    said = arena("tournament", word, "random", "heuristic", status=1, cwd=tmp_path, env=surroundings)
    assert said.startswith(f"arena: The first word is the directory of the tournament, but {word} is a")
    assert len(said.splitlines()) == 1


def test_a_directory_of_other_things_is_left_alone(tmp_path: Path):
    (tmp_path / "thesis.txt").write_text("dear reader")
    said = play(tmp_path, status=1)
    assert "holds files, but no tournament" in said
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


SPY = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"id": asked.get("id")}
    if asked["type"] == "start":
        answer |= {"type": "ready", "name": "spy", "version": "1", "tables": 8}
    elif asked["type"] == "pass":
        answer |= {"type": "pass", "cards": asked["cards"][: asked["count"]]}
    elif asked["type"] == "play":
        if not asked["tricks"]:
            held = asked["cards"]
            if asked["passed"]:
                held = sorted({*held, *asked["passed"]["gave"]} - {*asked["passed"]["got"]})
            with open(sys.argv[1], "a") as file:
                print(os.getpid(), *sorted(held), file=file)
        answer |= {"type": "play", "card": asked["legal"][0]}
    else:
        continue
    print(json.dumps(answer), flush=True)
"""


def test_no_process_meets_a_deal_twice_and_each_plays_many(tmp_path: Path):
    program, seen = tmp_path / "spy.py", tmp_path / "seen.txt"
    program.write_text(SPY)
    bots = [f"{name}={sys.executable} -S {program} {seen}" for name in ("one", "two")]
    play(tmp_path / "t", "--deals", 8, "--jobs", 1, "--batch-time", "20s", bots=bots)
    deal_of = {
        tuple(sorted(cards)): lines[0]["seed"]
        for lines in logs(tmp_path / "t").values()
        for line in lines
        if line["type"] == "deal"
        for cards in line["cards"]
    }
    met: dict[str, list[str]] = {}
    for line in seen.read_text().splitlines():
        pid, *cards = line.split()
        met.setdefault(pid, []).append(deal_of[tuple(cards)])
    assert sum(map(len, met.values())) == 4 * 8 * 8
    for deals in met.values():
        assert len(deals) == len(set(deals))
    assert max(map(len, met.values())) > 1, "a process stays for more than one match"


def test_the_standings_follow_from_the_logs_alone(tmp_path: Path):
    """As another program would: nothing of the arena's is used but the lines of the logs."""
    folder = tmp_path / "t"
    play(folder, "--deals", 3, bots=(*FOUR[:3], rogue("dud", "exit", at="start")))
    of_deals: dict[str, dict[str, list[float]]] = {}
    for lines in logs(folder).values():
        absent: set[int] = set()
        for line in lines:
            if line["type"] == "match":
                header = line
            elif line["type"] == "fault" and line["hand"] == 0:
                absent.add(line["seat"])
            elif line["type"] == "hand_over":
                points = line["points"]
                for seat in header["seats"]:
                    own = points[seat["seat"]]
                    paid = -26.0 if seat["seat"] in absent else (sum(points) - own) / 3 - own
                    of_deals.setdefault(header["seed"], {}).setdefault(seat["name"], []).append(paid)
    for bot in standings(folder)["bots"]:
        deals = [mean(deal[bot["name"]]) for deal in of_deals.values()]
        assert bot["mean"] == pytest.approx(mean(deals))
        assert bot["deals"] == len(deals)


def few_files(most: int) -> Callable[[], None]:
    """Have a process open no more than so many files."""
    return partial(
        resource.setrlimit, resource.RLIMIT_NOFILE, (most, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    )


@pytest.mark.parametrize(("most", "jobs"), [(12, 1), (24, 2), (32, 2), (64, 8)])
def test_too_few_open_files_are_told_in_a_sentence_and_lose_nothing(tmp_path: Path, most: int, jobs: int):
    folder = tmp_path / "t"
    play(folder, "--deals", 4)
    before = results(folder)
    said = play(folder, "--deals", 40, "--jobs", jobs, status=1, preexec_fn=few_files(most))
    assert "Traceback" not in said
    assert re.search(r"arena: Worker \d cannot be started: .*ulimit -n 4096.* fewer --jobs\.$", said.strip())
    assert set(before) <= set(results(folder))


def test_the_time_left_is_told_by_what_landed_lately(monkeypatch: pytest.MonkeyPatch):
    now = 0.0
    monkeypatch.setattr("referee.tournament.run.time", SimpleNamespace(monotonic=lambda: now))
    progress = Progress(10_000, places=2)
    for seconds in (1, 1, 1, 1):  # mostly starts
        now += seconds
        progress.landed(8, 8)
    assert progress.rate == 8
    for _ in range(10):
        now += 2
        progress.landed(200, 200)
    assert progress.rate == 100
    assert progress.seconds_left == pytest.approx((10_000 - 2032) / 100)
    assert Progress(10).seconds_left is None


def test_what_has_landed_is_kept_when_no_worker_can_be_started_any_more(tmp_path: Path):
    class Once(Executor):
        """Plays one task and refuses the next."""

        def submit(self, do: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            (task,) = args
            if task.deals[0]:
                raise ArenaError("no more")
            future: Future[Any] = Future()
            future.set_result(played(PLAN, task.deals))
            return future

    with Store.open(tmp_path / "t") as store:
        store.write_plan(PLAN)
        run = Run(store, PLAN, (), Once(), places=lambda: 1, lost=KeyError)
        with pytest.raises(ArenaError, match="no more"):
            run.play()
        assert store.matches == 4
