"""The JSON Schemas of the pipe and of the match log, made from the types that read and write them.

`python -m referee.show.schemas DIR` writes them to a directory; the project keeps them in `spec/schemas`.
They describe each line by itself.  What follows what, and every rule of the game, is beyond a schema.
"""

import sys
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from protocol.cards import NAMES
from protocol.messages import FromReferee, Reply
from referee.record.match_log import LOG_VERSION, LogRecord

Schema: TypeAlias = dict[str, Any]

_CARD: Final[Schema] = {
    "title": "Card",
    "description": "A rank, then a suit.  [protocol 3.3]",
    "enum": list(NAMES),
}


def schemas() -> dict[str, bytes]:
    """The contents of each schema file, by its name."""
    return {
        "from_referee.json": _file(_from_referee(), "A line from the referee to a bot.  [protocol 4]"),
        "reply.json": _file(_schema(Reply), "A bot's answer.  [protocol 4]"),
        "match_log.json": _file(_match_log(), "A line of a match log.  [match log 2]"),
    }


def _from_referee() -> Schema:
    """What a referee of this version says: it leaves no field out, so that a bot may count on each."""
    schema = _schema(FromReferee)
    for part in schema["$defs"].values():
        if "properties" in part:
            part["required"] = list(part["properties"])
    return schema


def _match_log() -> Schema:
    """What may stand in a log.  Fields with a default may be younger than the log, but the version is not."""
    schema = _schema(LogRecord)
    header = schema["$defs"]["MatchRecord"]
    header["properties"]["log"] = {"const": LOG_VERSION}
    header["required"].insert(1, "log")
    return schema


def _schema(lines: object) -> Schema:
    (choice,), components = msgspec.json.schema_components([lines], ref_template="#/$defs/{name}")
    parts = {name: _tidy(components[name]) for name in sorted(components)}
    return {"oneOf": choice["anyOf"], "$defs": {"Card": _CARD} | parts}


def _tidy(schema: Any) -> Any:
    """The same schema with the 52 cards told in one place and the first paragraph of each docstring."""
    if isinstance(schema, list):
        return [_tidy(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    choices = schema.get("enum", ())
    if set(choices) == set(NAMES):
        return {"$ref": "#/$defs/Card"}
    tidy = {key: _tidy(value) for key, value in schema.items()}
    if len(choices) == 1:
        tidy["const"] = tidy.pop("enum")[0]
    if isinstance(schema.get("description"), str):
        tidy["description"] = " ".join(schema["description"].split("\n\n")[0].split("\n"))
    return tidy


def _file(schema: Schema, description: str) -> bytes:
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", "description": description} | schema
    return msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n"


def main(directory: str) -> None:
    """Write every schema file to a directory."""
    for name, contents in schemas().items():
        Path(directory, name).write_bytes(contents)


if __name__ == "__main__":
    main(sys.argv[1])
