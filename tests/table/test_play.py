"""Whole matches of real processes: policies, strikes, restarts, and bots that cannot be started."""

from __future__ import annotations

import json
import sys

import pytest

from referee.game.events import HandOverRecord
from tests.table.hosting import Seen, Stage

GUARD_S = 20
"""How much later than it should a thing may happen on a machine that does much else."""


def others(stage: Stage):
    return [stage.honest(seed) for seed in (1, 2, 3)]


async def test_a_closed_stdout_is_not_waited_for_until_the_deadline(stage) -> None:
    """6.1: it is `closed` a moment after its stdout has ended, however much time the turn still has."""
    seen = await stage.play([stage.rogue("close-stdout"), *others(stage)], start_ms=100_000, turn_ms=100_000)
    assert seen.kinds(0) == ["closed"]
    assert seen.delay_s(seen.faults[0]) < GUARD_S - 100


async def test_a_flood_on_stderr_is_read_while_the_bot_is_waited_for(stage) -> None:
    """2.1: the referee reads stderr all the time."""
    seen = await stage.play(
        [stage.rogue("stderr-flood:20"), *others(stage)], start_ms=100_000, turn_ms=100_000
    )
    assert not seen.faults
    assert seen.records[-1][0] - seen.began < 100 - GUARD_S


GARRULOUS = """
import os, sys
from honest import Bot, encode
bot = Bot("garrulous")
for request in bot.messages():
    if request["type"] == "play":
        os.write(2, b"farewell! " * 5_000)
        os._exit(1)
    if "id" in request:
        bot.write(encode(bot.answer(request)))
"""


async def test_2_5_a_bot_that_dies_at_every_turn_is_started_anew_and_its_stderr_has_an_end(stage) -> None:
    (stage.bots / "garrulous.py").write_text(GARRULOUS)
    garrulous = stage.bot(sys.executable, "-S", "-E", str(stage.bots / "garrulous.py"), name="garrulous")
    seen = await stage.play([garrulous, *others(stage)], on_fault="substitute")
    assert seen.kinds(0) == ["exit"] * 13
    assert 100_000 < len(seen.hosted.stderr["garrulous"]) < 150_000
    assert seen.verified().match.end


# --- 6.2: what a fault costs -----------------------------------------------------------------------------


async def fickle_table(stage: Stage, seed: int, how_often: int = 8, **conditions) -> Seen:
    """Four bots that misbehave now and then, each in its own way."""
    bots = [stage.rogue(f"fickle:{how_often}", "pass", seed * 10 + seat, f"f-{seat}") for seat in range(4)]
    return await stage.play(bots, seed=f"fickle-{seed}", rules={"max_hands": 2}, turn_ms=300, **conditions)


@pytest.mark.parametrize("on_fault", ["retire", "substitute", "hand", "match"])
@pytest.mark.parametrize("strikes", [0, 1, 4])
async def test_6_2_four_misbehaving_bots_and_a_log_that_follows(stage, on_fault: str, strikes: int) -> None:
    seen = await fickle_table(stage, strikes, on_fault=on_fault, strikes=strikes)
    match = seen.verified().match
    assert seen.faults
    thens = [fault.then for fault in seen.faults]
    for seat in range(4):
        own = [fault.then for fault in seen.faults if fault.seat == seat]
        assert own[:strikes] == ["substitute"] * len(own[:strikes])
    if on_fault == "match" and "match" in thens:
        assert match.end.reason in ("fault", "void")
        assert thens.index("match") >= len(thens) - 4  # nothing follows but what failed in the same pass
    if on_fault == "retire":
        assert set(match.end.retired) == {fault.seat for fault in seen.faults if fault.then == "retire"}
    if on_fault == "hand" and "hand" in thens:
        assert any(26 in event.points for _, event in seen.records if isinstance(event, HandOverRecord))


@pytest.mark.parametrize("seed", range(8))
async def test_6_2_many_faults_in_one_match(stage, seed: int) -> None:
    """At least ten, of several kinds, by four bots at once; 200 such matches are in the benchmarks."""
    seen = await fickle_table(stage, seed, 4, on_fault="substitute")
    assert len(seen.faults) >= 10
    assert len({fault.kind for fault in seen.faults}) >= 3
    assert seen.verified().match.end.reason == "max_hands"


async def test_4_3_points_of_honest_hands_sum_to_the_pack(stage) -> None:
    """26, or 78 with a moon; 1,000 hands are in the benchmarks."""
    seen = await stage.play([stage.honest(seed) for seed in range(4)], rules={"max_hands": 20})
    hands = [event for _, event in seen.records if isinstance(event, HandOverRecord)]
    assert len(hands) == 20
    for hand in hands:
        assert sum(hand.points) == (26 if hand.moon is None else 78)
    assert seen.verified().match.end


EAVESDROPPER = """
import os, sys
from honest import Bot, encode
bot = Bot("eavesdropper")
for request in bot.messages():
    os.write(2, encode(request))
    if "id" in request:
        bot.write(encode(bot.answer(request)))
"""


async def test_1_4_nothing_read_before_the_pass_is_committed_holds_a_card_that_is_got(stage) -> None:
    (stage.bots / "eaves.py").write_text(EAVESDROPPER)
    command = (sys.executable, "-S", "-E", str(stage.bots / "eaves.py"))
    bots = [stage.bot(*command, name=f"eaves-{seat}") for seat in range(4)]
    seen = await stage.play(bots, rules={"max_hands": 3})
    for seat in range(4):
        read = seen.hosted.stderr[f"eaves-{seat}"].decode().splitlines()
        requests = [json.loads(line) for line in read]
        for number, request in enumerate(requests):
            if request["type"] != "pass":
                continue
            (got,) = {
                tuple(later["passed"]["got"])
                for later in requests[number:]
                if later["type"] == "play" and later["hand"] == request["hand"]
            }
            hand = [line for line in read[: number + 1] if f'"hand":{request["hand"]},' in line]
            assert not any(f'"{card}"' in line for card in got for line in hand)
        assert not any(seen.hosted.header.seed in line for line in read)


# --- bots that cannot be started -------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["missing", "no-shebang", "bad-interpreter", "nul", "directory"])
async def test_6_1_a_bot_that_cannot_be_started_voids_the_match(stage, how: str) -> None:
    """Whoever names it on a command line is told before; here it went wrong after that."""
    path = stage.bots / "bot"
    match how:
        case "no-shebang":
            path.write_bytes(b"\x00\x01\x02 no program")
        case "bad-interpreter":
            path.write_text("#!/no/such/interpreter\n")
        case "directory":
            path.mkdir()
    if path.exists():
        path.chmod(0o755)
    command = (str(path), "an\0argument") if how == "nul" else (str(path),)
    seen = await stage.play([stage.bot(*command), *others(stage)])
    assert seen.kinds(0) == ["launch"]
    assert seen.hosted.end.reason == "void"
    assert seen.verified().match.end
