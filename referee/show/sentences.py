"""What a tournament has shown, in sentences: intervals, the order of neighbours, who feeds points to whom."""

from referee.tournament.findings import Findings
from referee.tournament.standings import Adjacent

SIGNIFICANT = 0.05


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
