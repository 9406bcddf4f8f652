"""A batch of whole deals played in one process: tasks go in, rows, logs and payoffs come out.

Everything stays in memory until all matches of all its deals are over, so nobody can read anything of a deal
while some bot may still meet its cards.  The lanes of a batch, in which the same cards come again, are played
one after the other, each by processes of its own; within a lane a bot's process plays as many matches, and as
many at a time, as it takes.
"""

from __future__ import annotations

import gzip
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from hashlib import sha256
from itertools import accumulate, count
from pathlib import Path
from socket import gethostname
from typing import Final, TypeAlias

import msgspec
import trio
from msgspec import Struct
from msgspec.structs import replace

import referee
from protocol.messages import Ready
from referee.errors import ArenaError
from referee.game.events import Answered, Event, Failed, FaultRecord, MatchOverRecord, MatchRecord
from referee.game.match import Match
from referee.game.rulebook import rulebook
from referee.record.match_log import LogRecord, MemoryLog, utc_now
from referee.table.confine import Confinement
from referee.table.keep.launch import Keeper, Launch
from referee.table.play import Room, Table
from referee.table.roster import Bot, find_bot
from referee.tournament.plan import Plan
from referee.tournament.results import DealSummary, Result, charged, result_of
from referee.tournament.schedule import Chair, PlannedMatch, Schedule

STAND_IN: Final = "duck"
"""The bundled bot that takes the chair of one that cannot be started."""

TRIES: Final = 3
"""A bot that could not be started so many times in a batch is not tried again in it."""

_STDERR_KEPT: Final = 16_384
_BUNDLE: Final = 64
"""How many logs are compressed together: they are much alike, so it takes half the room and half the time."""

MatchRow: TypeAlias = tuple[str, str, int, str, str, str, str, str, str, str]
"""A row of the table `match`, in the order of its columns."""
LineupRow: TypeAlias = tuple[str, str, str, str]
"""A row of the table `lineup`, but for `counts`."""


class Task(Struct, frozen=True, kw_only=True):
    """Deals to be played, by their numbers in the plan.

    `bots` are those of the plan, in its order.  On another machine (`elsewhere`) they are looked for anew,
    and must have the content that the plan says.  No bot may read what is `private`.
    """

    plan: Plan
    deals: tuple[int, ...]
    bots: tuple[Bot, ...]
    private: tuple[str, ...] = ()
    elsewhere: bool = False


class Bundle(Struct, frozen=True):
    """Logs one after the other, in the format of gzip, and where in them each match's begins and ends."""

    gz: bytes
    places: tuple[tuple[str, int, int], ...]


class Payoff(Struct, frozen=True):
    """What one deal paid each bot a hand, and what it would have by the points as played."""

    deal: int
    payoffs: dict[str, float]
    played: dict[str, float]


class Played(Struct, frozen=True, kw_only=True):
    """What a task leaves: rows for the database, the logs, and what was seen on the way."""

    matches: tuple[MatchRow, ...]
    lineups: tuple[LineupRow, ...]
    logs: tuple[Bundle, ...]
    payoffs: tuple[Payoff, ...]
    faults: dict[str, dict[str, int]]
    stderr: dict[str, bytes]
    hands: int
    seconds: float


def rules_hash(plan: Plan) -> str:
    """The hash of the rules that a plan's matches are played by: what `lineup.rules` holds."""
    return sha256(msgspec.json.encode(plan.match_rules)).hexdigest()[:16]


def lineup_of(plan: Plan, seats: tuple[str, ...]) -> LineupRow:
    """The line-up of these bots: who they are, what they are made of, and the rules they play by."""
    prints = {bot.name: bot.fingerprint for bot in plan.bots}
    labels, content, rules = as_json(seats), as_json([prints[bot] for bot in seats]), rules_hash(plan)
    return sha256(f"{labels}{content}{rules}".encode()).hexdigest()[:16], labels, content, rules


def row_of(
    planned: PlannedMatch, result: Result, lineup: str, stand_ins: Sequence[int], played: str
) -> MatchRow:
    """The row that a match leaves; `played` is when its batch was."""
    return (
        planned.id,
        planned.seed,
        planned.first_hand,
        lineup,
        as_json(result.hands),
        as_json(result.retired),
        as_json(stand_ins),
        as_json(result.faults),
        as_json(result.us),
        played,
    )


def play(task: Task) -> Played:
    """Play a task.  Raises ArenaError if this machine cannot."""
    began = time.perf_counter()
    batch = _Batch(replace(task, bots=_bots_here(task)) if task.elsewhere else task)
    trio.run(batch.play)
    return batch.outcome(time.perf_counter() - began)


