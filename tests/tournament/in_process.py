"""A tournament without processes: planned matches played by functions, through the real match machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import NamedTuple

from protocol.messages import Pass, PassRequest, Play, PlayRequest, Ready
from referee.game.deal import deal
from referee.game.events import Answered, Ask, Dealt, Event, Failed, MatchRecord, Record, SeatRecord, WantDeal
from referee.game.match import Match
from referee.tournament.plan import Plan
from referee.tournament.schedule import PlannedMatch


class Gone(Exception):
    """Raised by a player: its process has ended."""


class Player(NamedTuple):
    """A bot as two functions."""

    choose_pass: Callable[[PassRequest], list[str]]
    choose_play: Callable[[PlayRequest], str]


def first_cards() -> Player:
    """A player that takes what is offered first."""
    return Player(lambda request: request.cards[: request.count], lambda request: request.legal[0])


def at_random(seed: int) -> Player:
    """A player that does anything that is legal."""
    source = Random(seed)
    return Player(
        lambda request: source.sample(request.cards, request.count),
        lambda request: source.choice(request.legal),
    )


def careless(player: Player, seed: int, part: float) -> Player:
    """A player that does this part of its plays without looking."""
    source = Random(seed)
    return Player(
        player.choose_pass,
        lambda request: (
            source.choice(request.legal) if source.random() < part else player.choose_play(request)
        ),
    )


def gone_after(tricks: int) -> Player:
    """A player that is gone at its first turn after so many tricks."""

    def choose_play(request: PlayRequest) -> str:
        if len(request.tricks) >= tricks:
            raise Gone
        return request.legal[0]

    return Player(lambda request: request.cards[: request.count], choose_play)


def play(
    planned: PlannedMatch, plan: Plan, players: Mapping[str, Player], absent: frozenset[str] = frozenset()
) -> list[Event]:
    """The records of a planned match, played by these players; those that are absent cannot be started."""
    header = MatchRecord(
        arena="0",
        id=planned.id,
        started="",
        seed=planned.seed,
        first_hand=planned.first_hand,
        rules=plan.match_rules,
        conditions=plan.conditions,
        seats=tuple(SeatRecord(seat=seat, name=name) for seat, name in enumerate(planned.labels)),
    )
    match = Match(header)
    records: list[Event] = []
    effects = match.begin()
    while effects:
        effect = effects.pop(0)
        if isinstance(effect, Record):
            records.append(effect.event)
        elif isinstance(effect, WantDeal):
            effects += match.advance(Dealt(deal(planned.seed, effect.hand, match.book)))
        elif isinstance(effect, Ask):
            effects += match.advance(
                _answer(match, effect.seat, planned.labels[effect.seat], players, absent)
            )
    return records


def _answer(
    match: Match, seat: int, name: str, players: Mapping[str, Player], absent: frozenset[str]
) -> Answered | Failed:
    request = match.request(seat, 1, 1000)
    try:
        if isinstance(request, PassRequest):
            return Answered(seat, Pass(1, tuple(players[name].choose_pass(request))), 1)
        if isinstance(request, PlayRequest):
            return Answered(seat, Play(1, players[name].choose_play(request)), 1)
    except Gone:
        return Failed(seat, "exit", "the process ended")
    if name in absent:
        return Failed(seat, "launch", "no such program")
    return Answered(seat, Ready(1, name, "1"))
