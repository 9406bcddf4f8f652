"""From what an operator asks for, and what a directory holds, to the plan that is to be played.

What is not asked for is as it was, or else as a new plan has it.  Bots that are named and not yet there enter
after the others; those that are not named stay.
"""

from __future__ import annotations

import os
import secrets
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from referee.errors import ArenaError
from referee.game.events import LABEL
from referee.table.roster import BUNDLED, Bot, find_bot, uniquely_named
from referee.table.settings import toml_from
from referee.tournament.plan import Entrant, Plan, PlanError, changes, check_known, plan_from


class Wanted(Struct, frozen=True, kw_only=True):
    """What an operator asks for: bots as words, a file, and fields of the plan and its conditions."""

    words: tuple[str, ...] = ()
    file: Path | None = None
    fields: Mapping[str, Any] = {}
    conditions: Mapping[str, Any] = {}
    withdraw: tuple[str, ...] = ()
    accept_changes: bool = False


class Entry(Struct, frozen=True):
    """The plan to play, its bots as they are now, and what is new in it, for people."""

    plan: Plan
    bots: tuple[Bot, ...]
    news: tuple[str, ...]


def enter(stored: Plan | None, wanted: Wanted, say: Callable[[str], None] = lambda _: None) -> Entry:
    """Make the plan.  Raises ArenaError if it cannot be, or if results of `stored` would not do for it."""
    fields = _fields(stored, wanted)
    sandbox = fields["conditions"].get("sandbox", "auto")
    find = partial(find_bot, say=say, sandbox=sandbox)
    bots = _with_newcomers(fields["bots"], wanted.words, find)
    if hero := wanted.fields.get("hero"):
        fields["hero"], bots = _with_hero(hero, bots, find)
    fields["bots"] = [asdict(entrant) for entrant, _ in bots]
    withdrawn = tuple(fields.get("withdrawn", ()))
    fields["withdrawn"] = [*withdrawn, *(name for name in wanted.withdraw if name not in withdrawn)]
    plan = plan_from(fields)
    find = partial(find_bot, say=say, sandbox=plan.conditions.sandbox)
    known = stored.labels if stored else ()
    found = [bot or _find(entrant, plan, find, was_there=entrant.name in known) for entrant, bot in bots]
    plan = replace(
        plan,
        bots=tuple(
            replace(entrant, fingerprint=bot.fingerprint)
            for entrant, bot in zip(plan.bots, found, strict=True)
        ),
    )
    return Entry(plan, tuple(found), _news(stored, plan, wanted))


def _fields(stored: Plan | None, wanted: Wanted) -> dict[str, Any]:
    """The plan's fields before its bots are looked at: stored ones, then the file's, then those asked for."""
    fields: dict[str, Any] = {"bots": [], "seed": secrets.token_hex(16)}
    if stored:
        fields = asdict(stored)
        fields["bots"] = list(stored.bots)
    conditions = dict(asdict(stored.conditions)) if stored else {"anonymous": True}
    if wanted.file:
        read = _read(wanted.file)
        conditions |= _table(read.pop("conditions", {}), wanted.file)
        listed = _listed(read.pop("bots", []), wanted.file)
        fields |= read
        fields["bots"] = _merged(fields["bots"], listed)
    fields |= wanted.fields
    fields["conditions"] = conditions | dict(wanted.conditions)
    return fields


def _read(path: Path) -> dict[str, Any]:
    try:
        return toml_from(path.read_bytes())
    except OSError as error:
        raise PlanError(f"Cannot read the plan {path}: {error.strerror}.") from None
    except ValueError as error:
        raise PlanError(f"The plan {path} is not TOML: {error}.") from None


def _table(given: object, path: Path) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise PlanError(f"In the plan {path} conditions is not a table.")
    return given


def _listed(given: object, path: Path) -> list[Entrant]:
    """The bots that a plan file lists; a label that comes again gets a number, as on a command line."""
    if not isinstance(given, list):
        raise PlanError(f'In the plan {path} bots is not a list; write it as in bots = ["duck", "random"].')
    entrants: dict[str, Entrant] = {}
    for bot in given:
        entrant = _entrant(bot, path)
        name, count = entrant.name, 1
        while name in entrants and isinstance(bot, str):
            count += 1
            name = f"{entrant.name}-{count}"
        if name in entrants:
            raise PlanError(f"In the plan {path} two bots are called {name}; give one of them another name.")
        entrants[name] = replace(entrant, name=name)
    return list(entrants.values())


def _entrant(given: object, path: Path) -> Entrant:
    """A bot as a plan file has it: a label, or a table with name and run, its paths seen from the file."""
    fields = {"name": given} if isinstance(given, str) else given
    if not isinstance(fields, dict) or not all(isinstance(value, str) for value in fields.values()):
        raise PlanError(f"In the plan {path} a bot is neither a label nor a table with name and run.")
    check_known(fields, Entrant.__struct_fields__, f"In the plan {path} a bot has no")
    if "name" not in fields:
        raise PlanError(f"In the plan {path} a bot has no name.")
    name: str = fields["name"]
    return Entrant(name, anchored(fields.get("run", name), path.parent.absolute()))


