"""What surrounds a bot: its environment, a scratch directory that is gone afterwards, limits, and what it may touch.  [protocol 2.2]"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from protocol.rules import Conditions
from referee.game.events import SeatRecord
from referee.table.launch import Launch


class Confinement:
    """The surroundings of all bots of one match; leaving it removes their scratch directories."""

    def __init__(self, conditions: Conditions) -> None:
        self.conditions = conditions
        self._root = Path()

    def __enter__(self) -> Self:
        self._root = Path(tempfile.mkdtemp(prefix="hearts-"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self._root, ignore_errors=True)

    def launch(self, seat: SeatRecord) -> Launch:
        """How this seat's bot is started."""
        scratch = self._root / seat.name
        scratch.mkdir(mode=0o700, exist_ok=True)
        return Launch(argv=seat.command, env=_environment(scratch), cwd=seat.cwd, limits={"RLIMIT_CORE": 0})


def _environment(scratch: Path) -> dict[str, str]:
    """The few variables that a bot is given: nothing of the operator's but PATH."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
    }
