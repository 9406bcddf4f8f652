"""The one loop: it drives any number of matches over any number of bot processes, and is the only place where
anything waits.

An idle process is given all that is due to it in one write; when its answers are in they advance their
matches, and what falls due next goes out.  There is no barrier across processes: a slow one holds up only its
own tables.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Final, Protocol, assert_never

import trio

from referee.game.deal import deal
from referee.game.events import (
    Ask,
    Dealt,
    Dismiss,
    Effect,
    Event,
    HandOverRecord,
    MatchRecord,
    Record,
    Restart,
    Tell,
    WantDeal,
)
from referee.game.match import Match
from referee.table.conversation import Chair, Verdicts
from referee.table.keep.launch import Exited, Failed, Keeper, Launch, Thawed
from referee.table.poller import READ, Poller
from referee.table.process import Process, Tail

_SPIN_S: Final = 20e-6
"""How long to look again before sleeping: a fast bot answers within it, and waking from sleep would cost as
much again.
"""
_YIELD_S: Final = 0.005
"""How long the loop may run without letting Trio look at signals and other tasks."""


class Log(Protocol):
    """Where a table's records go: a file, or memory for matches that are kept only once they are over."""

    def write(self, record: Event, /) -> None: ...

    def sync(self) -> None: ...


class Table:
    """A match being played: its machine, its log, and who sits in its chairs.

    `launches` say how each seat's process is started, None for a seat that has retired.  `keys` name those
    processes: tables with the same key share one, which must not see the same deal twice nor sit at a table
    twice.  `watch` sees every record after it is written.  `effects` are what the match wants done first.
    """

    def __init__(
        self,
        match: Match,
        log: Log,
        launches: Sequence[Launch | None],
        effects: Iterable[Effect],
        *,
        keys: Sequence[Hashable] | None = None,
        watch: Callable[[Event], None] | None = None,
    ) -> None:
        self.match = match
        self.log = log
        self.launches = launches
        self.effects = effects
        self.keys = keys or [(match, seat) for seat in range(match.book.seats)]
        self.watch = watch
        self.chairs = [Chair(match, seat) for seat in range(match.book.seats)]
        self.processes: dict[int, Process] = {}


class Ended:
    """What the processes of one label that have ended leave behind, however many they were."""

    def __init__(self) -> None:
        self.errors = Tail()
        self.cpu_ms = 0
        self.peak_kb = 0

    def add(self, process: Process) -> None:
        self.errors.add(bytes(process.errors))
        if process.usage:
            self.cpu_ms += process.usage.cpu_ms
            self.peak_kb = max(self.peak_kb, process.usage.peak_kb)


