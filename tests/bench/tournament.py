"""What tournaments cost and survive: `python -m tests.bench.tournament WHAT`, and `--help` for the rest.

Each prints one JSON object.  Ratios are what counts: times belong to a machine and an hour.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from statistics import median
from typing import Any

from protocol.rules import Conditions
from referee.table.roster import Bot, find_bots
from referee.tournament import work
from referee.tournament.findings import gather
from referee.tournament.plan import Entrant, Plan
from referee.tournament.pool import LOST, Processes
from referee.tournament.run import Run
from referee.tournament.schedule import Schedule
from referee.tournament.store import Store
from tests.tournament.arena import FOUR, QUICK, play, results
from tests.tournament.killing import kill_and_go_on

HERE = Path(__file__).parent
C_BOT = HERE.parents[1] / "example_bots" / "c"


def plan_of(bots: list[Bot], deals: int) -> Plan:
    """A plan between these bots, without confinement."""
    return Plan(
        bots=tuple(Entrant(bot.name, "", bot.fingerprint) for bot in bots),
        seed="bench",
        deals=deals,
        conditions=Conditions(sandbox="none", anonymous=True),
    )


def memory_mb() -> float:
    """The most memory that this process has had."""
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(kilobytes) / 1024


class _Timed(Executor):
    """Counts the seconds of play in what comes back from another executor."""

    def __init__(self, inner: Executor) -> None:
        self.inner = inner
        self.seconds = 0.0

    def submit(self, do: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = self.inner.submit(do, *args, **kwargs)
        future.add_done_callback(self._count)
        return future

    def _count(self, future: Future[Any]) -> None:
        self.seconds += future.result().seconds


def run(folder: Path, plan: Plan, bots: list[Bot], jobs: int, batch_s: float = 4.0) -> dict[str, float]:
    """Play a plan in this process and say what that has cost."""
    processes = Processes(jobs)
    timed = _Timed(processes)
    cpu, began = time.process_time(), time.perf_counter()
    with Store.open(folder) as store:
        store.write_plan(plan)
        progress = Run(store, plan, bots, timed, places=lambda: jobs, lost=LOST, batch_s=batch_s).play()
    spent = time.process_time() - cpu
    seconds = time.perf_counter() - began
    processes.shutdown()
    return {
        "matches": progress.done,
        "seconds": seconds,
        "matches_per_second": progress.done / seconds,
        "play_seconds": timed.seconds,
        "main_cpu_seconds": spent,
        "main_share_of_play": spent / timed.seconds,
        "main_memory_mb": memory_mb(),
        "disk_bytes_per_match": sum(path.stat().st_size for path in folder.iterdir()) / max(progress.done, 1),
    }


def cost(folder: Path, matches: int, jobs: int) -> dict[str, Any]:
    """Scheduling and storing beside playing, with C bots."""
    bots = find_bots([f"{name}={C_BOT}" for name in ("a", "b", "c", "d")])
    return run(folder / "t", plan_of(bots, matches // 4), bots, jobs)


def share(folder: Path, matches: int) -> dict[str, Any]:
    """The processor time of one job with C bots, all in this process, and what of it is not play.

    `summing` and `deals` count points, `keep` is the database's part.  The log itself is play, its first line
    too, as in a match alone.
    """
    bots = find_bots([f"{name}={C_BOT}" for name in ("a", "b", "c", "d")])
    spent: dict[str, float] = {}
    _time(spent, "gzip", gzip, "compress")
    _time(spent, "summing", work, "result_of")
    _time(spent, "deals", work.DealSummary, "__init__")
    _time(spent, "rows", work._Batch, "outcome")
    _time(spent, "keep", Store, "keep")
    _time(spent, "schedule", Schedule, "of_deal")
    before = time.process_time() + _children()
    whole = plan_of(bots, matches // 4)
    with Store.open(folder / "t") as store:
        store.write_plan(whole)
        Run(store, whole, bots, _Here(), places=lambda: 1, lost=LOST, batch_s=4.0).play()
    total = time.process_time() + _children() - before
    spent["rows"] -= spent["deals"] + spent["gzip"]
    beside = sum(spent.values())
    counting = spent["summing"] + spent["deals"]
    return {
        "us_a_match": {name: value / matches * 1e6 for name, value in spent.items()},
        "total_us_a_match": total / matches * 1e6,
        "scheduling_and_storing": (beside - counting) / (total - beside),
        "with_counting_points": beside / (total - beside),
    }


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _time(spent: dict[str, float], name: str, owner: Any, function: str) -> None:
    inner = getattr(owner, function)
    spent[name] = 0.0

    def timed(*args: Any, **kwargs: Any) -> Any:
        before = time.process_time()
        try:
            return inner(*args, **kwargs)
        finally:
            spent[name] += time.process_time() - before

    setattr(owner, function, timed)


class _Here(Executor):
    """Does everything at once, in this process."""

    def submit(self, do: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(do(*args, **kwargs))
        return future


def jobs(folder: Path, rounds: int, deals: int, sleep: bool) -> dict[str, Any]:
    """Two jobs beside one, with bots that think 1 ms for each card: of processor time, or asleep.

    Asleep they show what the arena itself costs, also where other programs take the processors.
    """
    program = folder / "think"
    subprocess.run(["cc", "-O2", "-o", program, HERE / "think.c"], check=True)
    bots = find_bots([f"{name}={program} 1 {'sleep' if sleep else ''}" for name in ("a", "b", "c", "d")])
    rates: dict[int, list[float]] = {1: [], 2: []}
    for number in range(rounds):
        for count in rates:
            figures = run(folder / f"{number}.{count}", plan_of(bots, deals), bots, count)
            rates[count].append(figures["matches_per_second"])
    ratios = [two / one for one, two in zip(rates[1], rates[2], strict=True)]
    return {"one": rates[1], "two": rates[2], "ratios": ratios, "ratio": median(ratios)}


class _Refusing(Executor):
    """Notes when the first task comes, and plays none."""

    def submit(self, do: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        raise KeyboardInterrupt


def plan(folder: Path, deals: int, count: int) -> dict[str, Any]:
    """How long the first task of a large plan takes to come, and how much memory."""
    bots = find_bots([f"{number}=random" for number in range(count)])
    whole = plan_of(bots, deals)
    began = time.perf_counter()
    with Store.open(folder / "t") as store:
        store.write_plan(whole)
        try:
            Run(store, whole, bots, _Refusing(), places=lambda: 1, lost=LOST).play()
        except KeyboardInterrupt:
            first = time.perf_counter() - began
    return {"deals": deals, "bots": count, "first_task_seconds": first, "memory_mb": memory_mb()}


def standings(folder: Path, matches: int) -> dict[str, Any]:
    """How long the standings take to draw up."""
    cost(folder, matches, 2)
    began = time.perf_counter()
    with Store.read(folder / "t") as store:
        stored = store.plan
        assert stored
        found = gather(store, stored)
    seconds = time.perf_counter() - began
    return {"matches": found.matches, "seconds": seconds, "us_a_match": seconds / found.matches * 1e6}


def kill(folder: Path, kills: int, deals: int, longest_s: float) -> dict[str, Any]:
    """SIGKILL at random instants, resumed each time: whether the end is that of an undisturbed run."""
    play(folder / "whole", "--deals", deals)
    words = [*FOUR, *QUICK, "--deals", deals]
    caught = kill_and_go_on(folder / "killed", words, kills, longest_s, seed=deals)
    expected, found = results(folder / "whole"), results(folder / "killed")
    return {"kills": kills, "while_running": caught, "matches": len(found), "the_same": found == expected}


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["kill", "cost", "share", "plan", "jobs", "standings"])
    for name, default in (
        ("matches", 20_000),
        ("deals", 40),
        ("jobs", 2),
        ("kills", 20),
        ("rounds", 3),
        ("bots", 8),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--longest", type=float, default=4.0, help="the latest instant of a kill, in seconds")
    parser.add_argument("--sleep", action="store_true", help="for jobs: bots sleep instead of computing")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = {
            "kill": lambda: kill(folder, given.kills, given.deals, given.longest),
            "cost": lambda: cost(folder, given.matches, given.jobs),
            "share": lambda: share(folder, given.matches),
            "plan": lambda: plan(folder, given.deals, given.bots),
            "jobs": lambda: jobs(folder, given.rounds, given.deals, given.sleep),
            "standings": lambda: standings(folder, given.matches),
        }[given.what]()
    json.dump(found, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
