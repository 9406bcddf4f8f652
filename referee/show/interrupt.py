"""Work that Ctrl-C, a hang-up or SIGTERM breaks off tidily: all that it started is ended on the way out."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import trio

from referee.errors import ArenaError

INTERRUPTED: Final = 130
"""The exit status of a command that a signal broke off."""

T = TypeVar("T")


def run(work: Callable[[], Awaitable[T]]) -> T | None:
    """Run Trio work to its result, or None if a signal came first.  What it raises comes ungrouped."""
    return trio.run(_until_interrupted, work)


async def _until_interrupted(work: Callable[[], Awaitable[T]]) -> T | None:
    result: T | None = None
    refused: ArenaError | OSError | None = None
    async with trio.open_nursery() as nursery:

        async def cancel_on_signal(task_status: trio.TaskStatus[None]) -> None:
            with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
                task_status.started()
                async for _ in signals:
                    nursery.cancel_scope.cancel()

        await nursery.start(cancel_on_signal)
        try:
            result = await work()
        except (ArenaError, OSError) as error:  # raised below, where no nursery wraps it into a group
            refused = error
        nursery.cancel_scope.cancel()
    if refused:
        raise refused
    return result