class Room:
    """All tables that are being played, and the processes at them."""

    def __init__(self, keeper: Keeper, clock: Callable[[], float] = time.monotonic) -> None:
        self._keeper = keeper
        self._clock = clock
        self._poller: Poller[Verdicts] = Poller()
        self._poller.watch(keeper.fileno(), READ, self._on_keeper)
        self._waiting: Iterator[Table] = iter(())
        self._next_table: Table | None = None
        self._may_seat = True
        self._tables: dict[Match, Table] = {}
        self._seated: dict[Hashable, Process] = {}
        self._processes: dict[int, Process] = {}
        self._newsy: set[Process] = set()
        self._next_alarm = 0.0
        self.ended: dict[str, Ended] = {}
        """What is left of the processes that have ended, by label."""

    async def run(self, tables: Iterable[Table]) -> None:
        """Play these matches, as many at a time as the processes take, until all are over and every process
        has ended.
        """
        self._waiting = iter(tables)
        self._next_table = next(self._waiting, None)
        try:
            await self._loop()
        finally:
            for process in self._processes.values():  # there are some if the match was broken off
                process.abandon()
            self._poller.close()

    async def _loop(self) -> None:
        clock = self._clock
        last_yield = clock()
        while True:
            now = clock()
            if self._may_seat:
                self._seat_tables(now)
            if not self._tables and not self._processes:
                return
            busy = self._turn(now)
            if now - last_yield > _YIELD_S:
                await trio.lowlevel.checkpoint()
                last_yield = now
            elif not busy and not self._spin(now):
                await self._sleep()
                last_yield = clock()

    def _turn(self, now: float) -> bool:
        """Do all that can be done now.  False if there was nothing."""
        calls = self._poller.ready()
        for call in calls:
            self._deliver(call(now))
        if now >= self._next_alarm:
            self._ring(now)
        sent = False
        for process in tuple(self._newsy):
            if process.conversation.has_news:
                sent = True
                self._deliver(process.flush(self._clock()))
                self._wake_by(process.alarm)
            elif process.conversation.silent:
                self._newsy.discard(process)
        return sent or bool(calls)

    def _spin(self, start: float) -> bool:
        """Look again for a moment.  True once something is ready."""
        clock, poll = self._clock, self._poller.peek
        while clock() - start < _SPIN_S:
            if poll():
                return True
        return False

    async def _sleep(self) -> None:
        wait = self._next_alarm - self._clock()
        with trio.move_on_after(max(wait, 0)):
            await trio.lowlevel.wait_readable(self._poller.fileno())

    # --- tables and processes ----------------------------------------------------------------------------

    def _seat_tables(self, now: float) -> None:
        """Seat the next tables, in their order, as long as their processes have a place free."""
        self._may_seat = False
        while self._next_table:
            table = self._next_table
            if not all(self._has_place(key) for key in table.keys):
                return
            self._tables[table.match] = table
            for seat, launch in enumerate(table.launches):
                if launch:
                    self._take_seat(table, seat, launch)
            self._perform(table, table.effects)
            self._next_table = next(self._waiting, None)
        for process in self._processes.values():
            if not process.chairs:
                process.leave(now)

    def _has_place(self, key: Hashable) -> bool:
        process = self._seated.get(key)
        return process is None or len(process.chairs) < process.conversation.tables

    def _take_seat(self, table: Table, seat: int, launch: Launch) -> None:
        """Put the process of this seat's key at the table, starting it if there is none."""
        key = table.keys[seat]
        process = self._seated.get(key)
        if process is None:
            header = table.match.header
            process = Process(
                header.seats[seat].name,
                launch,
                header.conditions.clock(),
                self._keeper,
                self._poller,
                self._wake_by,
            )
            process.freezes = header.conditions.freeze
            self._processes[process.key] = self._seated[key] = process
        process.chairs.add(table.chairs[seat])
        table.processes[seat] = process

    def _replace(self, table: Table, seat: int) -> None:
        """Start a seat's process anew: the old one is dead or no longer makes sense."""
        launch = table.launches[seat]
        assert launch
        self._spoil(table, seat)
        self._unseat(table, seat)
        self._take_seat(table, seat, launch)

    def _spoil(self, table: Table, seat: int) -> None:
        """Seat a process at no further table: it has failed, and the next match deserves a fresh one."""
        key = table.keys[seat]
        if self._seated.get(key) is table.processes[seat]:
            del self._seated[key]

    def _unseat(self, table: Table, seat: int) -> None:
        """A seat's process is done at this table; one that sits nowhere and is not waited for is asked to
        leave.
        """
        process, chair = table.processes[seat], table.chairs[seat]
        process.conversation.leave(chair)
        process.chairs.discard(chair)
        self._may_seat = True
        if process.gone or process.chairs:
            return
        if process.conversation.dead:
            process.kill()
        elif self._next_table is None or self._seated.get(table.keys[seat]) is not process:
            process.leave(self._clock())
        self._next_alarm = min(self._next_alarm, process.alarm)

    def _wake_by(self, alarm: float) -> None:
        self._next_alarm = min(self._next_alarm, alarm)

    def _ring(self, now: float) -> None:
        """Wake every process whose alarm has passed, and find the next alarm."""
        for process in list(self._processes.values()):
            if now >= process.alarm:
                self._deliver(process.at_alarm(now))
                self._newsy.add(process)
        self._next_alarm = min((process.alarm for process in self._processes.values()), default=math.inf)

    def _on_keeper(self, now: float) -> Verdicts:
        verdicts: Verdicts = []
        for event in self._keeper.events():
            process = self._processes.get(event.key)
            if process is None:
                continue
            if isinstance(event, Exited):
                verdicts += process.on_exit(event, now)
            elif isinstance(event, Failed):
                verdicts += process.on_start_failure(event.why)
            elif isinstance(event, Thawed):
                process.on_thaw()
                self._newsy.add(process)
            if process.gone:
                del self._processes[event.key]
                self.ended.setdefault(process.name, Ended()).add(process)
                self._newsy.add(process)
                if not process.chairs:  # it left between matches, which is no fault
                    self._seated = {
                        key: seated for key, seated in self._seated.items() if seated is not process
                    }
                    self._may_seat = True
        return verdicts

    def stderr(self) -> dict[str, bytes]:
        """What each bot has said on stderr so far, by label; the processes of one seat one after the
        other.
        """
        said = {name: bytes(ended.errors) for name, ended in self.ended.items()}
        for process in self._processes.values():
            said[process.name] = said.get(process.name, b"") + bytes(process.errors)
        return said

    # --- matches -----------------------------------------------------------------------------------------

    def _deliver(self, verdicts: Verdicts) -> None:
        """Advance the matches of one process's verdicts; what falls due to it next may then be written."""
        for chair, what in verdicts:
            match = chair.match
            self._perform(self._tables[match], match.advance(what))

    def _perform(self, table: Table, effects: Iterable[Effect]) -> None:
        """Perform what a match wants done, in its order."""
        game = table.match
        for effect in effects:
            match effect:
                case Record():  # the two that are most of all say no fields: that takes a third of the time
                    self._record(table, effect.event)
                case Ask():
                    process = table.processes[effect.seat]
                    process.conversation.ask(table.chairs[effect.seat])
                    self._newsy.add(process)
                case Tell(seat, notice):
                    process = table.processes[seat]
                    process.conversation.tell(notice)
                    self._newsy.add(process)
                case WantDeal(hand):
                    self._perform(table, game.advance(Dealt(deal(game.header.seed, hand, game.book))))
                case Restart(seat):
                    self._replace(table, seat)
                case Dismiss(seat):
                    if seat in game.retired:
                        self._spoil(table, seat)
                    self._unseat(table, seat)
                case _:
                    assert_never(effect)
        if game.end:
            self._tables.pop(game, None)

    def _record(self, table: Table, event: Event) -> None:
        table.log.write(event)
        if table.watch:
            table.watch(event)
        kind = type(event)
        if kind is HandOverRecord:
            table.log.sync()
        elif kind is MatchRecord:
            self._may_seat = True  # its processes have said how many tables they take
