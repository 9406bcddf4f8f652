"""What a tournament was and has shown, in sentences: intervals, neighbours, who feeds whom, rules, limits."""

from protocol.presets import PRESETS, preset
from protocol.rules import Conditions, Rules
from referee.show.rules_text import rule_lines
from referee.tournament.feeding import FEWEST_BOTS
from referee.tournament.findings import Findings
from referee.tournament.plan import Plan
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
    """A line for each pair that stands out, the farthest first."""
    found: list[tuple[float, str]] = []
    for (giver, taker), feeding in findings.feedings.items():
        ratio = feeding.log_ratio
        if ratio and feeding.stands_out and feeding.expected is not None:
            how = "more than" if ratio.value > 0 else "less than"
            found.append(
                (
                    -abs(ratio.value),
                    f"{giver} gives {taker} {feeding.given:.2f} a hand, {how} the {feeding.expected:.2f} "
                    "that both give and take elsewhere",
                )
            )
    return [line for _, line in sorted(found)]


def of_feeding(findings: Findings) -> str:
    """What the lines of `feeders`, or that there is none, mean."""
    if not any(feeding.log_ratio for feeding in findings.feedings.values()):
        return (
            f"Who feeds points to whom cannot be told: it takes {FEWEST_BOTS} bots that all meet, for with "
            "fewer there is too little elsewhere to compare a pair with."
        )
    if not any(feeding.stands_out for feeding in findings.feedings.values()):
        return "Who feeds points to whom: no pair stands out from the others by more than chance."
    return (
        "Who feeds points to whom: these pairs stand out from the others. Partners do, and so do honest bots "
        "whose styles meet in an uncommon way: look at their logs before you judge."
    )


def of_payoff(plan: Plan) -> str:
    """What the column `payoff` is."""
    if plan.hero is not None:
        return (
            "payoff: the mean of the others' points less its own, a hand; for a challenger that is against "
            f"{plan.hero}, for {plan.hero} against all challengers; with its 95% interval clustered by deal"
        )
    return (
        "payoff: the mean of the others' points less its own, a hand, against all others equally often, "
        "with its 95% interval clustered by deal"
    )


def rules_in_short(rules: Rules) -> str:
    """The name of a rule set, and what differs from the standard game."""
    names = [name for name in PRESETS if preset(name) == rules] or ["house rules"]
    differs = [line.text for line in rule_lines(rules) if line.standard is not None]
    return f"{names[0]}: {' '.join(differs)}" if differs else names[0]


def limits(conditions: Conditions) -> str:
    """How long a bot may think."""
    times = [f"{conditions.turn_ms:,} ms a turn", f"{conditions.start_ms:,} ms to start"]
    if conditions.bank_ms:
        times.append(f"{conditions.bank_ms:,} ms to spare in a match")
    return ", ".join(times)
