"""The log played again: its lines folded through the same match machine that wrote them, naming the first
that does not follow.  [match log 4]
"""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from protocol.cards import CardName, set_of
from protocol.messages import Pass, Play, Ready
from referee.game.deal import deal
from referee.game.events import (
    LABEL,
    Answered,
    DealRecord,
    Dealt,
    Effect,
    Event,
    Failed,
    FaultRecord,
    Input,
    MatchRecord,
    PassRecord,
    PlayRecord,
    Record,
)
from referee.game.match import Match, OutOfTurn
from referee.record.match_log import LogError, LogFile, LogLine, Remark


class Replayed(NamedTuple):
    """How far a log goes: the machine after its last whole step, the bytes of it that stand, and the records
    that its last step still owes it.
    """

    match: Match
    length: int
    owed: list[Event]


def replay(log: LogFile, *, check_deals: bool = True) -> Replayed:
    """Fold a log through the match machine.

    Raises LogError naming the first line that does not follow.  With `check_deals` each deal must be the one
    that the seed gives.
    """
    return _Fold(log, check_deals).run()


class _Fold:
    def __init__(self, log: LogFile, check_deals: bool) -> None:
        self.log = log
        self.check_deals = check_deals
        self.lines = deque(line for line in log.lines if not isinstance(line.record, Remark))
        self.owed: deque[Event] = deque()
        self._check_header(log.header)
        blank = tuple(replace(seat, says="") for seat in log.header.seats)
        try:
            self.match = Match(replace(log.header, seats=blank))
        except ValueError as error:
            raise self._error(1, str(error)) from None

    def _check_header(self, header: MatchRecord) -> None:
        """What the machine does not ask of a header."""
        labels = [seat.name for seat in header.seats]
        for label in labels:
            if not LABEL.fullmatch(label):
                raise self._error(
                    1, f"{label!r} is no label: 1 to 32 letters, digits, dots, dashes and underscores"
                )
            if labels.count(label) > 1:
                raise self._error(1, f"two seats have the label {label}")
        if header.first_hand < 1:
            raise self._error(1, f"first_hand is {header.first_hand}; hands are counted from 1")

    def run(self) -> Replayed:
        self.match.begin()
        self._start()
        while self.lines and not self.match.end:
            step = self._next_step()
            if step is None:
                return Replayed(self.match, self.lines[0].offset, [])
            for number, what in step:
                self._feed(number, what)
            self._compare()
        if self.lines:
            raise self._error(self.lines[0].number, "the match is over before it")
        return Replayed(self.match, self._end_of_last_line(), list(self.owed))

    def _start(self) -> None:
        """The handshake: the header says who was ready, and faults of hand 0 who was not."""
        failed = {}
        for line in self.lines:
            if not isinstance(line.record, FaultRecord) or line.record.hand:
                break
            failed[line.record.seat] = line.record
        for seat in self.log.header.seats:
            fault = failed.get(seat.seat)
            if fault:
                self._feed(1, _failure(fault))
            elif not seat.says:
                raise self._error(1, f"seat {seat.seat} never sat down, so there is no match to follow")
            else:
                name, _, version = seat.says.rpartition(" ")
                self._feed(1, Answered(seat.seat, Ready(0, name, version)))
        header = self.owed.popleft()
        if header != self.log.header:
            raise self._error(1, "its seats do not say what they said when they sat down")
        self._compare()

    def _next_step(self) -> list[tuple[int, Input]] | None:
        """The inputs behind the next lines, or None if the log ends within a pass, which is then to be made
        again.
        """
        line = self.lines[0]
        match, record = self.match, line.record
        if match.wants_deal:
            if not isinstance(record, DealRecord):
                raise self._error(line.number, f"the deal of hand {match.hand_number} should stand here")
            return [(line.number, self._dealt(line, record))]
        if match.stage is Play:
            return [(line.number, self._played(line))]
        inputs: dict[int, tuple[int, Input]] = {}
        for line in self.lines:
            record = line.record
            seat = getattr(record, "seat", None)
            if seat not in match.awaiting or seat in inputs or getattr(record, "by", None):
                waiting = sorted(match.awaiting - inputs.keys())
                raise self._error(line.number, f"the pass of seat {waiting[0]} should stand here")
            inputs[seat] = line.number, self._passed(line)
            if len(inputs) == len(match.awaiting):
                return [inputs[seat] for seat in sorted(inputs)]
        return None

    def _dealt(self, line: LogLine, record: DealRecord) -> Dealt:
        seed, hand = self.match.header.seed, self.match.hand_number
        held = tuple(set_of(cards) for cards in record.cards)
        if self.check_deals and held != deal(seed, hand, self.match.book):
            raise self._error(line.number, f"the cards are not those that the seed deals for hand {hand}")
        return Dealt(held)

    def _passed(self, line: LogLine) -> Input:
        record = line.record
        if isinstance(record, PassRecord):
            if set_of(record.cards) & ~self.match.dealt[record.seat]:
                raise self._error(line.number, f"seat {record.seat} does not hold all of these cards")
            return Answered(record.seat, Pass(0, record.cards, record.note), record.us)
        if not isinstance(record, FaultRecord):
            raise self._error(line.number, "a pass or a fault should stand here")
        if record.kind == "illegal_pass":
            return Answered(record.seat, Pass(0, self._offered(line, record)), record.us)
        if record.kind == "illegal_play":
            raise self._error(line.number, "cards are passed here, and none are played")
        return _failure(record)

    def _played(self, line: LogLine) -> Input:
        record = line.record
        if isinstance(record, PlayRecord) and not record.by:
            return Answered(record.seat, Play(0, record.card, record.note), record.us)
        if isinstance(record, FaultRecord):
            if record.kind == "illegal_play":
                return Answered(record.seat, Play(0, self._offered(line, record)[0]), record.us)
            if record.kind == "illegal_pass":
                raise self._error(line.number, "cards are played here, and none are passed")
            return _failure(record)
        raise self._error(line.number, f"seat {self.match.hand.turn} should play a card here")

    def _offered(self, line: LogLine, record: FaultRecord) -> tuple[CardName, ...]:
        """The cards of an illegal pass or play, to be judged again instead of believed."""
        if record.cards is None or (not record.cards and record.kind == "illegal_play"):
            raise self._error(line.number, f"the cards of this {record.kind} are missing")
        return record.cards

    def _feed(self, number: int, what: Input) -> None:
        try:
            effects = self.match.advance(what)
        except OutOfTurn as error:
            raise self._error(number, str(error)) from None
        self.owed.extend(_records(effects))

    def _compare(self) -> None:
        """Hold what the machine records against the lines of the log."""
        while self.owed and self.lines:
            line, due = self.lines.popleft(), self.owed.popleft()
            if line.record != due:
                raise self._error(line.number, f"it should read {msgspec.json.encode(due).decode()}")

    def _end_of_last_line(self) -> int:
        *_, last = [0, *(line.offset for line in self.log.lines)]
        data = self.log.path.read_bytes()
        end = data.find(b"\n", last)
        return len(data) if end < 0 else end + 1

    def _error(self, number: int, why: str) -> LogError:
        return LogError(f"{self.log.path} line {number} does not follow: {why}.")


def _failure(record: FaultRecord) -> Failed:
    return Failed(record.seat, record.kind, record.detail, record.reply, record.us)


def _records(effects: list[Effect]) -> Iterator[Event]:
    for effect in effects:
        if isinstance(effect, Record):
            yield effect.event
