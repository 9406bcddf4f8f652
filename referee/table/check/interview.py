"""One process of a bot at matches whose other seats are answered here: what is asked, what comes, what fails.

Matches, conversation, process and keeper are the real ones; only the loop that moves between them is smaller
than that of `play`, and looks closer: when time runs out it finds out why nothing came.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal

import trio
from msgspec.structs import replace

from protocol.cards import NAMES, names_of
from protocol.codec import BadLine, decode_from_referee, decode_reply, encode
from protocol.messages import Pass, PassRequest, Play, PlayRequest, Ready, StartRequest
from protocol.rules import Conditions
from referee.game.events import (
    Answered,
    Ask,
    Dealt,
    Dismiss,
    Effect,
    Failed,
    FaultRecord,
    Record,
    Restart,
    Tell,
)
from referee.game.match import Match
from referee.table.check import scenes
from referee.table.check.evidence import Silence, answer_in
from referee.table.check.page import Exchange, Page, Sitting, Wrong
from referee.table.check.scenes import SCENES, SceneName
from referee.table.check.vitals import computes, vitals
from referee.table.confine import Confinement
from referee.table.conversation import Chair, Verdicts
from referee.table.keep.launch import Exited, Keeper, Started
from referee.table.keep.launch import Failed as NotStarted
from referee.table.keep.orphans import children
from referee.table.poller import READ, Poller
from referee.table.process import LEAVE_GRACE_S, Process, Tap
from referee.table.roster import Bot

LISTEN_S: Final = 0.05
"""How long a bot is listened to when nothing is asked, for what it should not say."""
_STAGED_TRICKS: Final = 3
"""For how many tricks at least the stand-ins play as a scene wants."""
_ENOUGH_FAULTS: Final = 15
_KEEP: Final = 70_000
"""How much is kept of what came after a question: the longest line, and what stands behind it."""
_LATE_S: Final = (0.3, 2.0)
"""The least and the most time that a late answer is waited for: the turn's own, within these."""
_FLOOD_S: Final = 10.0
_FLOOD_AHEAD: Final = 65_536
_FLOOD_BYTES: Final = 20_000_000
"""Questions enough for answers that fill any buffer, a thirtieth of it: see `_reads_all`."""


