"""How fast the referee is, beside a bare pipe in C, in one run: `python -m tests.bench [--json FILE]
[--markdown FILE] [--pin]`.

Everything is measured interleaved, round after round, each measurement in a process of its own, and medians
are told.  What counts is the ratio to the pipe's round trip in the same round: absolute times belong to a
machine and an hour.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
C_BOT = str(ROOT / "example_bots" / "c")


class Bench:
    """The rounds, and what each measurement gave in each of them."""

    def __init__(self, folder: Path, pinned: bool) -> None:
        self.folder = folder
        self.pinned = pinned
        self.figures: dict[str, list[float]] = defaultdict(list)
        self.pingpong = self._build("pingpong")
        self.probe = self._build("probe")
        self.slow = self._build("slow")

    def _build(self, name: str) -> str:
        path = self.folder / name
        subprocess.run(["cc", "-O2", "-o", path, HERE / f"{name}.c"], check=True)
        return str(path)

    def run(self, command: Sequence[str], **options: Any) -> str:
        """The stdout of a command that must succeed."""
        if self.pinned:
            command = ["taskset", "-c", "0", *command]
        return subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT, **options
        ).stdout

    def play(self, **setup: Any) -> dict[str, Any]:
        """One measured run of the referee."""
        setup.setdefault("bots", [C_BOT] * 4)
        answer: dict[str, Any] = json.loads(
            self.run([sys.executable, "-m", "tests.bench.playing", json.dumps(setup)])
        )
        return answer

    def note(self, name: str, value: float) -> None:
        self.figures[name].append(value)

    def median(self, name: str) -> float:
        return median(self.figures[name])


def pipe(bench: Bench) -> None:
    bench.note("C pipe round trip, us", float(bench.run([bench.pingpong, "20000"])))


def decisions(bench: Bench) -> None:
    """Microseconds per decision over the number of matches at once; the log is written to files for one
    match.
    """
    for tables in (1, 4, 16, 64, 256):
        log = "file" if tables == 1 else "memory"
        got = bench.play(tables=tables, hands=max(5, 800 // tables), log=log)
        bench.note(f"{tables} matches, us a decision", got["us"])
        bench.note(f"{tables} matches, x C pipe", got["us"] / bench.figures["C pipe round trip, us"][-1])
        bench.note(f"{tables} matches, hands a second", got["hands"] / got["seconds"])
        bench.note(f"{tables} matches, CPU share of the referee", got["cpu_seconds"] / got["seconds"])
        bench.note(f"{tables} matches, peak memory MB", got["memory_mb"])
        bench.note(f"{tables} matches, ms from the start of the bots to the last first deal", got["start_ms"])


def log_cost(bench: Bench) -> None:
    for log in ("file", "memory", "none"):
        bench.note(f"1 match, log {log}, us a decision", bench.play(hands=200, log=log)["us"])


def sandboxes(bench: Bench) -> None:
    for level in ("none", "auto", "bwrap"):
        try:
            bench.note(f"1 match, sandbox {level}, us a decision", bench.play(hands=200, sandbox=level)["us"])
        except subprocess.CalledProcessError:
            print(f"sandbox {level}: not measured, this machine does not offer it", file=sys.stderr)


def growth(bench: Bench) -> None:
    """Whether the ten thousandth hand of one run takes longer than the thousandth."""
    marks = bench.play(hands=10_001, watch_each=1000, log="file")["marks"]
    spans = [(b[1] - a[1]) / (b[0] - a[0]) * 1e6 for a, b in pairwise(marks)]
    bench.note("hands 1,000 to 4,000 of one match, us a decision", median(spans[:3]))
    bench.note("hands 7,000 to 10,000 of one match, us a decision", median(spans[-3:]))


def stragglers(bench: Bench) -> None:
    """One process that thinks 50 ms holds up only the tables that it sits at: 64 others, without and with it.

    Alone it would take 700 ms a hand; the others are over long before it has played its first.
    """
    for who, straggler in (("alone", ""), ("beside a bot that thinks 50 ms", f"{bench.slow} 50")):
        got = bench.play(tables=64, hands=5, log="memory", straggler=straggler)
        bench.note(f"64 matches {who}, us a decision", got["us"])


def passing(bench: Bench) -> None:
    """A pass of four bots that each think 20 ms: all at once, where one after the other would take 80 ms."""
    bot = f"{bench.slow} 20"
    bench.note(
        "a pass of four bots that think 20 ms, ms", median(bench.play(hands=3, bots=[bot] * 4)["pass_ms"])
    )


def start_up(bench: Bench) -> None:
    """From the command line to the first question, against Python importing what the arena stands on."""
    for _ in range(3):
        began = time.perf_counter()
        bench.run([sys.executable, "-c", "import trio, msgspec, click"])
        bench.note("python -c 'import trio, msgspec, click', ms", (time.perf_counter() - began) * 1000)
        stamp = bench.folder / "stamp"
        bots = [f"{bench.probe} {stamp}{seat}" for seat in range(4)]
        log = bench.folder / f"{time.monotonic_ns()}.jsonl"
        arena = [sys.executable, "-c", "from referee.cli import main; main()"]
        began = time.monotonic() * 1e6
        subprocess.run(
            [*arena, "run", "--sandbox", "none", "-q", "--log", log, *bots],
            capture_output=True,
            cwd=ROOT,
            check=False,
        )
        asked = min(float(Path(f"{stamp}{seat}").read_text()) for seat in range(4))
        bench.note("arena run, ms to its first question", (asked - began) / 1000)


def engine(bench: Bench) -> None:
    """The pure engine beside OpenSpiel's; tests/bench/engine.py tells more."""
    try:
        from tests.bench.engine import openspiel_loop, openspiel_outcomes, ours
    except ImportError:  # there is no open_spiel
        return

    mine = 300 / ours(300)
    bench.note("engine alone, hands a second", mine)
    for way, loop in {"chance outcomes": openspiel_outcomes, "legal actions alone": openspiel_loop}.items():
        theirs = 300 / loop(300)
        bench.note(f"OpenSpiel from Python, {way}, hands a second", theirs)
        bench.note(f"engine alone, x OpenSpiel by {way}", mine / theirs)


