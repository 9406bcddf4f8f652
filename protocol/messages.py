"""Every message of protocol 1, both ways, one frozen Struct each.

Field order is wire order: scalars first, then `cards` and `legal`, then whatever nests, so that a bot in C or
shell can scan a line from the left.  [protocol 3.4]
"""

from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct, field

from protocol.cards import CardName
from protocol.rules import Clock, Rules

Seat: TypeAlias = int

MAX_NOTE: Final = 500
MAX_NAME: Final = 100
MAX_WHOLE: Final = 2**53 - 1
"""The largest whole number that every language reads exactly from JSON.  [protocol 3.2]"""

Note: TypeAlias = Annotated[str, Meta(max_length=MAX_NOTE)]
SelfName: TypeAlias = Annotated[str, Meta(max_length=MAX_NAME)]
Whole: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_WHOLE)]


class Trick(Struct, frozen=True, gc=False):
    """A finished trick: who led, the cards in the order they fell, who won it.  [protocol 4.3]"""

    lead: Seat
    cards: tuple[CardName, ...]
    winner: Seat


class Passed(Struct, frozen=True, gc=False):
    """What this seat gave and got in the pass.  [protocol 4.3]"""

    to: Seat
    gave: tuple[CardName, ...]
    from_: Seat = field(name="from")
    got: tuple[CardName, ...]


# --- requests: referee to bot, with an id, answered by exactly one line ----------------------------------


class StartRequest(Struct, frozen=True, gc=False, tag_field="type", tag="start"):
    """Referee to bot: you sit down at a table; answer with `Ready`.  [protocol 4.1]"""

    id: int
    table: str
    protocol: int
    seat: Seat
    players: tuple[str, ...]
    rules: Rules
    conditions: Clock


class PassRequest(Struct, frozen=True, gc=False, tag_field="type", tag="pass"):
    """Referee to bot: choose `count` cards for seat `to`; answer with `Pass`.  [protocol 4.2]"""

    id: int
    table: str
    hand: int
    seat: Seat
    dealer: Seat
    count: int
    to: Seat
    ms: int
    cards: tuple[CardName, ...]
    scores: tuple[int, ...]


class PlayRequest(Struct, frozen=True, gc=False, tag_field="type", tag="play"):
    """Referee to bot: play one of `legal`; answer with `Play`.  [protocol 4.3]"""

    id: int
    table: str
    hand: int
    seat: Seat
    dealer: Seat
    hearts_broken: bool
    lead: Seat
    ms: int
    cards: tuple[CardName, ...]
    legal: tuple[CardName, ...]
    trick: tuple[CardName, ...]
    taken: tuple[int, ...]
    scores: tuple[int, ...]
    tricks: tuple[Trick, ...]
    passed: Passed | None


# --- notices: referee to bot, no id, no answer -----------------------------------------------------------


class HandOverNotice(Struct, frozen=True, tag_field="type", tag="hand_over"):
    """Referee to bot: the hand's points as scored, and all its tricks.  [protocol 4.4]"""

    table: str
    hand: int
    moon: Seat | None
    points: tuple[int, ...]
    scores: tuple[int, ...]
    tricks: tuple[Trick, ...]


class MatchOverNotice(Struct, frozen=True, tag_field="type", tag="match_over"):
    """Referee to bot: this table is done with you.  [protocol 4.5]"""

    table: str
    reason: str
    ranks: tuple[int, ...]
    scores: tuple[int, ...]
    retired: tuple[Seat, ...]


class PassedNotice(Struct, frozen=True, tag_field="type", tag="passed"):
    """Referee to a bot that watches: that seat has passed.  [protocol 4.6]"""

    table: str
    seat: Seat


class PlayedNotice(Struct, frozen=True, tag_field="type", tag="played"):
    """Referee to a bot that watches: that seat has played this card.  [protocol 4.6]"""

    table: str
    seat: Seat
    card: CardName


# --- replies: bot to referee -----------------------------------------------------------------------------


class Ready(Struct, frozen=True, gc=False, tag_field="type", tag="ready"):
    """Bot to referee: I sit; answers `StartRequest`.  [protocol 4.1]"""

    id: Whole
    name: SelfName
    version: SelfName
    tables: Annotated[int, Meta(ge=1, le=MAX_WHOLE)] = 1
    watch: bool = False
    protocol: Whole = 1


class Pass(Struct, frozen=True, gc=False, tag_field="type", tag="pass"):
    """Bot to referee: these cards go; answers `PassRequest`.  [protocol 4.2]"""

    id: Whole
    cards: tuple[CardName, ...]
    note: Note | None = None


class Play(Struct, frozen=True, gc=False, tag_field="type", tag="play"):
    """Bot to referee: this card; answers `PlayRequest`.  [protocol 4.3]"""

    id: Whole
    card: CardName
    note: Note | None = None


Request: TypeAlias = StartRequest | PassRequest | PlayRequest
Notice: TypeAlias = HandOverNotice | MatchOverNotice | PassedNotice | PlayedNotice
FromReferee: TypeAlias = Request | Notice
Reply: TypeAlias = Ready | Pass | Play