class Interview:
    """A process of the bot, from its start until nothing more can be learned of it: then it is `over`.

    `page` takes what is found; `before_asking` is called before the bot is asked anything, and says whether
    this is what the page is about.
    """

    def __init__(self, bot: Bot, conditions: Conditions, confinement: Confinement, keeper: Keeper) -> None:
        self.page = Page()
        self.before_asking: Callable[[Sitting], bool] = lambda _: False
        self.over = False
        self.answered = 0
        self.start_us: int | None = None
        self.slowest: Exchange | None = None
        self.pid: int | None = None
        self.strays: set[int] = set()
        """Processes that were seen to have left the bot's own; the keeper ends them when it next looks."""
        self._bot = bot
        self._conditions = conditions
        self._confinement = confinement
        self._keeper = keeper
        self._clock = time.monotonic
        self._poller: Poller[Verdicts] = Poller()
        self._poller.watch(keeper.fileno(), READ, self._on_keeper)
        self._sittings: dict[Match, Sitting] = {}
        self._stalled: list[tuple[Sitting, Failed]] = []
        self._examined = False
        self._batch: list[Exchange] = []
        self._partial = b""
        self._rest = b""
        self._in_focus = False
        self._failed_in_a_row = 0
        self._processes: dict[int, Process] = {}
        self.process = self._launch(bot.name, self._tap)

    def close(self) -> None:
        """Give back what was opened; the keeper's owner ends the process."""
        for process in self._processes.values():
            process.abandon()
        self._poller.close()

    # --- what the steps do -------------------------------------------------------------------------------

    def sit(self, match: Match, bot: int, hands: Sequence[SceneName]) -> Sitting:
        """Ask the bot to sit down at another table."""
        sitting = self._sittings[match] = Sitting(match, bot, hands)
        self._perform(sitting, match.begin())
        return sitting

    def forget(self, sitting: Sitting) -> None:
        """A match is over."""
        self._sittings.pop(sitting.match, None)

    def deal(self, sitting: Sitting) -> None:
        """Deal the hand that is planned next."""
        match = sitting.match
        sitting.hand = sitting.hands.pop(0) if sitting.hands else "whole"
        sitting.scene = SCENES[sitting.hand](scenes.place_of(match, sitting.bot))
        self._perform(sitting, match.advance(Dealt(scenes.dealt(sitting.scene, match))))

    async def play_until(self, done: Callable[[], bool]) -> None:
        """Go on until `done`, or until nothing more can be learned."""
        while not self.over and not done():
            await self.until(lambda: done() or self.over or bool(self._stalled))
            if self._stalled:
                await self._find_out_why()

    async def listen(self, for_s: float = LISTEN_S) -> None:
        """Hear what the bot says when nothing is asked."""
        if not self.over:
            await self.until(lambda: self.process.gone, for_s)

    async def leave(self) -> float:
        """Close its stdin and see it go, or be killed for not going; how long that took, in seconds."""
        began = self._clock()
        self.process.leave(began)
        await self.until(lambda: self.process.gone)
        return self._clock() - began

    async def end(self) -> None:
        """See that the process is gone and all that it said is read."""
        if not self.process.gone:
            self.process.kill()
            await self.until(lambda: self.process.gone, LEAVE_GRACE_S)

    # --- what a match wants ------------------------------------------------------------------------------

    def _perform(self, sitting: Sitting, effects: Iterable[Effect]) -> None:
        """Perform what a match wants done; stand-ins answer at once, deals wait for the steps."""
        todo = deque(effects)
        while todo:
            match todo.popleft():
                case Record(FaultRecord() as fault) if fault.seat == sitting.bot:
                    self._note(fault, sitting.last)
                case Ask(seat) if seat != sitting.bot:
                    todo.extend(sitting.match.advance(_stand_in(sitting, seat)))
                case Ask() if not self.over:
                    self._in_focus = self.before_asking(sitting)
                    self.process.conversation.ask(sitting.chair)
                case Tell(seat, notice) if seat == sitting.bot:
                    self.process.conversation.tell(notice)
                case Dismiss(seat) if seat == sitting.bot:
                    self.process.conversation.leave(sitting.chair)
                case Restart():
                    self.over = True
                case _:
                    pass

    def _note(self, fault: FaultRecord, exchange: Exchange | None, notices: tuple[str, ...] = ()) -> None:
        """Write a fault down, unless it only follows from another: what stands behind a bad line, say."""
        if not any(wrong.exchange is exchange for wrong in self.page.wrongs):
            usage = self.process.usage
            status = usage.status if usage else None
            tables = len(self._sittings)
            self.page.wrongs.append(Wrong(fault, exchange, status, self.answered, tables, notices))
        self._failed_in_a_row += 1
        if self._failed_in_a_row >= _ENOUGH_FAULTS and not self.over:
            self.over = True
            self.page.notes.append(f"{_ENOUGH_FAULTS} faults in a row: it is not asked any more.")

    # --- what the process does ---------------------------------------------------------------------------

    def _launch(self, name: str, tap: Tap) -> Process:
        """Start a process of the bot."""
        bot = self._bot
        launch = self._confinement.launch(replace(bot.seated(0), name=name))
        clock = self._conditions.clock()
        process = Process(name, launch, clock, self._keeper, self._poller, lambda _: None, tap)
        self._processes[process.key] = process
        return process

    def _tap(self, direction: Literal["<", ">"], data: bytes) -> None:
        """See what is written to the bot and by it, and put it where it belongs."""
        if direction == ">":
            self._hear(data)
            return
        asked: list[Exchange] = []
        now = self._clock()
        for line in data.split(b"\n")[:-1]:
            message = decode_from_referee(line)
            assert message
            at_table = (each for each in self._sittings.values() if each.match.table == message.table)
            sitting = next(at_table, None)
            if sitting is None:
                continue  # a notice of a match that is over
            if isinstance(message, StartRequest | PassRequest | PlayRequest):
                limit_s = round(self.process.conversation.deadline - now, 2)
                sitting.last = Exchange(message, line, now, limit_s)
                asked.append(sitting.last)
            elif sitting.last:
                sitting.last.notices.append(str(message.__struct_config__.tag))
        if asked:
            self._batch, self._partial = asked, b""
            self.page.exchanges += asked
            self.page.focus += asked[:1] if self._in_focus else []
            asked[0].came += self._rest
        for exchange in asked:
            exchange.batch = len(asked)

    def _hear(self, data: bytes) -> None:
        """Keep what came with the question that it answers, as far as that can be seen."""
        self._rest = (self._rest + data).rpartition(b"\n")[2][-_KEEP:]
        if len(self._batch) < 2:
            lines = [data]
        else:
            *lines, self._partial = (self._partial + data).split(b"\n")
            lines = [line + b"\n" for line in lines]
        for line in lines:
            came = self._batch[_place_in(self._batch, line)].came if self._batch else bytearray()
            came += line[: max(0, _KEEP - len(came))]

    def _take(self, verdicts: Verdicts) -> None:
        """Bring the conversation's verdicts to their matches; silence is looked into first."""
        stray = None if self._examined else self._stray()
        for chair, what in verdicts:
            sitting = self._sittings.get(chair.match)
            if sitting is None or chair is not sitting.chair:
                continue
            if isinstance(what, Failed) and _is_silence(what):
                self._stalled.append((sitting, what))
            else:
                self._deliver(sitting, what)
        if stray:
            self._note(*stray)

    def _deliver(self, sitting: Sitting, what: Answered | Failed) -> None:
        exchange = sitting.last
        if isinstance(what, Answered) and exchange:
            self.answered += 1
            self._failed_in_a_row = 0
            exchange.us = what.us
            slowest = self.slowest.us if self.slowest else None
            if self.start_us is None:
                self.start_us = what.us
            elif exchange.batch == 1 and (what.us or 0) > (slowest or -1):
                self.slowest = exchange
        self._perform(sitting, sitting.match.advance(what))

    def _stray(self) -> tuple[FaultRecord, Exchange | None, tuple[str, ...]] | None:
        """The fault of words out of turn: charged at once, to a question that nobody asks, it spoils none."""
        conversation = self.process.conversation
        if not conversation.indebted or conversation.has_news or not self._sittings:
            return None
        sitting = next(iter(self._sittings.values()))
        conversation.ask(Chair(sitting.match, sitting.bot))
        [(_, what)] = conversation.send(self._clock())[1]
        assert isinstance(what, Failed)
        hand = sitting.match.hand_number
        fault = FaultRecord(hand, 0, sitting.bot, what.kind, what.detail, "substitute", reply=what.reply)
        exchange = self._batch[-1] if self._batch else None
        return fault, exchange, tuple(exchange.notices if exchange else ())

    def _on_keeper(self, now: float) -> Verdicts:
        verdicts: Verdicts = []
        for event in self._keeper.events():
            process = self._processes[event.key]
            if isinstance(event, Started) and process is self.process:
                self.pid = event.pid
            elif isinstance(event, Exited):
                process.on_output(now)  # its last words are heard even when the conversation is over
                verdicts += process.on_exit(event, now)
            elif isinstance(event, NotStarted):
                verdicts += process.on_start_failure(event.why)
        return verdicts

    # --- waiting -----------------------------------------------------------------------------------------

    async def until(self, done: Callable[[], bool], limit_s: float = math.inf) -> None:
        """Move bytes until `done`, or for so long."""
        end = self._clock() + limit_s
        while True:
            await trio.lowlevel.checkpoint()
            self._turn()
            if done() or self._clock() >= end:
                return
            if self.process.conversation.has_news:
                continue
            alarms = [process.alarm for process in self._processes.values() if not process.gone]
            with trio.move_on_after(max(0, min(end, *alarms, math.inf) - self._clock())):
                await trio.lowlevel.wait_readable(self._poller.fileno())

    def _turn(self) -> None:
        """Do all that can be done now.  A bot may answer meanwhile, so the clock is read again and again."""
        if self.process.conversation.has_news:
            self._take(self.process.flush(self._clock()))
        for call in self._poller.ready():
            self._take(call(self._clock()))
        if self.pid and not self.process.gone:
            self.strays.update(pid for pid in children(self._keeper.pid) if pid != self.pid)
        now = self._clock()
        for process in list(self._processes.values()):
            if now >= process.alarm:
                self._take(process.at_alarm(now))

    # --- why nothing comes -------------------------------------------------------------------------------

    async def _find_out_why(self) -> None:
        """Time is up: wait for a late answer, look at the process, then close its stdin and listen."""
        stalled, self._stalled = self._stalled, []
        self._examined = True
        process, asked = self.process, [sitting.last for sitting, _ in stalled if sitting.last]
        began = self._clock()
        silence = Silence(asked[0].limit_s)

        def answered() -> bool:
            return any(answer_in(bytes(exchange.came), exchange.request.id) for exchange in asked)

        before = vitals(self.pid) if self.pid else None
        least, most = _LATE_S
        await self.until(lambda: answered() or process.gone, min(max(silence.waited_s, least), most))
        after = vitals(self.pid) if self.pid else None
        if before and after:
            silence.stopped, silence.memory_mb = after.stopped, after.memory_mb
            silence.hears, silence.speaks = after.hears, after.speaks
            silence.busy = computes(before, after, self._clock() - began)
        exited = process.gone
        if answered():
            silence.late_s = self._clock() - asked[0].asked_at
        elif not exited:
            self.over = True
            silence.unread = process.unread or 0
            silence.hears = silence.hears and process.unread is not None
            heard = [len(exchange.came) for exchange in asked]
            took_s = await self.leave()
            silence.left = took_s < LEAVE_GRACE_S
            silence.answered = answered()
            parts = [bytes(exchange.came[at:]) for exchange, at in zip(asked, heard, strict=True)]
            silence.after = b"".join(parts)
            if silence.answered and not self.answered:
                silence.read_all = await self._reads_all()
        self.over = self.over or exited or process.conversation.dead is not None
        self._examined = False
        stray = self._stray()
        for sitting, failed in stalled:
            if sitting.last and not exited:
                sitting.last.silence = silence
            self._deliver(sitting, failed)
        if stray:
            self._note(*stray)

    async def _reads_all(self) -> bool | None:
        """Whether a fresh process of the bot reads on and on, and answers nothing before its input ends.

        A program that does not flush would have filled its buffer by then, and something would have come.
        None if it has ended, or has not read enough to tell.
        """
        heard = False

        def tap(direction: Literal["<", ">"], _: bytes) -> None:
            nonlocal heard
            heard = heard or direction == ">"

        process = self._launch(f"{self._bot.name[:28]}-2", tap)
        sitting = next(iter(self._sittings.values()))
        end = self._clock() + _FLOOD_S
        sent = number = 0
        while not heard and not process.gone and self._clock() < end and sent < _FLOOD_BYTES:
            while sent < _FLOOD_BYTES and process.unread is not None and process.unread < _FLOOD_AHEAD:
                number += 1
                request = sitting.match.start_request(sitting.bot, number)
                process.conversation.tell(request)  # type: ignore[arg-type]  # its answer is not waited for
                process.flush(self._clock())
                sent += len(encode(request))
            await self.until(lambda: heard or process.gone, 0.001)
        told = heard or (sent >= _FLOOD_BYTES and not process.gone)
        process.kill()
        await self.until(lambda: process.gone, LEAVE_GRACE_S)
        return not heard if told else None


def _stand_in(sitting: Sitting, seat: int) -> Answered:
    """What the stand-in in this seat answers now."""
    match = sitting.match
    if match.stage is Ready:
        return Answered(seat, Ready(1, "stand-in", "1"))
    if match.stage is Pass:
        return Answered(seat, Pass(1, names_of(scenes.given(sitting.scene, match, seat))))
    staged = sitting.staged or len(match.hand.tricks) < _STAGED_TRICKS
    return Answered(seat, Play(1, NAMES[scenes.played(sitting.scene if staged else None, match, seat)]))


def _is_silence(failed: Failed) -> bool:
    """Whether its time ran out, and not something else happened."""
    return failed.kind == "timeout" or (failed.kind == "launch" and failed.detail.startswith("no ready in"))


def _place_in(batch: Sequence[Exchange], line: bytes) -> int:
    """Which question of a batch a line answers; the last if it names none of them."""
    try:
        id = decode_reply(line.strip()).id
    except BadLine as error:
        id = error.id or 0
    return next((at for at, exchange in enumerate(batch) if exchange.request.id == id), -1)
