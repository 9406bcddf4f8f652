"""Rogue modes that are a matter of bytes and time: how a line is framed, how much is said, and when.

At the moment `end` the same bytes come out of turn, right behind the last honest answer of the hand.
"""

import json
from collections.abc import Iterator
from time import sleep

from honest import encode
from misdeed import Catalogue, Turn

BYTES = Catalogue()

LINE_LIMIT = 65_536
TICK_S = 0.05

# -- odd but honest ---------------------------------------------------------------------------------------


@BYTES.says
def crlf(turn: Turn) -> bytes:
    """Ends its line with \\r\\n, as on Windows."""
    return turn.line[:-1] + b"\r\n"


@BYTES.says
def spaces(turn: Turn) -> bytes:
    """Puts spaces around the answer, and within it wherever JSON allows them."""
    return f"   {json.dumps(turn.answer, separators=(' , ', ' : '))}   \n".encode()


@BYTES.says
def halves(turn: Turn) -> Iterator[bytes]:
    """Answers in two halves, 3 ms apart."""
    middle = len(turn.line) // 2
    yield turn.line[:middle]
    sleep(0.003)
    yield turn.line[middle:]


@BYTES.says
def halves_in_a_letter(turn: Turn) -> Iterator[bytes]:
    """Answers in two halves, 3 ms apart, cut in the middle of a two-byte letter."""
    line = turn.but(note="é", version="é")
    middle = line.index("é".encode()) + 1
    yield line[:middle]
    sleep(0.003)
    yield line[middle:]


@BYTES.says
def byte_by_byte(turn: Turn) -> Iterator[bytes]:
    """Answers in as many writes as the line has bytes."""
    return (bytes([byte]) for byte in turn.line)


@BYTES.says
def nearly_too_long(turn: Turn) -> bytes:
    """Pads its answer to 65,000 bytes, under the limit of 65,536."""
    return padded(turn, 65_000)


# -- badly framed -----------------------------------------------------------------------------------------


@BYTES.says
def bom(turn: Turn) -> bytes:
    """Begins its answer with a byte order mark."""
    return b"\xef\xbb\xbf" + turn.line


@BYTES.says
def utf_16(turn: Turn) -> bytes:
    """Answers in UTF-16, as a pipe from PowerShell would."""
    return turn.line.decode().encode("utf-16")


@BYTES.says
def bad_utf8(turn: Turn) -> bytes:
    """Has bytes that are not UTF-8 in a string of its answer."""
    return turn.raw("name" if "name" in turn.answer else "note", b'"caf\xe9 \xff\xfe"')


@BYTES.says
def bad_utf8_unknown_field(turn: Turn) -> bytes:
    """Has bytes that are not UTF-8 in a field that the referee ignores."""
    return turn.raw("comment", b'"caf\xe9 \xff\xfe"')


@BYTES.says
def nul(turn: Turn) -> bytes:
    """Writes the NUL that ends a string in C before its newline."""
    return turn.line[:-1] + b"\0\n"


@BYTES.says
def empty_line(turn: Turn) -> bytes:
    """Writes an empty line before its answer."""
    return b"\n" + turn.line


@BYTES.says
def banner(turn: Turn) -> bytes:
    """Lets a library print its greeting to stdout before the answer."""
    return b"Picked up JAVA_TOOL_OPTIONS: -Xmx512m\n" + turn.line


@BYTES.says
def no_newline(turn: Turn) -> bytes:
    """Forgets the newline, and waits."""
    return turn.line[:-1]


@BYTES.says
def carriage_return(turn: Turn) -> bytes:
    """Ends its line with \\r alone, and waits."""
    return turn.line[:-1] + b"\r"


# -- too much ---------------------------------------------------------------------------------------------


@BYTES.says
def just_too_long(turn: Turn) -> bytes:
    """Pads its answer to 65,600 bytes, over the limit of 65,536."""
    return padded(turn, 65_600)


@BYTES.says
def huge_line(turn: Turn) -> bytes:
    """Pads its answer to N MB (10)."""
    return padded(turn, (turn.argument or 10) * 1_000_000)


@BYTES.says
def flood_bytes(_: Turn) -> Iterator[bytes]:
    """Writes as fast as it can, for ever, and never a newline."""
    while True:
        yield b"x" * LINE_LIMIT


@BYTES.says
def flood_lines(_: Turn) -> Iterator[bytes]:
    """Writes short lines as fast as it can, for ever."""
    while True:
        yield b"thinking\n" * 7_000


@BYTES.says
def flood_answers(turn: Turn) -> Iterator[bytes]:
    """Repeats its answer as fast as it can, for ever."""
    while True:
        yield turn.line * 700


@BYTES.says
def chatter(_: Turn) -> Iterator[bytes]:
    """Writes a full line every 50 ms, and never an answer."""
    while True:
        yield b"thinking\n"
        sleep(TICK_S)


@BYTES.says
def drip(_: Turn) -> Iterator[bytes]:
    """Writes a byte every 50 ms, and never a newline."""
    while True:
        yield b"x"
        sleep(TICK_S)


@BYTES.says
def two_answers(turn: Turn) -> bytes:
    """Answers twice."""
    return turn.due + turn.line


@BYTES.says
def predict(turn: Turn) -> bytes:
    """Answers, and answers the next id too, before it was asked."""
    return turn.due + encode({"type": "play", "id": turn.answer["id"] + 1, "card": "2C"})


@BYTES.says
def unasked(turn: Turn) -> bytes:
    """Answers, and goes on talking."""
    return turn.due + b'{"type":"chat","text":"your turn!"}\n'


# -- at the wrong time ------------------------------------------------------------------------------------


@BYTES.says
def skips(_: Turn) -> bytes:
    """Leaves this one request without an answer, and plays on."""
    return b""


@BYTES.says
def slow(turn: Turn) -> bytes:
    """Sleeps N ms (150) before it answers."""
    sleep((turn.argument or 150) / 1000)
    return turn.line


@BYTES.says
def before_deadline(turn: Turn) -> bytes:
    """Answers N ms (1) before its time is up, as it counts it."""
    sleep((turn.request["ms"] - (turn.argument or 1)) / 1000)
    return turn.line


@BYTES.says
def after_deadline(turn: Turn) -> bytes:
    """Answers N ms (1) after its time is up, as it counts it, and plays on."""
    sleep((turn.request["ms"] + (turn.argument or 1)) / 1000)
    return turn.line


@BYTES.says
def late_for_ever(turn: Turn) -> Iterator[bytes]:
    """Misses its deadline by N ms (400), then repeats the late answer every 50 ms, and that is all."""
    sleep((turn.request["ms"] + (turn.argument or 400)) / 1000)
    while True:
        sleep(TICK_S)
        yield turn.line


def padded(turn: Turn, length: int) -> bytes:
    """The honest answer, `length` bytes long before its newline by a field that the referee ignores."""
    return turn.but(pad="x" * (length + 1 - len(turn.but(pad=""))))
