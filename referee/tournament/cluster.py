"""Workers on other machines, through a Dask scheduler.  Needs the extra `cluster`, imported only here.

A task may be played more than once, when its worker is lost or is only thought to be; results are keyed by
match id, so that does no harm.  A worker takes as many tasks at a time as it offers of the resource `bots`.
"""

from __future__ import annotations

import contextlib
import logging
import re
import socket
from concurrent.futures import Executor
from importlib import import_module
from types import TracebackType
from typing import Any, Final, Self

from referee.errors import ArenaError
from referee.tournament.run import GONE

RESOURCE: Final = "bots"
_CONNECT_S: Final = 10
_ADDRESS: Final = re.compile(r"(?:(?:tcp|tls)://)?(?P<host>[^\s/:]+|\[[0-9a-fA-F:]+\]):(?P<port>\d+)")


class Cluster:
    """A connection to a scheduler: its `executor`, how many tasks it takes at once, and how a loss shows."""

    def __init__(self, client: Any, lost: type[Exception]) -> None:
        self._client = client
        self.lost = lost
        self.executor: Executor = client.get_executor(resources={RESOURCE: 1}, pure=False)

    @property
    def places(self) -> int:
        """How many tasks all workers together take at once; 0 while no worker offers the resource."""
        try:
            try:
                workers = self._client.scheduler_info(n_workers=-1)["workers"]
            except TypeError:  # an older scheduler always tells of all
                workers = self._client.scheduler_info()["workers"]
        except (OSError, RuntimeError, TimeoutError):
            raise ArenaError(GONE) from None
        return sum(int(worker.get("resources", {}).get(RESOURCE, 0)) for worker in workers.values())

    def close(self) -> None:
        """Leave the cluster; what its workers are doing for us they finish in vain."""
        with contextlib.suppress(Exception):
            self._client.close(timeout=2)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def connect(address: str) -> Cluster:
    """Connect to the scheduler at this address.  Raises ArenaError if there is none."""
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise ArenaError("--cluster needs Dask: pip install 'hearts-arena[cluster]'.") from None
    _knock(address)
    logging.disable(logging.CRITICAL)  # what Dask has to say, we say
    try:
        client = distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise _nobody(address, str(error).partition("\n")[0] or type(error).__name__) from None
    return Cluster(client, distributed.KilledWorker)


def _knock(address: str) -> None:
    """Find out whether anybody listens there, before Dask tries again and again."""
    parts = _ADDRESS.fullmatch(address)
    if not parts:
        raise _nobody(address, "an address is written like tcp://HOST:8786")
    try:
        socket.create_connection((parts["host"].strip("[]"), int(parts["port"])), _CONNECT_S).close()
    except (OSError, OverflowError) as error:
        raise _nobody(address, getattr(error, "strerror", None) or str(error)) from None


def _nobody(address: str, why: str) -> ArenaError:
    return ArenaError(f"There is no Dask scheduler at {address}: {why}.")