def _merged(old: Sequence[Entrant], new: Iterable[Entrant]) -> list[Entrant]:
    """The old bots in their places, as the new list has them, and the new list's others after them."""
    listed = {entrant.name: entrant for entrant in new}
    kept = [
        replace(entrant, run=listed.pop(entrant.name).run) if entrant.name in listed else entrant
        for entrant in old
    ]
    return kept + list(listed.values())


def _with_newcomers(
    entrants: Sequence[Entrant], words: Sequence[str], find: Callable[[str], Bot]
) -> list[tuple[Entrant, Bot | None]]:
    """All bots in order, and those that were named as they were found."""
    anchors = [anchored(word, Path.cwd()) for word in words]
    found = uniquely_named([find(word) for word in anchors])
    named = dict(zip(found, map(_unlabelled, anchors), strict=True))
    by_name = {bot.name: bot for bot in named}
    bots: list[tuple[Entrant, Bot | None]] = []
    for entrant in entrants:
        bot = by_name.pop(entrant.name, None)
        bots.append((replace(entrant, run=named[bot]) if bot else entrant, bot))
    return bots + [(Entrant(bot.name, named[bot], bot.fingerprint), bot) for bot in by_name.values()]


def _with_hero(
    hero: str, bots: list[tuple[Entrant, Bot | None]], find: Callable[[str], Bot]
) -> tuple[str, list[tuple[Entrant, Bot | None]]]:
    """The label of the hero, which may be given by any word for a bot, and all bots with it among them."""
    word = anchored(hero, Path.cwd())
    name = word.partition("=")[0] if _unlabelled(word) != word else hero
    for entrant, _ in bots:
        if name == entrant.name or (word == entrant.run and word not in BUNDLED):
            return entrant.name, bots
    entrants = [entrant for entrant, _ in bots]
    known = dict(bots)
    joined = _with_newcomers(entrants, [hero], find)
    ((label, _),) = [one for one in joined if one[1]]
    return label.name, [(entrant, known.get(entrant) or bot) for entrant, bot in joined]


def _find(entrant: Entrant, plan: Plan, find: Callable[[str], Bot], *, was_there: bool) -> Bot:
    """A bot of the plan as it is now; one that is withdrawn need not be there any more."""
    if entrant.name in plan.withdrawn:
        return Bot(name=entrant.name, command=(), cwd="", fingerprint=entrant.fingerprint)
    try:
        return replace(find(entrant.run or entrant.name), name=entrant.name)
    except ArenaError as error:
        if not was_there:
            raise ArenaError(f"The plan's bot {entrant.name} cannot be found. {error}") from None
        raise ArenaError(
            f"The bot {entrant.name} is no longer there; put it back, or take it out with --withdraw "
            f"{entrant.name}. {error}"
        ) from None


def _news(stored: Plan | None, plan: Plan, wanted: Wanted) -> tuple[str, ...]:
    """What differs from the stored plan.  Raises PlanError for what may not without being accepted."""
    if stored is None:
        return ()
    reasons = changes(stored, plan)
    if reasons and not wanted.accept_changes:
        raise PlanError(
            " ".join(reasons)
            + " Name another directory, or add --accept-changes: results that the change makes "
            "meaningless are then set aside and played again."
        )
    news = list(reasons)
    if newcomers := plan.labels[len(stored.labels) :]:
        news.append(f"New: {', '.join(newcomers)}.")
    if withdrawn := [name for name in plan.withdrawn if name not in stored.withdrawn]:
        news.append(f"Withdrawn: {', '.join(withdrawn)}.")
    if plan.deals != stored.deals:
        news.append(f"There were {stored.deals:,} deals and are now {plan.deals:,}.")
    return tuple(news)


def _unlabelled(word: str) -> str:
    """The word for a bot without the label before it."""
    label, equals, rest = word.partition("=")
    return rest if equals and LABEL.fullmatch(label) and not Path(word).exists() else word


def anchored(word: str, here: Path) -> str:
    """The word for a bot with its paths made absolute, so that it means the same from anywhere."""
    label, equals, rest = word.partition("=")
    if equals and LABEL.fullmatch(label) and not (here / word).exists():
        return f"{label}={anchored(rest, here)}"
    if word in BUNDLED or "\0" in word:
        return word
    if (here / word).exists():
        return os.path.normpath(here / word)
    try:
        parts = shlex.split(word)
    except ValueError:
        return word
    if len(parts) < 2:
        return word
    program = os.path.normpath(here / parts[0]) if "/" in parts[0] else parts[0]
    rest_parts = [
        os.path.normpath(here / part)
        if part and not part.startswith("-") and (here / part).exists()
        else part
        for part in parts[1:]
    ]
    return shlex.join([program, *rest_parts])
