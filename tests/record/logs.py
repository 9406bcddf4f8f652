"""Match logs made without any process: the machine, played by bots that are functions of what is asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from protocol.cards import NAMES, each
from protocol.messages import Pass, Play, Ready
from protocol.presets import preset
from protocol.rules import conditions_from
from referee.game.deal import deal
from referee.game.events import Answered, Ask, Dealt, Effect, Event, Failed, MatchRecord, Record, SeatRecord
from referee.game.match import Match

Strategy = Callable[[Match, int], Answered | Failed]


def honest(match: Match, seat: int) -> Answered:
    """Sits down, passes its lowest cards, plays its highest legal one."""
    if match.stage is Ready:
        return Answered(seat, Ready(0, f"bot {seat}", "1"))
    if match.stage is Pass:
        lowest = tuple(NAMES[card] for card in each(match.dealt[seat]))[: match.book.rules.pass_count]
        return Answered(seat, Pass(0, lowest, "low"), us=5)
    return Answered(seat, Play(0, NAMES[match.hand.legal.bit_length() - 1]), us=7)


def faulty(every: int) -> Strategy:
    """Honest, but for about every so many answers, which are of all kinds of faults."""

    def strategy(match: Match, seat: int) -> Answered | Failed:
        if match.stage is Ready:
            return honest(match, seat)
        trick = len(match.tricks) + 1 if match.stage is Play else 0
        dice = hash((match.hand_number, trick, seat, match.header.seed != "")) % 1009
        if dice % every:
            return honest(match, seat)
        dice //= every
        if dice % 3 == 0:
            kind = ("timeout", "malformed", "wrong_id", "unasked", "exit", "closed", "too_long")[
                dice // 3 % 7
            ]
            return Failed(seat, kind, "as it happens", "a line" if kind == "malformed" else None, 9)
        if match.stage is Pass:
            others = tuple(NAMES[card] for card in range(52) if not match.dealt[seat] >> card & 1)
            return Answered(seat, Pass(0, others[: dice % 5]), us=3)
        wrong = [card for card in range(52) if not match.hand.legal >> card & 1]
        return Answered(seat, Play(0, NAMES[wrong[dice % len(wrong)]]), us=3)

    return strategy


def header(*, rules: dict[str, Any] | None = None, **conditions: Any) -> MatchRecord:
    """The header of a match of three hands, unless the rules say otherwise."""
    return MatchRecord(
        arena="test",
        id="test",
        started="2026-01-01T12:00:00Z",
        seed="test",
        rules=preset("standard", {"target": None, "max_hands": 3} | (rules or {})),
        conditions=conditions_from(conditions),
        seats=tuple(
            SeatRecord(seat=seat, name=f"bot-{seat}", command=(f"./bot-{seat}",), cwd="/")
            for seat in range(4)
        ),
    )


def play_on(match: Match, effects: Iterable[Effect], strategy: Strategy = honest) -> list[Event]:
    """Play a match to its end from these effects on; what it records."""
    records: list[Event] = []
    due = deque(effects)
    while due or not match.end:
        if not due:
            assert match.wants_deal
            due += match.advance(Dealt(deal(match.header.seed, match.hand_number, match.book)))
        effect = due.popleft()
        if isinstance(effect, Record):
            records.append(effect.event)
        elif isinstance(effect, Ask):
            due += match.advance(strategy(match, effect.seat))
    return records


def lines_of(records: Iterable[Event]) -> list[bytes]:
    """The lines that these records are in a log."""
    return [msgspec.json.encode(record) + b"\n" for record in records]


def a_log(path: Path, strategy: Strategy = honest, **more: Any) -> list[bytes]:
    """Write the log of a whole match; its lines."""
    match = Match(header(**more))
    lines = lines_of(play_on(match, match.begin(), strategy))
    path.write_bytes(b"".join(lines))
    return lines
