"""One process at many tables: nothing deadlocks on full pipes, a slow one holds up only its own tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from protocol.presets import preset
from protocol.rules import conditions_from
from referee.game.events import Event, FaultRecord, MatchOverRecord, MatchRecord, PlayRecord, SeatRecord
from referee.game.match import Match
from referee.record.match_log import MemoryLog, read_log
from referee.record.replay import replay
from referee.table.confine import Confinement
from referee.table.keep.launch import Keeper
from referee.table.play import Room, Table
from tests.table.hosting import Stage

SEATS = 4

BOT = """
import os, sys, time
from honest import Bot
bot = Bot("many", int(sys.argv[1]))
def answered(request):
    answer = bot.answer(request)
    if answer["type"] == "ready":
        answer["tables"] = int(sys.argv[2])
    return answer
"""

NOTER = f"""{BOT}
from honest import encode
for request in bot.messages():
    if "id" in request:
        bot.write(encode(answered(request) | ({{"note": "é" * 500}} if request["type"] != "start" else {{}})))
"""

WAITER = f"""{BOT}
from honest import encode
for request in bot.messages():
    while request["type"] == "play" and not os.path.exists(sys.argv[3]):
        time.sleep(0.001)
    if "id" in request:
        bot.write(encode(answered(request)))
"""

GATHERER = f"""{BOT}
import json
from honest import encode
unfinished = b""
while data := os.read(0, 1 << 20):
    *lines, unfinished = (unfinished + data).split(b"\\n")
    requests = [request for request in map(json.loads, lines) if "id" in request]
    os.write(2, b"%d\\n" % len(requests))
    bot.write(b"".join(encode(answered(request)) for request in requests))
"""


@dataclass
class Group:
    """Tables that share one process a seat."""

    commands: Sequence[tuple[str, ...]]
    tables: int
    watch: Callable[[Event], None] | None = None
    logs: list[MemoryLog] = field(default_factory=list)

    def seat(self, confinement: Confinement, number: int, hands: int) -> Iterator[Table]:
        seats = tuple(
            SeatRecord(seat=seat, name=f"bot-{number}-{seat}", command=command, cwd="/")
            for seat, command in enumerate(self.commands)
        )
        launches = [confinement.launch(seat) for seat in seats]
        keys = [(number, seat) for seat in range(SEATS)]
        for table in range(self.tables):
            header = MatchRecord(
                arena="test",
                id=f"{number}-{table}",
                started="",
                seed=f"seed {number} {table}",
                rules=preset("standard", {"target": None, "max_hands": hands}),
                conditions=confinement.conditions,
                seats=seats,
            )
            match = Match(header, f"{number}-{table}")
            self.logs.append(MemoryLog())
            yield Table(match, self.logs[-1], launches, match.begin(), keys=keys, watch=self.watch)


async def play(groups: Sequence[Group], folder: Path, hands: int = 1) -> Room:
    """Play all tables of these groups at once; every log is then read back and followed to its end."""
    conditions = conditions_from({"sandbox": "none", "start_ms": 100_000, "turn_ms": 100_000})
    with Confinement(conditions) as confinement, Keeper.start() as keeper:
        room = Room(keeper)
        await room.run(
            table for number, group in enumerate(groups) for table in group.seat(confinement, number, hands)
        )
    for log in (log for group in groups for log in group.logs):
        path = folder / "match.jsonl"
        path.write_bytes(log.data)
        replayed = replay(read_log(path))
        assert replayed.match.end
        assert replayed.match.end.reason == "max_hands"
    return room


@pytest.fixture
def bot(stage: Stage) -> Callable[..., tuple[str, ...]]:
    """The command of a bot with this code and these arguments."""

    def command(code: str, *words: object) -> tuple[str, ...]:
        path = stage.bots / f"bot_{abs(hash(code))}.py"
        path.write_text(code)
        return (sys.executable, "-E", "-S", str(path), *map(str, words))

    return command


async def test_256_tables_with_notes_of_500_characters_do_not_deadlock_on_full_pipes(bot, stage) -> None:
    """Both ways more stands in line than a pipe holds: 256 requests, and 256 answers of 1,100 bytes."""
    seen: list[Event] = []
    group = Group([bot(NOTER, seat, 256) for seat in range(SEATS)], 256, seen.append)
    await play([group], stage.folder)
    plays = [event for event in seen if isinstance(event, PlayRecord)]
    assert not [event for event in seen if isinstance(event, FaultRecord)]
    assert len(plays) == 256 * 52
    assert all(event.note == "é" * 500 for event in plays)


async def test_a_process_that_thinks_holds_up_only_its_own_tables(bot, stage) -> None:
    """It thinks until all matches are over that do not need it."""
    others_over = stage.folder / "others are over"
    over: list[str] = []

    def watch_others(event: Event) -> None:
        if isinstance(event, MatchOverRecord):
            over.append("other")
            if len(over) == 8:
                others_over.touch()

    def watch_own(event: Event) -> None:
        if isinstance(event, MatchOverRecord):
            over.append("own")

    quick = Group([bot(NOTER, seat, 8) for seat in range(SEATS)], 8, watch_others)
    thinker = bot(WAITER, 0, 2, others_over)
    slow = Group([thinker, *(bot(NOTER, seat, 2) for seat in range(1, SEATS))], 2, watch_own)
    await play([slow, quick], stage.folder, hands=2)
    assert over == ["other"] * 8 + ["own"] * 2


async def test_what_is_due_at_all_tables_of_a_process_comes_in_one_write(bot, stage) -> None:
    """A bot that thinks in batches gets large ones; once its first `ready` is in, all other invitations."""
    group = Group([bot(GATHERER, seat, 32) for seat in range(SEATS)], 32)
    room = await play([group], stage.folder)
    for seat in range(SEATS):
        batches = [int(line) for line in room.stderr()[f"bot-0-{seat}"].split()]
        assert batches[0] == 1
        assert 31 in batches
        asked = sum(batches)
        assert asked >= 32 * (1 + 1 + 13) - 32  # no pass where the hand is held
        assert len(batches) < asked / 4
