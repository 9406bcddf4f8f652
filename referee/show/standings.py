"""`arena standings`: what a tournament has shown, as tables for people, as JSON and as CSV."""

from __future__ import annotations

import csv
import io
from math import exp
from pathlib import Path
from typing import Any, Final

import msgspec
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from referee.errors import ArenaError
from referee.show.output import console, tell_program
from referee.show.sentences import SIGNIFICANT, feeders, interval, of_feeding, of_payoff, words_of
from referee.tournament.feeding import Feeding
from referee.tournament.findings import MODEL, Findings, gather
from referee.tournament.standings import Standing
from referee.tournament.store import Store

_FEEDS_SHOWN = 5
_GAP: Final = 2
"""Spaces behind each column, and before each table."""
_DISPENSABLE: Final = (
    *("ms a hand", "moons", "hands", "strength", "rating", "wins", "points", "deals", "forfeits", "faults"),
)
"""What a narrow screen does without, the first first."""


def standings(folder: Path, *, as_json: bool, as_csv: bool, html: Path | None) -> None:
    """Print the standings of a directory, or write them as a page."""
    with Store.read(folder) as store:
        plan = store.plan
        if plan is None:
            raise ArenaError(f"There is no tournament in {folder}: it has no plan.toml.")
        findings = gather(store, plan)
    people = console(stderr=as_json or as_csv)
    if html:
        from referee.show.report import write_report

        write_report(findings, html)
        people.print(f"The report is in {html}.")
    if as_json:
        tell_program(msgspec.json.encode(summary(findings)) + b"\n")
    if as_csv:
        tell_program(_csv(findings).encode())
    if not (as_json or as_csv or html):
        tell(findings, people)


def tell_log(folder: Path, match: str) -> None:
    """Print the log of one match."""
    with Store.read(folder) as store:
        tell_program(store.log(match))


def list_logs(folder: Path) -> None:
    """Print a line for each match: its id, its deal, who sat where, and whether it was set aside."""
    with Store.read(folder) as store:
        lines = [
            f"{match} {deal} {' '.join(seats)}{'' if counts else ' (set aside)'}\n"
            for match, deal, seats, counts in store.listed()
        ]
    tell_program("".join(lines).encode())


# --- for people ------------------------------------------------------------------------------------------


def tell(findings: Findings, people: Console) -> None:
    """Print all tables."""
    if not findings.bots:
        people.print("Nothing has been played yet.")
        return
    people.print(
        f"{findings.deals:,} deals, {findings.matches:,} matches, {findings.hands:,} hands", style="bold"
    )
    people.print(Padding(table_of(findings, people.width), (0, 0, 1, 2), expand=False))
    for pair in findings.adjacent:
        people.print(f"  {words_of(pair)}")
    people.print("\nPoints a hand that the row's bot won from the column's", style="bold")
    for part in _crosstables(findings, people.width):
        people.print(Padding(part, (0, 0, 1, 2), expand=False))
    people.print(of_feeding(findings), style="bold")
    for line in feeders(findings)[:_FEEDS_SHOWN]:
        people.print(f"  {line}")
    people.print(
        f"\n{of_payoff(findings.plan)};\nstrength: order-free Plackett-Luce fit;\n"
        f"rating: {MODEL}, fed in the order of match ids.",
        style="dim",
    )


def table_of(findings: Findings, width: int) -> Table:
    """The standings, best first, in as many columns as there is room for."""
    columns = _columns(findings)
    kinds = columns["faults"]
    if _width(columns) > width:
        columns["faults"] = [str(sum(bot.faults.values())) for bot in findings.bots]
    for name in _DISPENSABLE:
        if _width(columns) > width:
            del columns[name]
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for name in columns:
        style = {"": "dim", "bot": "bold"}.get(name, "")
        table.add_column(name, justify="left" if name == "bot" else "right", style=style, no_wrap=True)
    for row, faults in zip(zip(*columns.values(), strict=True), kinds, strict=True):
        table.add_row(
            *(
                Text(cell, style="red" if name == "faults" and faults != "0" else "")
                for name, cell in zip(columns, row, strict=True)
            )
        )
    return table


