"""The arena as a process of its own, for tests that end it, and what its directory says afterwards."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

BOTS = Path(__file__).parents[1] / "bots"
ROOT = Path(__file__).parents[2]
ARENA = (sys.executable, "-c", "from referee.cli import main; main()")
GUARD_S = 120  # for tests that fail; those that pass wait for what they name

_TIMES = {"started", "us"}
_RESULTS = (
    "SELECT match.id, deal, first_hand, seats, fingerprints, rules, hands, retired, stand_ins, faults"
    " FROM match JOIN lineup ON lineup.id = lineup WHERE counts ORDER BY match.id"
)


def rogue(label: str, mode: str = "honest", seed: int = 0, **options: object) -> str:
    """The word for a bot of the gallery: a function of what it is asked, so that it always plays alike."""
    more = "".join(f" --{name} {value}" for name, value in options.items())
    return f"{label}={sys.executable} -S -E {BOTS / 'rogue.py'} {mode} --seed {seed}{more}"


FOUR = tuple(rogue(name, seed=seed) for seed, name in enumerate(("ann", "bob", "cyd", "dan")))


def command(*words: object) -> list[str]:
    """The command line of the arena with these words."""
    return [*ARENA, *map(str, words)]


def arena(*words: object, status: int = 0, **options: Any) -> str:
    """What the arena says, on stdout and stderr, when it ends with this status."""
    done = subprocess.run(
        command(*words),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=GUARD_S,
        check=False,
        **options,
    )
    assert done.returncode == status, done.stdout
    return done.stdout


def play(folder: Path, *words: object, bots: Sequence[str] = FOUR, **options: Any) -> str:
    """Play a tournament of a few deals without confinement, in small batches."""
    return arena("tournament", folder, *bots, *QUICK, *words, **options)


QUICK = ("--seed", "test", "--sandbox", "none", "--batch-time", "300ms")


def results(folder: Path) -> list[tuple[Any, ...]]:
    """Every match that counts, without the times."""
    with contextlib.closing(sqlite3.connect(folder / "results.db")) as database:
        return database.execute(_RESULTS).fetchall()


def logs(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Every log, line by line, without the times."""
    with contextlib.closing(sqlite3.connect(folder / "logs.db")) as database:
        bundles = dict(database.execute("SELECT id, gz FROM bundle"))
        rows = database.execute("SELECT match, bundle, start, end FROM log ORDER BY match").fetchall()
    unzipped = {number: gzip.decompress(data) for number, data in bundles.items()}
    return {
        match: [
            {name: value for name, value in json.loads(line).items() if name not in _TIMES}
            for line in unzipped[bundle][start:end].splitlines()
        ]
        for match, bundle, start, end in rows
    }


def standings(folder: Path) -> dict[str, Any]:
    """What `arena standings --json` says."""
    done = subprocess.run(
        command("standings", folder, "--json"), stdout=subprocess.PIPE, text=True, timeout=GUARD_S, check=True
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@contextlib.contextmanager
def started(*words: object) -> Iterator[subprocess.Popen[str]]:
    """The arena as a process in a group of its own, ended at the end."""
    process = subprocess.Popen(
        command(*words),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait(GUARD_S)
        assert process.stdout
        process.stdout.close()


def descendants(pid: int) -> list[int]:
    """The processes below this one that live, its children first."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = list(parents.get(pid, []))
    for child in found:
        found += parents.get(child, [])
    return found


def workers(pid: int) -> list[int]:
    """The worker processes of a tournament."""
    found = []
    for child in descendants(pid):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{child}/cmdline").read_bytes()
            if b"spawn_main" in words and os.stat(f"/proc/{child}").st_uid == os.getuid():  # noqa: PTH116
                found.append(child)
    return found
