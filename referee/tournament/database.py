"""SQLite files of a tournament: made whole, opened to write or to look, and what is said when they cannot be.

What stands in them is `store`'s business.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path
from typing import Final

from referee.errors import ArenaError, why

FORMAT: Final = 1
"""The version of the schemas, kept in each database's `user_version`."""
NEW: Final = ".new"
"""The ending of a file that is not whole yet."""
MEND: Final = "Put it back from a copy, or play anew in another directory."
_MEND_LOGS: Final = "Move it away and go on: nothing but logs is lost with it."
_CACHE_KB: Final = 32_768


def connect(path: Path, schema: str | None = None) -> sqlite3.Connection:
    """Open a database; with a schema to write, and made if it is not there."""
    try:
        if schema and not (path.exists() and path.stat().st_size):
            _make(path, schema)
        database = sqlite3.connect(_address(path, writing=schema is not None), timeout=30, uri=True)
        database.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version > FORMAT:
            raise ArenaError(f"{path} is of a newer arena (schema {version}); this one reads {FORMAT}.")
        if version == 0:
            raise ArenaError(f"{path} is empty, or of another program. {MEND}")
        if schema:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = FULL")
        else:
            database.execute("PRAGMA query_only = 1")
    except OSError as error:
        raise ArenaError(f"Cannot open {path}: {why(error)}.") from None
    except sqlite3.Error as error:
        raise ArenaError(f"Cannot open {path}: {error}. {_advice(path, error)}") from None
    return database


def _make(path: Path, schema: str) -> None:
    """Make a database that is there with all its tables or not at all, for others may be looking."""
    fresh = path.with_suffix(NEW)
    fresh.unlink(missing_ok=True)
    os.close(os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with contextlib.closing(sqlite3.connect(fresh)) as database:
        database.executescript(f"BEGIN; {schema} PRAGMA user_version = {FORMAT}; COMMIT;")
    fresh.replace(path)


def _address(path: Path, *, writing: bool) -> str:
    """The URI of a database.

    To read what is written meanwhile, SQLite writes beside it.  Where that cannot be nobody plays, and the
    database may be read as it is, unless a run that was killed has left results in the file beside it.
    """
    uri = path.absolute().as_uri()
    if writing:
        return uri
    if os.access(path.parent, os.W_OK):
        return f"{uri}?mode=rw"  # not ro, which would leave the files beside it behind
    beside = path.with_name(f"{path.name}-wal")
    return f"{uri}?mode=ro" if beside.exists() and beside.stat().st_size else f"{uri}?mode=ro&immutable=1"


def _advice(path: Path, error: sqlite3.Error) -> str:
    if not os.access(path.parent, os.W_OK):
        return f"Copy all of {path.parent} to where it can be written."
    if not damaged(error):
        return "Mend that and give the same command again."
    return MEND if path.name == "results.db" else _MEND_LOGS


def damaged(error: sqlite3.Error) -> bool:
    """Whether it is the file itself that is wrong."""
    return getattr(error, "sqlite_errorcode", None) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def count_rows(path: Path, table: str) -> int:
    """How many rows a table has; 0 if there is none."""
    if not path.is_file():
        return 0
    try:
        with contextlib.closing(sqlite3.connect(_address(path, writing=False), uri=True)) as database:
            found: int = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    except sqlite3.Error:
        return 0
    return found
