"""A tournament's directory: the plan, the results, the logs, what bots said, and a lock that one run holds.

Results are rows of an SQLite database, one a match, keyed by match id; logs lie beside them in a database of
their own, for they take most of the room and nobody counts with them.  What is committed is whole deals, and
nothing that is committed is ever lost or changed.  The layout and both schemas are in `spec/tournament.md`.
"""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self, TypeAlias

import msgspec
from msgspec import Struct

from referee.errors import ArenaError, why
from referee.record.match_log import utc_now
from referee.tournament.database import MEND, NEW, connect, count_rows, damaged
from referee.tournament.plan import Plan, plan_from_toml, plan_to_toml
from referee.tournament.results import Fault, HandResult, Result
from referee.tournament.work import Bundle, LineupRow, MatchRow, Played, as_json, rules_hash

RESULTS_SCHEMA: Final = """
CREATE TABLE lineup (
    id TEXT PRIMARY KEY,
    seats TEXT NOT NULL,
    fingerprints TEXT NOT NULL,
    rules TEXT NOT NULL,
    counts INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE match (
    id TEXT PRIMARY KEY,
    deal TEXT NOT NULL,
    first_hand INTEGER NOT NULL,
    lineup TEXT NOT NULL REFERENCES lineup (id),
    hands TEXT NOT NULL,
    retired TEXT NOT NULL,
    stand_ins TEXT NOT NULL,
    faults TEXT NOT NULL,
    us TEXT NOT NULL,
    played TEXT NOT NULL
);
CREATE INDEX match_deal ON match (deal);
"""
LOGS_SCHEMA: Final = """
CREATE TABLE bundle (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    gz BLOB NOT NULL
);
CREATE TABLE log (
    match TEXT PRIMARY KEY,
    bundle INTEGER NOT NULL REFERENCES bundle (id),
    start INTEGER NOT NULL,
    end INTEGER NOT NULL
) WITHOUT ROWID;
"""

_STDERR_KEPT: Final = 1 << 20
_FROM: Final = "FROM match JOIN lineup ON lineup.id = lineup"
_COUNTING: Final = f"SELECT match.id, deal, seats, hands, retired, faults, us {_FROM} WHERE counts"
_AMONG: Final = "IN (SELECT value FROM json_each(?))"
_hands = msgspec.json.Decoder(tuple[HandResult, ...])
_faults = msgspec.json.Decoder(tuple[Fault, ...])
_numbers = msgspec.json.Decoder(tuple[int, ...])
_labels = msgspec.json.Decoder(tuple[str, ...])

Order: TypeAlias = Literal["match.id", "deal"]


class Incident(Struct, frozen=True):
    """A line of the journal: something that happened to the tournament as a whole."""

    at: str
    what: str


def stored_plan(folder: Path) -> Plan | None:
    """The plan that a directory holds, None in a new one.  Raises ArenaError."""
    path = folder / "plan.toml"
    try:
        return plan_from_toml(path.read_text("utf-8"))
    except FileNotFoundError:
        if matches := count_rows(folder / "results.db", "match"):
            raise ArenaError(
                f"{folder} holds the results of {matches:,} matches, but its plan.toml is missing; put it "
                "back, or name another directory."
            ) from None
        return None
    except OSError as error:
        raise ArenaError(f"Cannot read {path}: {why(error)}.") from None
    except UnicodeDecodeError:
        raise ArenaError(f"Cannot read {path}: it is not UTF-8.") from None
    except ArenaError as error:
        raise ArenaError(f"{path} cannot be used. {error}") from None


