"""Strengths from finishing orders: a fit that no order of arrival can change, and a ladder.

The *fit* is the maximum of the Plackett-Luce likelihood over all matches at once: the best of a table is
drawn first with a chance in proportion to its worth, then the best of the rest, and so on.  Bots that tie are
each drawn from all who are not better (Breslow's way). What the fit needs to know of the matches are whole
numbers, so the order in which they come changes nothing at all.

The *ladder* is the Plackett-Luce model of Weng and Lin (2011), of the TrueSkill family, as the package
openskill has it.  It learns from one match at a time and so depends on their order; feed it in the order of
match ids, which is a fixed one and without a pattern.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import exp, fsum, log
from typing import Final

from msgspec import Struct
from openskill.models import PlackettLuce

from referee.tournament.results import Result

PRIOR: Final = 1.0
"""Each bot also counts as having won and lost so many matches for two, spread evenly over all others.

Without it a bot that always won would be infinitely strong; after some dozen matches it makes no difference.
"""


class FinishingOrders:
    """What all finishing orders say of strength: how often each bot was drawn, and out of which companies.

    Memory grows with the number of different companies that have sat together, not with the matches.
    """

    def __init__(self) -> None:
        self._drawn: Counter[str] = Counter()
        self._companies: Counter[tuple[str, ...]] = Counter()

    def add(self, result: Result) -> None:
        """Take in one match; one that never had a hand says nothing."""
        if result.hands:
            self.add_order(result.seats, result.ranks)

    def add_order(self, bots: Sequence[str], ranks: Sequence[int]) -> None:
        """Take in one finishing order: the bot of each seat, and its rank."""
        entries = sorted(zip(ranks, bots, strict=True))
        at = 0
        while at < len(entries):
            rank, end = entries[at][0], at + 1
            while end < len(entries) and entries[end][0] == rank:
                end += 1
            says_something = end < len(entries)
            if says_something:
                self._companies[tuple(sorted([bot for _, bot in entries[at:]]))] += end - at
            for _, bot in entries[at:end]:
                self._drawn[bot] += says_something
            at = end

    def strengths(self, tolerance: float = 1e-9) -> dict[str, float]:
        """The logarithm of each bot's worth, their mean 0; one with 1 more comes first 73 times in 100."""
        bots = sorted(self._drawn)
        if len(bots) < 2:
            return dict.fromkeys(bots, 0.0)
        number = {bot: at for at, bot in enumerate(bots)}
        share = PRIOR / (len(bots) - 1)
        companies = [
            (float(times), tuple(number[bot] for bot in company))
            for company, times in sorted(self._companies.items())
        ]
        companies += [(2 * share, pair) for pair in combinations(range(len(bots)), 2)]
        drawn = [self._drawn[bot] + PRIOR for bot in bots]
        worth = [1.0] * len(bots)
        for _ in range(10_000):
            worth, change = _improved(worth, drawn, companies)
            if change < tolerance:
                break
        return {bot: log(value) for bot, value in zip(bots, worth, strict=True)}


def _improved(
    worth: list[float], drawn: list[float], companies: list[tuple[float, tuple[int, ...]]]
) -> tuple[list[float], float]:
    """One step of Hunter's MM algorithm, which never lowers the likelihood, and the greatest change in it."""
    expected = [0.0] * len(worth)
    for times, company in companies:
        rate = times / sum([worth[bot] for bot in company])
        for bot in company:
            expected[bot] += rate
    raised = [log(won / rate) for won, rate in zip(drawn, expected, strict=True)]
    centre = fsum(raised) / len(raised)
    change = max(abs(value - centre - log(old)) for value, old in zip(raised, worth, strict=True))
    return [exp(value - centre) for value in raised], change


class Rating(Struct, frozen=True):
    """A rung of the ladder: the mean and the standard deviation of what is believed of a bot's skill."""

    mu: float
    sigma: float


class Ladder:
    """Ratings that move with every match; feed it in the order of match ids."""

    def __init__(self) -> None:
        self._model = PlackettLuce()
        self._ratings: dict[str, Rating] = {}

    def add(self, result: Result) -> None:
        """Take in one match.  A bot with several copies at the table moves by the mean of how they move."""
        if not result.hands:
            return
        before = {bot: self.rating(bot) for bot in result.seats}
        teams = [[self._model.rating(mu=before[bot].mu, sigma=before[bot].sigma)] for bot in result.seats]
        rated = self._model.rate(teams, ranks=[float(rank) for rank in result.ranks])
        for bot in before:
            after = [team[0] for team, label in zip(rated, result.seats, strict=True) if label == bot]
            mu, sigma = (
                sum(copy.mu for copy in after) / len(after),
                sum(copy.sigma for copy in after) / len(after),
            )
            self._ratings[bot] = Rating(mu, sigma)

    def rating(self, bot: str) -> Rating:
        """The rating of a bot now; that of a stranger if it has not played."""
        return self._ratings.get(bot) or Rating(self._model.mu, self._model.sigma)

    @property
    def ratings(self) -> dict[str, Rating]:
        """The rating of every bot that has played."""
        return dict(self._ratings)
