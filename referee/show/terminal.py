"""What `arena run` shows: who sits where, each hand as it ends, faults as they happen, the final ranking."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from referee.game.events import (
    DealRecord,
    Event,
    FaultRecord,
    HandOverRecord,
    MatchOverRecord,
    MatchRecord,
    PassRecord,
    PlayRecord,
)
from referee.record.match_log import Used
from referee.show import words
from referee.table.confine import describe

_REFRESH_S: Final = 0.1
_LEAST_COMMAND: Final = 20
"""A command that has less room is not shown."""
_COSTS: Final = 50
"""What the final ranking needs beside the names to tell also of time and memory."""

_SEAT: Final = len("   +13 100")
"""What a seat's part of a hand's line takes beside its name."""


class RunScreen:
    """Follows one match record by record.  On a terminal a line at the bottom shows the hand that is being
    played.
    """

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self.people = console
        self._quiet = quiet
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._header: MatchRecord | None = None
        self._names: list[str] = []
        self._deal: DealRecord | None = None
        self._trick: list[str] = []
        self._scores: tuple[int, ...] = ()
        self._shown_at = 0.0

    def watch(self, event: Event) -> None:
        """Show one record of the match."""
        match event:
            case MatchRecord():
                self._header = event
                self._names = [seat.name for seat in event.seats]
                self._scores = (0,) * len(event.seats)
                self._print(seating(event, self.people.width, describe(event.conditions.sandbox)))
                if not self._quiet and self.people.is_terminal:
                    self._live.start()
            case DealRecord():
                self._deal = event
                self._trick = []
            case PassRecord():
                pass
            case PlayRecord():
                if len(self._trick) == len(self._names):
                    self._trick = []
                self._trick.append(f"{self._names[event.seat]} {words.card(event.card)}")
                self._progress(event)
            case FaultRecord():
                self._print(fault_line(event, self._names[event.seat]), always=True)
            case HandOverRecord():
                self._print(self._hand_line(event))
                self._scores = event.scores
            case MatchOverRecord():
                self.stop()

    def tell_end(self, header: MatchRecord, end: MatchOverRecord, used: Sequence[Used]) -> None:
        """The final ranking, once it is known what each bot has used."""
        self._print(ranking(header, end, used, self.people.width))

    def stop(self) -> None:
        """Take the line at the bottom away."""
        self._live.stop()

    def _print(self, what: RenderableType, *, always: bool = False) -> None:
        if always or not self._quiet:
            self.people.print(what)

    def _progress(self, event: PlayRecord) -> None:
        now = time.monotonic()
        if not self._live.is_started or now - self._shown_at < _REFRESH_S:
            return
        self._shown_at = now
        tricks = len(self._deal.cards[0]) if self._deal else 0
        table = ", ".join(self._trick)
        line = Text(
            f"  hand {event.hand}  trick {event.trick} of {tricks}  {table}", style="dim", no_wrap=True
        )
        self._live.update(line, refresh=True)

    def _hand_line(self, event: HandOverRecord) -> Text:
        """One hand: its points in each seat, and the totals after it; in several lines if it must be."""
        assert self._header
        names, width = self._names, self.people.width
        cycle = ("hold", *(self._header.rules.pass_cycle or ()))
        direction = self._deal.direction if self._deal else ""
        head = f"{event.hand:>3}  {direction:<{max(map(len, cycle))}}"
        if len("hand ") + len(head) + sum(_SEAT + len(name) for name in names) <= width:
            head = f"hand {head}"
        line, filled = Text(head), len(head)
        for seat, name in enumerate(names):
            if filled + _SEAT + len(name) > width:
                line.append("\n" + " " * len(head))
                filled = len(head)
            filled += _SEAT + len(name)
            points, total = event.points[seat], event.scores[seat]
            style = "bold yellow" if seat == event.moon else "red" if points >= 13 else ""
            line.append(f"  {name}", style="dim")
            line.append(f" {points:>+3}", style=style)
            line.append(f" {total:>3}", style="bold")
        if event.moon is not None:
            line.append(f"\n{' ' * len(head)}  {names[event.moon]} shot the moon", style="bold yellow")
        return line


def seating(header: MatchRecord, width: int, sandbox: str = "") -> RenderableType:
    """Who sits where, and under which rules; `sandbox` says what the level is on this machine.

    A command takes what is left of the width.
    """
    return Group(
        _conditions_line(header, sandbox), Padding(_seats(header, width), (0, 0, 1, 2), expand=False)
    )


def seating_seen(header: MatchRecord, players: Sequence[str]) -> RenderableType:
    """The same as the seats are told it: by which names they know each other, and the rules."""
    table = _seat_table()
    for seat, name in enumerate(players):
        table.add_row(str(seat), Text(name))
    return Group(_conditions_line(header), Padding(table, (0, 0, 1, 2), expand=False))


def _seat_table() -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("seat", justify="right", style="dim", no_wrap=True)
    table.add_column("name", style="bold", no_wrap=True)
    return table


def _seats(header: MatchRecord, width: int) -> Table:
    table = _seat_table()
    table.add_column("says of itself", overflow="fold")
    says = [words.harmless(seat.says) or "(nothing yet)" for seat in header.seats]
    longest = (max(len(seat.name) for seat in header.seats), max(map(cell_len, says)))
    room = width - sum(map(max, longest, (len("name"), len("says of itself")))) - len("  seat") - 3 * 2
    shows_command = room >= _LEAST_COMMAND
    if shows_command:
        table.add_column("started with", style="dim", overflow="ellipsis", no_wrap=True, max_width=room)
    for seat, said in zip(header.seats, says, strict=True):
        row = (str(seat.seat), Text(seat.name), Text(said), Text(words.command(seat.command)))
        table.add_row(*(row if shows_command else row[:-1]))
    return table


def _conditions_line(header: MatchRecord, sandbox: str = "") -> Text:
    rules = header.rules
    until = f"to {rules.target}" if rules.target else f"{rules.max_hands} hands"
    if rules.target is None and rules.max_hands == 1:
        until = "one hand"
    turn = f"{header.conditions.turn_ms / 1000:g} s a turn"
    return Text(
        f"Hearts for {rules.players}, {until}, {turn}, sandbox {sandbox or header.conditions.sandbox}",
        style="bold",
    )


def fault_line(event: FaultRecord, name: str) -> Text:
    """A fault and what it costs."""
    where = f"hand {event.hand}, trick {event.trick}" if event.trick else f"hand {event.hand}, pass"
    text = Text("  ! ", style="bold red")
    text.append(name, style="bold")
    text.append(f" {words.fault(event)}", style="red")
    text.append(
        f" ({where if event.hand else 'before the first deal'}). {words.consequence(event)}",
        style="default",
    )
    return text


def ranking(header: MatchRecord, end: MatchOverRecord, used: Sequence[Used], width: int) -> RenderableType:
    """The final ranking, best first, why the match ended, and, where there is room, what each bot took of
    the machine.
    """
    longest = max(len(seat.name) for seat in header.seats)
    shown = ("thought", "computed", "memory") if longest + _COSTS <= width else ()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    for column in shown:
        table.add_column(column, justify="right", style="dim", no_wrap=True)
    if end.retired:
        table.add_column("", no_wrap=True)
    order = sorted(range(len(header.seats)), key=lambda seat: (end.ranks[seat] if end.ranks else 0, seat))
    for seat in order:
        rank = str(end.ranks[seat]) if end.ranks else "-"
        style = "green" if rank == "1" else ""
        note = "forfeited" if seat in end.retired else ""
        took = used[seat]
        cost = (
            f"{took.wall_ms / 1000:.1f} s",
            f"{took.cpu_ms / 1000:.1f} s",
            f"{took.peak_kb / 1024:.0f} MB",
        )
        row = (rank, header.seats[seat].name, str(end.scores[seat]), *cost[: len(shown)])
        table.add_row(*row, *([Text(note, style="red")] if end.retired else []), style=style)
    title = Text(f"The match is over: {words.reason(end, header.rules.target)}.", style="bold")
    return Group("", title, Padding(table, (0, 0, 0, 2), expand=False))
