"""A tournament's directory: what goes in comes out, the first result stands, a full disk loses nothing."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.errors import ArenaError
from referee.tournament.plan import Entrant, Plan
from referee.tournament.schedule import Schedule
from referee.tournament.store import Store, stored_plan
from tests.tournament.stored import PLAN, played


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "t") as store:
        store.write_plan(PLAN)
        yield store


def test_what_goes_in_comes_out(store: Store):
    assert store.keep(played()) == 12
    assert store.matches == 12
    by_id = list(store.results("match.id"))
    assert [result.match for result in by_id] == sorted(match.id for match in Schedule(PLAN))
    by_deal = list(store.results("deal"))
    assert sorted(by_deal, key=lambda result: result.match) == by_id
    planned = Schedule(PLAN).of_deal(1)
    assert {result.match for result in store.of_deal(planned[0].seed)} == {match.id for match in planned}
    assert store.plan == PLAN


def test_a_log_is_found_by_the_beginning_of_its_match_id(store: Store):
    store.keep(played())
    match = next(iter(Schedule(PLAN))).id
    assert store.log(match) == store.log(match[:12]) == f"log of {match}, 0\n".encode()
    with pytest.raises(ArenaError, match="several matches whose ids begin with"):
        store.log("")
    with pytest.raises(ArenaError, match="There is no match 'zz'"):
        store.log("zz")


def test_the_first_result_stands_with_its_log(store: Store):
    store.keep(played(deals=range(1)))
    before = list(store.results("match.id"))
    assert store.keep(played(salt=7)) == 8
    after = {result.match: result for result in store.results("match.id")}
    assert [after[result.match] for result in before] == before
    assert all(store.log(result.match).endswith(b", 0\n") for result in before)


def test_logs_without_their_results_make_room_when_they_are_played_again(store: Store):
    store.keep(played())
    with store._results:  # as if it had been killed between the two commits
        store._results.execute("DELETE FROM match")
    store.keep(played(deals=range(1), salt=7))
    store.keep(played(salt=7))
    assert all(store.log(result.match).endswith(b", 7\n") for result in store.results("match.id"))
    assert store._logs.execute("SELECT count(*) FROM bundle").fetchone() == (2,)


def test_results_of_a_changed_bot_or_of_other_rules_do_not_count(store: Store):
    store.keep(played())
    changed = Plan(bots=(*PLAN.bots[:3], Entrant("dan", "dan", "new content")), seed="store", deals=3)
    store.write_plan(changed)
    assert list(store.results("deal")) == []
    assert store.matches == 12, "they are kept"
    store.keep(played(changed))
    assert len(list(store.results("deal"))) == 12
    store.write_plan(PLAN)
    assert {result.match for result in store.results("deal")} == {match.id for match in Schedule(PLAN)}


def fill(store: Store) -> None:
    for salt in range(100):
        store.keep(played(Plan(bots=PLAN.bots, seed=f"more {salt}", deals=3)))


@pytest.mark.parametrize("part", ["results", "logs"])
def test_a_full_disk_is_told_and_loses_nothing(store: Store, part: str):
    store.keep(played(deals=range(1)))
    database: sqlite3.Connection = getattr(store, f"_{part}")
    pages = database.execute("PRAGMA page_count").fetchone()[0]
    database.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(ArenaError, match=r"full.*give the same command again"):
        fill(store)
    whole = list(store.results("deal"))
    assert len(whole) % 4 == 0
    assert all(store.log(result.match) for result in whole)
    database.execute("PRAGMA max_page_count = 1000000")
    assert store.keep(played()) == 8


def test_a_database_of_another_program_is_not_written_to(tmp_path: Path):
    folder = tmp_path / "t"
    folder.mkdir()
    with contextlib.closing(sqlite3.connect(folder / "results.db")) as database:
        database.execute("CREATE TABLE cats (name TEXT)")
    before = (folder / "results.db").read_bytes()
    with pytest.raises(ArenaError, match=r"results.db is empty, or of another program"):
        Store.open(folder)
    assert (folder / "results.db").read_bytes() == before


def test_what_a_killed_beginning_has_left_is_no_hindrance(tmp_path: Path):
    folder = tmp_path / "t"
    folder.mkdir()
    (folder / "lock").touch()
    (folder / "logs.new").write_bytes(b"half a databa")
    with Store.open(folder) as store:
        store.write_plan(PLAN)
        assert store.keep(played()) == 12
    assert not (folder / "logs.new").exists()


def test_only_the_operator_can_read_it(store: Store):
    store.keep(played())
    store.note("something")
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    for path in store.folder.iterdir():
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path


def test_one_run_at_a_time_and_readers_meanwhile(store: Store):
    store.keep(played())
    with pytest.raises(ArenaError, match=f"process {os.getpid()}"):
        Store.open(store.folder)
    with Store.read(store.folder) as reader:
        assert reader.matches == 12
    store.close()
    Store.open(store.folder).close()


def test_what_is_no_tournament_is_told(tmp_path: Path):
    with pytest.raises(ArenaError, match="There is no tournament in"):
        Store.read(tmp_path)
    (tmp_path / "results.db").write_bytes(b"this is no database, but long enough to be looked at" * 20)
    with pytest.raises(ArenaError, match="Cannot open"):
        Store.read(tmp_path)
    with pytest.raises(ArenaError, match="Cannot open"):
        Store.open(tmp_path)
    newer = tmp_path / "newer"
    Store.open(newer).close()
    with sqlite3.connect(newer / "results.db") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(ArenaError, match="of a newer arena"):
        Store.read(newer)
    (newer / "plan.toml").write_text("deals = 'many'")
    with pytest.raises(ArenaError, match=r"plan\.toml cannot be used"):
        stored_plan(newer)


def test_results_without_their_plan_are_told(store: Store):
    (store.folder / "plan.toml").unlink()
    assert stored_plan(store.folder) is None, "nothing has been played"
    store.keep(played())
    with pytest.raises(ArenaError, match=r"the results of 12 matches, but its plan.toml is missing"):
        stored_plan(store.folder)


@pytest.mark.parametrize("left", [None, b""])
def test_results_that_are_gone_are_not_begun_anew(store: Store, left: bytes | None):
    store.keep(played())
    store.close()
    path = store.folder / "results.db"
    path.unlink()
    if left is not None:
        path.write_bytes(left)
        with pytest.raises(ArenaError, match=r"empty, or of another program. Put it back from a copy, or"):
            Store.read(store.folder)
    with pytest.raises(
        ArenaError, match=r"empty or missing, but logs.db has the logs of 12 matches. Put it back"
    ):
        Store.open(store.folder)


def test_a_run_that_was_killed_before_its_first_results_goes_on(store: Store):
    with store._logs:
        store._keep_logs(played().logs[0], {match.id for match in Schedule(PLAN)})
    store.close()
    with Store.open(store.folder) as again:
        assert again.keep(played()) == 12


@pytest.mark.parametrize(
    ("name", "advice"), [("results.db", "Put it back from a copy"), ("logs.db", "Move it away and go on")]
)
def test_what_is_damaged_is_told_with_what_helps(store: Store, name: str, advice: str):
    store.keep(played())
    store.close()
    path = store.folder / name
    path.write_bytes(b"no database" + path.read_bytes()[11:])
    with pytest.raises(ArenaError, match=f"Cannot open .*{name}: file is not a database. {advice}"):
        Store.open(store.folder)
    if name == "logs.db":
        with Store.read(store.folder) as reader:
            assert len(list(reader.results("deal"))) == 12, "the standings need no logs"
        path.unlink()
        with Store.read(store.folder) as reader, pytest.raises(ArenaError, match=r"logs.db is missing"):
            reader.log("")
        Store.open(store.folder).close()


def test_damage_inside_is_told_with_what_helps(store: Store):
    store.keep(played())
    store.close()
    path = store.folder / "results.db"
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with Store.read(store.folder) as reader, pytest.raises(ArenaError, match=r"damaged: .* Put it back"):
        list(reader.results("deal"))


def test_a_finished_directory_is_read_where_nothing_can_be_written(store: Store, monkeypatch):
    """As on a read-only file system: SQLite cannot make the files beside the database that it would need."""
    store.keep(played())
    folder = store.folder
    copied = folder.parent / "copied"
    shutil.copytree(folder, copied)  # with results that are still in the file beside the database
    store.close()
    allowed = os.access
    before = sorted(folder.iterdir())
    with Store.read(folder) as reader:
        assert len(list(reader.results("deal"))) == 12
    assert sorted(folder.iterdir()) == before, "a reader leaves nothing behind"
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and allowed(path, mode))
    with Store.read(folder) as reader:
        assert len(list(reader.results("deal"))) == 12
        assert reader.log(next(iter(Schedule(PLAN))).id)
    assert not list(folder.glob("*-wal")), "it was not written to"
    with Store.read(copied) as reader:
        assert len(list(reader.results("deal"))) == 12, "what is beside it is not left out"


def test_matches_that_are_set_aside_are_counted_and_listed(store: Store):
    store.keep(played())
    changed = Plan(bots=(*PLAN.bots[:3], Entrant("dan", "dan", "new content")), seed="store", deals=3)
    store.write_plan(changed)
    store.keep(played(changed, range(1)))
    assert (store.matches, store.set_aside) == (16, 12)
    assert sorted(counts for *_, counts in store.listed()) == [False] * 12 + [True] * 4


def test_stderr_is_kept_whole_at_first_and_then_the_last(store: Store):
    for _ in range(3):
        store._keep_stderr({"ann": b"a" * 600_000})
    first, last = store.folder / "stderr" / "ann.txt", store.folder / "stderr" / "ann.last.txt"
    assert first.stat().st_size == 1_200_000
    assert last.stat().st_size == 600_000
