"""What goes into the match machine and what comes out of it.

Inputs are `Dealt`, `Answered` and `Failed`.  Effects are `Record` (a line of the match log), `Tell`, `Ask`,
`WantDeal`, `Restart` and `Dismiss`.  The records are the lines of the match log themselves, one Struct a
type.  [match log 2]
"""

import re
from typing import Final, Literal, TypeAlias

from msgspec import Struct, field

from protocol.cards import CardName, CardSet
from protocol.messages import Notice, Reply
from protocol.rules import Conditions, Direction, Rules

FaultKind: TypeAlias = Literal[
    "launch",
    "timeout",
    "exit",
    "closed",
    "too_long",
    "malformed",
    "wrong_id",
    "unasked",
    "illegal_pass",
    "illegal_play",
]
RECOVERABLE: frozenset[FaultKind] = frozenset(
    {"timeout", "malformed", "wrong_id", "unasked", "illegal_pass", "illegal_play"}
)
"""Faults after which the bot's process can go on; `strikes` forgives only these.  [protocol 6]"""

LABEL: Final = re.compile(r"[A-Za-z0-9._-]{1,32}")
"""What a bot may be called by the organiser: safe to show anywhere, and in file names.  [protocol 4.1]"""

Then: TypeAlias = Literal["retire", "substitute", "hand", "match", "void"]
Reason: TypeAlias = Literal["target", "max_hands", "one_left", "fault", "void"]


# --- records ---------------------------------------------------------------------------------------------


class SeatRecord(Struct, frozen=True, kw_only=True):
    """Who sits where: the organiser's label, what the bot says of itself, how and where it was started.

    `files` are the directories that it needs to read beside the system's.
    """

    seat: int
    name: str
    says: str = ""
    command: tuple[str, ...] = ()
    fingerprint: str = ""
    cwd: str = ""
    files: tuple[str, ...] = ()


class MatchRecord(Struct, frozen=True, kw_only=True, tag_field="type", tag="match"):
    """The first line: all that the match was set up with."""

    log: int = 1
    arena: str
    id: str
    started: str
    seed: str
    first_hand: int = 1
    rules: Rules
    conditions: Conditions
    seats: tuple[SeatRecord, ...]


class DealRecord(Struct, frozen=True, tag_field="type", tag="deal"):
    """The cards of each seat before the pass."""

    hand: int
    dealer: int
    direction: Direction = field(name="pass")
    cards: tuple[tuple[CardName, ...], ...]


class PassRecord(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="type", tag="pass"):
    """One seat's valid pass, or the caretaker's for it."""

    hand: int
    seat: int
    cards: tuple[CardName, ...]
    us: int | None = None
    note: str | None = None
    by: Literal["referee"] | None = None


class PlayRecord(Struct, frozen=True, gc=False, omit_defaults=True, tag_field="type", tag="play"):
    """One card played, by the seat's bot or by the caretaker for it."""

    hand: int
    trick: int
    seat: int
    card: CardName
    us: int | None = None
    note: str | None = None
    by: Literal["referee"] | None = None


class FaultRecord(Struct, frozen=True, omit_defaults=True, tag_field="type", tag="fault"):
    """A bot's fault and what it cost.  Hand 0 is before the first deal; trick 0 is the pass."""

    hand: int
    trick: int
    seat: int
    kind: FaultKind
    detail: str
    then: Then
    cards: tuple[CardName, ...] | None = None
    reply: str | None = None
    us: int | None = None


class HandOverRecord(Struct, frozen=True, tag_field="type", tag="hand_over"):
    """The hand's points as scored and the totals after it."""

    hand: int
    points: tuple[int, ...]
    scores: tuple[int, ...]
    moon: int | None


class MatchOverRecord(Struct, frozen=True, tag_field="type", tag="match_over"):
    """The last line.  `ranks` is empty when the match is void."""

    reason: Reason
    ranks: tuple[int, ...]
    scores: tuple[int, ...]
    retired: tuple[int, ...]


Event: TypeAlias = (
    MatchRecord | DealRecord | PassRecord | PlayRecord | FaultRecord | HandOverRecord | MatchOverRecord
)


# --- inputs ----------------------------------------------------------------------------------------------


class Dealt(Struct, frozen=True):
    """The cards of each seat for the hand that was wanted."""

    cards: tuple[CardSet, ...]


class Answered(Struct, frozen=True, gc=False):
    """A seat's well-formed reply to what it was asked, `us` microseconds after the question was written."""

    seat: int
    message: Reply
    us: int | None = None


class Failed(Struct, frozen=True):
    """A seat's bot has not answered: what it did instead, in words, and the line it wrote if there was
    one.
    """

    seat: int
    kind: FaultKind
    detail: str
    reply: str | None = None
    us: int | None = None


Input: TypeAlias = Dealt | Answered | Failed


# --- effects ---------------------------------------------------------------------------------------------


class Record(Struct, frozen=True, gc=False):
    """Write this to the log before performing what follows."""

    event: Event


class Tell(Struct, frozen=True, gc=False):
    """Send a notice to a seat."""

    seat: int
    notice: Notice


class Ask(Struct, frozen=True, gc=False):
    """Ask a seat; `Match.request` builds the question when it is written."""

    seat: int


class WantDeal(Struct, frozen=True, gc=False):
    """Deal this hand and put it in as `Dealt`."""

    hand: int


class Restart(Struct, frozen=True, gc=False):
    """The seat plays on but its process is of no more use: start another before it is asked again."""

    seat: int


class Dismiss(Struct, frozen=True, gc=False):
    """The seat is done at this table: it has been told so and is asked nothing more."""

    seat: int


Effect: TypeAlias = Record | Tell | Ask | WantDeal | Restart | Dismiss
