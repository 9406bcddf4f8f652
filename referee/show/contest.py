"""`arena tournament`: what is about to be played, how it goes on, and how it stands."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from protocol.rules import Conditions
from referee.errors import ArenaError
from referee.show.output import console
from referee.show.sentences import interval
from referee.show.standings import tell
from referee.table import confine
from referee.table.roster import BUNDLED
from referee.table.settings import read_rules
from referee.tournament.entry import Entry, Wanted, enter
from referee.tournament.findings import gather
from referee.tournament.forecast import forecast
from referee.tournament.plan import Plan
from referee.tournament.run import Progress, Run
from referee.tournament.store import Store, stored_plan

_INTERRUPTED: Final = 130
_REFRESH_S: Final = 0.25
_LINE_EACH_S: Final = 10.0
_TABLE_SHARE: Final = 0.05
"""The most time that drawing up the table may take of the whole."""
_TOLD_IN_FULL: Final = 20_000
"""With more matches the end is told in short: reading them all takes seconds."""


def wanted(words: tuple[str, ...], given: Mapping[str, Any]) -> Wanted:
    """What was asked for, from the options that were given."""
    fields = {name: given[name] for name in ("format", "hero", "deals", "stop_when", "seed") if name in given}
    if "rules_name" in given or "changes" in given:
        fields["rules"] = read_rules(given.get("rules_name", "standard"), given.get("changes", ()))
    return Wanted(
        words=words,
        file=given.get("file"),
        fields=fields,
        conditions={name: given[name] for name in Conditions.__struct_fields__ if name in given},
        withdraw=given.get("withdraw", ()),
        accept_changes="accept_changes" in given,
    )


def tournament(
    folder: Path, wanted: Wanted, *, jobs: int | None, cluster: str | None, batch_s: float
) -> None:
    """Play what is missing of a tournament and tell of it."""
    people = console()
    _check_is_no_bot(folder)
    stored = stored_plan(folder)
    entry = enter(stored, wanted, people.print)
    confine.check(entry.plan.conditions.sandbox)
    with _workers(jobs, cluster) as (executor, places, lost), Store.open(folder) as store:
        if store.plan != stored:  # another run has been here just now
            entry = enter(store.plan, wanted, people.print)
        if store.plan != entry.plan:
            store.write_plan(entry.plan)
        _announce(store, entry, people)
        private = (wanted.file,) if wanted.file else ()
        screen = _Screen(people)
        with _interruptible():
            run = Run(
                store,
                entry.plan,
                entry.bots,
                executor,
                places=places,
                lost=lost,
                elsewhere=cluster is not None,
                private=private,
                batch_s=batch_s,
                watch=screen.watch,
            )
            try:
                progress = run.play()
            except KeyboardInterrupt:
                screen.stop()
                people.print(
                    f"Interrupted; every bot has been ended. {run.progress.done:,} matches are kept. "
                    f"Go on with: arena tournament {folder}"
                )
                store.note("Interrupted.")
                sys.exit(_INTERRUPTED)
            finally:
                screen.stop()
        _conclude(store, entry.plan, progress, people)


def _check_is_no_bot(folder: Path) -> None:
    """Say so if the first word was forgotten and a bot stands in its place."""
    is_bundled = str(folder) in BUNDLED and not folder.exists()
    is_bot = (folder / "bot.toml").exists() and not (folder / "plan.toml").exists()
    if is_bundled or is_bot or folder.is_file():
        what = "a file" if folder.is_file() else "a bot"
        raise ArenaError(
            f"The first word is the directory of the tournament, but {folder} is {what}; "
            "write: arena tournament DIR BOT..."
        )


def _announce(store: Store, entry: Entry, people: Console) -> None:
    plan = entry.plan
    active = ", ".join(plan.active)
    people.print(f"{plan.format} tournament of {len(plan.active)} bots: {active}", style="bold")
    for line in entry.news:
        people.print(f"  {line}")
    people.print(f"  {forecast(plan)}")
    before = store.matches
    if before:
        aside = f", and {store.set_aside:,} of them are set aside" if store.set_aside else ""
        people.print(
            f"  {before:,} matches have been played before{aside}; those of this plan are not played again."
        )
    people.print(f"  sandbox {confine.describe(plan.conditions.sandbox)}", style="dim")
    store.note(" ".join(["Resumed." if before else "Started.", *entry.news]))


def _conclude(store: Store, plan: Plan, progress: Progress, people: Console) -> None:
    if progress.decided:
        people.print(f"Every pair is decided after {progress.done:,} matches; the rest is not needed.")
    if store.matches <= _TOLD_IN_FULL:
        tell(gather(store, plan), people)
    else:
        people.print(table_of(progress))
    people.print(f"all of it: arena standings {store.folder}")
    store.note("Ended.")
    if progress.unplayed:
        runs = ", ".join(f"{first + 1} to {last + 1}" for first, last in progress.unplayed)
        raise ArenaError(
            f"The deals {runs} are not all played: each time their worker died. The same command tries again."
        )


@contextlib.contextmanager
def _workers(
    jobs: int | None, cluster: str | None
) -> Iterator[tuple[Executor, Callable[[], int], type[BaseException]]]:
    """Where tasks are played: an executor, how many it takes at once, and what a lost task ends with."""
    if cluster:
        from referee.tournament.cluster import connect

        with connect(cluster) as there:
            yield there.executor, lambda: there.places, there.lost
        return
    from referee.tournament.pool import LOST, Processes

    count = jobs or len(os.sched_getaffinity(0))
    processes = Processes(count)
    try:
        yield processes, lambda: count, LOST
    finally:
        processes.shutdown()


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """SIGTERM and SIGHUP are as Ctrl-C."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Screen:
    """Follows a run: a live table on a terminal, a line now and then elsewhere."""

    def __init__(self, people: Console) -> None:
        self._people = people
        self._live = Live(console=people, auto_refresh=False, transient=True)
        self._next = 0.0
        self._table: RenderableType = ""
        self._next_table = 0.0

    def watch(self, progress: Progress) -> None:
        """Show where things are, if it is time."""
        now = time.monotonic()
        if now < self._next:
            return
        if self._people.is_terminal:
            self._next = now + _REFRESH_S
            if not self._live.is_started:
                self._live.start()
            self._live.update(self._picture(progress, now), refresh=True)
        else:
            first = not self._next
            self._next = now + (_LINE_EACH_S / 5 if first else _LINE_EACH_S)
            if not first:
                self._people.print(line_of(progress))

    def stop(self) -> None:
        """Take the live table away."""
        self._live.stop()

    def _picture(self, progress: Progress, now: float) -> RenderableType:
        if now >= self._next_table:
            self._table = table_of(progress)
            cost = time.monotonic() - now
            self._next_table = now + max(1.0, cost / _TABLE_SHARE)
        bar = Table.grid()
        bar.add_row(ProgressBar(total=max(progress.planned, 1), completed=progress.done, width=60))
        return Group(self._table, bar, Text(line_of(progress), style="dim"))


