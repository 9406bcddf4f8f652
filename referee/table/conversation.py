"""The conversation with one bot process as a pure machine: bytes, the clock's reading and the exit go in,
bytes to write and verdicts come out.

It owns framing, ids, the handshake, batches, deadlines and banks, and decides who is charged for what.  It
does no I/O and reads no clock: every `now` is the reading of one monotonic clock in seconds.  [protocol 2, 3,
5, 6]
"""

import math
import signal
from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct

from protocol.codec import MAX_LINE, BadLine, decode_reply, encode_all
from protocol.messages import Notice, Ready, Reply, Request
from protocol.rules import Clock
from referee.game.events import Answered, Failed, FaultKind
from referee.game.match import Match
from referee.game.views import PROTOCOL

EXIT_GRACE_S: Final = 0.1
"""How long after its stdout ended a process may take to be seen exiting, before it counts as `closed`."""

BATCH_CAP_MS: Final = 10_000
"""The most time that several requests in one write may add up to, if one turn is not more.  [protocol 5.3]"""


class Chair:
    """A seat at a table, as the process that fills it knows it: what it may be asked, and the spare time it
    has left.
    """

    __slots__ = ("bank_ms", "match", "seat")

    def __init__(self, match: Match, seat: int) -> None:
        self.match = match
        self.seat = seat
        self.bank_ms: float = match.header.conditions.bank_ms

    def debit(self, us: int) -> None:
        """Take what a turn has used over its time out of the bank.  [protocol 5.4]"""
        over_ms = us / 1000 - self.match.header.conditions.turn_ms
        self.bank_ms = max(0.0, self.bank_ms - max(0.0, over_ms))


Verdict: TypeAlias = tuple[Chair, Answered | Failed]
"""What became of something that a chair was asked."""

Verdicts: TypeAlias = list[Verdict]


class _Open(Struct, gc=False):
    """A request that waits for its answer; `wanted` is false for the invitation of a process started anew,
    which the match did not ask for.
    """

    chair: Chair
    answer: type[Reply]
    wanted: bool = True


class _Charge(NamedTuple):
    kind: FaultKind
    detail: str
    reply: str | None = None


