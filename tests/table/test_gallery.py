"""Every mode of the gallery at a table: its fault in time, three others undisturbed, no process left over.

Each mode is played once, at one of its moments and in one of the sandboxes; all of them, with figures, is
`tests/bench/gallery_matrix.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.bots.gallery import ROGUES, Rogue
from tests.table.hosting import Stage, play_rogue, sandboxes

GUARD_S = 20
"""How much later than it should a thing may happen on a machine that does much else."""


def _chosen() -> Iterator[tuple[Rogue, str, str]]:
    """One row of each mode, the moments and sandboxes spread over them."""
    modes: dict[str, list[tuple[Rogue, str]]] = {}
    for rogue in ROGUES:
        modes.setdefault(rogue.mode, []).extend((rogue, moment) for moment in rogue.moments)
    levels = sandboxes()
    for number, rows in enumerate(modes.values()):
        rogue, moment = rows[number % len(rows)]
        yield rogue, moment, levels[number // 2 % len(levels)]


@pytest.mark.parametrize(
    ("rogue", "moment", "sandbox"),
    [pytest.param(*row, id=f"{row[0].mode}-at-{row[1]}-{row[2]}") for row in _chosen()],
)
async def test_a_rogue_earns_its_fault(stage: Stage, rogue: Rogue, moment: str, sandbox: str) -> None:
    seen = await play_rogue(stage, rogue, moment, sandbox)
    kinds = seen.kinds(0)
    assert (kinds[0] if kinds else None) in rogue.kinds(), seen.faults
    assert not any(fault.seat for fault in seen.faults)
    for fault in seen.faults:
        assert seen.delay_s(fault) < 0.5 + GUARD_S
    assert seen.verified().match.end
    unready = any(fault.hand == 0 for fault in seen.faults)
    assert seen.hosted.end.reason == ("void" if unready else "max_hands")
