"""A tournament being played: tasks are cut from the plan, kept in flight, and put on the disk as they land.

Nothing here grows with the plan.  Deals are walked in their order; those whose matches are all on the disk
are counted and passed over, the others go out in tasks that take about `batch_s` to play.  The payoffs are
added up in deal order, whatever the order of landing, and so is the stopping rule fed.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from math import ceil
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from referee.errors import ArenaError, why
from referee.game.rulebook import rulebook
from referee.table.roster import Bot
from referee.tournament.payoff import Payoffs
from referee.tournament.plan import Plan
from referee.tournament.results import DealSummary
from referee.tournament.schedule import Schedule
from referee.tournament.stopping import StoppingRule, Verdict, pairs_of
from referee.tournament.store import Store
from referee.tournament.work import Payoff, Played, Task, play

BATCH_S: Final = 4.0
"""How long a task takes to play, about: what a run that is killed may lose of each worker."""

GONE: Final = (
    "The scheduler of the workers is gone.  What was played is kept; "
    "go on with the same command once it is back."
)

REPLAYS: Final = 3
"""How often a task is played again whose worker was lost."""

_FIRST_DEALS: Final = 2
_MOST_MATCHES: Final = 2000
_GROWTH: Final = 4
_MOST_AHEAD: Final = 50_000
"""How many deals may have landed after one that has not: their payoffs wait in memory."""

_LOOK_S: Final = 0.2


class Progress(Struct):
    """What a screen shows of a tournament: counts of matches, and the payoffs so far in deal order."""

    planned: int
    done: int = 0
    """Matches on the disk, of this run and of earlier ones."""
    played: int = 0
    """Those of this run."""
    hands: int = 0
    began: float = field(default_factory=time.monotonic)
    places: int = 1
    payoffs: Payoffs = field(default_factory=Payoffs)
    faults: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    """The faults of this run, by bot and kind."""
    lost: int = 0
    """How many times a task was lost with its worker."""
    unplayed: list[tuple[int, int]] = field(default_factory=list)
    """The first and last deal of each task that was given up."""
    verdicts: tuple[Verdict, ...] = ()
    decided: bool = False
    """Whether the stopping rule has ended the tournament."""

    lately: deque[tuple[float, int]] = field(default_factory=deque)
    """When the last tasks landed, about two of each worker, and how many matches had then been played."""

    @property
    def rate(self) -> float | None:
        """Matches a second, lately: a run's first tasks are mostly starts.  None while nobody knows."""
        if len(self.lately) < 2:
            return None
        (since, before), (until, after) = self.lately[0], self.lately[-1]
        return (after - before) / max(until - since, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """About how long the rest will take, if anything can be said."""
        return (self.planned - self.done) / self.rate if self.rate else None

    def landed(self, matches: int, hands: int) -> None:
        """Count what a task has brought."""
        self.done += matches
        self.played += matches
        self.hands += hands
        self.lately.append((time.monotonic(), self.played))
        while len(self.lately) > 2 * max(self.places, 1) + 1:
            self.lately.popleft()


class Run:
    """One run of a tournament.  `watch` is called whenever something may have changed, and often enough."""

    def __init__(
        self,
        store: Store,
        plan: Plan,
        bots: Sequence[Bot],
        executor: Executor,
        *,
        places: Callable[[], int],
        lost: type[BaseException],
        elsewhere: bool = False,
        private: Sequence[Path] = (),
        batch_s: float = BATCH_S,
        watch: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        self._store = store
        self._plan = plan
        self._bots = tuple(bots)
        self._executor = executor
        self._places = places
        self._lost = lost
        self._elsewhere = elsewhere
        self._private = tuple(str(path.absolute()) for path in (store.folder, *private))
        self._batch_s = batch_s
        self._watch = watch
        self._schedule = Schedule(plan)
        self._pack_points = rulebook(plan.match_rules).pack_points
        self._rule = (
            StoppingRule(plan.deals, pairs_of(plan), plan.stop_when) if plan.stop_when is not None else None
        )
        self._resumed = store.matches > 0
        self._next_deal = 0
        self._size = _FIRST_DEALS
        self._in_order = 0
        self._waiting: dict[int, Payoff | None] = {}
        self._again: deque[Task] = deque()
        self._losses: Counter[Task] = Counter()
        self.progress = Progress(len(self._schedule), payoffs=Payoffs(gauntlet=plan.hero is not None))

    def play(self) -> Progress:
        """Play all that is missing.  Whatever ends it, the disk holds what has landed."""
        flying: dict[Future[Played], Task] = {}
        landed: list[tuple[Task, Played]] = []
        failure: ArenaError | None = None
        while True:
            self.progress.places = self._places()
            try:
                while len(flying) < max(self.progress.places, 1) and (task := self._next_task()):
                    flying[self._executor.submit(play, task)] = task
            except ArenaError as error:  # what has landed is kept first
                failure = error
            for task, played in landed:
                self._keep(task, played)
            self._watch(self.progress)
            if failure:
                raise failure
            if landed:
                landed.clear()
                continue
            if not flying:
                return self.progress
            for future in wait(flying, _LOOK_S, FIRST_COMPLETED).done:
                task = flying.pop(future)
                try:
                    landed.append((task, future.result()))
                except self._lost:
                    if not self._play_again(task, "A worker died"):
                        self._give_up(task)
                except (ArenaError, OSError) as error:  # its keeper may have been killed, a bot be missing
                    refusal = f"A worker cannot go on: {why(error)}." if isinstance(error, OSError) else error
                    if not self._play_again(task, str(refusal)):
                        failure = ArenaError(str(refusal))
                except CancelledError:  # by nobody here
                    raise ArenaError(GONE) from None

    # --- out ---------------------------------------------------------------------------------------------

    def _next_task(self) -> Task | None:
        """The next task to send out; None if there is none, or none before the stopping rule has looked."""
        if self.progress.decided:
            return None
        if self._again:
            return self._again.popleft()
        deals: list[int] = []
        end = min(self._end, self._in_order + _MOST_AHEAD)
        while self._next_deal < end and len(deals) < self._share():
            deal = self._next_deal
            self._next_deal += 1
            if not (self._resumed and self._was_played(deal)):
                deals.append(deal)
            elif deal % 256 == 0:
                self._watch(self.progress)
        if not deals:
            return None
        return Task(
            plan=self._plan,
            deals=tuple(deals),
            bots=self._bots,
            private=self._private,
            elsewhere=self._elsewhere,
        )

    @property
    def _end(self) -> int:
        """The deal to stop before: the plan's end, or the next look of the stopping rule."""
        if self.progress.decided:
            return 0
        look = self._rule.next_look if self._rule else None
        return self._plan.deals if look is None else look

    def _share(self) -> int:
        """How many deals the next task has: as many as were fast enough, fewer towards the end.

        But not so few that starting the bots would take longer than the play.
        """
        left = max(self._end - self._next_deal, 1)
        return min(self._size, max(ceil(left / (2 * max(self.progress.places, 1))), self._size // 8, 1))

    def _was_played(self, deal: int) -> bool:
        """Whether all matches of a deal are on the disk; they are then counted."""
        planned = self._schedule.of_deal(deal)
        found = {result.match: result for result in self._store.of_deal(planned[0].seed)}
        results = [found[match.id] for match in planned if match.id in found]
        if len(results) < len(planned):
            return False
        summary = DealSummary(results, self._pack_points)
        self.progress.done += len(planned)
        self._add_up(deal, Payoff(deal, summary.payoffs, summary.played))
        return True

    # --- in ----------------------------------------------------------------------------------------------

    def _keep(self, task: Task, played: Played) -> None:
        """Put what has landed on the disk, count it, and learn how many deals a task should have."""
        self._store.keep(played)
        progress = self.progress
        progress.landed(len(played.matches), played.hands)
        for bot, kinds in played.faults.items():
            progress.faults[bot].update(kinds)
        for payoff in played.payoffs:
            self._add_up(payoff.deal, payoff)
        fitting = int(self._batch_s * len(task.deals) / max(played.seconds, 1e-3))
        most = min(_GROWTH * self._size, _MOST_MATCHES // self._schedule.lanes)
        self._size = max(1, min(fitting, most))

    def _play_again(self, task: Task, why: str) -> bool:
        """Put a task that was lost in line again, unless it has been there too often."""
        self.progress.lost += 1
        self._losses[task] += 1
        if self._losses[task] > REPLAYS:
            return False
        self._store.note(f"{why}: the batch of {_deals_of(task)} is played again.")
        self._again.append(task)
        return True

    def _give_up(self, task: Task) -> None:
        """Leave a task out that has lost every worker."""
        self._store.note(f"The batch of {_deals_of(task)} has lost {REPLAYS + 1} workers and is left out.")
        self.progress.unplayed.append((task.deals[0], task.deals[-1]))
        for deal in task.deals:
            self._add_up(deal, None)

    def _add_up(self, deal: int, payoff: Payoff | None) -> None:
        """Take in the payoffs of a deal as soon as those of all earlier deals are in."""
        self._waiting[deal] = payoff
        while self._in_order in self._waiting:
            first = self._waiting.pop(self._in_order)
            self._in_order += 1
            if first:
                self.progress.payoffs.add(first.payoffs, first.played)
            if self._rule and self._rule.next_look == self._in_order:
                self.progress.verdicts = self._rule.look(self.progress.payoffs.compare())
                self.progress.decided = self._rule.finished


def _deals_of(task: Task) -> str:
    return f"deals {task.deals[0] + 1} to {task.deals[-1] + 1}"
