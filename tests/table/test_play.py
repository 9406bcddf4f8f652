"""Whole matches of real processes: policies, strikes, restarts, and bots that cannot be started."""

from __future__ import annotations

from tests.table.hosting import Stage

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
