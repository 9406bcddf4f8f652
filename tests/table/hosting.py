"""Matches between real processes: rogues at a table, what was seen of them, and who is left over."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from protocol.presets import preset
from protocol.rules import conditions_from
from referee.game.events import DealRecord, Event, FaultRecord, MatchRecord
from referee.record.match_log import LogFile, read_log
from referee.record.replay import Replayed, replay
from referee.table.host import Hosted, host
from referee.table.keep.orphans import children
from referee.table.roster import Bot
from tests.bots.gallery import Rogue

BOTS = Path(__file__).parents[1] / "bots"
SEATS = 4


class Stage:
    """A directory with the rogues in it: what starts there is known by its command line or environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bots = folder / "bots"
        shutil.copytree(BOTS, self.bots, ignore=shutil.ignore_patterns("__pycache__"))
        self._logs = 0

    def rogue(
        self, mode: str, at: str = "play", seed: int | None = None, name: str = "", **more: object
    ) -> Bot:
        """The gallery's program in one mode."""
        words = [mode, "--at", at, *(["--seed", str(seed)] if seed is not None else [])]
        for option, value in more.items():
            words += [f"--{option}", str(value)]
        label = name or mode.replace(":", "-")[:32]
        # -S and -E: it starts in half the time
        return self.bot(sys.executable, "-S", "-E", str(self.bots / "rogue.py"), *words, name=label)

    def honest(self, seed: int, name: str = "") -> Bot:
        """A bot that does nothing wrong and plays by its seed."""
        return self.rogue("honest", seed=seed, name=name or f"honest-{seed}")

    def bot(self, *command: str, name: str = "bot") -> Bot:
        """Any command as a bot."""
        return Bot(name=name, command=command, cwd=str(self.bots), fingerprint="", files=(str(self.bots),))

    def fresh_log(self) -> Path:
        """A path where no log is yet."""
        self._logs += 1
        return self.folder / f"match-{self._logs}.jsonl"

    async def play(
        self,
        bots: Sequence[Bot],
        *,
        seed: str = "stage",
        rules: dict[str, Any] | None = None,
        look: Callable[[Event], None] | None = None,
        **conditions: Any,
    ) -> Seen:
        """Play a match and watch it, with `look` if somebody else wants to."""
        seen = Seen(look)
        fields = {"target": None, "max_hands": 1} | (rules or {})
        seen.hosted = await host(
            bots,
            preset("standard", fields),
            conditions_from(conditions),
            self.fresh_log(),
            seed=seed,
            watch=seen.watch,
        )
        return seen


class Seen:
    """What was seen of a match: each record and the instant of it."""

    hosted: Hosted

    def __init__(self, look: Callable[[Event], None] | None = None) -> None:
        self._look = look
        self.records: list[tuple[float, Event]] = []
        self.began = time.monotonic()

    def watch(self, event: Event) -> None:
        self.records.append((time.monotonic(), event))
        if self._look:
            self._look(event)

    @property
    def faults(self) -> list[FaultRecord]:
        return self.hosted.faults

    def kinds(self, seat: int) -> list[str]:
        """The kinds of this seat's faults, in order."""
        return [fault.kind for fault in self.faults if fault.seat == seat]

    def delay_s(self, fault: FaultRecord) -> float:
        """How long after its deadline a fault was recorded; negative if before it.

        The question was written right after the record before it; for a pass, after the deal.
        """
        asked = self.began
        conditions = self.hosted.header.conditions
        limit_ms = conditions.start_ms
        for at, event in self.records:
            if event is fault:
                return at - asked - limit_ms / 1000
            if isinstance(event, MatchRecord):
                continue
            limit_ms = conditions.turn_ms
            if fault.trick or isinstance(event, DealRecord):
                asked = at
        raise AssertionError("no such fault was seen")

    def verified(self) -> Replayed:
        """The log read back and folded through the machine to its end."""
        replayed = replay(self.log)
        assert replayed.match.end == self.hosted.end
        assert not replayed.owed
        assert not self.log.torn
        return replayed

    @property
    def log(self) -> LogFile:
        return read_log(self.hosted.log)


def sandboxes() -> list[str]:
    """The levels of confinement that this machine offers."""
    return ["none", "auto", *(["bwrap"] if shutil.which("bwrap") else [])]


_WAITS_FOR_OCCASION = ("heart-lead-unbroken", "point-on-first-trick", "fickle")
_FEW_CLUBS = {"removed": tuple(f"{rank}C" for rank in "23456789")}


async def play_rogue(stage: Stage, rogue: Rogue, moment: str, sandbox: str, **conditions: Any) -> Seen:
    """A match of one rogue and three honest bots, long enough for its misdeed to be charged."""
    rules = {"max_hands": 6 if rogue.name in _WAITS_FOR_OCCASION else 2}
    if rogue.name == "point-on-first-trick":
        rules |= _FEW_CLUBS
    start_ms = 1500 if moment == "start" else 10_000
    bots = [stage.rogue(rogue.mode, moment), *(stage.honest(seed) for seed in (1, 2, 3))]
    return await stage.play(
        bots,
        seed="a",
        rules=rules,
        **{"sandbox": sandbox, "turn_ms": 500, "start_ms": start_ms} | conditions,
    )


def moves(log: Path) -> list[bytes]:
    """The lines of a log without what may differ between two matches of the same seed."""
    lines = []
    for row in log.read_bytes().splitlines():
        line = msgspec.json.decode(row)
        if line["type"] in ("resume", "used"):
            continue
        ids = ("reply",) if "cards" in line else ("reply", "detail")
        for field in ("us", "id", "started", *ids):  # who is started anew counts its requests from 1 again
            line.pop(field, None)
        lines.append(msgspec.json.encode(line))
    return lines


# --- who is left over ------------------------------------------------------------------------------------


def marked(mark: str) -> dict[int, str]:
    """The living processes that have this text in their command line or environment, but for this one."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            surroundings = (process / "environ").read_bytes()
            if (
                process.name != str(os.getpid())
                and (mark in words or mark.encode() in surroundings)
                and words
            ):
                found[int(process.name)] = words
    return found


@contextlib.contextmanager
def orphanage() -> Iterator[None]:
    """Orphans come to this process while it lasts, so that none can hide with the system's first."""
    from referee.table.keep.syscalls import PR_SET_CHILD_SUBREAPER, prctl

    prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        prctl(PR_SET_CHILD_SUBREAPER, 0)


def strays(before: Sequence[int]) -> dict[int, str]:
    """Children of this process that live and were not there before; dead ones are buried."""
    found = {}
    for pid in children(os.getpid()):
        if pid in before:
            continue
        with contextlib.suppress(OSError):
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                os.waitpid(pid, 0)
                continue
            found[pid] = (
                Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            )
    return found
