# ruff: noqa: PTH110, PTH123, PTH208
"""Orphans: processes that a bot started and that have lost their parent, so that they are the keeper's now.

Linux gives them to the nearest ancestor that is a "child subreaper".  Elsewhere there are none to be seen.
No pathlib here either, for the keeper's sake.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Container

# One turn's work: more than one pass is needed only while something forks faster than it is stopped.
_PASSES = 100
_ENOUGH = 1000

_HAS_LISTS = os.path.exists("/proc/thread-self/children")  # CONFIG_PROC_CHILDREN


class Orphanage:
    """Ends orphans, and knows which of them have been dealt with and only need to be reaped."""

    def __init__(self) -> None:
        self._doomed: set[int] = set()
        self._immune: set[int] = set()

    def sweep(self, spared: Container[int]) -> bool:
        """Kill every child of this process not in `spared`, and all below; True if there may be more to do.

        Each is stopped before its children are looked for: what is stopped cannot fork, so the list of its
        children is complete, and a fork bomb freezes from the top down before its first member dies.  The
        work is bounded: a bomb that is quicker is met again on the next call.  So is what still lives below
        one that has been killed: a tracer can hold up the end of its own parent.
        """
        stopped: set[int] = set()
        self._stop([pid for doomed in self._doomed for pid in children(doomed)], stopped)
        for _ in range(_PASSES):
            fresh = [pid for pid in children(os.getpid()) if pid not in spared and pid not in self._doomed]
            fresh = [pid for pid in fresh if pid not in stopped]
            if not fresh or len(stopped) >= _ENOUGH:
                break
            self._doomed.update(fresh[:_ENOUGH])
            self._stop(fresh[:_ENOUGH], stopped)
        for pid in stopped:
            self._strike(pid, signal.SIGKILL)
        return any(pid not in spared and pid not in self._immune for pid in children(os.getpid()))

    def _stop(self, pids: list[int], stopped: set[int]) -> None:
        """Stop these processes and their descendants, parents first."""
        while pids:
            pid = pids.pop()
            if pid not in stopped:
                stopped.add(pid)
                self._strike(pid, signal.SIGSTOP)
                if len(stopped) < _ENOUGH:
                    pids += children(pid)

    def reaped(self, pid: int) -> None:
        """Forget a process that is no more: its number may come again."""
        self._doomed.discard(pid)
        self._immune.discard(pid)

    def _strike(self, pid: int, number: int) -> None:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass
        except PermissionError:  # it has become another user, as a set-uid program does
            self._immune.add(pid)
            self._doomed.discard(pid)


def children(pid: int) -> list[int]:
    """The children of a process, those not yet reaped included."""
    if sys.platform != "linux":
        return []
    if not _HAS_LISTS:
        return children_by_scan(pid)
    found: list[int] = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it may end at any moment
        for thread in os.listdir(f"/proc/{pid}/task"):  # a child belongs to the thread that forked it
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    return found


def children_by_scan(pid: int) -> list[int]:
    """The same for kernels that keep no lists of children."""
    found: list[int] = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            # The command's name, in parentheses, may itself hold spaces and parentheses.
            _state, parent, *_ = file.read().rpartition(b")")[2].split()
            if int(parent) == pid:
                found.append(int(name))
    return found
