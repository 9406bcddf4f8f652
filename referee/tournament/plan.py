"""What a tournament is to be: a plan, checked when it is made, read from TOML and written to it."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final, Literal, TypeAlias, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from protocol.presets import preset
from protocol.rules import Conditions, Rules, RulesError, conditions_from
from referee.errors import ArenaError
from referee.game.events import LABEL
from referee.table.settings import toml_from

Format: TypeAlias = Literal["duplicate", "match", "gauntlet"]

NEVER: Final = "none"
"""How a rule that is null is written in TOML, which has no null."""


class PlanError(ArenaError, ValueError):
    """A plan that cannot be: one sentence that names what is wrong and what is allowed."""


class Entrant(Struct, frozen=True):
    """One bot of a tournament: its label, how it is started (if not as its label says), its content's hash.

    `fingerprint` is empty until somebody has looked at the bot; it goes into the ids of its matches.
    """

    name: str
    run: str = ""
    fingerprint: str = ""


class Plan(Struct, frozen=True, kw_only=True):
    """A tournament, but for how many processes play it.

    `bots` stand in the order in which they entered: append new ones, never sort.  `deals` is the number of
    deals, or of games' seeds in the format `match`.  With `stop_when` the tournament ends sooner, once every
    pair of bots is told apart or shown to be closer than so many points a hand.  `withdrawn` bots keep their
    place and their results but play no more.  Raises PlanError.
    """

    bots: tuple[Entrant, ...]
    seed: str
    deals: int = 1000
    format: Format = "duplicate"
    hero: str | None = None
    withdrawn: tuple[str, ...] = ()
    stop_when: float | None = None
    rules: Rules = Rules()
    conditions: Conditions = Conditions(anonymous=True)

    def __post_init__(self) -> None:
        _check(self)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of all bots, in the order in which they entered."""
        return tuple(bot.name for bot in self.bots)

    @property
    def active(self) -> tuple[str, ...]:
        """The labels of the bots that have not been withdrawn."""
        return tuple(name for name in self.labels if name not in self.withdrawn)

    @property
    def match_rules(self) -> Rules:
        """The rules of each match: the house rules, ended after one hand unless whole games are played."""
        if self.format == "match":
            return self.rules
        return replace(self.rules, target=None, max_hands=1, tie="shared")

    def with_bots(self, newcomers: Iterable[Entrant]) -> "Plan":
        """This plan with more bots, which stand after those that are there."""
        return replace(self, bots=(*self.bots, *newcomers))


def plan_from(fields: Mapping[str, Any]) -> Plan:
    """The plan with these fields, as TOML or a command line has them.

    Raises PlanError with a sentence for the operator.

    `bots` may list plain labels.  `rules` may be the name of a rule set, or a table of rules in which
    `preset` names the set they change.
    """
    check_known(fields, Plan.__struct_fields__, "A plan has no")
    given = dict(fields)
    for name in ("bots", "seed"):
        if name not in given:
            raise PlanError(f"The plan says nothing of its {name}.")
    try:
        if "rules" in given:
            given["rules"] = _rules(given["rules"])
        if "conditions" in given:
            given["conditions"] = _conditions(given["conditions"])
    except RulesError as error:
        raise PlanError(f"In the plan: {error}") from None
    if isinstance(given["bots"], list | tuple):
        given["bots"] = [{"name": bot} if isinstance(bot, str) else bot for bot in given["bots"]]
        for bot in given["bots"]:
            if isinstance(bot, Mapping):
                check_known(bot, Entrant.__struct_fields__, "A bot of a plan has no")
    try:
        return msgspec.convert(given, Plan)
    except msgspec.ValidationError as error:
        if isinstance(error.__cause__, PlanError):
            raise error.__cause__ from None
        what, _, where = str(error).partition(" - at `$.")
        raise PlanError(f"The plan's {where.rstrip('`') or 'text'} is not as it should be: {what}.") from None


def plan_fields(plan: Plan) -> dict[str, Any]:
    """The fields of a plan, without its defaults, as TOML can hold them; `plan_from` reads them back."""
    fields: dict[str, Any] = {"format": plan.format, "deals": plan.deals, "seed": plan.seed}
    if plan.hero is not None:
        fields["hero"] = plan.hero
    if plan.withdrawn:
        fields["withdrawn"] = list(plan.withdrawn)
    if plan.stop_when is not None:
        fields["stop_when"] = plan.stop_when
    fields["rules"] = _changed(plan.rules, Rules(players=plan.rules.players)) | {
        "players": plan.rules.players
    }
    fields["conditions"] = {
        name: value for name, value in asdict(plan.conditions).items() if value is not None
    }
    fields["bots"] = [{name: text for name, text in asdict(bot).items() if text} for bot in plan.bots]
    return fields


def plan_from_toml(text: str) -> Plan:
    """The plan that a TOML file holds.  Raises PlanError, also for a file that is not TOML."""
    try:
        fields = toml_from(text.encode())
    except ValueError as error:
        raise PlanError(f"The plan is not TOML: {error}.") from None
    return plan_from(fields)


