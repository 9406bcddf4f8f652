"""One measured run of the referee, in a process of its own: `python -m tests.bench.playing '{"tables": 64,
...}'`.

It plays single-purpose matches of fixed length between four copies of one bot and prints one JSON object:
decisions, seconds, seconds of CPU, and the memory of this process.  The clock starts when every table has had
its first deal, so that starting processes is not in it.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec.structs import replace

from protocol.rules import Conditions, rules_from
from referee.game.events import (
    DealRecord,
    Event,
    FaultRecord,
    MatchOverRecord,
    MatchRecord,
    PassRecord,
    PlayRecord,
)
from referee.game.match import Match
from referee.record.match_log import MatchLog, MemoryLog
from referee.table.confine import Confinement
from referee.table.keep.launch import Keeper
from referee.table.play import Log, Room, Table
from referee.table.roster import find_bot

TABLES_A_PROCESS = 64


class Setup(msgspec.Struct):
    """What to play."""

    tables: int = 1
    hands: int = 100
    """Hands of each table."""
    bots: list[str] = []
    """The bot of each seat."""
    log: str = "file"
    """`file`, `memory` or `none`."""
    sandbox: str = "none"
    straggler: str = ""
    """A bot that sits at one table more, with three of `bots`; the clock stops when the others are over."""
    watch_each: int = 0
    """Note the time at every so many hands of the first table, to see whether hands get slower."""


class _NoLog:
    def write(self, record: Event) -> None: ...

    def sync(self) -> None: ...


class _Clock:
    """Counts decisions from the moment at which every table has been dealt its first hand."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.dealt = 0
        self.decisions = 0
        self.faults = 0
        self.hands = 0
        self.over = 0
        self.start = self.start_cpu = self.end = self.end_cpu = 0.0
        self.marks: list[tuple[int, float]] = []
        self.dealt_at = 0.0
        self.pass_ms: list[float] = []
        """How long each pass took, from the deal to the last answer."""

    def watch(self, event: Event) -> None:
        kind = type(event)
        if kind is PlayRecord or kind is PassRecord:
            self.decisions += 1
            if kind is PassRecord and self.dealt_at:
                self.pass_ms.append((time.perf_counter() - self.dealt_at) * 1000)
                self.dealt_at = 0.0
        elif kind is DealRecord:
            self.dealt_at = time.perf_counter()
            if event.hand == 1:  # type: ignore[union-attr]
                self.dealt += 1
                if self.dealt == self.setup.tables:
                    self.decisions = 0
                    self.start, self.start_cpu = time.perf_counter(), time.process_time()
            self.hands += 1
            if self.setup.watch_each and self.hands % self.setup.watch_each == 0:
                self.marks.append((self.decisions, time.perf_counter() - self.start))
        elif kind is FaultRecord:
            self.faults += 1
        elif kind is MatchOverRecord:
            self.over += 1
            if self.over == self.setup.tables:
                self.end, self.end_cpu = time.perf_counter(), time.process_time()


def _tables(setup: Setup, confinement: Confinement, clock: _Clock, folder: Path) -> Iterator[Table]:
    usual = [find_bot(word) for word in setup.bots]
    rules = rules_from({"target": None, "max_hands": setup.hands, "tie": "shared"})
    conditions = confinement.conditions
    launches: dict[tuple[int, int], Any] = {}
    for number in range(setup.tables + bool(setup.straggler)):
        late = number == setup.tables
        bots = [find_bot(setup.straggler), *usual[1:]] if late else usual
        header = MatchRecord(
            arena="bench",
            id=str(number),
            started="2026-01-01T00:00:00Z",
            seed=f"bench {number}",
            rules=rules,
            conditions=conditions,
            seats=tuple(replace(bot.seated(seat), name=f"seat{seat}") for seat, bot in enumerate(bots)),
        )
        group = -1 if late else number // TABLES_A_PROCESS
        keys = [(group, seat) for seat in range(len(bots))]
        for key, seat in zip(keys, header.seats, strict=True):
            if key not in launches:
                launches[key] = confinement.launch(seat)
        match = Match(header, str(number))
        log: Log = _NoLog()
        if setup.log == "file":
            log = MatchLog.create(folder / f"{number}.jsonl")
        elif setup.log == "memory":
            log = MemoryLog()
        watch = None if late else clock.watch
        yield Table(match, log, [launches[key] for key in keys], match.begin(), keys=keys, watch=watch)


async def _play(setup: Setup) -> dict[str, Any]:
    clock = _Clock(setup)
    conditions = Conditions(sandbox=setup.sandbox)  # type: ignore[arg-type]
    with (
        tempfile.TemporaryDirectory() as folder,
        Confinement(conditions) as confinement,
        Keeper.start() as keeper,
    ):
        began = time.perf_counter()
        await Room(keeper).run(_tables(setup, confinement, clock, Path(folder)))
        seconds, cpu = clock.end - clock.start, clock.end_cpu - clock.start_cpu
    assert clock.faults == 0, "a bot failed: nothing was measured"
    return {
        "decisions": clock.decisions,
        "hands": clock.hands,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "start_ms": (clock.start - began) * 1000,
        "us": seconds / clock.decisions * 1e6,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "marks": clock.marks,
        "pass_ms": clock.pass_ms,
    }


if __name__ == "__main__":
    print(json.dumps(trio.run(_play, msgspec.json.decode(sys.argv[1], type=Setup))))
