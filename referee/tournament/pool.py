"""Worker processes on this machine, as an executor: each plays one task at a time and can be lost alone."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import Any, Final, ParamSpec, TypeVar

from referee.errors import ArenaError, why

P = ParamSpec("P")
T = TypeVar("T")

LOST: Final = BrokenProcessPool
"""What a task ends with whose worker has died."""

_SPAWN: Final = multiprocessing.get_context("spawn")


class _Worker:
    """One process, and the line that it holds: it ends when the other end is closed, or has died with us."""

    def __init__(self) -> None:
        theirs, self._line = _SPAWN.Pipe(duplex=False)
        self._executor = ProcessPoolExecutor(1, mp_context=_SPAWN, initializer=_hold_on, initargs=(theirs,))
        self._theirs = theirs
        self.task: Future[Any] | None = None

    @property
    def free(self) -> bool:
        return self.task is None or self.task.done()

    def submit(self, do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        task = self._executor.submit(do, *args, **kwargs)
        self.task = task
        return task

    def close(self, *, wait: bool) -> None:
        self._line.close()
        self._theirs.close()
        self._executor.shutdown(wait=wait, cancel_futures=True)


class Processes(Executor):
    """An executor of `count` processes, started when they are needed; one that dies is replaced.

    A process that dies takes down the task that it had, which then ends with `LOST`, and no other.
    """

    def __init__(self, count: int) -> None:
        self._workers: list[_Worker | None] = [None] * count

    def submit(self, do: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Give a task to a free process.  Raises ValueError if there is none: nothing waits in line here.

        Raises ArenaError if the machine lets no process be started.
        """
        for number, worker in enumerate(self._workers):
            if worker and not worker.free:
                continue
            if worker and worker.task and isinstance(worker.task.exception(), LOST):
                worker.close(wait=False)
                worker = None
            try:
                if worker is None:
                    worker = self._workers[number] = _Worker()
                try:
                    return worker.submit(do, *args, **kwargs)
                except LOST:  # it died between two tasks
                    worker.close(wait=False)
                    worker = self._workers[number] = _Worker()
                    return worker.submit(do, *args, **kwargs)
            except OSError as error:
                raise ArenaError(
                    f"Worker {number + 1} cannot be started: {why(error)}; or give fewer --jobs."
                ) from None
        raise ValueError("every process has a task")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes at once, and with them their bots; what they were doing is lost."""
        for worker in self._workers:
            if worker:
                worker.close(wait=wait)
        self._workers = [None] * len(self._workers)


def _hold_on(line: Connection) -> None:
    """Set a new process up: Ctrl-C is for the one that gives the tasks, and without that one it ends.

    The keeper of the bots ends when this process does, and the bots with it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def wait_for_the_end() -> None:
        line.poll(None)
        os._exit(0)

    threading.Thread(target=wait_for_the_end, daemon=True).start()
