"""One match from bots to result: header, log, keeper and loop put together, and the same for a match that was
interrupted.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct

import referee
from protocol.rules import Conditions, Rules
from referee.errors import ArenaError
from referee.game.deal import deal
from referee.game.events import (
    Ask,
    Dealt,
    Effect,
    Event,
    FaultRecord,
    MatchOverRecord,
    MatchRecord,
    PassRecord,
    PlayRecord,
    Record,
)
from referee.game.match import Match
from referee.record.match_log import (
    LogError,
    MatchLog,
    Remark,
    ResumeRecord,
    Used,
    UsedRecord,
    read_log,
    utc_now,
)
from referee.record.replay import replay
from referee.table.confine import Confinement
from referee.table.keep.launch import Keeper
from referee.table.play import Ended, Room, Table
from referee.table.roster import Bot

Watch = Callable[[Event], None]


class Hosted(Struct):
    """A match that was played: its header as it was logged, how it ended, and what happened on the way."""

    header: MatchRecord
    end: MatchOverRecord
    hands: int
    """How many hands came to their end."""
    faults: list[FaultRecord]
    log: Path
    stderr: dict[str, bytes]
    used: tuple[Used, ...]
    """What each seat's bot has used since it was last started or resumed."""


async def host(
    bots: Sequence[Bot],
    rules: Rules,
    conditions: Conditions,
    log_path: Path,
    *,
    seed: str | None = None,
    watch: Watch | None = None,
) -> Hosted:
    """Play a match from its first deal to its end.

    Raises ArenaError when it cannot be played: a log that exists, a full disk.  A bot that cannot be started
    is that bot's fault.
    """
    header = MatchRecord(
        arena=referee.__version__,
        id=secrets.token_hex(8),
        started=utc_now(),
        seed=secrets.token_hex(16) if seed is None else seed,
        rules=rules,
        conditions=conditions,
        seats=tuple(bot.seated(seat) for seat, bot in enumerate(bots)),
    )
    match = Match(header)
    log = MatchLog.create(log_path)
    return await _play(match, match.begin(), log, watch, [])


async def host_again(log_path: Path, *, watch: Watch | None = None) -> Hosted:
    """Play an interrupted match on from its next card, mid-trick if need be; bots and conditions come from
    the log.

    Raises ArenaError if the log cannot be followed or its match is over.
    """
    file = read_log(log_path)
    replayed = replay(file)
    match = replayed.match
    if match.end and not replayed.owed:
        raise LogError(f"The match in {log_path} is over; read it with: arena replay {log_path}")
    _check_still_there(match)
    past = [
        line.record
        for line in file.lines
        if line.offset < replayed.length and not isinstance(line.record, Remark)
    ]
    log = MatchLog.reopen(log_path, replayed.length)
    effects: list[Effect] = [Record(event) for event in replayed.owed]
    for event in (match.header, *past):
        if watch:
            watch(event)
    log.write(ResumeRecord(utc_now(), referee.__version__))
    if match.wants_deal:
        effects += match.advance(Dealt(deal(match.header.seed, match.hand_number, match.book)))
    elif not match.end:
        effects += [Ask(seat) for seat in sorted(match.awaiting)]
    return await _play(match, effects, log, watch, past)


def _check_still_there(match: Match) -> None:
    """A bot that has been moved away is no fault of its own."""
    for seat in match.header.seats:
        program = seat.command[0] if seat.command else ""
        if not os.path.isdir(seat.cwd) or "\0" in program or shutil.which(program) is None:  # noqa: PTH112
            raise ArenaError(
                f"The bot {seat.name} is no longer there: {program} in {seat.cwd}; put it back to go on."
            )


async def _play(
    match: Match, effects: Sequence[Effect], log: MatchLog, watch: Watch | None, past: Sequence[Event]
) -> Hosted:
    faults = [event for event in past if isinstance(event, FaultRecord)]
    thought_us = [0] * match.book.seats

    def look(event: Event) -> None:
        if type(event) is FaultRecord:
            faults.append(event)
        if isinstance(event, PassRecord | PlayRecord | FaultRecord):
            thought_us[event.seat] += event.us or 0
        if watch:
            watch(event)

    with ExitStack() as stack:
        stack.callback(log.close)
        header = match.header
        confinement = stack.enter_context(Confinement(header.conditions, header.seats, [log.path]))
        keeper = stack.enter_context(Keeper.start())
        room = Room(keeper)
        launches = [
            None if seat.seat in match.retired else confinement.launch(seat) for seat in match.header.seats
        ]
        table = Table(match, log, launches, effects, watch=look)
        for event in past:
            if isinstance(event, PassRecord | PlayRecord | FaultRecord):
                table.chairs[event.seat].debit(event.us or 0)
        try:
            await room.run([table])
        finally:
            stderr = room.stderr()
            _keep_stderr(log.path, stderr)
        used = tuple(_used(room, seat.name, thought_us[seat.seat]) for seat in match.header.seats)
        log.write(UsedRecord(used))
    assert match.end is not None
    return Hosted(match.header, match.end, match.hands_over, faults, log.path, stderr, used)


def _used(room: Room, name: str, thought_us: int) -> Used:
    """What all processes of one seat have used together."""
    ended = room.ended.get(name, Ended())
    return Used(wall_ms=round(thought_us / 1000), cpu_ms=ended.cpu_ms, peak_kb=ended.peak_kb)


def _keep_stderr(log: Path, stderr: dict[str, bytes]) -> None:
    """Write what each bot said on stderr beside the log, for its author: as far as there is room for it."""
    for name, said in stderr.items():
        if said:
            path = log.with_name(f"{log.stem}.{name}.stderr.txt")
            with contextlib.suppress(
                OSError
            ):  # a full disk has been told of, or the match ended well without it
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                with os.fdopen(descriptor, "ab") as file:
                    file.write(said)
