"""A log as it is told: what each view has in it, and who won a trick."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.game.events import FaultRecord, PassRecord
from referee.record.match_log import LogFile, read_log
from referee.show import words
from referee.show.story import View, tell
from tests.record.logs import a_log, faulty


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


def test_rivals_are_not_told_of_a_fault_nor_of_the_caretaker(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    a_log(path, faulty(6), on_fault="substitute")
    log = read_log(path)
    offenders = {line.record.seat for line in log.lines if isinstance(line.record, FaultRecord)}
    assert offenders == {0, 1, 2, 3}
    for seat in range(4):
        faults = [line for line in told(log, seat) if line.startswith("  ! ")]
        assert faults
        assert all(line.startswith(f"  ! bot-{seat} ") for line in faults)
        stars = {name for line in told(log, seat) for name in re.findall(r"(bot-\d) \S+\*", line)}
        assert stars <= {f"bot-{seat}"}
    assert len({line.split()[1] for line in told(log, "spectator") if line.startswith("  ! ")}) == 4


def test_names_that_were_withheld_stay_withheld(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    a_log(path, rules={"max_hands": 1}, anonymous=True)
    log = read_log(path)
    for view in (0, "spectator"):
        assert "seat-1" in "\n".join(told(log, view))
        assert "bot-1" not in "\n".join(told(log, view))
    assert "bot-1" in "\n".join(told(log, "all"))


def test_nothing_is_got_where_nothing_is_passed(log: LogFile) -> None:
    assert not any(" gets " in line or " passes " in line for line in told(log, 2, 4))


def test_the_winner_of_a_trick_stands_behind_an_arrow(log: LogFile) -> None:
    tricks = [line for line in told(log, "all", 1) if re.match(r" +\d+  bot-", line)]
    assert len(tricks) == 13
    assert all(re.search(r" -> bot-\d( \+\d+)?$", line) for line in tricks)
    assert len({line.index("->") for line in tricks}) == 1
