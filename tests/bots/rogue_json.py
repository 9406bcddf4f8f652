"""Rogue modes that are a matter of what one line says: its JSON, its fields, its id.

Each answers in turn with one line, and with a wrong one unless it says otherwise.
"""

import json
from typing import Any

from honest import encode
from misdeed import Catalogue, Turn

JSON = Catalogue()

VITAL = {"ready": "name", "pass": "cards", "play": "card"}
"""The field that each reply is about."""

# -- odd but honest ---------------------------------------------------------------------------------------


@JSON.says
def escapes(turn: Turn) -> bytes:
    """Writes every letter of every string as a \\u escape."""

    def escaped(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ",".join(f"{escaped(name)}:{escaped(item)}" for name, item in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(escaped, value)) + "]"
        if isinstance(value, str):
            return '"' + "".join(f"\\u{ord(letter):04x}" for letter in value) + '"'
        return json.dumps(value)

    return escaped(turn.answer).encode() + b"\n"


@JSON.says
def unknown_fields(turn: Turn) -> bytes:
    """Adds fields that nobody knows, before and behind its own."""
    return encode({"mood": {"now": ["calm", None, -1.5e3]}, "": [], **turn.answer, "Id": 0, "why": "x" * 999})


@JSON.says
def huge_unknown_number(turn: Turn) -> bytes:
    """Adds an unknown field with numbers that no machine type holds: 1e400, and one of 5,000 digits."""
    return turn.raw("odds", b"[1e400,-" + b"9" * 5_000 + b"]")


@JSON.says
def note_of_500(turn: Turn) -> bytes:
    """Writes a note of 500 letters, which are 1,000 bytes."""
    return turn.but(note="é" * 500)


@JSON.says
def hostile_note(turn: Turn) -> bytes:
    """Puts terminal controls, markup, NUL and reversed text in its note, or in its name."""
    text = "\x1b[2J\x1b]0;owned\x07\r\n</script><script>alert(1)</script>\0\u202e[red]{0}%s\u2028\U0001f0a1"
    return turn.but(name=text, version=text) if "name" in turn.answer else turn.but(note=text)


@JSON.says
def many_tables(turn: Turn) -> bytes:
    """Says that it plays a million tables at once."""
    return turn.but(tables=1_000_000)


# -- not JSON, or not an object ---------------------------------------------------------------------------


@JSON.says
def not_json(_: Turn) -> bytes:
    """Answers in words."""
    return b"I play the two of clubs\n"


@JSON.says
def single_quotes(turn: Turn) -> bytes:
    """Prints its answer as Python prints a dict."""
    return f"{turn.answer}\n".encode()


@JSON.says
def pretty(turn: Turn) -> bytes:
    """Spreads its answer over several lines."""
    return json.dumps(turn.answer, indent=2).encode() + b"\n"


@JSON.says
def trailing_comma(turn: Turn) -> bytes:
    """Leaves a comma behind its last field."""
    return turn.line[:-2] + b",}\n"


@JSON.says
def two_on_one_line(turn: Turn) -> bytes:
    """Writes its answer twice on one line."""
    return turn.line[:-1] + turn.line


@JSON.says
def array_line(turn: Turn) -> bytes:
    """Answers with an array that holds the right object."""
    return encode([turn.answer])


@JSON.says
def scalar_line(turn: Turn) -> bytes:
    """Answers with its id alone."""
    return encode(turn.answer["id"])


@JSON.says
def deep_nesting(turn: Turn) -> bytes:
    """Adds an unknown field of arrays N (100,000) deep."""
    depth = turn.argument or 100_000
    return turn.raw("deep", b"[" * depth + b"]" * depth)


@JSON.says
def nan(turn: Turn) -> bytes:
    """Adds an unknown field that is NaN, which is Python but not JSON."""
    return turn.raw("odds", b"NaN")


@JSON.says
def control_character(turn: Turn) -> bytes:
    """Writes a tab in a string as it is."""
    return turn.raw("version" if "version" in turn.answer else "note", b'"low\tclub"')


@JSON.says
def lone_surrogate(turn: Turn) -> bytes:
    """Writes half of a surrogate pair as an escape, which no UTF-8 can hold."""
    return turn.raw("name" if "name" in turn.answer else "note", b'"\\ud800 and more"')


@JSON.says
def duplicate_keys(turn: Turn) -> bytes:
    """Says every field twice, the same both times."""
    return turn.line[:-2] + b"," + turn.line[1:]


@JSON.says
def conflicting_keys(turn: Turn) -> bytes:
    """Says what it plays twice: first no card, then the right one."""
    return turn.but(**{VITAL[turn.answer["type"]]: "1X"})[:-2] + b"," + turn.line[1:]


# -- the wrong message ------------------------------------------------------------------------------------


@JSON.says
def echo(turn: Turn) -> bytes:
    """Sends back what it was sent, as `cat` does."""
    return encode(turn.request)


@JSON.says
def empty_object(_: Turn) -> bytes:
    """Answers with an object that has no fields."""
    return b"{}\n"


@JSON.says
def no_type(turn: Turn) -> bytes:
    """Leaves out `type`."""
    return turn.without("type")


@JSON.says
def unknown_type(turn: Turn) -> bytes:
    """Answers with a `type` that is not in the protocol."""
    return turn.but(type="move")


@JSON.says
def wrong_reply(turn: Turn) -> bytes:
    """Answers with another message's `type`: a pass where a play is due, and the like."""
    other = {"ready": "play", "pass": "play", "play": "pass"}[turn.answer["type"]]
    return encode({"type": other, "id": turn.answer["id"], "card": "2C", "cards": ["2C", "3C", "4C"]})


@JSON.says
def missing_field(turn: Turn) -> bytes:
    """Leaves out what the reply is about: the card, the cards or the name."""
    return turn.without(VITAL[turn.answer["type"]])


@JSON.says
def wrong_type_field(turn: Turn) -> bytes:
    """Gives a number for the card, the cards or the name."""
    return turn.but(**{VITAL[turn.answer["type"]]: 12})


@JSON.says
def null_field(turn: Turn) -> bytes:
    """Gives null for the card, the cards or the name."""
    return turn.but(**{VITAL[turn.answer["type"]]: None})


@JSON.says
def bool_card(turn: Turn) -> bytes:
    """Gives true for the card, for each card or for the name."""
    return turn.but(**{VITAL[turn.answer["type"]]: [True] * 3 if turn.answer["type"] == "pass" else True})


@JSON.says
def note_too_long(turn: Turn) -> bytes:
    """Writes a note of 501 letters."""
    return turn.but(note="x" * 501)


@JSON.says
def note_not_text(turn: Turn) -> bytes:
    """Writes a list for a note."""
    return turn.but(note=["void in", "clubs"])


@JSON.says
def no_tables(turn: Turn) -> bytes:
    """Says that it plays no table at once."""
    return turn.but(tables=0)


@JSON.says
def other_protocol(turn: Turn) -> bytes:
    """Says that it speaks protocol 2."""
    return turn.but(protocol=2)


# -- the wrong id -----------------------------------------------------------------------------------------


@JSON.says
def no_id(turn: Turn) -> bytes:
    """Leaves out `id`."""
    return turn.without("id")


@JSON.says
def null_id(turn: Turn) -> bytes:
    """Gives null for its id."""
    return turn.but(id=None)


@JSON.says
def string_id(turn: Turn) -> bytes:
    """Gives its id in quotes."""
    return turn.but(id=str(turn.answer["id"]))


@JSON.says
def float_id(turn: Turn) -> bytes:
    """Gives its id with a fraction, 7.0 for 7."""
    return turn.but(id=float(turn.answer["id"]))


@JSON.says
def bool_id(turn: Turn) -> bytes:
    """Gives true for its id, which in some languages equals 1."""
    return turn.but(id=True)


@JSON.says
def huge_float_id(turn: Turn) -> bytes:
    """Gives 1e400 for its id."""
    return turn.raw("id", b"1e400")


@JSON.says
def huge_integer_id(turn: Turn) -> bytes:
    """Gives an integer of N digits (400) for its id."""
    return turn.raw("id", b"9" * (turn.argument or 400))


@JSON.says
def wrong_id(turn: Turn) -> bytes:
    """Answers with an id that was never asked."""
    return turn.but(id=turn.answer["id"] + 1_000_000)


@JSON.says
def old_id(turn: Turn) -> bytes:
    """Answers with the id of the request before this one."""
    return turn.but(id=turn.before)
