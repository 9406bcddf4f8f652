"""`arena check`: a bot is led through scripted situations, and told at each what it did wrong.

The bot sits in one seat of real matches.  The deals come from `scenes`, one process is talked to by
`interview`, the words about faults are from `diagnosis`; how all that looks on a screen is not known here.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Final, Literal, assert_never

from msgspec import Struct
from msgspec.structs import replace

import referee
from protocol.messages import Ready
from protocol.rules import Conditions, Rules
from referee.game.events import MatchRecord, SeatRecord
from referee.game.match import Match
from referee.game.rulebook import rulebook
from referee.table.check import scenes
from referee.table.check.evidence import Diagnosis, answer_in
from referee.table.check.interview import LISTEN_S, Interview
from referee.table.check.page import Exchange, Page, Sitting, Wrong
from referee.table.check.scenes import MOMENTS, SCENES, MomentName, SceneName
from referee.table.check.vitals import computes, family, vitals
from referee.table.confine import Confinement
from referee.table.keep.launch import Exited, Keeper
from referee.table.process import LEAVE_GRACE_S
from referee.table.roster import Bot

_TABLES: Final = 8
"""How many tables are tried at most; what plays eight at once plays more."""
_MANY: Final = 10
_STDERR_KEPT: Final = 131_072

StepName = Literal["start", "again", "tables", "leave"] | MomentName
State = Literal["fine", "wrong", "not reached", "did not come"]


class Step(Page, eq=False, kw_only=True):
    """One situation, and what came of it.  `hand` is the hand in which it comes, if it comes in one."""

    name: StepName
    title: str
    hand: SceneName | None = None
    number: int = 0
    state: State = "not reached"
    stderr: bytes = b""


class Report(Struct, eq=False):
    """Everything that was found out about a bot."""

    name: str
    steps: list[Step] = []
    tables: int = 1
    start_us: int | None = None
    slowest: Exchange | None = None
    usage: Exited | None = None

    @property
    def failed(self) -> list[Step]:
        return [step for step in self.steps if step.state == "wrong"]

    @property
    def fine(self) -> bool:
        return not self.failed


Watch = Callable[[Step], None]
"""Is shown each step when it is over."""


async def check(bot: Bot, rules: Rules, conditions: Conditions, watch: Watch) -> Report:
    """Lead a fresh process of the bot through every situation that these rules have.

    A fault is charged as under `substitute`, so that it goes on; it stops where nothing more can be learned.
    Nothing of the bot is left when this returns or raises.
    """
    conditions = replace(conditions, on_fault="substitute", strikes=0)
    with ExitStack() as stack:
        confinement = stack.enter_context(Confinement(conditions))
        keeper = stack.enter_context(Keeper.start())
        interview = Interview(bot, conditions, confinement, keeper)
        stack.callback(interview.close)
        return await _Course(bot.name, rules, conditions, interview, watch).run()


class _Course:
    """The steps, one after the other."""

    def __init__(
        self,
        name: str,
        rules: Rules,
        conditions: Conditions,
        interview: Interview,
        watch: Watch,
    ) -> None:
        self.report = Report(name)
        self._rules = rules
        self._conditions = conditions
        self._interview = interview
        self._watch = watch
        self._opened = 0
        self._hands, steps = plan(rules)
        self._ahead = [Step(name="start", title="It starts and says ready"), *steps]
        self._step = Step(name="start", title="")
        self._number_steps()
        self._stderr_before = 0
        interview.before_asking = self._reach

    async def run(self) -> Report:
        """All steps, as far as the bot gets."""
        interview, report = self._interview, self.report
        self._begin()
        if await self._sit_down():
            await self._first_match()
            await self._second_match()
            await self._many_tables()
            await self._leave()
        await interview.end()
        self._end()
        while self._ahead:
            self._close(self._ahead.pop(0))
        report.start_us, report.slowest = interview.start_us, interview.slowest
        report.usage = interview.process.usage
        return report

    # --- from step to step -------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Go to the next step."""
        self._end()
        self._step = self._interview.page = self._ahead.pop(0)
        self._step.state = "fine"
        self._stderr_before = self._interview.process.errors.total

    def _end(self) -> None:
        """Say what was wrong in the step: all that the bot wrote in it is known now."""
        step, errors = self._step, self._interview.process.errors
        if step.state == "not reached" or step in self.report.steps:
            return
        said, new = bytes(errors), errors.total - self._stderr_before
        step.stderr = said[-new:] if new else b""
        step.diagnose(said)
        if step.wrongs:
            step.state = "wrong"
        self._close(step)

    def _close(self, step: Step) -> None:
        self.report.steps.append(step)
        self._watch(step)

    def _number_steps(self) -> None:
        for number, step in enumerate(self._ahead, self._step.number + 1):
            step.number = number

    def _reach(self, sitting: Sitting) -> bool:
        """Begin the next step if its situation has come.  Whether the step's is what is to be asked now."""
        if sitting.match.stage is Ready or self._interview.process.gone:
            return False
        if self._ahead and _comes(self._ahead[0], sitting):
            self._begin()
        sitting.staged = bool(self._ahead) and self._ahead[0].hand == sitting.hand
        most = 2 if self._step.name == "void" else 1
        return len(self._step.focus) < most and _comes(self._step, sitting)

    # --- the steps ---------------------------------------------------------------------------------------

    async def _sit_down(self) -> bool:
        """It says ready.  One whose first answer was bad but that lives is asked once more."""
        interview = self._interview
        for _ in range(2):
            sitting = self._open(0, self._hands, first_pass(self._rules))
            await interview.play_until(lambda: sitting.wants_deal or sitting.over)  # noqa: B023
            await interview.listen()
            self._step.focus = self._step.exchanges[-1:]
            if interview.over or sitting.wants_deal or interview.process.conversation.dead:
                break
            interview.forget(sitting)
        if interview.over or not sitting.wants_deal:
            return False
        self._sitting = sitting
        ready = sitting.last and answer_in(bytes(sitting.last.came), sitting.last.request.id)
        self.report.tables = tables = interview.process.conversation.tables
        if isinstance(ready, Ready):
            watches = " It wants to watch every card." if ready.watch else ""
            many = f"; it plays up to {tables:,} tables at once" if tables > 1 else ""
            self._step.notes.append(f"It calls itself {ready.name} {ready.version}{many}.{watches}")
        if tables > 1:
            title = f"{min(tables, _TABLES)} tables at once: several requests in one write"
            self._ahead.insert(-1, Step(name="tables", title=title))
            self._number_steps()
        return True

    async def _first_match(self) -> None:
        """The situations, a hand for each or for several."""
        await self._play(self._sitting)
        while self._sitting.hands and not self._interview.over:  # a target was reached before all were dealt
            self._sitting = self._open(0, self._sitting.hands, first_pass(self._rules))
            await self._play(self._sitting)

    async def _play(self, sitting: Sitting) -> None:
        """Play a match to its end, listening for a moment after each hand."""
        interview = self._interview
        while not interview.over and not sitting.over:
            if sitting.wants_deal:
                interview.deal(sitting)
            await interview.play_until(lambda: sitting.over or sitting.wants_deal)
            await interview.listen()
            if sitting.over and self._step.exchanges:
                self._step.focus.append(self._step.exchanges[-1])
            while not interview.over and self._ahead[0].hand and self._ahead[0].hand == sitting.hand:
                step = self._ahead.pop(0)
                step.state = "did not come"
                self._close(step)
        interview.forget(sitting)

    async def _second_match(self) -> None:
        """The same process at another table, in another seat; it may also have left, which is no fault."""
        interview = self._interview
        if interview.process.gone and not interview.over:
            interview.over = True
            self._step.notes.append(
                "It left when the match was over, which it may: each match gets a fresh process."
            )
        if interview.over:
            return
        self._begin()
        await self._play(self._open(self._rules.players - 1, ["whole"]))
        self._step.focus[:0] = self._step.exchanges[:1]

    async def _many_tables(self) -> None:
        """As many tables as it said, all asked at once whenever it is idle."""
        interview = self._interview
        if interview.over or self._ahead[0].name != "tables":
            return
        self._begin()
        count = min(self.report.tables, _TABLES)
        sittings = [self._open(number % self._rules.players, ["whole"]) for number in range(count)]
        await interview.play_until(lambda: all(sitting.wants_deal or sitting.over for sitting in sittings))
        for sitting in sittings:
            if sitting.wants_deal and not interview.over:
                interview.deal(sitting)
        await interview.play_until(lambda: all(sitting.over for sitting in sittings))
        await interview.listen()
        for sitting in sittings:
            interview.forget(sitting)
        step = self._step
        step.focus = step.exchanges[:1]
        writes = len({exchange.asked_at for exchange in step.exchanges})
        step.notes.append(f"{len(step.exchanges)} requests in {writes} writes, up to {count} in one.")

    async def _leave(self) -> None:
        """Its stdin is closed, and it goes."""
        interview = self._interview
        if interview.over:
            return
        self._begin()
        step, process = self._step, interview.process
        step.notes += await self._side_business()
        took_s = await interview.leave()
        status = process.usage.status if process.usage else 0
        if took_s < LEAVE_GRACE_S or status != -signal.SIGKILL:
            step.notes.append(f"It left after {took_s * 1000:.0f} ms, with status {status}.")
            return
        what = f"It did not leave when its stdin was closed; it was killed after {LEAVE_GRACE_S:g} s."
        advice = "Leave when stdin ends, as a loop over the lines of stdin does by itself."
        step.wrongs.append(Wrong(None, diagnosis=Diagnosis(what, (advice,))))

    async def _side_business(self) -> list[str]:
        """What it does beside playing: that is no fault, but its author should know."""
        pid, errors = self._interview.pid, self._interview.process.errors
        if not pid:
            return []
        notes = []
        await self._interview.listen()
        before, began = vitals(pid), time.monotonic()
        await self._interview.listen(3 * LISTEN_S)
        if computes(before, vitals(pid), time.monotonic() - began):
            notes.append("It computes though nothing is asked of it.")
        if strays := len(self._interview.strays):
            notes.append(f"It has started processes ({strays}) that live on by themselves; they are ended.")
        count = len(family(pid))
        if count > _MANY:
            notes.append(f"It has grown to {count} processes.")
        if errors.total > _STDERR_KEPT:
            notes.append(
                f"It wrote {errors.total:,} bytes to stderr; only the first and last 64 KiB are kept."
            )
        return notes

    # --- matches -----------------------------------------------------------------------------------------

    def _open(self, bot: int, hands: Sequence[SceneName], first_hand: int = 1) -> Sitting:
        """Ask the bot to sit down at a match of so many hands at most, in this seat."""
        number = self._opened = self._opened + 1
        names = [f"stand-in-{seat}" for seat in range(self._rules.players)]
        names[bot] = self.report.name if self.report.name not in names else f"{self.report.name[:28]}-bot"
        header = MatchRecord(
            arena=referee.__version__,
            id=f"check-{number}",
            started="",
            seed=f"check-{number}",
            first_hand=first_hand,
            rules=replace(self._rules, max_hands=len(hands)),
            conditions=self._conditions,
            seats=tuple(SeatRecord(seat=seat, name=name) for seat, name in enumerate(names)),
        )
        return self._interview.sit(Match(header, str(number)), bot, hands)


