"""The pictures of a tournament's report, drawn by matplotlib as SVG.  Needs the extra `report`."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from referee.tournament.findings import Findings

_WIDTH: Final = 9.0
_ANNOTATED: Final = 16
"""Heat maps of more bots have no numbers in their cells: they could not be read."""
_COLUMNS: Final = 4
_STEPS: Final = 41
"""The shades of a heat map; with 50 and more, matplotlib draws their bar as a bitmap."""
_UNTOLD: Final = ("Creator", "Date", "Format", "Type")
_STYLE: Final[Any] = {
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "arena",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def payoffs(findings: Findings) -> str:
    """Each bot's payoff with its interval, the best on top."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for row, bot in enumerate(reversed(findings.bots)):
            low, high = bot.ci95 or (bot.payoff, bot.payoff)
            axes.plot([low, high], [row, row], color="#4477aa", linewidth=2)
            axes.plot([bot.payoff], [row], "o", color="#223355")
        axes.axvline(0, color="#bbbbbb", linewidth=0.8, zorder=0)
        axes.set_yticks(range(len(findings.bots)), findings.labels[::-1])
        axes.set_xlabel("payoff a hand, with its 95% interval")

    return _svg(draw, 0.8 + 0.3 * len(findings.bots))


def ratings(findings: Findings) -> str:
    """The ladder as it was climbed, with a band of two standard deviations."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        colours = _colours(len(findings.labels))
        for colour, name in zip(colours, findings.labels, strict=True):
            steps = [(number, rated[name]) for number, rated in findings.trace if name in rated]
            numbers = [number for number, _ in steps]
            mu = [rating.mu for _, rating in steps]
            low = [rating.mu - 2 * rating.sigma for _, rating in steps]
            high = [rating.mu + 2 * rating.sigma for _, rating in steps]
            axes.fill_between(numbers, low, high, color=colour, alpha=0.12, linewidth=0)
            axes.plot(numbers, mu, color=colour, linewidth=1.2, label=name)
        axes.set_xlabel("matches, in the order of their ids")
        axes.set_ylabel("rating (mu ± 2 sigma)")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)

    return _svg(draw, 4.0)


def points(findings: Findings) -> str:
    """How often each bot had how many points in a hand."""

    def draw(figure: Figure) -> None:
        rows = -(-len(findings.labels) // _COLUMNS)
        grid = figure.subplots(rows, _COLUMNS, sharex=True, sharey=True, squeeze=False)
        panels: Sequence[Axes] = list(grid.flat)
        for axes, name in zip(panels, findings.labels, strict=False):
            counts = findings.points[name]
            whole = max(counts.total(), 1)
            axes.bar(list(counts), [count / whole for count in counts.values()], width=0.9, color="#4477aa")
            axes.set_title(name, fontsize=9)
            axes.yaxis.set_major_formatter(lambda part, _: f"{part:.0%}")
        for axes in panels[len(findings.labels) :]:
            axes.set_visible(False)
        figure.supxlabel("points in a hand", fontsize=9)

    return _svg(draw, 0.8 + 1.6 * -(-len(findings.labels) // _COLUMNS))


def crosstable(findings: Findings) -> str:
    """The points a hand that the row's bot won from the column's."""
    won = findings.standings.won_from()
    cells = [
        [won[one][other].value if other in won[one] else None for other in findings.labels]
        for one in findings.labels
    ]
    return _heat_map(findings.labels, cells, "points a hand won from", "RdBu")


def feeds(findings: Findings) -> str:
    """How much more or less the row's bot gave the column's than both give and take elsewhere, in percent."""

    def cell(giver: str, taker: str) -> float | None:
        feeding = findings.feedings.get((giver, taker))
        return 100 * (feeding.given / feeding.expected - 1) if feeding and feeding.expected else None

    cells = [[cell(giver, taker) for taker in findings.labels] for giver in findings.labels]
    return _heat_map(findings.labels, cells, "given beyond what is expected, in percent, to", "PuOr", ".0f")


def _heat_map(
    labels: Sequence[str],
    cells: Sequence[Sequence[float | None]],
    title: str,
    colours: str,
    form: str = ".2f",
) -> str:
    known = [abs(value) for row in cells for value in row if value is not None]
    most = max(known, default=0.0) or 1.0

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        shades: Any = [[float("nan") if value is None else value for value in row] for row in cells]
        steps = mpl.colormaps[colours].resampled(_STEPS)
        mesh = axes.pcolormesh(shades, cmap=steps, vmin=-most, vmax=most, edgecolors="white", linewidth=1)
        axes.invert_yaxis()
        axes.set_aspect("equal")
        middles = [at + 0.5 for at in range(len(labels))]
        axes.set_xticks(middles, labels, rotation=45, ha="left")
        axes.set_yticks(middles, labels)
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.set_title(title, fontsize=9, pad=12)
        for spine in axes.spines.values():
            spine.set_visible(False)
        figure.colorbar(mesh, ax=axes, shrink=0.7)
        if len(labels) <= _ANNOTATED:
            for row, values in enumerate(cells):
                for column, value in enumerate(values):
                    if value is not None:
                        colour = "white" if abs(value) > 0.6 * most else "black"
                        axes.text(
                            *(column + 0.5, row + 0.5, f"{value:+{form}}"),
                            ha="center",
                            va="center",
                            color=colour,
                            fontsize=8,
                        )

    return _svg(draw, min(2.0 + 0.55 * len(labels), 9.0))


def _svg(draw: Callable[[Figure], None], height: float) -> str:
    """The figure as an `svg` element."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        draw(figure)
        page = io.StringIO()
        figure.savefig(page, format="svg", metadata=dict.fromkeys(_UNTOLD))
    text = page.getvalue()
    return text[text.index("<svg") :]


def _colours(count: int) -> list[Any]:
    return list(mpl.colormaps["tab10" if count <= 10 else "turbo"].resampled(max(count, 10))(range(count)))
