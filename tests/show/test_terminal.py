"""What `arena run` and `arena replay` show on a screen of 80 columns: names and numbers are never cut."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console, RenderableType

from protocol.presets import preset
from referee.game.events import DealRecord, HandOverRecord, MatchOverRecord, MatchRecord
from referee.record.match_log import Used
from referee.show.terminal import RunScreen, ranking, seating
from tests.record.logs import header

USUAL = ("heuristic", "duck", "random", "random-2")
LONG = ("a" * 32, "b" * 32, "c" * 32, "d" * 32)


def a_match(names: tuple[str, ...], rules: str = "standard", command: tuple[str, ...] = ()) -> MatchRecord:
    match = header()
    seats = tuple(
        replace(match.seats[0], seat=seat, name=name, says=f"{name} 1", command=command)
        for seat, name in enumerate(names)
    )
    return replace(match, rules=preset(rules), seats=seats)


def shown(what: RenderableType, width: int = 80) -> list[str]:
    console = Console(width=width, force_terminal=False, markup=False, highlight=False)
    with console.capture() as capture:
        console.print(what)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_of_a_seat_only_the_command_is_cut() -> None:
    command = (sys.executable, "-m", "a_package_with_a_long_name", str(Path.home() / "bots" / ("x" * 60)))
    lines = shown(seating(a_match(USUAL, command=command), 80))
    assert max(map(len, lines)) <= 80
    table = [line for line in lines if line.endswith("…")]
    assert [line.split()[:5] for line in table] == [
        [str(seat), name, name, "1", "python3"] for seat, name in enumerate(USUAL)
    ]


def test_a_command_without_room_is_left_out() -> None:
    lines = shown(seating(a_match(LONG, command=("./bot",)), 80))
    assert max(map(len, lines)) <= 80
    assert [line.split()[:3] for line in lines[2:6]] == [
        [str(seat), name, name] for seat, name in enumerate(LONG)
    ]
    assert not any("started with" in line or "./bot" in line for line in lines)


def test_a_command_is_shown_whole_where_there_is_room() -> None:
    command = (str(Path.home() / "bots" / "bot"), "--fast")
    assert any("~/bots/bot --fast" in line for line in shown(seating(a_match(USUAL, command=command), 80)))


def hands(names: tuple[str, ...], rules: str, width: int) -> list[str]:
    match = a_match(names, rules)
    console = Console(width=width, force_terminal=False, markup=False, highlight=False)
    zeros = (0,) * len(names)
    with console.capture() as capture:
        screen = RunScreen(console)
        screen.watch(match)
        for number, direction in enumerate(match.rules.pass_cycle or (), start=1):
            screen.watch(DealRecord(number, 0, direction, ((),) * len(names)))
            moon = 0 if number == 1 else None
            screen.watch(HandOverRecord(number, (*zeros[1:], 26), (*zeros[1:], 126), moon))
    return [line for line in capture.get().splitlines() if names[-1] in line or "moon" in line][-99:]


@pytest.mark.parametrize("rules", ["standard", "five", "six"])
@pytest.mark.parametrize("width", [80, 200])
def test_hands_stand_in_columns_whatever_way_cards_are_passed(rules: str, width: int) -> None:
    names = (*USUAL, "x-5", "x-6")[: preset(rules).players]
    lines = [line for line in hands(names, rules, width) if "126" in line]
    assert len(lines) == len(preset(rules).pass_cycle or ())
    assert {line.index(names[-1]) for line in lines} == {lines[0].index(names[-1])}
    assert all(line.endswith(f"{names[-1]} +26 126") for line in lines)
    assert max(map(len, lines)) <= width


def test_four_usual_names_fit_in_one_line() -> None:
    assert any(line.startswith("  1  left    heuristic") for line in hands(USUAL, "standard", 80))
    assert any("heuristic shot the moon" in line for line in hands(USUAL, "standard", 80))


@pytest.mark.parametrize("names", [USUAL, LONG], ids=["usual", "long"])
def test_the_ranking_cuts_nothing(names: tuple[str, ...]) -> None:
    end = MatchOverRecord("target", (1, 2, 3, 4), (-10, 2, 30, 126), (3,))
    lines = shown(ranking(a_match(names), end, [Used(1_000_000, 1_000_000, 1_000_000)] * 4, 80))
    assert max(map(len, lines)) <= 80
    assert "…" not in "".join(lines)
    assert lines[2].split()[:3] == ["rank", "name", "points"]
    assert lines[-1].split()[:3] == ["4", names[3], "126"]
    assert lines[-1].endswith("forfeited")
