"""What is asked of a bot and what comes of it: exchanges and faults on pages, and the matches it sits at."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from referee.game.events import FaultRecord
from referee.game.match import Match
from referee.table.check.diagnosis import diagnose
from referee.table.check.evidence import Diagnosis, Evidence, Question, Silence
from referee.table.check.scenes import Scene, SceneName
from referee.table.conversation import Chair


class Exchange(Struct, eq=False):
    """One question, and all that was written after it until the next."""

    request: Question
    sent: bytes
    asked_at: float
    limit_s: float
    batch: int = 1
    """How many questions went out in the same write."""
    came: bytearray = bytearray()
    """What it wrote since, and before that the beginning of the line that was unfinished then."""
    us: int | None = None
    notices: list[str] = []
    silence: Silence | None = None


class Wrong(Struct, eq=False):
    """One fault, where it was, and what is to be said about it, which is known when no more comes.

    `answered` is how many questions the bot had answered before, `tables` at how many it was playing,
    `notices` what it had been told since the question.
    """

    fault: FaultRecord | None
    exchange: Exchange | None = None
    status: int | None = None
    answered: int = 0
    tables: int = 1
    notices: tuple[str, ...] = ()
    diagnosis: Diagnosis = Diagnosis("")


class Page(Struct, eq=False, kw_only=True):
    """What was asked and found while this page was open; `focus` are the exchanges that matter most."""

    exchanges: list[Exchange] = []
    focus: list[Exchange] = []
    wrongs: list[Wrong] = []
    notes: list[str] = []

    def diagnose(self, stderr: bytes) -> None:
        """Say what was wrong, now that all has come that comes."""
        for wrong in self.wrongs:
            if wrong.fault:
                wrong.diagnosis = diagnose(_evidence(wrong, wrong.fault, stderr))


class Sitting:
    """A match in which the bot sits in one seat, and the hands that are planned for it."""

    def __init__(self, match: Match, bot: int, hands: Sequence[SceneName]) -> None:
        self.match = match
        self.bot = bot
        self.chair = Chair(match, bot)
        self.hands = list(hands)
        self.hand: SceneName | None = None
        self.scene: Scene | None = None
        self.staged = False
        """Whether the situation of the hand is still to come."""
        self.last: Exchange | None = None

    @property
    def wants_deal(self) -> bool:
        return self.match.wants_deal

    @property
    def over(self) -> bool:
        return self.match.end is not None


def _evidence(wrong: Wrong, fault: FaultRecord, stderr: bytes) -> Evidence:
    exchange = wrong.exchange
    return Evidence(
        fault=fault,
        request=exchange.request if exchange else None,
        sent=exchange.sent if exchange else b"",
        came=bytes(exchange.came) if exchange else b"",
        notices=wrong.notices,
        stderr=stderr,
        asked_before=wrong.answered,
        answered=exchange is not None and exchange.us is not None,
        tables=wrong.tables,
        status=wrong.status,
        silence=exchange.silence if exchange else None,
    )
