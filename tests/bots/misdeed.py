"""What a mode of the rogue is written with: the turn it may spoil, and the catalogue it is entered in."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from time import sleep
from typing import Any, NoReturn

from honest import Bot, Message, encode

LIFE_S = 120
"""How long anything that nobody ends may live."""


class Turn:
    """One request, the honest answer to it, and the tools to spoil that answer."""

    def __init__(
        self, bot: Bot, request: Message, argument: int | None, before: int | None, *, late: bool
    ) -> None:
        self.bot = bot
        self.request = request
        self.answer = bot.answer(request)
        self.argument = argument
        """The number behind the mode's name."""
        self.before = before
        """The id answered before this one."""
        self.late = late
        """Whether to misbehave out of turn, after the honest answer and not in its place."""
        self.given = False

    @property
    def line(self) -> bytes:
        """The honest answer."""
        return encode(self.answer)

    @property
    def due(self) -> bytes:
        """The honest answer if the referee waits for it, nothing out of turn."""
        return b"" if self.late else self.line

    def but(self, **changes: object) -> bytes:
        """The honest answer with fields changed or added."""
        return encode(self.answer | changes)

    def raw(self, field: str, value: bytes) -> bytes:
        """The honest answer with `value`, which need not be JSON, standing in `field`'s place."""
        return self.but(**{field: "@@"}).replace(b'"@@"', value)

    def without(self, *fields: str) -> bytes:
        """The honest answer with fields left out."""
        return encode({name: value for name, value in self.answer.items() if name not in fields})

    def give(self) -> None:
        """Write the honest answer, unless it was given before."""
        if not self.given:
            self.given = True
            self.bot.write(self.line)

    def say(self, data: bytes) -> None:
        """Write `data` in place of the honest answer, or out of turn right behind it, in the same write."""
        line = self.line if self.late and not self.given else b""
        self.given = True
        self.bot.write(line + data)


Misdeed = Callable[[Turn], Any]


class Catalogue(dict[str, tuple[str, Misdeed]]):
    """Modes by name, each with the way it misbehaves: "says", "does", "passes" or "plays".

    A mode is named after its function, in kebab-case, and its docstring is its entry.
    """

    def _enter(self, way: str, misdeed: Misdeed) -> Misdeed:
        self[misdeed.__name__.strip("_").replace("_", "-")] = (way, misdeed)
        return misdeed

    def says(self, misdeed: Misdeed) -> Misdeed:
        """A mode that returns, or yields bit by bit, what to write in place of the honest answer."""
        return self._enter("says", misdeed)

    def does(self, misdeed: Misdeed) -> Misdeed:
        """A mode that acts; the honest answer follows if it returns without having given it."""
        return self._enter("does", misdeed)

    def passes(self, misdeed: Misdeed) -> Misdeed:
        """A mode that returns the cards to pass."""
        return self._enter("passes", misdeed)

    def plays(self, misdeed: Misdeed) -> Misdeed:
        """A mode that returns the card to play, or None where the misdeed is not possible yet."""
        return self._enter("plays", misdeed)


def sit() -> NoReturn:
    """Do nothing until somebody ends us."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LIFE_S)
    while True:
        sleep(LIFE_S)


def offspring(work: Callable[[], object], *, own_session: bool = False, life_s: int = LIFE_S) -> None:
    """Do `work` in a child that holds our pipes, or in a grandchild that leads a session of its own too."""
    with suppress(OSError):  # a limit on processes is there to be met
        child = os.fork()
        if child and own_session:
            os.waitpid(child, 0)
        if child:
            return
        try:
            if own_session:
                os.setsid()
                if os.fork():
                    return
            signal.alarm(life_s)
            work()
        finally:
            os._exit(0)