def plan(rules: Rules) -> tuple[list[SceneName], list[Step]]:
    """The hands of the first match, with the bot in seat 0, and the steps that these rules have."""
    book = rulebook(rules)
    hands: list[SceneName] = []
    steps: list[Step] = []
    for name in SCENES:
        number = len(hands) + 1
        place = scenes.Place(book, 0, book.direction(number, first_pass(rules)), number % book.seats)
        if name != "whole" and SCENES[name](place) is None:
            continue
        hands.append(name)
        if number == 1 and place.passes:
            many = "a card" if place.passes == 1 else f"{place.passes} cards"
            steps.append(Step(name="pass", title=f"It passes {many}", hand=name))
        steps += [Step(name=moment, title=title, hand=name) for moment, title in _moments(name, rules)]
    steps.append(Step(name="again", title="A second match in the same process"))
    steps.append(Step(name="leave", title="It leaves when its stdin is closed"))
    return hands, steps


def first_pass(rules: Rules) -> int:
    """Where in the cycle of passes the first hand stands: at a pass, if there is one."""
    cycle = rules.pass_cycle or ()
    return next((at for at, direction in enumerate(cycle, 1) if direction != "hold"), 1)


def _moments(scene: SceneName, rules: Rules) -> list[tuple[MomentName, str]]:
    """The situations of a scene, in their order."""
    match scene:
        case "opening":
            opens = "It must open the hand, with the only card that may"
            forced = "It holds one card of the suit led" if rules.opening == "eldest" else opens
            return [("forced", forced), ("follow", "It follows suit, and has a choice")]
        case "void" if rules.first_trick != "free":
            return [("void", "It is void on the first trick, and may discard no points")]
        case "void":
            return [("void", "It is void on the first trick, and may discard anything")]
        case "lead":
            return [
                ("lead", "It leads a trick" + (" while hearts are not broken" if rules.must_break else ""))
            ]
        case "whole":
            return [("whole", "A whole hand, and the notices of its end")]
        case _:
            assert_never(scene)


def _comes(step: Step, sitting: Sitting) -> bool:
    """Whether what the bot is to be asked now is the situation of this step."""
    if step.hand is None or step.hand != sitting.hand:
        return False
    return any(step.name == name and comes(sitting.match, sitting.bot) for name, comes in MOMENTS.items())
