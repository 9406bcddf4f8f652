"""`arena run`: a match watched on the terminal, interrupted by Ctrl-C, its result told at the end."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from referee.errors import ArenaError, why
from referee.show import interrupt
from referee.show.output import tell_program
from referee.show.words import count
from referee.table.host import Hosted, host, host_again
from referee.table.roster import find_bots
from referee.table.settings import make_conditions, read_rules

if TYPE_CHECKING:
    from rich.console import Console

    from referee.show.terminal import RunScreen

_STDERR_SHOWN = 2000
_RULES_FOR = {3: "three", 4: "standard", 5: "five", 6: "six"}


def run(
    words: Sequence[str],
    rules_name: str,
    changes: Sequence[str],
    condition_fields: Mapping[str, Any],
    *,
    seed: str | None,
    log_path: Path | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Play one match and tell of it."""
    rules = read_rules(rules_name, changes)
    conditions = make_conditions(condition_fields)
    if len(words) != rules.players:
        fitting = _RULES_FOR.get(len(words))
        hint = f" For {len(words)} there is --rules {fitting}." if fitting else ""
        named = f"{count(len(words), 'bot')} {'was' if len(words) == 1 else 'were'} named"
        raise click.UsageError(f"The rules {rules_name} seat {rules.players} players; {named}.{hint}")
    screen = _screen(quiet, as_json)
    bots = find_bots(words, lambda text: screen().people.print(text), conditions.sandbox)
    path = log_path or _fresh_path()

    def play() -> Awaitable[Hosted]:
        return host(bots, rules, conditions, path, seed=seed, watch=lambda event: screen().watch(event))

    _finish(play, path, screen, as_json)


def resume(path: Path, *, quiet: bool, as_json: bool) -> None:
    """Play an interrupted match on and tell of it."""
    screen = _screen(quiet, as_json)
    _finish(lambda: host_again(path, watch=lambda event: screen().watch(event)), path, screen, as_json)


def _screen(quiet: bool, as_json: bool) -> Callable[[], RunScreen]:
    """The screen, made when there is first something to show: bots start while the modules behind it load."""

    @cache
    def screen() -> RunScreen:
        from referee.show.output import console
        from referee.show.terminal import RunScreen

        return RunScreen(console(stderr=as_json), quiet=quiet)

    return screen


def _finish(
    play: Callable[[], Awaitable[Hosted]], path: Path, screen: Callable[[], RunScreen], as_json: bool
) -> None:
    try:
        hosted = interrupt.run(play)
    except OSError as error:
        raise ArenaError(f"The machine refuses: {why(error)}. {_go_on(path)}") from None
    finally:
        screen().stop()
    people = screen().people
    if hosted is None:
        people.print(f"Interrupted; every bot has been ended. {_go_on(path)}")
        sys.exit(interrupt.INTERRUPTED)
    screen().tell_end(hosted.header, hosted.end, hosted.used)
    _tell_stderr(hosted, people)
    people.print(f"log: {hosted.log}")
    if as_json:
        tell_program(msgspec.json.encode(_summary(hosted)) + b"\n")
    if hosted.end.reason == "void":
        blame = "; ".join(_blame(hosted)) or "it is void"
        raise ArenaError(f"The match has no result: {blame}. To see what is wrong: arena check BOT")


def _go_on(path: Path) -> str:
    """What can be done with what was played of a match that was broken off."""
    return f"Go on with: arena run --resume {path}" if path.exists() else "Nothing was played."


def _tell_stderr(hosted: Hosted, people: Console) -> None:
    """Show what an offender said on its stderr: it is most often the reason."""
    for seat in sorted({fault.seat for fault in hosted.faults}):
        name = hosted.header.seats[seat].name
        said = hosted.stderr.get(name, b"").decode(errors="replace").strip()
        if said:
            people.print(f"\nthe last that {name} said on stderr:", style="bold")
            people.print(_printable(said[-_STDERR_SHOWN:]), markup=False, style="dim")


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() or char in "\n\t" else "·" for char in text)


def _blame(hosted: Hosted) -> list[str]:
    names = [seat.name for seat in hosted.header.seats]
    return [f"{names[fault.seat]}: {fault.detail}" for fault in hosted.faults]


def _summary(hosted: Hosted) -> dict[str, Any]:
    end = hosted.end
    return {
        "names": [seat.name for seat in hosted.header.seats],
        "ranks": end.ranks,
        "scores": end.scores,
        "hands": hosted.hands,
        "retired": end.retired,
        "faults": [msgspec.to_builtins(fault) for fault in hosted.faults],
        "reason": end.reason,
        "used": [msgspec.to_builtins(used) for used in hosted.used],
        "log": str(hosted.log),
    }


def _fresh_path() -> Path:
    return Path(f"hearts-{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}.jsonl")