MEASUREMENTS: tuple[Callable[[Bench], None], ...] = (
    pipe,
    decisions,
    log_cost,
    sandboxes,
    growth,
    stragglers,
    passing,
    start_up,
    engine,
)


def goals(bench: Bench) -> list[tuple[str, float, str, bool]]:
    """The figures that we mean to reach, and whether this run did."""
    start = bench.median("arena run, ms to its first question") - bench.median(
        "python -c 'import trio, msgspec, click', ms"
    )
    rows = [
        ("one match, x C pipe", bench.median("1 matches, x C pipe"), "at most 2.0", 2.0),
        ("64 matches, x C pipe", bench.median("64 matches, x C pipe"), "at most 0.7", 0.7),
        ("first question later than the imports, ms", start, "at most 60", 60.0),
        ("256 matches, peak memory MB", bench.median("256 matches, peak memory MB"), "at most 150", 150.0),
    ]
    judged = [(name, value, goal, value <= limit) for name, value, goal, limit in rows]
    beside = "engine alone, x OpenSpiel by chance outcomes"
    if bench.figures[beside]:
        ratio = bench.median(beside)
        judged.append((beside, ratio, "at least 1.5", ratio >= 1.5))
    return judged


def as_markdown(bench: Bench, rounds: int) -> str:
    """The table that is kept beside this file."""
    cpu = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        "",
    )
    machine = f"{cpu or platform.machine()}, Linux {platform.release()}, Python {platform.python_version()}"
    command = f"python -m tests.bench --rounds {rounds}{' --pin' if bench.pinned else ''}"
    lines = [
        f"Measured {datetime.now(UTC):%Y-%m-%d} with `{command}` on {os.cpu_count()} cores",
        f"({machine}), medians of {rounds} rounds.",
        "",
        "| goal | measured | wanted | reached |",
        "|---|---:|---|---|",
        *(
            f"| {name} | {value:.2f} | {goal} | {'yes' if reached else 'no'} |"
            for name, value, goal, reached in goals(bench)
        ),
        "",
        "| figure | median | least | most |",
        "|---|---:|---:|---:|",
        *(
            f"| {name} | {median(values):.2f} | {min(values):.2f} | {max(values):.2f} |"
            for name, values in bench.figures.items()
        ),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=[measure.__name__ for measure in MEASUREMENTS])
    parser.add_argument("--pin", action="store_true", help="keep every process on the first core")
    parser.add_argument("--json", type=Path, help="write all figures here, for a later --against")
    parser.add_argument("--against", type=Path, help="tell each median beside that of an earlier --json")
    parser.add_argument("--markdown", type=Path, help="write the table here")
    options = parser.parse_args()
    chosen = [
        measure for measure in MEASUREMENTS if not options.only or measure.__name__ in (*options.only, "pipe")
    ]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.pin)
        for number in range(options.rounds):
            for measure in chosen:
                measure(bench)
            print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    before = json.loads(options.against.read_text()) if options.against else {}
    for name, values in bench.figures.items():
        old = f"  was {median(before[name]):.2f}" if name in before else ""
        print(f"{name:<70}{median(values):>10.2f}  ({min(values):.2f} to {max(values):.2f}){old}")
    if options.json:
        options.json.write_text(json.dumps(bench.figures, indent=1))
    if not options.only:
        print()
        for name, value, goal, reached in goals(bench):
            print(f"{'reached' if reached else 'MISSED '}  {name}: {value:.2f} ({goal})")
        if options.markdown:
            options.markdown.write_text(as_markdown(bench, options.rounds))


if __name__ == "__main__":
    main()
