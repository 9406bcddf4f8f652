"""The whole gallery: every mode at each of its moments in each sandbox, with what it cost the referee.

    python tests/bench/gallery_matrix.py [--sandbox none --sandbox auto] [--mode WORD] [--all]

Prints a line for each miss (with --all for each match): the kind of fault, how long after its deadline it
came, how much the referee grew, how long its loop was blocked, and who was left over.  Exits with status 1 if
there was a miss.  The limits hold for a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import trio

from referee.table.keep.orphans import children
from tests.bots.gallery import ROGUES, Rogue
from tests.table.hosting import Seen, Stage, marked, orphanage, play_rogue, sandboxes, strays

LATEST_S = 0.5
GROWTH_MB = 10.0
BLOCKED_S = 0.05


class Cell(NamedTuple):
    """What came of one mode at one moment in one sandbox."""

    rogue: Rogue
    moment: str
    sandbox: str
    kinds: list[str]
    delay_s: float
    growth_mb: float
    blocked_s: float
    left: dict[int, str]
    trouble: str

    def misses(self) -> list[str]:
        kind = self.kinds[0] if self.kinds else None
        return [
            *([self.trouble] if self.trouble else []),
            *([] if kind in self.rogue.kinds() else ["kind"]),
            *(["delay"] if self.delay_s > LATEST_S else []),
            *(["growth"] if self.growth_mb > GROWTH_MB else []),
            *(["blocked"] if self.blocked_s > BLOCKED_S else []),
            *(["left over"] if self.left else []),
        ]

    def __str__(self) -> str:
        kinds = ",".join(self.kinds) or "-"
        return (
            f"{self.rogue.mode:24} {self.moment:6} {self.sandbox:6} {kinds:14} {self.delay_s:+7.3f} s "
            f"{self.growth_mb:+6.1f} MB {self.blocked_s * 1000:6.1f} ms {len(self.left):3}  "
            f"{' '.join(self.misses())}"
        )


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


class Heartbeat:
    """Beats as often as the loop lets it, and knows its longest pause."""

    TICK_S = 0.002

    def __init__(self) -> None:
        self.longest_s = 0.0

    async def beat(self) -> None:
        last = time.perf_counter()
        while True:
            await trio.sleep(self.TICK_S)
            now = time.perf_counter()
            self.longest_s = max(self.longest_s, now - last - self.TICK_S)
            last = now


async def play_cell(rogue: Rogue, moment: str, sandbox: str) -> Cell:
    folder = Path(tempfile.mkdtemp(prefix="gallery-"))
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None
    before = children(os.getpid())
    memory = resident_mb()
    seen: Seen | None = None
    trouble = ""
    heart = Heartbeat()
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(heart.beat)
            try:
                with trio.move_on_after(60) as patience:
                    seen = await play_rogue(Stage(folder), rogue, moment, sandbox)
                if patience.cancelled_caught:
                    trouble = "hangs"
                else:
                    assert seen
                    if any(fault.seat for fault in seen.faults):
                        trouble = "others"
                    seen.verified()
            except Exception as error:
                trouble = repr(error)
            nursery.cancel_scope.cancel()
        left = marked(str(folder)) | strays(before)
    finally:
        del os.environ["TMPDIR"]
        tempfile.tempdir = None
        shutil.rmtree(folder, ignore_errors=True)
    return Cell(
        rogue,
        moment,
        sandbox,
        seen.kinds(0) if seen and trouble != "hangs" else [],
        max((seen.delay_s(fault) for fault in seen.faults), default=0.0) if seen and not trouble else 0.0,
        resident_mb() - memory,
        heart.longest_s,
        left,
        trouble,
    )


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sandbox", action="append", choices=["none", "auto", "bwrap"])
    parser.add_argument("--mode", help="only modes with this word in their name")
    parser.add_argument("--all", action="store_true", help="a line for each match")
    args = parser.parse_args()
    cells: list[Cell] = []
    began = resident_mb()
    with orphanage():
        for sandbox in args.sandbox or sandboxes():
            for rogue in ROGUES:
                for moment in rogue.moments if (args.mode or "") in rogue.mode else ():
                    cell = await play_cell(rogue, moment, sandbox)
                    cells.append(cell)
                    if args.all or cell.misses():
                        print(cell, flush=True)
    missed = [cell for cell in cells if cell.misses()]
    delays = sorted(cell.delay_s for cell in cells if cell.kinds)
    print(f"{len(cells)} matches, {len(missed)} with a miss")
    print(f"latest charge {delays[-1] if delays else 0:.3f} s after its deadline")
    growth = max(cell.growth_mb for cell in cells)
    print(f"largest growth {growth:.1f} MB, in all {resident_mb() - began:.1f} MB")
    longest = sorted(cell.blocked_s * 1000 for cell in cells)
    median = longest[len(longest) // 2]
    print(f"loop blocked at most {longest[-1]:.1f} ms, in the median match {median:.1f} ms")
    print(f"{sum(len(cell.left) for cell in cells)} processes left over")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(trio.run(main))