def line_of(progress: Progress) -> str:
    """Where a run is, in one line."""
    parts = [f"{progress.done:,} of {progress.planned:,} matches"]
    if progress.rate:
        parts.append(f"{progress.rate:,.1f} a second")
    left = progress.seconds_left
    if left is not None and progress.done < progress.planned:
        parts.append(f"about {duration(left)} left")
    if not progress.places:
        parts.append("waiting for workers that offer the resource bots")
    faults = {bot: sum(kinds.values()) for bot, kinds in progress.faults.items()}
    if faults:
        parts.append("faults: " + ", ".join(f"{bot} {count:,}" for bot, count in sorted(faults.items())))
    if progress.lost:
        parts.append(f"{progress.lost} batches lost with their workers")
    return ", ".join(parts)


def table_of(progress: Progress) -> Table:
    """The payoffs so far, best first."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("", justify="right", style="dim")
    table.add_column("bot", style="bold")
    for name in ("payoff", "95% interval", "deals", "faults"):
        table.add_column(name, justify="right")
    payoffs = progress.payoffs
    if not payoffs.bots:
        return table
    compared = payoffs.compare()
    order = sorted(payoffs.bots, key=lambda bot: -compared.payoff(bot).value)
    for place, bot in enumerate(order, start=1):
        paid = compared.payoff(bot)
        faults = sum(progress.faults[bot].values()) if bot in progress.faults else 0
        table.add_row(
            str(place),
            bot,
            f"{paid.value:+.3f}",
            interval(paid.interval()),
            f"{payoffs.deals(bot):,}",
            Text(f"{faults:,}", style="red" if faults else ""),
        )
    return table


def duration(seconds: float) -> str:
    """A time in words: `40 seconds`, `3 minutes`, `2.5 hours`."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} seconds"
    if seconds < 5400:
        return f"{round(seconds / 60)} minutes"
    return f"{seconds / 3600:.1f} hours" if seconds < 172_800 else f"{seconds / 86_400:.1f} days"
