"""A long match in which processes die all the time: descriptors, memory, threads and processes stay flat.

    python tests/bench/soak.py [--hands 2000]

Two of the four bots die after a few plays, each time anew, so that about three processes are started a hand.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

import trio

from protocol.presets import preset
from protocol.rules import conditions_from
from referee.game.events import Event, FaultRecord, HandOverRecord
from referee.record.match_log import read_log
from referee.record.replay import replay
from referee.table.host import host
from referee.table.keep.orphans import children
from tests.table.hosting import Stage, orphanage

MORTAL = """
import sys, os, signal
from honest import Bot
bot, how, plays = Bot("mortal"), sys.argv[1], int(sys.argv[2])
for request in bot.messages():
    if "id" not in request:
        continue
    plays -= request["type"] == "play"
    if plays < 0:
        os.write(2, b"it was a good life" * 1000)
        os.kill(os.getpid(), signal.SIGSEGV) if how == "segfault" else os._exit(1)
    bot.write((__import__("json").dumps(bot.answer(request)) + chr(10)).encode())
"""
"""Lives for so many plays."""


class Reading(NamedTuple):
    """What the referee holds at the end of a hand."""

    hand: int
    resident_mb: float
    descriptors: int
    threads: int
    processes: int


def read(hand: int) -> Reading:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    keepers = children(os.getpid())
    return Reading(
        hand,
        pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
        len([*Path("/proc/self/fd").iterdir()]),
        threading.active_count(),
        len(keepers) + sum(len(children(pid)) for pid in keepers),
    )


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hands", type=int, default=2000)
    args = parser.parse_args()
    readings: list[Reading] = []
    restarts = 0

    def watch(event: Event) -> None:
        nonlocal restarts
        restarts += isinstance(event, FaultRecord)
        if isinstance(event, HandOverRecord) and event.hand % (args.hands // 20 or 1) == 0:
            readings.append(read(event.hand))
            print("hand {:5}  {:6.1f} MB  {:3} descriptors  {} threads  {} processes".format(*readings[-1]))

    with tempfile.TemporaryDirectory(prefix="soak-") as folder, orphanage():
        stage = Stage(Path(folder))
        mortal = str(stage.bots / "mortal.py")
        Path(mortal).write_text(MORTAL)
        python = (sys.executable, "-S", "-E")
        bots = [
            stage.bot(*python, mortal, "exit", "5", name="dies"),
            stage.bot(*python, mortal, "segfault", "9", name="crashes"),
            stage.honest(1),
            stage.honest(2),
        ]
        began = time.monotonic()
        hosted = await host(
            bots,
            preset("standard", {"target": None, "max_hands": args.hands}),
            conditions_from({"on_fault": "substitute", "sandbox": "none"}),
            stage.fresh_log(),
            seed="soak",
            watch=watch,
        )
        print(f"{hosted.hands} hands, {restarts} restarts in {time.monotonic() - began:.0f} s")
        assert replay(read_log(hosted.log)).match.end
        assert not children(os.getpid())
    early, late = readings[len(readings) // 4], readings[-1]
    flat = (
        late.resident_mb - early.resident_mb < 3
        and abs(late.descriptors - early.descriptors) <= 4
        and abs(late.threads - early.threads) <= 1
        and abs(late.processes - early.processes) <= 2
    )
    print(
        "flat" if flat else "NOT FLAT",
        f"(+{late.resident_mb - early.resident_mb:.1f} MB from {early.hand} on)",
    )
    return 0 if flat else 1


if __name__ == "__main__":
    sys.exit(trio.run(main))