def plan_to_toml(plan: Plan) -> str:
    """The TOML file that `plan_from_toml` reads back as the same plan."""
    lines: list[str] = []
    tables: list[str] = []
    for name, value in plan_fields(plan).items():
        if isinstance(value, dict):
            tables += ["", f"[{name}]", *_lines(value)]
        elif value and isinstance(value, list) and isinstance(value[0], dict):
            for entry in value:
                tables += ["", f"[[{name}]]", *_lines(entry)]
        else:
            lines += _lines({name: value})
    return "\n".join([*lines, *tables, ""])


def changes(old: Plan, new: Plan) -> list[str]:
    """Why results of `old` may not be taken for results of `new`: a sentence for each reason, or none.

    New bots after the old ones, more or fewer deals, another `stop_when` and withdrawals leave results as
    good as they were.
    """
    reasons = [
        f"The {name} was {_shown(getattr(old, name))} and is now {_shown(getattr(new, name))}."
        for name in ("format", "hero", "seed")
        if getattr(old, name) != getattr(new, name)
    ]
    for what, before, after in (
        ("rule", old.rules, new.rules),
        ("condition", old.conditions, new.conditions),
    ):
        was, now = asdict(before), asdict(after)
        reasons += [
            f"The {what} {name} was {_shown(was[name])} and is now {_shown(now[name])}."
            for name in was
            if was[name] != now[name]
        ]
    if new.labels[: len(old.labels)] != old.labels:
        reasons.append(
            f"The bots were {', '.join(old.labels)} and are now {', '.join(new.labels)}; "
            "new ones go to the end, and to take one out is to withdraw it."
        )
    now_bots = {bot.name: bot for bot in new.bots}
    reasons += [
        f"The bot {bot.name} is not what it was: its content has changed."
        for bot in old.bots
        if bot.name in now_bots and now_bots[bot.name].fingerprint != bot.fingerprint
    ]
    return reasons


def _check(plan: Plan) -> None:
    labels = plan.labels
    if plan.format not in get_args(Format):
        raise PlanError(f"There is no format {plan.format!r}; there are: {', '.join(get_args(Format))}.")
    for label in labels:
        if not LABEL.fullmatch(label):
            raise PlanError(
                f"The label {label!r} will not do: 1 to 32 letters, digits, dots, dashes and underscores."
            )
        if labels.count(label) > 1:
            raise PlanError(f"Two bots are called {label}; give one of them another label.")
    for what, names in (
        ("withdrawn", plan.withdrawn),
        ("the hero", () if plan.hero is None else (plan.hero,)),
    ):
        for name in names:
            if name not in labels:
                raise PlanError(f"{name!r} is {what}, but the bots are: {', '.join(labels)}.")
    if (plan.hero is None) is (plan.format == "gauntlet"):
        raise PlanError(
            "A gauntlet needs a hero: the bot that meets each of the others."
            if plan.hero is None
            else f"A hero is for the format gauntlet; this one is {plan.format}."
        )
    if plan.hero in plan.withdrawn:
        raise PlanError(f"The hero {plan.hero} is withdrawn; without it there is no gauntlet.")
    if len(plan.active) < 2:
        raise PlanError("A tournament needs two bots at least that are not withdrawn.")
    if not plan.seed:
        raise PlanError("The seed is empty; leave it out, and one is drawn.")
    if plan.deals < 1:
        raise PlanError(f"The number of deals is {plan.deals}; one is the least.")
    if plan.stop_when is not None and not 0 < plan.stop_when < float("inf"):
        raise PlanError(f"stop_when is {plan.stop_when}; it is a number of points a hand, above 0.")


def _rules(given: object) -> Rules:
    if isinstance(given, str):
        return preset(given)
    if isinstance(given, Rules):
        return given
    if isinstance(given, Mapping):
        changed = {name: None if value == NEVER else value for name, value in given.items()}
        return preset(str(changed.pop("preset", "standard")), changed)
    raise RulesError("the rules are neither the name of a rule set nor a table of rules.")


def _conditions(given: object) -> Conditions:
    if isinstance(given, Conditions):
        return given
    if isinstance(given, Mapping):
        return conditions_from({"anonymous": True} | dict(given))
    raise RulesError("the conditions are not a table.")


def check_known(given: Iterable[str], names: tuple[str, ...], what: str) -> None:
    for name in given:
        if name not in names:
            close = get_close_matches(name, names, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(names)}."
            raise PlanError(f"{what} {name!r}; {hint}")


def _changed(rules: Rules, usual: Rules) -> dict[str, Any]:
    usual_fields = asdict(usual)
    return {
        name: NEVER if value is None else value
        for name, value in asdict(rules).items()
        if value != usual_fields[name]
    }


def _lines(fields: Mapping[str, Any]) -> list[str]:
    """TOML's lines; JSON writes numbers, truth, lists and, but for one character, strings the same way."""
    return [f"{name} = {_shown(value)}" for name, value in fields.items()]


def _shown(value: object) -> str:
    return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
