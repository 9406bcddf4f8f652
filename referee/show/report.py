"""`arena standings --html`: one page that needs nothing else, with tables for the eye and plots."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Final

from referee.errors import ArenaError
from referee.show.sentences import (
    feeders,
    interval,
    limits,
    of_feeding,
    of_payoff,
    rules_in_short,
    words_of,
)
from referee.tournament.findings import MODEL, Findings
from referee.tournament.plan import Plan
from referee.tournament.standings import Standing

_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 76rem;
       margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; font-size: .87rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .4rem; text-align: right; border-bottom: 1px solid #ddd; vertical-align: top; }
td { white-space: nowrap; } .fault, .long, .plan td { white-space: normal; overflow-wrap: anywhere; }
.standings td:nth-child(2), .plan th, .plan td, .bots th, .bots td { text-align: left; }
.standings th:nth-child(2) { text-align: left; }
.standings td:nth-child(2) { font-weight: 600; min-width: 6rem; white-space: normal;
                             overflow-wrap: anywhere; }
.fault { color: #b00020; min-width: 6rem; } .long { min-width: 12rem; font-family: monospace; }
.scroll { overflow-x: auto; } .small { color: #555; font-size: .87rem; }
svg { display: block; width: 62rem; max-width: 100%; height: auto; }
@media (max-width: 60rem) { table { font-size: .68rem; } th, td { padding: .2rem .18rem; }
                            .fault { min-width: 4rem; } }
"""
_COLUMNS: Final = (
    *("", "bot", "payoff", "95% interval", "deals", "hands", "points", "wins", "moons", "strength"),
    *("rating", "forfeits", "faults", "ms a hand"),
)


def write_report(findings: Findings, path: Path) -> None:
    """Write the page, whole or not at all.  Raises ArenaError."""
    page = report(findings)
    fresh = path.with_name(f"{path.name}.new")
    try:
        fresh.write_text(page, encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise ArenaError(f"Cannot write {path}: {error.strerror}.") from None


def report(findings: Findings) -> str:
    """The page as text.  Raises ArenaError if nothing can draw plots here."""
    plan = findings.plan
    title = f"{plan.format} tournament of {len(plan.labels)} bots"
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    sections = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="small">{findings.deals:,} deals, {findings.matches:,} matches, {findings.hands:,} hands. '
        f"{len(plan.active)} bots still play. Written {when}.</p>",
    ]
    sections += _results(findings) if findings.bots else ["<p>Nothing has been played yet.</p>"]
    sections += _plan(plan)
    body = "\n".join(sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _results(findings: Findings) -> list[str]:
    try:
        from referee.show import plots
    except ImportError:
        raise ArenaError("--html needs matplotlib: pip install 'hearts-arena[report]'.") from None
    plan = findings.plan
    return [
        "<h2>Standings</h2>",
        _table(findings),
        f'<p class="small">{escape(of_payoff(plan))}. Strength: an order-free Plackett-Luce fit of all '
        f"finishing orders. Rating: {escape(MODEL)}, fed in the order of match ids.</p>",
        plots.payoffs(findings),
        "<h2>Is the order more than chance?</h2>",
        _list([words_of(pair) for pair in findings.adjacent]) or "<p>There are no two to compare.</p>",
        "<h2>Rating, match by match</h2>",
        '<p class="small">In the order of match ids, which are hashes, and not in the order '
        "in which they were played.</p>",
        plots.ratings(findings),
        "<h2>Points in a hand</h2>",
        plots.points(findings),
        "<h2>Who wins from whom</h2>",
        plots.crosstable(findings),
        "<h2>Who feeds whom</h2>",
        "<p class=\"small\">Points on the cards of the row's bot that fell into tricks of the column's, and "
        "what both give and take elsewhere.</p>",
        *((plots.feeds(findings),) if any(one.expected for one in findings.feedings.values()) else ()),
        f"<p>{escape(of_feeding(findings))}</p>",
        _list(feeders(findings)),
    ]


def _list(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def _plan(plan: Plan) -> list[str]:
    """What was played, by what rules and conditions, and by whom."""
    rows = {
        "format": plan.format,
        "hero": plan.hero,
        "deals": f"{plan.deals:,} planned",
        "stops": f"when every two bots are told apart or closer than {plan.stop_when:g} points a hand"
        if plan.stop_when is not None
        else "when all deals are played",
        "rules": rules_in_short(plan.rules),
        "time": limits(plan.conditions),
        "after a fault": f"{plan.conditions.on_fault}, {plan.conditions.strikes} forgiven in a match",
        "bots know each other": "no" if plan.conditions.anonymous else "yes",
        "sandbox": plan.conditions.sandbox,
        "seed": "in plan.toml, and not here: with it a bot would know the cards",
    }
    told = "".join(
        f"<tr><th>{name}</th><td>{escape(value)}</td></tr>\n" for name, value in rows.items() if value
    )
    bots = "".join(
        f'<tr><td>{escape(bot.name)}</td><td class="long">{escape(bot.fingerprint)}</td></tr>\n'
        for bot in plan.bots
    )
    return [
        "<h2>What was played</h2>",
        f'<div class="scroll"><table class="plan">\n{told}</table></div>',
        "<h2>The bots</h2>",
        '<div class="scroll"><table class="bots">\n<tr><th>bot</th><th>hash of its content'
        f"</th></tr>\n{bots}</table></div>",
    ]


def _table(findings: Findings) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in _COLUMNS)
    rows = "\n".join(_row(place, bot, findings) for place, bot in enumerate(findings.bots, start=1))
    return f'<div class="scroll"><table class="standings">\n<tr>{head}</tr>\n{rows}\n</table></div>'


def _row(place: int, bot: Standing, findings: Findings) -> str:
    rating = f"{bot.rating.mu:.1f} ±{bot.rating.sigma:.1f}" if bot.rating else "-"
    faults = ", ".join(f"{count:,} {kind}" for kind, count in bot.faults.items())
    name = bot.name + (" (withdrawn)" if bot.name in findings.plan.withdrawn else "")
    cells = (
        *(str(place), name, f"{bot.payoff:+.3f}", interval(bot.ci95), f"{bot.deals:,}", f"{bot.hands:,}"),
        *(f"{bot.points:.2f}", f"{bot.wins:.1%}", f"{bot.moons:.2%}", f"{bot.strength:+.2f}", rating),
        f"{bot.forfeits:,}",
    )
    shown = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    fault = f'<td class="fault">{escape(faults)}</td>' if faults else "<td>0</td>"
    return f"<tr>{shown}{fault}<td>{bot.us / max(bot.hands, 1) / 1000:.1f}</td></tr>"