class _Log(MemoryLog):
    """A log in memory that also keeps the records, and says when the match is over."""

    def __init__(self, done: partial[None]) -> None:
        super().__init__()
        self.events: list[Event] = []
        self._done = done

    def write(self, record: LogRecord) -> None:
        super().write(record)
        self.events.append(record)  # type: ignore[arg-type]
        if type(record) is MatchOverRecord:
            self._done(self)


class _Batch:
    """One task being played."""

    def __init__(self, task: Task) -> None:
        self._plan = task.plan
        self._bots = {bot.name: bot for bot in task.bots}
        self._private = [Path(name) for name in task.private]
        self._schedule = Schedule(task.plan)
        self._deals = [self._schedule.of_deal(deal) for deal in task.deals]
        self._rules = task.plan.match_rules
        places = range(self._rules.players)
        self._seats = {name: [bot.seated(seat) for seat in places] for name, bot in self._bots.items()}
        self._book = rulebook(self._rules)
        self._number = {name: number for number, name in enumerate(self._bots)}
        self._launch_failures: Counter[str] = Counter()
        self._says: dict[str, Ready] = {}
        # What was voided for want of a bot: the seats that need a stand-in, and what has happened so far.
        self._absent: dict[str, set[int]] = defaultdict(set)
        self._before: dict[str, list[_Log]] = defaultdict(list)
        self._again: list[PlannedMatch] = []
        self._results: dict[str, Result] = {}
        self._logs: list[tuple[str, bytes]] = []
        self._stderr: dict[str, bytes] = {}
        self._table_number = count(1)

    async def play(self) -> None:
        """Play all lanes."""
        conditions = self._plan.conditions
        seats = [bot.seated(number) for number, bot in enumerate(self._bots.values())]
        with Confinement(conditions, seats, self._private) as confinement, Keeper.start() as keeper:
            for lane in range(self._schedule.lanes):
                # In the order of their ids, another in each lane: the number of a table tells nothing.
                matches = sorted((deal[lane] for deal in self._deals), key=lambda match: match.id)
                while matches:
                    room = Room(keeper)
                    await room.run(self._tables(matches, confinement))
                    self._keep_stderr(room)
                    matches, self._again = self._again, []

    def outcome(self, seconds: float) -> Played:
        """What has been played."""
        payoffs = []
        for deal in self._deals:
            summary = DealSummary((self._results[match.id] for match in deal), self._book.pack_points)
            payoffs.append(Payoff(deal[0].deal, summary.payoffs, summary.played))
        faults: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for result in self._results.values():
            for fault in result.faults:
                faults[result.seats[fault.seat]][fault.kind] += 1
        of_seats: dict[tuple[str, ...], LineupRow] = {}
        rows, now = [], utc_now()
        for match in (match for deal in self._deals for match in deal):
            result = self._results[match.id]
            if result.seats not in of_seats:
                of_seats[result.seats] = lineup_of(self._plan, result.seats)
            lineup = of_seats[result.seats][0]
            rows.append(row_of(match, result, lineup, sorted(self._absent.get(match.id, ())), now))
        return Played(
            matches=tuple(rows),
            lineups=tuple(of_seats.values()),
            logs=tuple(bundles(self._logs)),
            payoffs=tuple(payoffs),
            faults={bot: dict(kinds) for bot, kinds in faults.items()},
            stderr={bot: said for bot, said in self._stderr.items() if said and bot in faults},
            hands=sum(len(result.hands) for result in self._results.values()),
            seconds=seconds,
        )

    # --- tables ------------------------------------------------------------------------------------------

    def _tables(self, matches: Iterable[PlannedMatch], confinement: Confinement) -> Iterator[Table]:
        """The tables at which these matches are played, each made when there is room for it."""
        launches: dict[tuple[Chair, bool], Launch] = {}
        for planned in matches:
            self._give_up(planned)
            absent = self._absent.get(planned.id, set())
            keys = [(chair, seat in absent) for seat, chair in enumerate(planned.seats)]
            header = self._header(planned)
            for key, seat in zip(keys, header.seats, strict=True):
                if key not in launches:
                    launches[key] = confinement.launch(replace(seat, seat=self._number[seat.name]))
            match = Match(header, str(next(self._table_number)))
            log = _Log(partial(self._match_over, planned))
            yield Table(match, log, [launches[key] for key in keys], match.begin(), keys=keys)

    def _header(self, planned: PlannedMatch) -> MatchRecord:
        absent = self._absent.get(planned.id, set())
        return MatchRecord(
            arena=referee.__version__,
            id=planned.id,
            started=utc_now(),
            seed=planned.seed,
            first_hand=planned.first_hand,
            rules=self._rules,
            conditions=self._plan.conditions,
            seats=tuple(
                _stand_in(chair.bot).seated(seat) if seat in absent else self._seats[chair.bot][seat]
                for seat, chair in enumerate(planned.seats)
            ),
        )

    def _match_over(self, planned: PlannedMatch, log: _Log) -> None:
        """Keep what a match was, or have it played again with stand-ins if a bot did not sit down."""
        header, *_, end = log.events
        assert isinstance(header, MatchRecord)
        assert isinstance(end, MatchOverRecord)
        missing = {
            event.seat: event for event in log.events if isinstance(event, FaultRecord) and not event.hand
        }
        absent = self._absent.get(planned.id, set())
        for seat in header.seats:
            if seat.says and seat.seat not in absent:
                name, _, version = seat.says.rpartition(" ")
                self._says[seat.name] = Ready(0, name, version)
        if end.reason == "void" and missing:
            for seat_number, fault in missing.items():
                if seat_number in absent:
                    raise ArenaError(f"Not even a stand-in can be started: {fault.detail}.")
                self._launch_failures[planned.seats[seat_number].bot] += 1
            self._absent[planned.id] |= missing.keys()
            self._before[planned.id].append(log)
            self._again.append(planned)
            return
        result = result_of(log.events)
        before = self._before.pop(planned.id, [])
        if absent:
            faults = [fault for earlier in before for fault in result_of(earlier.events).faults]
            us = tuple(0 if seat in absent else used for seat, used in enumerate(result.us))
            result = replace(charged(result, absent), faults=(*faults, *result.faults), us=us)
        self._results[planned.id] = result
        self._logs.append((planned.id, b"".join(one.data for one in (*before, log))))

    def _give_up(self, planned: PlannedMatch) -> None:
        """Charge bots that could not be started again and again, without waiting for them once more."""
        absent = self._absent.get(planned.id, set())
        hopeless = {
            seat
            for seat, chair in enumerate(planned.seats)
            if seat not in absent and self._launch_failures[chair.bot] >= TRIES
        }
        if not hopeless:
            return
        log = _Log(partial(_pass_over, planned))
        match = Match(self._header(planned))
        for effect in match.begin():
            seat = effect.seat  # type: ignore[union-attr]
            name = planned.seats[seat].bot
            answer: Answered | Failed = Answered(seat, self._says.get(name) or Ready(0, "not-asked", "-"))
            if seat in hopeless:
                detail = f"did not sit down {TRIES} times in this batch, and was not tried again"
                answer = Failed(seat, "launch", detail)
            for record in match.advance(answer):
                if event := getattr(record, "event", None):
                    log.write(event)
        self._absent[planned.id] |= hopeless
        self._before[planned.id].append(log)

    def _keep_stderr(self, room: Room) -> None:
        for name, said in room.stderr().items():
            self._stderr[name] = (self._stderr.get(name, b"") + said)[:_STDERR_KEPT]


