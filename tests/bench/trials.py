"""Trials of the whole referee, too long for the tests; each prints its figures and fails if one is wrong.

python tests/bench/trials.py hands     1,000 hands of honest bots: points sum to the pack, logs verify
python tests/bench/trials.py faults    200 matches of four misbehaving bots: every log verifies
python tests/bench/trials.py kills     50 matches killed at random instants and resumed: the same logs
python tests/bench/trials.py load      1,000 answers after 20 ms, at 200 ms, with two busy processes a core
python tests/bench/trials.py idle      the referee's processor time and memory while a bot thinks for 5 s
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import trio

from referee.game.events import HandOverRecord
from referee.record.match_log import LogError, read_log
from referee.record.replay import replay
from tests.table.hosting import Stage, marked, moves, orphanage, strays

ROOT = Path(__file__).parents[2]
ARENA = [sys.executable, "-c", "from referee.cli import main; main()"]


async def hands(stage: Stage, count: int) -> None:
    sums: Counter[int] = Counter()
    for number in range(0, count, 50):
        bots = [stage.honest(number + seat) for seat in range(4)]
        seen = await stage.play(bots, seed=str(number), rules={"max_hands": min(50, count - number)})
        assert not seen.faults
        assert seen.verified().match.end
        sums += Counter(sum(event.points) for _, event in seen.records if isinstance(event, HandOverRecord))
    print(f"{sum(sums.values())} hands, sums of points: {dict(sums)}")
    assert sums.keys() <= {26, 78}
    assert sum(sums.values()) == count


async def faults(stage: Stage, count: int) -> None:
    kinds: Counter[str] = Counter()
    fewest = 10**6
    policies = ("substitute", "hand", "retire", "match")
    for seed in range(count):
        bots = [stage.rogue("fickle:4", "pass", seed * 10 + seat, f"f-{seat}") for seat in range(4)]
        on_fault = policies[seed % 4]
        strikes = 0 if on_fault == "substitute" else 10
        rules = {"max_hands": 3}
        seen = await stage.play(
            bots, seed=str(seed), rules=rules, turn_ms=150, on_fault=on_fault, strikes=strikes
        )
        assert seen.verified().match.end
        kinds += Counter(fault.kind for fault in seen.faults)
        fewest = min(fewest, len(seen.faults))
    print(f"{count} matches, every log verifies; at least {fewest} faults each, in all {dict(kinds)}")


async def kills(stage: Stage, count: int) -> None:
    """SIGKILL at any instant; who is resumed may be killed again."""
    dice = random.Random(1)
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    bots = [
        f"h-{seed}={sys.executable} -S -E {stage.bots / 'rogue.py'} honest --seed {seed}" for seed in range(4)
    ]
    rules = ["--set", "max_hands=6", "--set", "target=none", "--seed", "kills", "--quiet"]
    before: list[int] = []

    def arena(*words: str, patience_s: float | None = None) -> int | None:
        with subprocess.Popen(
            [*ARENA, "run", *words], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process:
            try:
                _, said = process.communicate(timeout=patience_s)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                return None
            assert process.returncode == 0, said
            return 0

    whole = stage.fresh_log()
    began = time.monotonic()
    arena(*bots, *rules, "--log", str(whole))
    usual_s = time.monotonic() - began
    wanted, killed, empty, slowest_s = moves(whole), 0, 0, 0.0
    for _ in range(count):
        log = stage.fresh_log()
        words = [*bots, *rules, "--log", str(log)]
        while arena(*words, patience_s=dice.uniform(0.2, 1.1) * usual_s) is None:
            killed += 1
            at = time.monotonic()
            while living := marked(str(stage.folder)) | strays(before):
                assert time.monotonic() - at < 10, living
                time.sleep(0.002)
            slowest_s = max(slowest_s, time.monotonic() - at)
            try:
                if replay(read_log(log)).match.end:
                    break  # killed as it was leaving
                words = ["--resume", str(log), "--quiet"]
            except LogError:  # nobody had sat down yet
                empty += 1
                log = stage.fresh_log()
                words = [*bots, *rules, "--log", str(log)]
        assert moves(log) == wanted
    print(
        f"{count} matches killed {killed} times ({empty} before anything was played), each with the same "
        f"log in the end; nobody alive {slowest_s * 1000:.0f} ms later"
    )


async def load(stage: Stage, count: int) -> None:
    busy = [
        subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"])
        for _ in range(2 * (os.cpu_count() or 1))
    ]
    try:
        timeouts = late_ms = 0.0
        asked = 0
        while asked < count:
            bots = [stage.rogue("slow:20", "pass", 1, times=0), *(stage.honest(seed) for seed in (1, 2, 3))]
            rules = {"max_hands": 10}
            seen = await stage.play(
                bots, rules=rules, turn_ms=200, on_fault="substitute", start_ms=60_000, seed=str(asked)
            )
            answers = [event for _, event in seen.records if getattr(event, "seat", 1) == 0]
            asked += len(answers)
            timeouts += len(seen.faults)
            late_ms = max(late_ms, max((getattr(event, "us", 0) or 0) / 1000 for event in answers))
    finally:
        for process in busy:
            process.kill()
            process.wait()
    print(
        f"{asked} answers after 20 ms at 200 ms: {timeouts:.0f} timed out, the slowest took {late_ms:.0f} ms"
    )
    assert not timeouts


async def idle(stage: Stage, count: int) -> None:
    bots = [stage.rogue("slow:5000"), *(stage.honest(seed) for seed in (1, 2, 3))]
    used: list[float] = []

    def look(_: object) -> None:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        used.append(usage.ru_utime + usage.ru_stime)

    seen = await stage.play(bots, turn_ms=20_000, look=look)
    assert not seen.faults
    instants = [at for at, _ in seen.records]
    pauses = [(later - now, index) for index, (now, later) in enumerate(itertools.pairwise(instants))]
    longest_s, index = max(pauses)
    resident_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    cpu_ms = (used[index + 1] - used[index]) * 1000
    print(f"{cpu_ms:.1f} ms of processor time in {longest_s:.1f} s of waiting; {resident_mb:.0f} MB at most")
    assert longest_s > 4.9
    assert cpu_ms < 20
    assert resident_mb < 60


TRIALS = {
    "hands": (hands, 1000),
    "faults": (faults, 200),
    "kills": (kills, 50),
    "load": (load, 1000),
    "idle": (idle, 1),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trial", choices=TRIALS)
    parser.add_argument("--count", type=int)
    args = parser.parse_args()
    trial, count = TRIALS[args.trial]
    with tempfile.TemporaryDirectory(prefix="trial-") as folder, orphanage():
        os.environ["TMPDIR"] = folder
        tempfile.tempdir = None
        began = time.monotonic()
        trio.run(trial, Stage(Path(folder)), args.count or count)
        assert not marked(folder)
        print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
