"""One match from bots to result, and from where it was cut off to the same result."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
import trio

from referee.errors import ArenaError
from referee.record.match_log import LogError, read_log
from referee.record.replay import replay
from referee.table.host import host_again
from tests.table.hosting import Stage, moves

FICKLE = 9
"""A seed with which the fickle rogue begins honestly."""


def cut(stage: Stage, log: Path, length: int) -> Path:
    """A copy of the first bytes of a log."""
    path = stage.fresh_log()
    path.write_bytes(log.read_bytes()[:length])
    return path


async def test_a_match_cut_anywhere_goes_on_to_the_same_log(stage: Stage) -> None:
    """In the header it cannot; mid-pass, mid-trick, mid-line and within what a fault owes it can."""
    bots = [stage.rogue("fickle:3", "start", seed=FICKLE), *(stage.honest(seed) for seed in (1, 2, 3))]
    whole = await stage.play(bots, rules={"max_hands": 2}, on_fault="substitute", turn_ms=1000)
    assert len(whole.faults) > 4
    data = whole.hosted.log.read_bytes()
    first = data.index(b"\n") + 1
    places = [first, first + 1, *range(first + 300, len(data), len(data) // 6), len(data) - 1]
    with_fault = data.index(b'{"type":"fault"')
    places += [with_fault, data.index(b"\n", with_fault) + 1]
    wanted = moves(whole.hosted.log)
    for place in places:
        if b'"match_over"' in data[:place]:
            continue
        path = cut(stage, whole.hosted.log, place)
        hosted = await host_again(path)
        assert hosted.end == whole.hosted.end
        assert hosted.faults == [fault for fault in hosted.faults if fault.seat == 0]
        assert moves(path) == wanted, f"cut after byte {place} of {len(data)}"
        assert replay(read_log(path)).match.end


THRIFTY = """
import json, sys, time
for line in sys.stdin:
    request = json.loads(line)
    if request["type"] == "start":
        answer = {"type": "ready", "name": "thrifty", "version": "1"}
    elif request["type"] == "pass":
        time.sleep(1.2)
        answer = {"type": "pass", "cards": request["cards"][:3]}
    elif request["type"] == "play":
        answer = {"type": "play", "card": request["legal"][0], "note": str(request["ms"])}
    else:
        continue
    print(json.dumps({"id": request["id"]} | answer), flush=True)
"""


async def test_5_1_what_was_taken_from_a_bank_stays_taken(stage: Stage) -> None:
    """A bot notes how much time it has: before and after the cut it is the same."""
    (stage.bots / "thrifty.py").write_text(THRIFTY)
    thrifty = stage.bot(sys.executable, str(stage.bots / "thrifty.py"), name="thrifty")
    whole = await stage.play(
        [thrifty, *(stage.honest(seed) for seed in (1, 2, 3))], turn_ms=1000, bank_ms=60_000
    )
    lines = whole.hosted.log.read_bytes().splitlines(keepends=True)
    assert b'"note":"60' in b"".join(lines)
    assert b'"note":"61000"' not in b"".join(lines)
    path = stage.fresh_log()
    path.write_bytes(b"".join(lines[:7]))
    await host_again(path)
    assert moves(path) == moves(whole.hosted.log)


async def test_what_is_over_is_not_gone_on_with(stage: Stage) -> None:
    whole = await stage.play([stage.honest(seed) for seed in range(4)])
    before = whole.hosted.log.read_bytes()
    with pytest.raises(LogError, match="is over; read it with: arena replay"):
        await host_again(whole.hosted.log)
    assert whole.hosted.log.read_bytes() == before


async def test_a_bot_that_is_no_longer_there_costs_the_log_nothing(stage: Stage) -> None:
    whole = await stage.play([stage.honest(seed) for seed in range(4)])
    path = cut(stage, whole.hosted.log, 3000)
    before = path.read_bytes()
    shutil.move(stage.bots, stage.folder / "elsewhere")
    with pytest.raises(ArenaError, match=r"is no longer there: .*; put it back to go on"):
        await host_again(path)
    assert path.read_bytes() == before
    shutil.move(stage.folder / "elsewhere", stage.bots)
    assert (await host_again(path)).end == whole.hosted.end


def descriptors() -> list[str]:
    return sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208


async def test_a_match_that_is_cancelled_leaves_no_descriptor_open(stage: Stage) -> None:
    bots = [stage.rogue("silent"), *(stage.honest(seed) for seed in (1, 2, 3))]
    before = descriptors()
    with trio.CancelScope() as scope:
        await stage.play(bots, turn_ms=100_000, look=lambda _: scope.cancel())
    assert scope.cancelled_caught
    assert descriptors() == before