def _columns(findings: Findings) -> dict[str, list[str]]:
    bots = findings.bots
    withdrawn = findings.plan.withdrawn
    ratings = (bot.rating for bot in bots)
    return {
        "": [str(place) for place in range(1, len(bots) + 1)],
        "bot": [f"{bot.name} (withdrawn)" if bot.name in withdrawn else bot.name for bot in bots],
        "payoff": [f"{bot.payoff:+.3f}" for bot in bots],
        "95% interval": [interval(bot.ci95) for bot in bots],
        "deals": [f"{bot.deals:,}" for bot in bots],
        "hands": [f"{bot.hands:,}" for bot in bots],
        "points": [f"{bot.points:.2f}" for bot in bots],
        "wins": [f"{bot.wins:.1%}" for bot in bots],
        "moons": [f"{bot.moons:.2%}" for bot in bots],
        "strength": [f"{bot.strength:+.2f}" for bot in bots],
        "rating": [f"{rating.mu:.1f} ±{rating.sigma:.1f}" if rating else "-" for rating in ratings],
        "forfeits": [f"{bot.forfeits:,}" for bot in bots],
        "faults": [", ".join(f"{count} {kind}" for kind, count in bot.faults.items()) or "0" for bot in bots],
        "ms a hand": [f"{bot.us / max(bot.hands, 1) / 1000:.1f}" for bot in bots],
    }


def _width(columns: dict[str, list[str]]) -> int:
    """What a table of these columns takes, with the space before it."""
    return _GAP + sum(max(map(cell_len, (name, *cells))) + _GAP for name, cells in columns.items())


def _crosstables(findings: Findings, width: int) -> list[Table]:
    """Who won how much from whom: one table, or several with some of the columns each."""
    labels = findings.labels
    won = findings.standings.won_from()
    columns = {
        name: [f"{cell.value:+.2f}" if (cell := won[one].get(name)) else "" for one in labels]
        for name in labels
    }
    room = width - _width({"": list(labels)})
    parts: list[list[str]] = [[]]
    for name, cells in columns.items():
        fits = _width({other: columns[other] for other in parts[-1]} | {name: cells}) - _GAP <= room
        if parts[-1] and not fits:
            parts.append([])
        parts[-1].append(name)
    tables = []
    for part in parts:
        table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
        table.add_column("", style="bold", no_wrap=True)
        for name in part:
            table.add_column(name, justify="right", no_wrap=True)
        for one, *row in zip(labels, *(columns[name] for name in part), strict=True):
            table.add_row(one, *row)
        tables.append(table)
    return tables


# --- for programs ----------------------------------------------------------------------------------------


def summary(findings: Findings) -> dict[str, Any]:
    """The JSON object of `--json`."""
    won = findings.standings.won_from()
    labels = findings.labels
    return {
        "bots": [_line(bot, findings) for bot in findings.bots],
        "deals": findings.deals,
        "matches": findings.matches,
        "hands": findings.hands,
        "format": findings.plan.format,
        "rating_model": MODEL,
        "adjacent": [
            msgspec.to_builtins(pair) | {"significant": pair.p < SIGNIFICANT} for pair in findings.adjacent
        ],
        "won_from": {
            one: {other: {"points": cell.value, "ci95": cell.interval()} for other, cell in won[one].items()}
            for one in labels
        },
        "feeds": {
            one: {two: _fed(findings.feedings.get((one, two))) for two in labels if two != one}
            for one in labels
        },
    }


def _line(bot: Standing, findings: Findings) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(bot)
    return fields | {
        "ms_per_hand": bot.us / max(bot.hands, 1) / 1000,
        "withdrawn": bot.name in findings.plan.withdrawn,
    }


def _fed(feeding: Feeding | None) -> dict[str, Any] | None:
    if feeding is None:
        return None
    expected, ratio = feeding.expected, feeding.log_ratio
    bounds = ratio.interval() if ratio else None
    return {
        "points": feeding.given,
        "expected": expected,
        "ratio": exp(ratio.value) if ratio else None,
        "ratio_ci95": [exp(bound) for bound in bounds] if bounds else None,
        "p": ratio.p if ratio else None,
        "stands_out": feeding.stands_out,
    }


def _csv(findings: Findings) -> str:
    """One row a bot, best first."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(
        (
            *("name", "deals", "hands", "payoff", "ci95_low", "ci95_high", "strength", "mu", "sigma"),
            *("points", "wins", "moons", "forfeits", "faults", "ms_per_hand"),
        )
    )
    for bot in findings.bots:
        low, high = bot.ci95 or ("", "")
        mu, sigma = (bot.rating.mu, bot.rating.sigma) if bot.rating else ("", "")
        rows.writerow(
            (
                *(bot.name, bot.deals, bot.hands, bot.payoff, low, high, bot.strength, mu, sigma),
                *(bot.points, bot.wins, bot.moons, bot.forfeits, sum(bot.faults.values())),
                bot.us / max(bot.hands, 1) / 1000,
            )
        )
    return text.getvalue()
