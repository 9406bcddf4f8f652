"""What the keeper knows of one bot."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

TYPE_CHECKING = False  # as `typing` has it, which would take longer to import than all of this
if TYPE_CHECKING:
    from resource import struct_rusage
    from typing import Any

GIVE_UP_S = 5.0  # a rival's tracer, or the kernel, may hold up its end for as long as they please


class Bot:
    """A child of ours, from its fork until it is reaped."""

    def __init__(self, key: int, pid: int, report: int, cage: dict[str, Any]) -> None:
        self.key = key
        self.pid = pid
        self.report = report  # readable once its fate is known: see child.become; -1 after that
        self.told = False  # whether the last word on it has been sent
        self.scratch: str = cage["scratch"]
        self.scratch_mb: int = cage["scratch_mb"]
        self.memory_mb: int = cage["memory_mb"]
        self.inside = bool(cage["inside"])
        self.inside_scratches: list[str] = cage["inside_scratches"]
        self.doomed = False  # whether it is to end, whatever holds it up
        self.give_up_at = 0.0  # when that is told though it still has not
        self.why = ""  # why we have ended it, if it was for what it used
        self.status = 0
        self.cpu_s = 0.0
        self.seen_cpu_s = 0.0  # of processes whose end tells nobody what they used, as when a sandbox ends
        self.peak_kb = 0
        self.kin: set[int] = set()  # what it has started, as far as it has been seen
        self.tell_at = 0.0  # its end is told when its kin have ended too, but no later

    def add(self, spent: struct_rusage) -> None:
        """Take what one of its processes has used, now that it has ended, to its account."""
        self.cpu_s += spent.ru_utime + spent.ru_stime
        self.peak_kb = max(self.peak_kb, spent.ru_maxrss // (1024 if sys.platform == "darwin" else 1))

    def end(self) -> None:
        """Kill it.  What it has started is left to the sweeps, which do not spare it any more."""
        if not self.doomed:
            self.doomed = True
            self.give_up_at = time.monotonic() + GIVE_UP_S
        self.signal(signal.SIGKILL)

    def signal(self, number: int) -> None:
        """Signal its whole process group: safe until it is reaped, its number is not given away before."""
        for send in (os.killpg, os.kill):  # just forked, it has no group of its own yet
            with contextlib.suppress(ProcessLookupError, PermissionError):
                send(self.pid, number)
