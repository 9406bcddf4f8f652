"""Lines to messages and back: the one place where bytes of the pipe are parsed, on either side of it."""

from typing import Final

import msgspec

from protocol.messages import FromReferee, Reply

MAX_LINE: Final = 65_536
"""The longest line either side may send, in bytes, without its newline.  [protocol 3.1]"""

_encoder = msgspec.json.Encoder()
_reply_decoder = msgspec.json.Decoder(Reply)
_referee_decoder = msgspec.json.Decoder(FromReferee)


class _Addressed(msgspec.Struct):
    id: int


class _Typed(msgspec.Struct):
    type: str


_addressed_decoder = msgspec.json.Decoder(_Addressed)
_typed_decoder = msgspec.json.Decoder(_Typed)


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


def decode_reply(line: bytes) -> Reply:
    """The reply that a bot's line holds.  [protocol 3, 6]

    Raises BadLine, and nothing else, whatever the bytes are.
    """
    try:
        if not line.isascii():
            line.decode()  # the decoder does not look into text that it skips
        return _reply_decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadLine(_why(line, error), _id_of(line)) from None


def decode_from_referee(line: bytes) -> FromReferee | None:
    """What the referee's line holds, or None for a notice that this version does not know.  [protocol 3.2]

    Raises BadLine for a line that no referee sends.
    """
    try:
        return _referee_decoder.decode(line)
    except msgspec.ValidationError as error:
        try:
            kind = _typed_decoder.decode(line).type
        except msgspec.DecodeError:
            kind = ""
        if kind and "Invalid value" in str(error) and "$.type" in str(error):
            return None
        raise BadLine(str(error), _id_of(line)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadLine(str(error)) from None


def _id_of(line: bytes) -> int | None:
    try:
        return _addressed_decoder.decode(line).id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _why(line: bytes, error: Exception) -> str:
    """Say what is wrong with a line in words that a beginner can act on."""
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 at byte {error.start}"
    if isinstance(error, RecursionError):
        return "nested too deep"
    if not line:
        return "an empty line"
    if line.startswith(b"\xef\xbb\xbf"):
        return "starts with a byte order mark; write UTF-8 without one"
    if isinstance(error, msgspec.ValidationError):
        return str(error).replace("`", "").replace("$.", "").replace("Object", "the answer")
    return f"not JSON: {str(error).removeprefix('JSON is malformed: ')}"
