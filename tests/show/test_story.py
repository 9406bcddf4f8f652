"""A log as it is told: what each view has in it, and who won a trick."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.game.events import PassRecord
from referee.record.match_log import LogFile, read_log
from referee.show import words
from referee.show.story import View, tell
from tests.record.logs import a_log


@pytest.fixture
def log(tmp_path: Path) -> LogFile:
    path = tmp_path / "x.jsonl"
    a_log(path, rules={"max_hands": 4})
    return read_log(path)


def told(log: LogFile, view: View, hand: int | None = None) -> list[str]:
    return [line.plain for line in tell(log, view, hand)]


@pytest.mark.parametrize(("hand", "giver"), [(1, 1), (2, 3), (3, 0)], ids=["left", "right", "across"])
def test_a_seat_is_told_what_it_gave_and_what_it_got(log: LogFile, hand: int, giver: int) -> None:
    gave = {
        line.record.seat: " ".join(map(words.card, line.record.cards))
        for line in log.lines
        if isinstance(line.record, PassRecord) and line.record.hand == hand
    }
    lines = told(log, 2, hand)
    (passes,) = [number for number, line in enumerate(lines) if " passes " in line]
    assert f"bot-2  passes {gave[2]} to" in lines[passes]
    assert lines[passes + 1].strip() == f"bot-2  gets {gave[giver]} from bot-{giver}"
    before_the_play = "".join(lines[: passes + 2])
    assert not any(cards in before_the_play for seat, cards in gave.items() if seat not in (2, giver))


@pytest.mark.parametrize("view", ["all", "spectator"])
def test_nobody_else_is_told_what_a_seat_got(log: LogFile, view: View) -> None:
    assert not any(" gets " in line for line in told(log, view))


def test_nothing_is_got_where_nothing_is_passed(log: LogFile) -> None:
    assert not any(" gets " in line or " passes " in line for line in told(log, 2, 4))


def test_the_winner_of_a_trick_stands_behind_an_arrow(log: LogFile) -> None:
    tricks = [line for line in told(log, "all", 1) if re.match(r" +\d+  bot-", line)]
    assert len(tricks) == 13
    assert all(re.search(r" -> bot-\d( \+\d+)?$", line) for line in tricks)
    assert len({line.index("->") for line in tricks}) == 1
