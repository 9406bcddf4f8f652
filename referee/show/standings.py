"""`arena standings`: what a tournament has shown, as tables for people, as JSON and as CSV."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from referee.errors import ArenaError
from referee.show.output import console
from referee.tournament.findings import MODEL, Findings, gather
from referee.tournament.standings import Adjacent, Standing
from referee.tournament.store import Store

SIGNIFICANT = 0.05
_FEEDS_SHOWN = 5


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
        sys.stdout.write(msgspec.json.encode(summary(findings)).decode() + "\n")
    if as_csv:
        _write_csv(findings)
    if not (as_json or as_csv or html):
        tell(findings, people)


def tell_log(folder: Path, match: str) -> None:
    """Print the log of one match."""
    with Store.read(folder) as store:
        sys.stdout.write(store.log(match).decode())


# --- for people ------------------------------------------------------------------------------------------


def tell(findings: Findings, people: Console) -> None:
    """Print all tables."""
    if not findings.bots:
        people.print("Nothing has been played yet.")
        return
    people.print(
        f"{findings.deals:,} deals, {findings.matches:,} matches, {findings.hands:,} hands", style="bold"
    )
    people.print(Padding(table_of(findings), (0, 0, 1, 2), expand=False))
    for pair in findings.adjacent:
        people.print(f"  {words_of(pair)}")
    people.print("\nPoints a hand that the row's bot won from the column's", style="bold")
    people.print(Padding(_crosstable(findings), (0, 0, 1, 2), expand=False))
    fed = feeders(findings)
    if fed:
        people.print("Who feeds points to whom, beyond what both give and take elsewhere", style="bold")
        for line in fed[:_FEEDS_SHOWN]:
            people.print(f"  {line}")
    people.print(
        "payoff: the mean of the others' points less its own, a hand, against all others equally often,\n"
        "with its 95% interval clustered by deal; strength: order-free Plackett-Luce fit;\n"
        f"rating: {MODEL}, fed in the order of match ids.",
        style="dim",
    )


def table_of(findings: Findings) -> Table:
    """The standings, best first."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("", justify="right", style="dim")
    table.add_column("bot", style="bold")
    for name in (
        *("payoff", "95% interval", "deals", "hands", "points", "wins", "moons", "strength"),
        *("rating", "forfeits", "faults", "ms a hand"),
    ):
        table.add_column(name, justify="right")
    for place, bot in enumerate(findings.bots, start=1):
        rating = f"{bot.rating.mu:.1f} ±{bot.rating.sigma:.1f}" if bot.rating else "-"
        faults = ", ".join(f"{count} {kind}" for kind, count in bot.faults.items())
        withdrawn = " (withdrawn)" if bot.name in findings.plan.withdrawn else ""
        table.add_row(
            str(place),
            Text(bot.name + withdrawn),
            f"{bot.payoff:+.3f}",
            interval(bot.ci95),
            f"{bot.deals:,}",
            f"{bot.hands:,}",
            f"{bot.points:.2f}",
            f"{bot.wins:.1%}",
            f"{bot.moons:.2%}",
            f"{bot.strength:+.2f}",
            rating,
            f"{bot.forfeits:,}",
            Text(faults or "0", style="red" if faults else ""),
            f"{bot.us / max(bot.hands, 1) / 1000:.1f}",
        )
    return table


def interval(bounds: tuple[float, float] | None) -> str:
    """A 95% interval in words."""
    return f"{bounds[0]:+.2f} to {bounds[1]:+.2f}" if bounds else "unknown"


def words_of(pair: Adjacent) -> str:
    """What is known of the order of two neighbours."""
    verdict = "significant" if pair.p < SIGNIFICANT else "may be chance"
    chance = f"p = {pair.p:.2g}" if pair.p >= 1e-4 else "p < 0.0001"
    return (
        f"{pair.better} above {pair.worse} by {pair.difference:.3f} a hand ({interval(pair.ci95)}), "
        f"{chance}: {verdict}"
    )


def feeders(findings: Findings) -> list[str]:
    """A line for each pair where more is given than chance explains, the worst first.

    The chance of a line where there is nothing is 5% for all pairs together.
    """
    found: list[tuple[float, str]] = []
    pairs = [(giver, taker) for giver in findings.labels for taker in findings.labels if giver != taker]
    for giver, taker in pairs:
        feeding = findings.feeding(giver, taker)
        excess = feeding.excess if feeding else None
        if feeding and excess and excess.value > 0 and excess.p * len(pairs) < SIGNIFICANT:
            found.append(
                (
                    -excess.value,
                    f"{giver} gives {taker} {feeding.given.value:.2f} a hand, {excess.value:+.2f} more "
                    f"than expected ({interval(excess.interval())})",
                )
            )
    return [line for _, line in sorted(found)]


def _crosstable(findings: Findings) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("", style="bold")
    for name in findings.labels:
        table.add_column(name, justify="right")
    won = findings.standings.won_from()
    for one in findings.labels:
        row = [won[one].get(other) for other in findings.labels]
        table.add_row(one, *(f"{cell.value:+.2f}" if cell else "" for cell in row))
    return table


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
        "feeds": {one: {two: _fed(findings, one, two) for two in labels if two != one} for one in labels},
    }


def _line(bot: Standing, findings: Findings) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(bot)
    return fields | {
        "ms_per_hand": bot.us / max(bot.hands, 1) / 1000,
        "withdrawn": bot.name in findings.plan.withdrawn,
    }


def _fed(findings: Findings, giver: str, taker: str) -> dict[str, Any] | None:
    feeding = findings.feeding(giver, taker)
    if feeding is None:
        return None
    excess = feeding.excess
    return {
        "points": feeding.given.value,
        "excess": excess.value if excess else None,
        "ci95": excess.interval() if excess else None,
        "p": excess.p if excess else None,
    }


def _write_csv(findings: Findings) -> None:
    """One row a bot, best first."""
    rows = csv.writer(sys.stdout, lineterminator="\n")
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
