"""What the operator set: house rules and conditions from presets, TOML files and KEY=VALUE words."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from protocol.presets import PRESETS, preset
from protocol.rules import Conditions, Rules, RulesError, conditions_from
from referee.errors import ArenaError

_UNITS: Final = {"ms": 1, "s": 1000, "m": 60_000, "": 1000}
_LONGEST_MS: Final = 24 * 3_600_000
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|)")


def read_rules(name: str = "standard", changes: Iterable[str] = ()) -> Rules:
    """The rules that `--rules NAME|FILE` and any number of `--set KEY=VALUE` mean.

    A file is TOML with rule fields at its top, and `preset` for what it starts from.  Raises ArenaError
    naming what is wrong.
    """
    fields = _changes(changes)
    try:
        if name in PRESETS or not (name.endswith(".toml") or os.path.isfile(name)):  # noqa: PTH113
            return preset(name, fields)
    except RulesError as error:
        raise ArenaError(str(error)) from None
    toml = _read_toml(Path(name))
    base = str(toml.pop("preset", "standard"))
    try:
        return preset(base, {key: _plain(value) for key, value in toml.items()} | fields)
    except RulesError as error:
        raise ArenaError(f"With {name}: {error}") from None


def make_conditions(fields: Mapping[str, Any]) -> Conditions:
    """The conditions with these fields.  Raises ArenaError naming what is wrong."""
    try:
        return conditions_from(fields)
    except RulesError as error:
        raise ArenaError(str(error)) from None


def milliseconds(text: str) -> int:
    """The time that `2s`, `500ms`, `1.5m` or `2` (seconds) means.  Raises ValueError for what is no time."""
    match = _DURATION.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is no time; write it like 2s, 500ms or 1m")
    time_ms = float(match[1]) * _UNITS[match[2]]
    if time_ms > _LONGEST_MS:
        raise ValueError(f"{text} is no time to wait for a bot; a day is the most")
    return round(time_ms)


def _changes(words: Iterable[str]) -> dict[str, Any]:
    fields = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise ArenaError(f"--set {word} must be written KEY=VALUE, for example --set jack_points=-10.")
        key = key.strip()
        if key in fields:
            raise ArenaError(f"--set {key} is given twice; leave one out.")
        fields[key] = _value(key, value.strip())
    return fields


def _value(key: str, text: str) -> Any:
    """A value as it stands on a command line: JSON where it is that, else a word, or words for the fields
    that are lists.
    """
    try:
        return _plain(msgspec.json.decode(text))
    except (msgspec.DecodeError, RecursionError):
        if key in ("removed", "pass_cycle"):
            return [part.strip() for part in text.split(",") if part.strip()]
        return _plain(text)


def _plain(value: Any) -> Any:
    """TOML and the shell have no null; `none` stands for it."""
    return None if value in ("none", "null") else value


def toml_from(text: bytes) -> dict[str, Any]:
    """What a TOML file holds.  Raises ValueError with what is wrong, whatever that is."""
    try:
        return tomllib.loads(text.decode("utf-8-sig"))
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return toml_from(path.read_bytes())
    except OSError as error:
        raise ArenaError(f"Cannot read the rules {path}: {error.strerror}.") from None
    except ValueError as error:
        raise ArenaError(
            f'The rules {path} are not TOML: {error}.  Words stand in quotes, as in moon = "off" or '
            'target = "none"; true and false stand without, in small letters.'
        ) from None
