"""Lines to messages and back: the one place where bytes of the pipe are parsed, on either side of it."""

from collections.abc import Sequence
from typing import Final, get_args

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import fields

from protocol.cards import CARD
from protocol.messages import MAX_NAME, MAX_NOTE, FromReferee, Reply

MAX_LINE: Final = 65_536
"""The longest line either side may send, in bytes, without its newline.  [protocol 3.1]"""

_encoder = msgspec.json.Encoder()
_reply_decoder = msgspec.json.Decoder(Reply)
_referee_decoder = msgspec.json.Decoder(FromReferee)
_object_decoder = msgspec.json.Decoder(dict[str, Raw])

_REPLIES: Final[dict[str, type[Struct]]] = {kind.__struct_config__.tag: kind for kind in get_args(Reply)}
_FROM_REFEREE: Final = {kind.__struct_config__.tag for kind in get_args(FromReferee)}

_MUST_BE: Final = {
    "id": "a whole number such as 7",
    "name": f"text of at most {MAX_NAME} characters",
    "version": f"text of at most {MAX_NAME} characters",
    "tables": "a whole number from 1 up to 2^53 - 1",
    "watch": "true or false",
    "protocol": "a whole number such as 1",
    "cards": 'a list of cards such as ["2C","TD","QS"]',
    "card": 'a card such as "QS"',
    "note": f"text of at most {MAX_NOTE} characters",
}
"""What each field of a reply must be, for a bot's author."""

_NOT_JSON: Final = {
    "Input data was truncated": "not JSON: it ends too early; a message is one whole line",
    "JSON is malformed: trailing characters": "not JSON: more follows the object; write one message a line",
}
"""Clearer words for some of the decoder's."""


class _Addressed(Struct):
    id: int


_addressed_decoder = msgspec.json.Decoder(_Addressed)


class BadLine(ValueError):
    """A line that is no message; `id` is the request it names, where that much can be read."""

    def __init__(self, why: str, id: int | None = None) -> None:
        super().__init__(why)
        self.id = id


def encode(message: FromReferee | Reply) -> bytes:
    r"""One message as a line of compact JSON, its `\n` included.  [protocol 3.1]

    What the referee sends is ASCII: every text in it is the organiser's label or our own word.
    """
    return _encoder.encode(message) + b"\n"


def encode_all(messages: Sequence[FromReferee | Reply]) -> bytes:
    """Several messages, each a line as `encode` makes it."""
    return _encoder.encode_lines(messages)


def decode_reply(line: bytes) -> Reply:
    """The reply that a bot's line holds.  [protocol 3, 6.1]

    Raises BadLine, and nothing else, whatever the bytes are.
    """
    try:
        if not line.isascii():
            line.decode()  # the decoder does not look into text that it skips
        return _reply_decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadLine(_why(line, error), _id_of(line)) from None


def decode_from_referee(line: bytes) -> FromReferee | None:
    """What the referee's line holds, or None for a message that this version does not know.  [protocol 3.2]

    Raises BadLine for a line that no referee sends.
    """
    try:
        return _referee_decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        kind = _type_of(_fields_of(line))
        if isinstance(error, msgspec.ValidationError) and kind is not None and kind not in _FROM_REFEREE:
            return None
        raise BadLine(str(error), _id_of(line)) from None


# --- what is wrong with a line, for a beginner -----------------------------------------------------------


def _why(line: bytes, error: Exception) -> str:
    """Say what is wrong with a bot's line in a sentence that a beginner can act on."""
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start}"
    if isinstance(error, RecursionError):
        return "nested too deep"
    if not line.strip():
        return "an empty line"
    if line.startswith(b"\xef\xbb\xbf"):
        return "starts with a byte order mark; write UTF-8 without one"
    words = str(error)
    if isinstance(error, msgspec.ValidationError):
        return _why_no_reply(line) or f"no proper answer: {words}"
    if not line.lstrip().startswith(b"{"):
        return 'not JSON: an answer starts with "{"; anything else belongs on stderr'
    half = "surrogate" in words or ("truncated" in words and line.endswith(b"}"))
    if half and b"\\ud" in line.lower():
        return "not JSON: a \\u escape of half a character"
    for known, clearer in _NOT_JSON.items():
        if words.startswith(known):
            return clearer
    return f"not JSON: {words.removeprefix('JSON is malformed: ')}"


def _why_no_reply(line: bytes) -> str | None:
    """What keeps a line of JSON from being a reply; None if a field stands twice and the first is wrong."""
    found = _fields_of(line)
    if found is None:
        return 'not an object; an answer looks like {"type":"play","id":7,"card":"QS"}'
    if "type" not in found:
        return "the field type is missing; it must be ready, pass or play"
    reply = _REPLIES.get(_type_of(found) or "")
    if reply is None:
        return f"type is {_shown(found['type'])}; it must be ready, pass or play"
    for field in fields(reply):
        if field.name not in found:
            if field.required:
                return f"the field {field.name} is missing"
            continue
        try:
            msgspec.json.decode(found[field.name], type=field.type)
        except msgspec.DecodeError:
            return _why_not(field.name, found[field.name])
    return None


def _why_not(name: str, value: Raw) -> str:
    """Why a value cannot stand in the field of that name."""
    try:
        told = msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        told = None
    if name == "card" and isinstance(told, str):
        return f"card is {_shown(value)}, which is no card"
    if name == "cards" and isinstance(told, list):
        wrong = [card for card in told if not isinstance(card, str) or card not in CARD]
        return f"cards holds {_shown(msgspec.json.encode(wrong[0]))}, which is no card"
    if name in ("name", "version", "note") and isinstance(told, str):
        return f"{name} has {len(told):,} characters; it must be {_MUST_BE[name]}"
    return f"{name} is {_shown(value)}; it must be {_MUST_BE[name]}"


def _shown(value: Raw | bytes) -> str:
    """A value as it stands in the line, cut to 40 characters, with everything unprintable escaped."""
    text = bytes(value).decode("utf-8", "backslashreplace")
    if len(text) > 40:
        text = text[:39] + "…"
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _fields_of(line: bytes) -> dict[str, Raw] | None:
    try:
        return _object_decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _type_of(found: dict[str, Raw] | None) -> str | None:
    try:
        return msgspec.json.decode(found["type"], type=str) if found and "type" in found else None
    except msgspec.DecodeError:
        return None


def _id_of(line: bytes) -> int | None:
    try:
        return _addressed_decoder.decode(line).id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
