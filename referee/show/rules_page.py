"""`arena rules`: the rule sets by name, and one of them as a player would read it before sitting down."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from rich.table import Table
from rich.text import Text

from referee.show.output import console, tell_program
from referee.show.rules_text import preset_lines, rule_lines
from referee.table.settings import read_rules


def show(name: str | None, changes: Sequence[str], *, as_json: bool) -> None:
    """List the rule sets, or tell one; `changes` are KEY=VALUE words.  Raises ArenaError for a name or a
    change that cannot be.
    """
    if as_json:
        rules = read_rules("standard" if name is None else name, changes)
        tell_program(msgspec.json.format(msgspec.json.encode(rules), indent=1) + b"\n")
    elif name is None and not changes:
        _list()
    else:
        _tell("standard" if name is None else name, changes)


def _list() -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    for name, line in preset_lines():
        table.add_row(name, line)
    people = console()
    people.print(table)
    people.print("\n`arena rules NAME` tells one in full; `--rules NAME --set KEY=VALUE` plays by it.")


def _tell(name: str, changes: Sequence[str]) -> None:
    lines = rule_lines(read_rules(name, changes))
    people = console()
    title = f"{name} with {', '.join(changes)}" if changes else name
    people.print(Text(f"Hearts by the rules {title}", style="bold"))
    if description := dict(preset_lines()).get(name):
        people.print(Text(f"{description[0].upper()}{description[1:]}.", style="italic"))
    people.print(Text("* differs from the standard game", style="dim"))
    section = ""
    for line in lines:
        if line.section != section:
            section = line.section
            people.print(Text(f"\n{section.capitalize()}", style="bold underline"))
        differs = line.standard is not None
        text = Text("* " if differs else "  ", style="yellow")
        text.append(line.text, style="yellow" if differs else "default")
        text.append(f"  [{line.field}]" if line.field else "", style="dim")
        people.print(text)
        if differs:
            people.print(Text(f"    standard: {line.standard}", style="dim"))
