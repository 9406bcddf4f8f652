"""What a match leaves behind, hand by hand, and what the matches of one deal say together.

A `Result` is what is kept of a match, made from the records of its log by `result_of`.  A `DealSummary` is
one whole deal, the unit of every statistic: its hands have the same cards, so they are not independent of one
another.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from protocol.cards import CARD, Card
from referee.game.events import (
    DealRecord,
    Event,
    FaultKind,
    FaultRecord,
    HandOverRecord,
    MatchOverRecord,
    MatchRecord,
    PassRecord,
    PlayRecord,
)
from referee.game.play import trick_winner
from referee.game.rulebook import Rulebook, rulebook
from referee.game.score import ranks

Matrix: TypeAlias = tuple[tuple[int, ...], ...]
Pair: TypeAlias = tuple[str, str]


class HandResult(Struct, frozen=True):
    """One hand: its points as scored, by seat; the seats that forfeited it; the seat that shot the moon.

    `given[a][b]` are the penalty points on cards that seat `a` played into tricks that seat `b` took; empty
    if nobody counted.
    """

    points: tuple[int, ...]
    forfeited: tuple[int, ...] = ()
    moon: int | None = None
    given: Matrix = ()


class Fault(Struct, frozen=True):
    """One fault: whose seat, and what kind."""

    seat: int
    kind: FaultKind


class Result(Struct, frozen=True, kw_only=True):
    """One match as it is kept: its id, the seed of its deal, the bot in each seat, and what happened.

    `retired` seats forfeited the match and rank last.  `us` is the time each seat used.  A match that ended
    before its first hand has no hands.
    """

    match: str
    deal: str
    seats: tuple[str, ...]
    hands: tuple[HandResult, ...]
    retired: tuple[int, ...] = ()
    faults: tuple[Fault, ...] = ()
    us: tuple[int, ...] = ()

    @property
    def ranks(self) -> tuple[int, ...]:
        """The rank of each seat, 1 the best; ties share the better rank, retired seats the last."""
        totals = [sum(hand.points[seat] for hand in self.hands) for seat in range(len(self.seats))]
        return ranks(totals, self.retired)


def charged(result: Result, seats: Iterable[int]) -> Result:
    """The result of a match in which a stand-in held these seats: every hand is forfeit to them."""
    absent = tuple(sorted({*result.retired, *seats}))
    hands = tuple(replace(hand, forfeited=tuple(sorted({*hand.forfeited, *absent}))) for hand in result.hands)
    return replace(result, hands=hands, retired=absent)


def result_of(events: Iterable[Event]) -> Result:
    """What is kept of a match, from the records of its log.

    Whoever retires in a hand forfeits that hand and all later ones.  A hand that a fault broke off has no
    points and is its offenders' forfeit.
    """
    header: MatchRecord | None = None
    book: Rulebook | None = None
    seats = 0
    hands: list[HandResult] = []
    faults: list[Fault] = []
    retired: set[int] = set()
    offenders: set[int] = set()
    leader = 0
    trick: list[Card] = []
    given: list[list[int]] = []
    us: list[int] = []
    in_hand = False
    for event in events:
        match event:
            case PlayRecord():
                us[event.seat] += event.us or 0
                leader = leader if trick else event.seat
                trick.append(CARD[event.card])
                if len(trick) == seats:
                    assert book is not None
                    _give(book, leader, trick, given)
                    trick = []
            case MatchRecord():
                header, seats, book = event, len(event.seats), rulebook(event.rules)
                us = [0] * seats
            case DealRecord():
                in_hand, trick, offenders = True, [], set()
                given = [[0] * seats for _ in range(seats)]
            case PassRecord():
                us[event.seat] += event.us or 0
            case FaultRecord():
                us[event.seat] += event.us or 0
                faults.append(Fault(event.seat, event.kind))
                if event.then == "hand":
                    offenders.add(event.seat)
                elif event.then != "substitute":
                    retired.add(event.seat)
            case HandOverRecord():
                in_hand = False
                matrix = tuple(map(tuple, given))
                hands.append(HandResult(event.points, tuple(sorted(offenders | retired)), event.moon, matrix))
            case MatchOverRecord():
                if in_hand:
                    hands.append(HandResult((0,) * seats, tuple(sorted(offenders | retired))))
            case _:
                assert_never(event)
    if header is None:
        raise ValueError("these records have no match record")
    return Result(
        match=header.id,
        deal=header.seed,
        seats=tuple(seat.name for seat in header.seats),
        hands=tuple(hands),
        retired=tuple(sorted(retired)),
        faults=tuple(faults),
        us=tuple(us),
    )


def _give(book: Rulebook, leader: int, trick: Sequence[Card], given: list[list[int]]) -> None:
    points = [book.points[card] for card in trick]
    if any(points):
        winner = trick_winner(trick, sum([1 << card for card in trick]), leader)
        for turn, worth in enumerate(points):
            given[(leader + turn) % book.seats][winner] += worth


def hand_payoffs(seats: Sequence[str], hand: HandResult, pack_points: int) -> dict[str, float]:
    """The payoff of each bot in a hand: the mean of the others' points minus its own.

    Each other bot counts once, and one with several copies at the table with their mean; so it is measured
    against others, never against its own copies.  A forfeited hand pays minus the pack's points, flat.
    """
    sitting = _seats_of(seats)
    played = played_payoffs(sitting, hand)
    if not hand.forfeited:
        return played
    paid: dict[str, float] = {}
    for bot, own in sitting.items():
        others = played[bot] + _mean([hand.points[seat] for seat in own])
        paid[bot] = _mean(
            [-pack_points if seat in hand.forfeited else others - hand.points[seat] for seat in own]
        )
    return paid


def played_payoffs(sitting: Mapping[str, Sequence[int]], hand: HandResult) -> dict[str, float]:
    """The payoff of each bot by the points as they were played, whoever played them."""
    points = [_mean([hand.points[seat] for seat in seats]) for seats in sitting.values()]
    total, others = sum(points), len(points) - 1
    return {bot: (total - own) / others - own for bot, own in zip(sitting, points, strict=True)}


class DealSummary:
    """All matches of one deal, averaged: what each bot was paid a hand, and what passed between each two.

    Every hand of the deal counts alike.
    """

    def __init__(self, results: Iterable[Result], pack_points: int) -> None:
        self.results = tuple(results)
        payoffs: defaultdict[str, list[float]] = defaultdict(list)
        played: defaultdict[str, list[float]] = defaultdict(list)
        margins: defaultdict[Pair, list[float]] = defaultdict(list)
        gifts: Counter[Pair] = Counter()
        together: Counter[Pair] = Counter()
        for result in self.results:
            sitting = _seats_of(result.seats)
            if not result.hands:
                for seat in result.retired:
                    payoffs[result.seats[seat]].append(-pack_points)
                    played[result.seats[seat]].append(0.0)
            for hand in result.hands:
                even = played_payoffs(sitting, hand)
                paid = hand_payoffs(result.seats, hand, pack_points) if hand.forfeited else even
                for bot in sitting:
                    payoffs[bot].append(paid[bot])
                    played[bot].append(even[bot])
                _compare(hand, sitting, margins)
                if hand.given:
                    _count_gifts(hand.given, result.seats, gifts, together)
        self.payoffs: dict[str, float] = {bot: _mean(paid) for bot, paid in payoffs.items()}
        """The mean payoff a hand of each bot."""
        self.played: dict[str, float] = {bot: _mean(paid) for bot, paid in played.items()}
        """The same by the points as they were played: what is between the two is what forfeits cost."""
        self.margins: dict[Pair, float] = {pair: _mean(values) for pair, values in margins.items()}
        """What the second bot took a hand more than the first; hands that either forfeited are left out."""
        self.gifts: dict[Pair, float] = {pair: gifts[pair] / hands for pair, hands in together.items()}
        """The points that the first bot's cards carried into the second's tricks, by hand and two seats."""


def _compare(
    hand: HandResult, sitting: Mapping[str, Sequence[int]], margins: defaultdict[Pair, list[float]]
) -> None:
    points = {
        bot: _mean([hand.points[seat] for seat in seats])
        for bot, seats in sitting.items()
        if not any(seat in hand.forfeited for seat in seats)
    }
    for one, ones in points.items():
        for other, others in points.items():
            if one != other:
                margins[one, other].append(others - ones)


def _count_gifts(given: Matrix, seats: Sequence[str], gifts: Counter[Pair], together: Counter[Pair]) -> None:
    for giver, row in enumerate(given):
        for taker, points in enumerate(row):
            if seats[giver] != seats[taker]:
                gifts[seats[giver], seats[taker]] += points
                together[seats[giver], seats[taker]] += 1


def _seats_of(labels: Sequence[str]) -> dict[str, list[int]]:
    seats: defaultdict[str, list[int]] = defaultdict(list)
    for seat, label in enumerate(labels):
        seats[label].append(seat)
    return dict(seats)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