@cache
def _stand_in(name: str) -> Bot:
    """The bot that sits in for the one of this name."""
    return replace(find_bot(STAND_IN), name=name)


def _pass_over(_planned: PlannedMatch, _log: _Log) -> None:
    """What is to be done when a match that nobody played is over: nothing."""


def _bots_here(task: Task) -> tuple[Bot, ...]:
    """The plan's bots as this machine has them.  Raises ArenaError for one that is missing, or is another."""
    found = []
    for entrant, bot in zip(task.plan.bots, task.bots, strict=True):
        if entrant.name in task.plan.withdrawn:
            found.append(bot)
            continue
        try:
            here = find_bot(entrant.run or entrant.name, sandbox=task.plan.conditions.sandbox)
        except ArenaError as error:
            raise ArenaError(f"On {gethostname()} the bot {entrant.name} is missing. {error}") from None
        if here.fingerprint != entrant.fingerprint:
            raise ArenaError(
                f"On {gethostname()} the bot {entrant.name} ({entrant.run}) is not what it is where the "
                "tournament runs; copy it there again."
            )
        found.append(replace(here, name=entrant.name))
    return tuple(found)


def bundles(logs: Sequence[tuple[str, bytes]]) -> Iterator[Bundle]:
    """These logs by match id, many to a bundle."""
    for first in range(0, len(logs), _BUNDLE):
        some = logs[first : first + _BUNDLE]
        ends = list(accumulate(len(log) for _, log in some))
        places = tuple((match, end - len(log), end) for (match, log), end in zip(some, ends, strict=True))
        yield Bundle(gzip.compress(b"".join(log for _, log in some), 2, mtime=0), places)


def as_json(value: object) -> str:
    """A value as a column of the database holds it."""
    return msgspec.json.encode(value).decode()
