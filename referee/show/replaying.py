"""`arena replay`: a log checked line by line, and told."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from referee.game.events import DealRecord, FaultRecord, PlayRecord
from referee.record.match_log import read_log
from referee.record.replay import replay
from referee.show import words
from referee.show.output import console
from referee.show.story import tell as story
from referee.show.story import view_of
from referee.show.terminal import seating, seating_seen


def verify(path: Path) -> None:
    """Say that a log follows from its first line to its last; what does not is raised as a LogError naming
    the line.
    """
    log = read_log(path)
    replayed = replay(log)
    hands = sum(isinstance(line.record, DealRecord) for line in log.lines)
    plays = sum(isinstance(line.record, PlayRecord) for line in log.lines)
    faults = sum(isinstance(line.record, FaultRecord) for line in log.lines)
    match = replayed.match
    people = console()
    counts = ", ".join(
        words.count(number, what) for number, what in ((hands, "hand"), (plays, "card"), (faults, "fault"))
    )
    deals = "the seed gives the deals" if hands else "there is no deal"
    people.print(f"{path}: every line follows; {counts}; {deals}.")
    if log.torn:
        people.print("Its last line is torn and was left off.")
    if not match.end:
        people.print(f"The match is not over; go on with: arena run --resume {path}")


def tell(path: Path, *, hand: int | None, view: str | None, step: bool) -> None:
    """Tell a match hand by hand.  A log that does not follow is not told."""
    log = read_log(path)
    replayed = replay(log, check_deals=False)
    people = console()
    seen = view_of(log.header, view)
    if hand is None:
        header, players = log.header, replayed.match.players
        people.print(seating(header, people.width) if seen == "all" else seating_seen(header, players))
    for line in story(log, seen, hand):
        people.print(line)
        if step and sys.stdin.isatty():
            click.pause("")
    if not replayed.match.end and hand is None:
        people.print(f"\nThe match is not over; go on with: arena run --resume {path}")