class Conversation:
    """Everything that is said with one process in its life.

    `ask` and `tell` queue; `send` gives the bytes to write when the process is idle; `receive`,
    `end_of_output`, `exited` and `expire` take what happens.  `deadline` is when `expire` is to be called at
    the latest.  `tables` is how many tables the process plays at once, known after its first `ready`.  `dead`
    says why nothing more can come of it.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.tables = 1
        self.ready = False
        self.dead: _Charge | None = None
        self.deadline = math.inf
        self._unfinished = b""
        self._outbox: list[Request | Notice] = []
        self._due: list[Chair] = []
        self._seated: set[Chair] = set()
        self._open: dict[int, _Open] = {}
        self._late: set[int] = set()
        self._next_id = 1
        self._sent_at = 0.0
        self._debt: _Charge | None = None
        self._output_ended = False

    # --- what the match wants ----------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Whether no answer is due, so that the next requests may be written."""
        return not self._open

    @property
    def has_news(self) -> bool:
        """Whether `send` has something to say now."""
        return bool(self._outbox or (self._due and not self._open))

    @property
    def silent(self) -> bool:
        """Whether there is nothing to say, neither now nor once the process is idle."""
        return not (self._outbox or self._due)

    @property
    def asks(self) -> bool:
        """Whether `send` has a question to write now."""
        return bool(self._due and not self._open)

    @property
    def indebted(self) -> bool:
        """Whether it has spoken out of turn, which the next request will be charged for: no need to read more
        of it.
        """
        return self._debt is not None

    def ask(self, chair: Chair) -> None:
        """A question is due to this chair; it goes out when the process is idle."""
        self._due.append(chair)

    def tell(self, notice: Notice) -> None:
        """A notice goes out with the next write."""
        if self.dead is None:
            self._outbox.append(notice)

    def leave(self, chair: Chair) -> None:
        """The chair is done at its table; whatever still comes for it is late."""
        self._seated.discard(chair)
        self._due = [due for due in self._due if due is not chair]
        for id, request in list(self._open.items()):
            if request.chair is chair:
                self._abandon(id)

    # --- out ---------------------------------------------------------------------------------------------

    def send(self, now: float) -> tuple[bytes, Verdicts]:
        """The bytes to write now, and the verdicts that need no asking (a process that is gone, or that spoke
        out of turn).

        The deadline of all that is asked is fixed here.  Several requests share one: the sum of their times,
        capped.  [protocol 5]
        """
        verdicts: Verdicts = []
        if self._due and not self._open:
            charge = self.dead or self._debt
            if charge:
                self._debt = None
                verdicts = [(chair, Failed(chair.seat, *charge)) for chair in self._due]
                self._due.clear()
            else:
                self._ask_what_is_due(now)
        data = encode_all(self._outbox)
        self._outbox.clear()
        return data, verdicts

    def _ask_what_is_due(self, now: float) -> None:
        budget_ms, waiting = 0.0, []
        for chair in self._due:
            if chair in self._seated:
                ms = self.clock.turn_ms
                if chair.bank_ms and self.tables == 1:
                    ms += int(chair.bank_ms)
                match = chair.match
                self._write(chair, match.request(chair.seat, self._next_id, ms), match.stage)
                budget_ms += ms
                continue
            if not self.ready and self._open:
                waiting.append(chair)  # the first invitation goes alone
                continue
            wanted = chair.match.stage is Ready
            self._write(chair, chair.match.start_request(chair.seat, self._next_id), Ready, wanted)
            budget_ms += self.clock.turn_ms if self.ready else self.clock.start_ms
            if not wanted:
                waiting.append(chair)
        self._due = waiting
        if len(self._open) > 1:
            budget_ms = min(budget_ms, max(BATCH_CAP_MS, self.clock.turn_ms))
        self._sent_at = now
        self.deadline = now + budget_ms / 1000
        if self._output_ended:
            self.deadline = min(self.deadline, now + EXIT_GRACE_S)

    def _write(self, chair: Chair, request: Request, answer: type[Reply], wanted: bool = True) -> None:
        self._outbox.append(request)
        self._open[self._next_id] = _Open(chair, answer, wanted)
        self._next_id += 1

    # --- in ----------------------------------------------------------------------------------------------

    def receive(self, data: bytes, now: float) -> Verdicts:
        """Take bytes of its stdout."""
        verdicts: Verdicts = []
        if self._unfinished:
            data = self._unfinished + data
        *lines, self._unfinished = data.split(b"\n")
        us = round((now - self._sent_at) * 1e6)
        for line in lines:
            if self.dead:
                return verdicts
            if len(line) > MAX_LINE and len(line.removesuffix(b"\r")) > MAX_LINE:
                too_long = f"a line of {len(line)} bytes; {MAX_LINE} are allowed"
                verdicts += self._die(_Charge("too_long", too_long))
            else:
                self._take_line(line, us, verdicts)
        if len(self._unfinished) > MAX_LINE + 1 and not self.dead:
            verdicts += self._die(_Charge("too_long", f"over {MAX_LINE} bytes without a newline"))
        return verdicts

    def end_of_output(self, now: float) -> Verdicts:
        """Its stdout has ended.  If it does not exit within a moment it has closed it and lives on."""
        self._output_ended = True
        if self._open:
            self.deadline = min(self.deadline, now + EXIT_GRACE_S)
        return []

    def exited(self, status: int, why: str = "") -> Verdicts:
        """The process has ended (a negative status is a signal's number); all that it wrote has been
        received.

        `why` says for what it was ended, if it was.
        """
        detail = f"exited with status {status}" if status >= 0 else f"was ended by {_signal_name(-status)}"
        if why:
            detail = f"was ended: {why}"
        if self._unfinished:
            detail += f", in the middle of a line: {_shown(self._unfinished)}"
        return self._die(_Charge("exit", detail))

    def failed_to_start(self, why: str) -> Verdicts:
        """The process could not be started at all."""
        return self._die(_Charge("launch", why))

    def expire(self, now: float) -> Verdicts:
        """The deadline has passed and what was in the pipe has been received: what is still open has
        failed.
        """
        if now < self.deadline:
            return []
        if self._output_ended:
            return self._die(_Charge("closed", "closed its output but did not exit"))
        waited = f"no answer in {self.deadline - self._sent_at:g} s"
        if self._unfinished:
            waited += (
                f", only an unfinished line of {len(self._unfinished)} bytes: {_shown(self._unfinished)}"
            )
        if not self.ready:
            return self._die(_Charge("launch", waited.replace("answer", "ready")))
        return self._fail(list(self._open), _Charge("timeout", waited), round((now - self._sent_at) * 1e6))

    # --- judging -----------------------------------------------------------------------------------------

    def _take_line(self, line: bytes, us: int, verdicts: Verdicts) -> None:
        if self._debt:
            return
        try:
            reply = decode_reply(line)
        except BadLine as error:
            line = line.strip(b" \t\r")
            if error.id in self._late:
                self._late.discard(error.id)
            elif self._open:
                ids = [error.id] if error.id in self._open else list(self._open)
                verdicts += self._fail(ids, _Charge("malformed", str(error), _shown(line)), us)
            else:
                self._debt = _Charge("unasked", "wrote a line when nothing was asked", _shown(line))
            return
        request = self._open.pop(reply.id, None)
        if request is None:
            verdicts += self._take_stray(reply.id, line, us)
            return
        if type(reply) is not request.answer:
            self._open[reply.id] = request
            wrote, wanted = (kind.__struct_config__.tag for kind in (type(reply), request.answer))
            charge = _Charge("malformed", f"answered with a {wrote}; a {wanted} was asked for", _shown(line))
            verdicts += self._fail([reply.id], charge, us)
            return
        if not self._open:
            self.deadline = math.inf
        chair = request.chair
        if type(reply) is Ready:
            if not request.wanted and reply.protocol != PROTOCOL:
                # The match, which judges the first ready of a seat, did not ask for this one.
                self._open[reply.id] = request
                why = f"speaks protocol {reply.protocol}, not {PROTOCOL}"
                verdicts += self._die(_Charge("launch", why))
                return
            self._seat(chair, reply, request.wanted)
        elif chair.bank_ms:
            self._debit(chair, us)
        if request.wanted:
            verdicts.append((chair, Answered(chair.seat, reply, us)))

    def _seat(self, chair: Chair, ready: Ready, wanted: bool) -> None:
        """The process has sat down at a table; its first `ready` says how many it takes."""
        if not self.ready:
            self.ready = True
            self.tables = ready.tables
        self._seated.add(chair)
        if not wanted:
            chair.match.rejoin(chair.seat, ready)

    def _debit(self, chair: Chair, us: int) -> None:
        if self.tables == 1:
            chair.debit(us)

    def _take_stray(self, id: int, line: bytes, us: int) -> Verdicts:
        """A well-formed answer to nothing that is open: late, given twice, or never asked for."""
        if id in self._late:
            self._late.discard(id)
            return []
        known = 0 < id < self._next_id
        why = (
            f"a second answer to request {id}"
            if known
            else f"an answer to request {id}, which was never made"
        )
        if self._open:
            return self._fail(list(self._open), _Charge("wrong_id", why, _shown(line)), us)
        if known:
            self._debt = _Charge("wrong_id", why, _shown(line))
        else:
            self._debt = _Charge("unasked", "answered when nothing was asked", _shown(line))
        return []

    def _fail(self, ids: Iterable[int], charge: _Charge, us: int | None = None) -> Verdicts:
        """Charge these open requests; answers to them that still come are dropped."""
        verdicts: Verdicts = []
        for id in ids:
            request = self._abandon(id)
            chair = request.chair
            if not request.wanted:
                self._due = [due for due in self._due if due is not chair]
            if us is not None and request.answer is not Ready:
                self._debit(chair, us)
            verdicts.append((chair, Failed(chair.seat, *charge, us)))
        return verdicts

    def _abandon(self, id: int) -> _Open:
        request = self._open.pop(id)
        self._late.add(id)
        if not self._open:
            self.deadline = math.inf
        return request

    def _die(self, charge: _Charge) -> Verdicts:
        """Nothing more can come of this process: charge all that is open, and later all that falls due.

        Before its first `ready` whatever ends it is a failed launch.  [protocol 6.1]
        """
        if self.dead:
            return []
        if not self.ready and charge.kind in ("exit", "closed"):
            charge = charge._replace(kind="launch", detail=f"{charge.detail} before it said ready")
        self.dead = charge
        self._debt = None
        self._unfinished = b""
        self._outbox.clear()
        verdicts = self._fail(list(self._open), charge)
        self.deadline = math.inf
        return verdicts


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _shown(data: bytes | bytearray) -> str:
    """A bot's bytes as harmless text: at most 200 characters, with everything unprintable escaped."""
    text = bytes(data[:200]).decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)[
        :200
    ]
