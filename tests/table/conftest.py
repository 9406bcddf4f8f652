"""What the tests of this room share: a keeper with bots on it, and reading without sleeping."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator, Mapping
from typing import TypeVar

import pytest

from referee.table.keep.launch import Event, Exited, Failed, Keeper, Landlock, Launch, Spawned, Started

GUARD_S = 60  # for tests that fail; those that pass wait for what they name
ENV = {"PATH": "/usr/bin:/bin"}
E = TypeVar("E", Started, Failed, Exited)


class Bench:
    """A keeper, the bots started on it, and what has been heard of them."""

    def __init__(self, keeper: Keeper) -> None:
        self.keeper = keeper
        self.heard: list[Event] = []
        self.spawned: list[Spawned] = []

    def spawn(
        self,
        *argv: str,
        env: Mapping[str, str] = ENV,
        cwd: str = "/",
        landlock: Landlock | None = None,
        **limits: int,
    ) -> Spawned:
        spawned = self.keeper.spawn(Launch(argv, env, cwd, limits, landlock))
        self.spawned.append(spawned)
        return spawned

    def python(self, code: str) -> Spawned:
        return self.spawn(sys.executable, "-I", "-S", "-c", code)

    def wait(self, kind: type[E], key: int) -> E:
        """The event of this kind about that bot, once it has come."""
        while True:
            for event in self.heard:
                if isinstance(event, kind) and event.key == key:
                    return event
            assert select.select([self.keeper], [], [], GUARD_S)[0], (
                f"no {kind.__name__} of {key}: {self.heard}"
            )
            self.heard += self.keeper.events()

    def run(self, *argv: str, **options) -> str:
        """All that a bot prints, once it has ended without complaint."""
        spawned = self.spawn(*argv, **options)
        output = self.read_all(spawned.stdout)
        assert self.wait(Exited, spawned.key).status == 0, self.read_all(spawned.stderr)
        return output.decode()

    def fails(self, *argv: str, **options) -> Failed:
        return self.wait(Failed, self.spawn(*argv, **options).key)

    def let_go(self) -> None:
        """Close the pipes of all bots so far."""
        for spawned in self.spawned:
            for descriptor in (spawned.stdin, spawned.stdout, spawned.stderr):
                os.close(descriptor)
        self.spawned.clear()

    @staticmethod
    def read_some(descriptor: int) -> bytes:
        assert select.select([descriptor], [], [], GUARD_S)[0], "the pipe stays open and silent"
        return os.read(descriptor, 65_536)

    @classmethod
    def read_all(cls, descriptor: int) -> bytes:
        """What comes before the pipe ends, which it does when the last process that holds it has."""
        received = bytearray()
        while chunk := cls.read_some(descriptor):
            received += chunk
        return bytes(received)

    @classmethod
    def read_until(cls, descriptor: int, sign: bytes, count: int) -> bytes:
        """What comes until `sign` has come `count` times."""
        received = b""
        while received.count(sign) < count:
            chunk = cls.read_some(descriptor)
            assert chunk, f"only {received!r} came"
            received += chunk
        return received


@pytest.fixture
def bench() -> Iterator[Bench]:
    with Keeper.start() as keeper:
        bench = Bench(keeper)
        yield bench
        bench.let_go()
