"""`--freeze`: nobody thinks on another's time or pays for being woken.  And what bots used, in the log."""

from __future__ import annotations

import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from protocol.presets import preset
from protocol.rules import conditions_from
from referee.record.match_log import UsedRecord, read_log
from referee.record.replay import replay
from referee.table import bubblewrap
from referee.table.host import Hosted, host
from referee.table.roster import Bot

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

FOUND = bubblewrap.find()
NO_BWRAP = pytest.mark.skipif(isinstance(FOUND, str), reason=str(FOUND))
every_level = pytest.mark.parametrize("level", ["none", "auto", pytest.param("bwrap", marks=NO_BWRAP)])

THINKER = """
    import json, sys, threading, time

    ticks = answered_at = out_of_turn = 0

    def think():
        global ticks
        while True:
            ticks += 1
            time.sleep(0.002)

    threading.Thread(target=think, daemon=True).start()
    for line in sys.stdin:
        request = json.loads(line)
        out_of_turn += ticks - answered_at
        if request["type"] == "start":
            answer = {"type": "ready", "name": "thinker", "version": "1", "tables": TABLES}
        elif request["type"] == "pass":
            answer = {"type": "pass", "cards": request["cards"][: request["count"]]}
        elif request["type"] == "play":
            time.sleep(PAUSE if len(request["tricks"]) != SLOW else 2)
            answer = {"type": "play", "card": request["legal"][0]}
        else:
            answered_at = ticks
            continue
        answered_at = ticks
        print(json.dumps({"id": request["id"]} | answer), flush=True)
    print(out_of_turn, file=sys.stderr)
"""


async def play(
    folder: Path, level: str, *, slow: int = -1, pause: float = 0.01, tables: int = 1, **conditions: Any
) -> Hosted:
    script = folder / "bots" / "thinker.py"
    script.parent.mkdir(exist_ok=True)
    code = textwrap.dedent(THINKER).replace("PAUSE", str(pause)).replace("TABLES", str(tables))
    script.write_text(code.replace("SLOW", "-1"))
    script.with_name("slow.py").write_text(code.replace("SLOW", str(slow)))
    names = ["slow", "thinker", "thinker", "thinker"]
    bots = [
        Bot(
            name=f"{name}-{seat}",
            command=(sys.executable, "-S", "-E", str(script.with_name(f"{name}.py"))),
            cwd=str(script.parent),
            fingerprint="",
            files=(str(script.parent),),
        )
        for seat, name in enumerate(names)
    ]
    log = folder / f"match-{len(list(folder.glob('*.jsonl')))}.jsonl"
    fields = {"sandbox": level, "turn_ms": 1000, **conditions}
    rules = preset("standard", {"target": None, "max_hands": 1})
    return await host(bots, rules, conditions_from(fields), log, seed="freeze")


def thought_out_of_turn(hosted: Hosted) -> int:
    """How many thoughts came between an answer and the next line."""
    return sum(int(said.splitlines()[-1]) for said in hosted.stderr.values())


@every_level
async def test_it_thinks_on_its_own_time_only(tmp_path: Path, level: str) -> None:
    free = await play(tmp_path, level)
    frozen = await play(tmp_path, level, freeze=True)
    assert not frozen.faults
    assert thought_out_of_turn(frozen) < thought_out_of_turn(free) / 2


@every_level
async def test_one_that_was_late_is_frozen_and_goes_on(tmp_path: Path, level: str) -> None:
    hosted = await play(tmp_path, level, slow=3, freeze=True, strikes=3, turn_ms=700)
    assert {(fault.seat, fault.kind) for fault in hosted.faults} == {(0, "timeout")}
    assert hosted.end.retired in ((), (0,))


async def test_a_bot_for_many_tables_is_left_alone(tmp_path: Path) -> None:
    """For its turn may come at any of them."""
    one = await play(tmp_path, "none", freeze=True)
    many = await play(tmp_path, "none", freeze=True, tables=4)
    assert not many.faults
    assert thought_out_of_turn(many) > 1.5 * thought_out_of_turn(one)


@every_level
async def test_what_was_used_stands_in_the_log(tmp_path: Path, level: str) -> None:
    began = time.monotonic()
    hosted = await play(tmp_path, level, pause=0.02)
    whole_ms = (time.monotonic() - began) * 1000
    file = read_log(hosted.log)
    last = file.lines[-1].record
    assert isinstance(last, UsedRecord)
    assert last.seats == hosted.used
    for used in hosted.used:
        assert 13 * 20 <= used.wall_ms < whole_ms
        assert 10 <= used.cpu_ms < whole_ms
        assert 5_000 < used.peak_kb < 100_000
    assert replay(file).match.end == hosted.end
