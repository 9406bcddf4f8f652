"""What is known of a fault of a bot, from which `diagnosis` makes sentences: question, bytes, stderr."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from protocol.codec import BadLine, decode_reply
from protocol.messages import Pass, PassRequest, Play, PlayRequest, Ready, Reply, StartRequest
from referee.game.events import FaultRecord

Question = StartRequest | PassRequest | PlayRequest


class Diagnosis(Struct, frozen=True):
    """What was wrong, and what may help."""

    what: str
    advice: tuple[str, ...] = ()


class Silence(Struct):
    """What was found out about a bot that did not answer in time.

    `late_s` is how long after the request an answer came after all.  If none came, its stdin was closed:
    `after` is what it wrote then, `answered` whether that answers, `left` whether it left by itself.
    `read_all` is whether a second process of it was seen to read all of its input before it answers; None
    if that could not be told.
    """

    waited_s: float
    late_s: float | None = None
    unread: int = 0
    hears: bool = True
    speaks: bool = True
    stopped: bool = False
    busy: bool = False
    memory_mb: int = 0
    after: bytes = b""
    answered: bool = False
    left: bool = False
    read_all: bool | None = False


class Evidence(Struct):
    """All that is known of one fault: the question, every byte that came after it, the bot's stderr."""

    fault: FaultRecord
    request: Question | None
    sent: bytes
    came: bytes
    notices: tuple[str, ...]
    stderr: bytes
    asked_before: int
    answered: bool = False
    """Whether the question had been answered before the fault."""
    tables: int = 1
    status: int | None = None
    silence: Silence | None = None


def answer_in(data: bytes, id: int) -> Reply | None:
    """The first good answer to request `id` among the complete lines."""
    for line in data.split(b"\n")[:-1]:
        reply = reply_of(line)
        if reply and reply.id == id:
            return reply
    return None


def reply_of(line: bytes) -> Reply | None:
    """The answer that a line is, None if it is none."""
    try:
        return decode_reply(line.strip(b" \t\r"))
    except BadLine:
        return None


def example(request: Question) -> str:
    """An answer to this request as it should look."""
    if isinstance(request, StartRequest):
        answer: Reply = Ready(request.id, "my-bot", "1")
    elif isinstance(request, PassRequest):
        answer = Pass(request.id, request.cards[: request.count])
    else:
        answer = Play(request.id, request.legal[0])
    shown: dict[str, object] = msgspec.to_builtins(answer)
    defaults = {"tables": 1, "watch": False, "protocol": 1, "note": None}
    kept = {name: value for name, value in shown.items() if name not in defaults}
    return msgspec.json.encode(kept).decode()
