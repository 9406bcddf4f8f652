"""An honest bot, the half that every rogue and the spy share: reads requests, knows the answer, writes lines.

Standard library only, and little of it, so that a bot starts as fast as the interpreter does.
"""

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

Message = dict[str, Any]
"""One line of the protocol, as `json` reads it."""


def encode(message: object) -> bytes:
    """The line that carries `message`."""
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def write_all(data: bytes) -> None:
    """Write `data` to stdout at once, in as few writes as the pipe allows."""
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


class Bot:
    """Passes the first cards it holds and plays the first legal one.

    With a seed it plays by (seed, hand, seat, trick) instead: varied, yet a function of the request.
    """

    def __init__(self, name: str, seed: int | None = None) -> None:
        self.name = name
        self.seed = seed
        self.write: Callable[[bytes], object] = write_all
        self.at_eof: Callable[[], object] = lambda: None

    def messages(self) -> Iterator[Message]:
        """What the referee says, until it closes our stdin."""
        with open(0, "rb", closefd=False) as stdin:
            for line in stdin:
                yield json.loads(line)

    def answer(self, request: Message) -> Message:
        """The right answer to `request`."""
        kind, number = request["type"], request["id"]
        if kind == "start":
            return {"type": "ready", "id": number, "name": self.name, "version": "1"}
        if kind == "pass":
            return {"type": "pass", "id": number, "cards": request["cards"][: request["count"]]}
        return {"type": "play", "id": number, "card": self._choose(request)}

    def _choose(self, request: Message) -> str:
        legal = request["legal"]
        if self.seed is None:
            return legal[0]
        where = (request["hand"], request["seat"], len(request["tricks"]))
        return legal[mix(self.seed, *where) % len(legal)]


def mix(*numbers: int) -> int:
    """A number that looks random and is a function of `numbers` alone, on every machine."""
    mixed = 0
    for number in numbers:
        mixed = ((mixed ^ number) * 6364136223846793005 + 1442695040888963407) % 2**64
        mixed ^= mixed >> 29
    return mixed >> 16