class Store:
    """A tournament's directory.  `open` it for a run, which no other may do meanwhile, or `read` it."""

    def __init__(self, folder: Path, results: sqlite3.Connection) -> None:
        self.folder = folder
        self._results = results
        self._lock = -1

    @cached_property
    def _logs(self) -> sqlite3.Connection:
        """The database of logs, opened by a reader only if one is asked for: it may be damaged, or gone."""
        path = self.folder / "logs.db"
        if not path.exists():
            raise ArenaError(f"There are no logs in {self.folder}: logs.db is missing.")
        return connect(path)

    @classmethod
    def open(cls, folder: Path) -> Store:
        """Open a directory to play into; it is made if it is not there.  Raises ArenaError."""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            names = {path.name for path in folder.iterdir() if path.suffix != NEW}
            if "results.db" not in names and "logs.db" not in names and names - {"lock", "plan.toml"}:
                raise ArenaError(f"{folder} holds files, but no tournament; name a new directory.")
            lock = _lock(folder)
        except OSError as error:
            raise ArenaError(f"Cannot use {folder} for a tournament: {why(error)}.") from None
        try:
            logs = connect(folder / "logs.db", LOGS_SCHEMA)
            _check_results_are_there(folder)
            store = cls(folder, connect(folder / "results.db", RESULTS_SCHEMA))
            store._logs = logs
        except BaseException:
            os.close(lock)
            raise
        store._lock = lock
        return store

    @classmethod
    def read(cls, folder: Path) -> Store:
        """Open a tournament to look at it, also while it is being played.  Raises ArenaError."""
        if not (folder / "results.db").is_file():
            raise ArenaError(f"There is no tournament in {folder}: it has no results.db.")
        return cls(folder, connect(folder / "results.db"))

    def close(self) -> None:
        """Close the databases and let the next run in."""
        for database in (self._results, vars(self).get("_logs")):
            with contextlib.suppress(sqlite3.Error):
                if database:
                    database.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- the plan and the journal ------------------------------------------------------------------------

    @property
    def plan(self) -> Plan | None:
        """The plan that was written here last; None in a new directory."""
        return stored_plan(self.folder)

    def write_plan(self, plan: Plan) -> None:
        """Write the plan, whole or not at all, and mark which of the results it stands behind."""
        path = self.folder / "plan.toml"
        fresh = path.with_suffix(NEW)
        try:
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(plan_to_toml(plan))
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        except OSError as error:
            raise ArenaError(f"Cannot write {path}: {error.strerror}.") from None
        self._mark(plan)

    def note(self, what: str) -> None:
        """Add a line to the journal."""
        line = msgspec.json.encode(Incident(utc_now(), what)) + b"\n"
        self._append(self.folder / "journal.jsonl", line)

    # --- results in --------------------------------------------------------------------------------------

    def keep(self, played: Played) -> int:
        """Put whole deals on the disk and return how many matches of them are new: the first result stands.

        Logs go first, so that a result always has its log; one without a result is written over when its
        match is played again.
        """
        with self._telling():
            ids = as_json([row[0] for row in played.matches])
            known = {
                id_ for (id_,) in self._results.execute(f"SELECT id FROM match WHERE id {_AMONG}", (ids,))
            }
            fresh = [row for row in played.matches if row[0] not in known]
            new = {row[0] for row in fresh}
            with self._logs:
                for bundle in played.logs:
                    self._keep_logs(bundle, new)
            with self._results:
                self._insert(played.lineups, fresh)
        self._keep_stderr(played.stderr)
        return len(fresh)

    def _insert(self, lineups: Iterable[LineupRow], matches: Iterable[MatchRow]) -> None:
        self._results.executemany("INSERT OR IGNORE INTO lineup VALUES (?, ?, ?, ?, 1)", lineups)
        self._results.executemany("INSERT INTO match VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", matches)

    def _keep_logs(self, bundle: Bundle, new: Collection[str]) -> None:
        """Keep a bundle in which there are logs of new matches, in place of those that lack their results."""
        places = [place for place in bundle.places if place[0] in new]
        if not places:
            return
        without = f"DELETE FROM bundle WHERE id IN (SELECT bundle FROM log WHERE match {_AMONG})"
        self._logs.execute(without, (as_json([place[0] for place in places]),))
        number = self._logs.execute("INSERT INTO bundle (gz) VALUES (?)", (bundle.gz,)).lastrowid
        rows = [(match, number, start, end) for match, start, end in places]
        self._logs.executemany("INSERT OR REPLACE INTO log VALUES (?, ?, ?, ?)", rows)

    def _mark(self, plan: Plan) -> None:
        """Mark the line-ups that the plan stands behind: its bots as they are now, and its rules."""
        rules, prints = rules_hash(plan), {bot.name: bot.fingerprint for bot in plan.bots}
        with self._telling(), self._results:
            rows = self._results.execute("SELECT id, seats, fingerprints, rules FROM lineup").fetchall()
            marks = [
                (
                    by == rules
                    and [prints.get(bot) for bot in _labels.decode(seats)] == [*_labels.decode(content)],
                    id_,
                )
                for id_, seats, content, by in rows
            ]
            self._results.executemany("UPDATE lineup SET counts = ? WHERE id = ?", marks)

    def _keep_stderr(self, stderr: Mapping[str, bytes]) -> None:
        """Keep what bots at fault have said: the first MiB of it all, and the last batch's."""
        for name, said in stderr.items():
            first = self.folder / "stderr" / f"{name}.txt"
            with contextlib.suppress(OSError):
                if first.exists() and first.stat().st_size > _STDERR_KEPT:
                    first.with_name(f"{name}.last.txt").unlink(missing_ok=True)
                    self._append(first.with_name(f"{name}.last.txt"), said)
                    continue
            self._append(first, said)

    def _append(self, path: Path, data: bytes) -> None:
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                file.write(data)
        except OSError as error:
            raise ArenaError(f"Cannot write {path}: {error.strerror}.") from None

    # --- results out -------------------------------------------------------------------------------------

    @property
    def matches(self) -> int:
        """How many matches have been played, those that no longer count among them."""
        with self._telling():
            found: int = self._results.execute("SELECT count(*) FROM match").fetchone()[0]
        return found

    @property
    def set_aside(self) -> int:
        """How many of them no longer count: their bots or their rules are not those of the plan."""
        with self._telling():
            found: int = self._results.execute(f"SELECT count(*) {_FROM} WHERE NOT counts").fetchone()[0]
        return found

    def listed(self) -> Iterator[tuple[str, str, tuple[str, ...], bool]]:
        """Every match by deal: its id, its deal, its bots, and whether it counts."""
        with self._telling():
            for match, deal, seats, counts in self._results.execute(
                f"SELECT match.id, deal, seats, counts {_FROM} ORDER BY deal"
            ):
                yield match, deal, _labels.decode(seats), bool(counts)

    def results(self, order: Order) -> Iterator[Result]:
        """All results that count, one at a time, by deal or by match id."""
        with self._telling():
            for row in self._results.execute(f"{_COUNTING} ORDER BY {order}"):
                yield _result(row)

    def of_deal(self, deal: str) -> list[Result]:
        """The results of one deal."""
        with self._telling():
            rows = self._results.execute(f"{_COUNTING} AND deal = ?", (deal,))
            return [_result(row) for row in rows]

    def faulty(self) -> Iterator[tuple[str, tuple[str, ...], tuple[Fault, ...]]]:
        """Every match in which there was a fault: its id, its bots, and the faults."""
        with self._telling():
            for match, seats, faults in self._results.execute(
                f"SELECT match.id, seats, faults {_FROM} WHERE faults != '[]'"
            ):
                yield match, _labels.decode(seats), _faults.decode(faults)

    def log(self, match: str) -> bytes:
        """The log of a match; what begins like its id will do.  Raises ArenaError if none or several do."""
        with self._telling():
            rows = self._logs.execute(
                "SELECT gz, start, end FROM log JOIN bundle ON bundle.id = bundle "
                "WHERE match >= ? AND match < ? LIMIT 2",
                (match, match + "~"),
            ).fetchall()
        if len(rows) != 1:
            which = (
                f"are several matches whose ids begin with {match!r}" if rows else f"is no match {match!r}"
            )
            raise ArenaError(f"There {which} in {self.folder}; arena standings {self.folder} --logs has all.")
        data, start, end = rows[0]
        return gzip.decompress(data)[start:end]

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if damaged(error):
                raise ArenaError(f"The results in {self.folder} are damaged: {error}. {MEND}") from None
            raise ArenaError(
                f"The results in {self.folder} cannot be read or written: {error}. What was played before is "
                "kept; mend it and give the same command again."
            ) from None


def _check_results_are_there(folder: Path) -> None:
    """Refuse to begin anew where results have been lost."""
    path = folder / "results.db"
    if (not path.exists() or not path.stat().st_size) and (kept := count_rows(folder / "logs.db", "log")):
        raise ArenaError(f"{path} is empty or missing, but logs.db has the logs of {kept:,} matches. {MEND}")


def _lock(folder: Path) -> int:
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(lock, 20, 0).decode(errors="replace").strip()
        os.close(lock)
        raise ArenaError(
            f"Another tournament is being played in {folder} (process {holder}); wait for it or name another."
        ) from None
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    return lock


def _result(row: tuple[str, str, str, str, str, str, str]) -> Result:
    match, deal, seats, hands, retired, faults, us = row
    return Result(
        match=match,
        deal=deal,
        seats=_labels.decode(seats),
        hands=_hands.decode(hands),
        retired=_numbers.decode(retired),
        faults=_faults.decode(faults),
        us=_numbers.decode(us),
    )
