"""`protocol.bot` as the referee meets it: real processes, real pipes, and what authors do to them."""

import os
import select
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import protocol.bot
from protocol.bot import STANDARD, points, rank, suit, unseen, winning_card
from protocol.cards import NAMES
from protocol.codec import encode
from protocol.messages import (
    HandOverNotice,
    MatchOverNotice,
    PassedNotice,
    PassRequest,
    PlayedNotice,
    PlayRequest,
    StartRequest,
    Trick,
)
from protocol.rules import Clock, Rules

WAIT_S = 20.0

FIRST_LEGAL = """
from protocol.bot import run
run("first", lambda request: request.cards[:request.count], lambda request: request.legal[0])
"""


class Child:
    """A bot as a process, with its stderr in a file."""

    def __init__(self, source: str, stderr: Path) -> None:
        self.stderr_path = stderr
        with stderr.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-c", textwrap.dedent(source)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
                env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
            )
        assert self.process.stdin
        assert self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self.unread = b""

    def say(self, *lines: bytes | msgspec.Struct) -> None:
        """Write these lines at once."""
        data = b"".join(line if isinstance(line, bytes) else encode(line) for line in lines)  # type: ignore[arg-type]
        while data:
            data = data[os.write(self.stdin.fileno(), data) :]

    def read(self) -> bytes:
        """What one read brings; b"" at the end."""
        ready, _, _ = select.select([self.stdout], [], [], WAIT_S)
        assert ready, "the bot is silent"
        return os.read(self.stdout.fileno(), 1 << 20)

    def hear(self, count: int) -> list[dict[str, Any]]:
        """The next `count` lines, and there must be no more."""
        while self.unread.count(b"\n") < count:
            chunk = self.read()
            assert chunk, f"the bot has left: {self.stderr}"
            self.unread += chunk
        *lines, self.unread = self.unread.split(b"\n")
        assert (len(lines), self.unread) == (count, b"")
        return [msgspec.json.decode(line) for line in lines]

    def ask(self, *lines: bytes | msgspec.Struct) -> dict[str, Any]:
        """Say lines that get one answer."""
        self.say(*lines)
        (answer,) = self.hear(1)
        return answer

    def rest(self) -> bytes:
        """All that still comes until the bot closes its stdout."""
        data = self.unread
        while chunk := self.read():
            data += chunk
        return data

    def leave(self) -> int:
        """Close its stdin; its exit status."""
        self.stdin.close()
        return self.process.wait(WAIT_S)

    @property
    def stderr(self) -> str:
        return self.stderr_path.read_text()


Start = Callable[[str], Child]


@pytest.fixture
def bot(tmp_path: Path) -> Iterator[Start]:
    children: list[Child] = []

    def start(source: str) -> Child:
        child = Child(source, tmp_path / f"stderr-{len(children)}")
        children.append(child)
        return child

    yield start
    for child in children:
        child.process.kill()
        child.process.wait()
        child.stdin.close()
        child.stdout.close()


def start_request(id: int = 1, table: str = "t1", rules: Rules = STANDARD) -> StartRequest:
    return StartRequest(id, table, 1, 0, ("a", "b", "c", "d"), rules, Clock())


def pass_request(id: int = 2, **changes: Any) -> PassRequest:
    fields: dict[str, Any] = {
        "table": "t1",
        "hand": 1,
        "seat": 0,
        "dealer": 0,
        "count": 3,
        "to": 1,
        "ms": 1000,
        "cards": ("2C", "3C", "QS", "AH"),
        "scores": (0, 0, 0, 0),
    }
    return PassRequest(id, **fields | changes)


def play_request(id: int = 3, **changes: Any) -> PlayRequest:
    fields: dict[str, Any] = {
        "table": "t1",
        "hand": 1,
        "seat": 0,
        "dealer": 0,
        "hearts_broken": False,
        "lead": 3,
        "ms": 1000,
        "cards": ("2C", "3C", "QS"),
        "legal": ("2C", "3C"),
        "trick": ("TC",),
        "taken": (0, 0, 0, 0),
        "scores": (0, 0, 0, 0),
        "tricks": (),
        "passed": None,
    }
    return PlayRequest(id, **fields | changes)


HAND_OVER = HandOverNotice("t1", 1, None, (0, 0, 13, 13), (0, 0, 13, 13), ())
MATCH_OVER = MatchOverNotice("t1", "target", (1, 1, 3, 3), (0, 0, 100, 100), ())


# --- what the author writes ------------------------------------------------------------------------------


def test_the_bot_of_the_documentation_plays(bot: Start) -> None:
    document = protocol.bot.__doc__
    assert document
    example = textwrap.dedent(
        document[document.index("    from protocol.bot") : document.index("The functions")]
    )
    child = bot(example)
    ready = {
        "type": "ready",
        "id": 1,
        "name": "my-bot",
        "version": "1",
        "tables": 64,
        "watch": False,
        "protocol": 1,
    }
    assert child.ask(start_request()) == ready
    assert child.ask(pass_request())["cards"] == ["3C", "QS", "AH"]
    assert child.ask(play_request())["card"] == "2C"
    child.say(HAND_OVER, MATCH_OVER)
    assert child.leave() == 0
    assert child.stderr == ""


def test_hooks_are_told_in_order_and_watching_is_asked_for(bot: Start) -> None:
    child = bot("""
        from protocol.bot import run
        told = []
        def tell(message): told.append(type(message).__name__)
        def play(request): tell(request); print(*told); return request.legal[0]
        hooks = dict(on_start=tell, on_hand_over=tell, on_match_over=tell, watch=tell)
        run("b", None, play, version="2.1", tables=1, **hooks)
    """)
    ready = child.ask(start_request())
    assert (ready["version"], ready["tables"], ready["watch"]) == ("2.1", 1, True)
    child.ask(PassedNotice("t1", 2), PlayedNotice("t1", 3, "TC"), play_request(), HAND_OVER, MATCH_OVER)
    child.ask(play_request(4))
    told = "StartRequest PassedNotice PlayedNotice PlayRequest"
    assert child.stderr.splitlines() == [told, f"{told} HandOverNotice MatchOverNotice PlayRequest"]


@pytest.mark.parametrize(
    ("answer", "cards", "note"),
    [
        pytest.param("['QS', 'AH']", ["QS", "AH"], None, id="list"),
        pytest.param("{'QS'}", ["QS"], None, id="set"),
        pytest.param("(c for c in ['QS', 'AH'])", ["QS", "AH"], None, id="generator"),
        pytest.param("'QS'", ["QS"], None, id="one-card"),
        pytest.param("Noted(['QS'], 'a \u2660')", ["QS"], "a \u2660", id="noted"),
        pytest.param("Noted('QS', 'x' * 600)", ["QS"], "x" * 500, id="note-is-cut"),
    ],
)
def test_a_pass_may_be_answered_with(bot: Start, answer: str, cards: list[str], note: str | None) -> None:
    child = bot(f"from protocol.bot import *; run('b', lambda request: {answer}, None)")
    assert child.ask(pass_request()) == {"type": "pass", "id": 2, "cards": cards, "note": note}


@pytest.mark.parametrize(
    ("answer", "note"), [("'3C'", None), ("Noted('3C', 'why')", "why"), ("type('S', (str,), {})('3C')", None)]
)
def test_a_play_may_be_answered_with(bot: Start, answer: str, note: str | None) -> None:
    child = bot(f"from protocol.bot import *; run('b', None, lambda request: {answer})")
    assert child.ask(play_request()) == {"type": "play", "id": 3, "card": "3C", "note": note}


# --- lines and batches -----------------------------------------------------------------------------------


def test_64_requests_at_once_are_answered_in_order_in_one_write(bot: Start) -> None:
    child = bot(FIRST_LEGAL)
    child.ask(start_request())
    child.say(*(play_request(id) for id in range(100, 164)))
    lines = child.read().splitlines()
    assert [msgspec.json.decode(line)["id"] for line in lines] == list(range(100, 164))


def test_a_batch_larger_than_the_pipe_is_answered(bot: Start) -> None:
    tricks = tuple(Trick(0, ("2C", "3C", "4C", "5C"), 3) for _ in range(12))
    requests = [play_request(id, tricks=tricks) for id in range(300)]
    assert sum(len(encode(request)) for request in requests) > 2 << 16
    child = bot(FIRST_LEGAL)
    child.say(*requests)
    assert [answer["id"] for answer in child.hear(300)] == list(range(300))


def test_lines_of_64_kib_and_unknown_fields(bot: Start) -> None:
    child = bot(FIRST_LEGAL)
    for size in (10, 60_000, 65_000):
        line = encode(play_request(size)).replace(b"{", b'{"later":{"deep":["%s"]},' % (b"x" * size), 1)
        assert child.ask(line)["id"] == size


def test_a_half_line_waits_for_its_other_half_but_holds_up_nobody(bot: Start) -> None:
    child = bot(FIRST_LEGAL)
    second = encode(play_request(8))
    for cut in (1, len(second) // 2, len(second) - 1):
        assert child.ask(play_request(7), second[:cut])["id"] == 7
        assert child.ask(second[cut:])["id"] == 8


def test_a_line_may_come_byte_by_byte(bot: Start) -> None:
    child = bot(FIRST_LEGAL)
    for byte in encode(play_request(9)):
        child.say(bytes([byte]))
    assert child.hear(1)[0]["id"] == 9


def test_what_is_no_message_is_passed_over(bot: Start) -> None:
    child = bot(FIRST_LEGAL)
    garbage = [
        b"\n",
        b"  \r\n",
        b"not json\n",
        b"\xff\xfe\n",
        b"[" * 60_000 + b"\n",
        b'{"type":"hand_over"}\n',
        b'{"type":"weather","sky":"blue"}\n',
        b'{"type":"claim","id":77}\n',
        b'{"id":5}\n',
        b"null\n",
    ]
    answer = child.ask(*garbage, b"  " + encode(play_request(6)).rstrip() + b" \r\n")
    assert answer["id"] == 6
    assert child.stderr.count("ignored a line from the referee") == 6
    assert "weather" not in child.stderr


def test_what_is_ready_does_not_wait_for_a_bot_that_thinks(bot: Start) -> None:
    child = bot("""
        import time
        from protocol.bot import run
        run("slow", None, lambda request: time.sleep(0.2) or request.legal[0])
    """)
    child.say(*(play_request(id) for id in range(5)))
    assert child.read().count(b"\n") == 1


# --- run_batched -----------------------------------------------------------------------------------------

COUNTING = """
from protocol.bot import *
def choose(request, of):
    return Noted(request.legal[0], of) if isinstance(request, PlayRequest) else request.cards[:request.count]
def choose_many(requests):
    return [choose(request, f"of {len(requests)}") for request in requests]
run_batched("many", choose_many, on_hand_over=lambda notice: print("told"))
"""


def test_a_batched_bot_chooses_for_all_at_once(bot: Start) -> None:
    child = bot(COUNTING)
    assert child.ask(start_request())["type"] == "ready"
    child.say(play_request(1), HAND_OVER, pass_request(2), start_request(3, "t2"), play_request(4))
    answers = {answer["id"]: answer for answer in child.hear(4)}
    assert answers[2]["cards"] == ["2C", "3C", "QS"]
    assert (answers[1]["note"], answers[4]["note"], answers[3]["type"]) == ("of 3", "of 3", "ready")
    child.say(HAND_OVER)
    assert child.leave() == 0
    assert child.stderr == "told\n" * 2


def test_a_batched_bot_waits_for_a_batch_that_is_cut(bot: Start) -> None:
    child = bot(COUNTING)
    child.ask(start_request())
    data = b"".join(encode(play_request(id)) for id in range(64))
    child.say(data[:2000])
    ready, _, _ = select.select([child.stdout], [], [], 0.2)
    assert not ready
    child.say(data[2000:])
    assert {answer["note"] for answer in child.hear(64)} == {"of 64"}


def test_a_batched_bot_that_forgets_an_answer_is_told(bot: Start) -> None:
    child = bot("from protocol.bot import run_batched; run_batched('b', lambda requests: ['2C'])")
    child.say(play_request(1), play_request(2))
    assert child.rest() == b""
    assert child.process.wait(WAIT_S) == 1
    assert "ValueError: 1 answers to 2 requests" in child.stderr
    assert encode(play_request(1)).decode() + encode(play_request(2)).decode() in child.stderr


# --- the pipe is the protocol's alone --------------------------------------------------------------------


def test_nothing_else_gets_into_the_pipe(bot: Start) -> None:
    child = bot("""
        print("early")
        import ctypes, os, subprocess, sys
        from protocol.bot import run

        def play(request):
            print("printed")
            sys.stdout.write("written\\n")
            os.write(1, b"raw\\n")
            subprocess.run(["echo", "child"], check=True)
            libc = ctypes.CDLL(None)
            libc.puts(b"from C")
            libc.fflush(None)
            return request.legal[0]

        run("noisy", None, play)
    """)
    assert child.ask(play_request())["card"] == "2C"
    assert child.leave() == 0
    assert child.rest() == b""
    assert child.stderr.splitlines() == ["early", "printed", "written", "raw", "child", "from C"]


def test_nobody_else_takes_lines_from_the_pipe(bot: Start) -> None:
    child = bot("""
        import subprocess, sys
        from protocol.bot import run

        def play(request):
            assert subprocess.run(["cat"], capture_output=True).stdout == b""
            assert sys.stdin.read() == ""
            return request.legal[0]

        run("curious", None, play)
    """)
    child.say(play_request(1), play_request(2))
    assert [answer["id"] for answer in child.hear(2)] == [1, 2]
    assert child.ask(play_request(3))["id"] == 3


# --- how it ends -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("last", [b"", b'{"type":"play","id":'], ids=["between-lines", "mid-line"])
def test_end_of_input_is_the_sign_to_leave(bot: Start, last: bytes) -> None:
    child = bot(FIRST_LEGAL + "print('and on')")
    child.ask(start_request())
    child.say(last)
    assert child.leave() == 0
    assert child.rest() == b""
    assert child.stderr == "and on\n"


def test_a_request_before_the_end_is_still_answered(bot: Start) -> None:
    child = bot(FIRST_LEGAL)
    child.say(play_request())
    assert child.leave() == 0
    assert msgspec.json.decode(child.rest())["card"] == "2C"


def test_a_broken_pipe_is_left_quietly(bot: Start) -> None:
    child = bot(FIRST_LEGAL)
    child.ask(start_request())
    child.stdout.close()
    child.say(play_request())
    assert child.process.wait(WAIT_S) == 0
    assert child.stderr == ""


def test_an_exception_shows_the_request_and_only_the_authors_frames(bot: Start) -> None:
    child = bot("""
        from protocol.bot import rank, run

        def lowest(cards):
            return min(cards, key=lambda card: rank(card + 1))

        def play(request):
            return lowest(request.legal) if request.id == 2 else request.legal[0]

        run("clumsy", None, play)
    """)
    child.say(play_request(1), play_request(2), play_request(3))
    assert [msgspec.json.decode(line)["id"] for line in child.rest().splitlines()] == [1]
    assert child.process.wait(WAIT_S) == 1
    lines = child.stderr.splitlines()
    assert lines[0] == "clumsy failed on this:"
    assert lines[1].encode() + b"\n" == encode(play_request(2))
    assert lines[2] == "Traceback (most recent call last):"
    assert [line.split()[-1] for line in lines if line.startswith("  File")] == ["play", "lowest", "<lambda>"]
    assert lines[-1] == 'TypeError: can only concatenate str (not "int") to str'


@pytest.mark.parametrize("run", ["run('b', f, f, on_start=f)", "run_batched('b', f, on_start=f)"])
@pytest.mark.parametrize(
    "request_", [start_request(), pass_request(), play_request()], ids=["start", "pass", "play"]
)
def test_an_exception_in_any_function_ends_the_bot(bot: Start, run: str, request_: msgspec.Struct) -> None:
    child = bot(f"from protocol.bot import *\ndef f(message): 1 / 0\n{run}")
    child.say(request_)
    assert child.rest() == b""
    assert child.process.wait(WAIT_S) == 1
    assert encode(request_).decode() in child.stderr  # type: ignore[arg-type]
    assert child.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert "protocol/bot.py" not in child.stderr


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param("None", "such as 'QS', not with None", id="nothing"),
        pytest.param("['2C']", "such as 'QS', not with ['2C']", id="list"),
        pytest.param("3", "such as 'QS', not with 3", id="number"),
        pytest.param("Noted(None, 'x')", "such as 'QS', not with None", id="noted-nothing"),
        pytest.param("Noted('2C', 5)", "", id="note-is-no-text"),
        pytest.param("Noted('2C', '\\ud800')", "surrogates not allowed", id="note-is-no-unicode"),
    ],
)
def test_what_is_no_play_is_the_authors_mistake(bot: Start, answer: str, said: str) -> None:
    child = bot(f"from protocol.bot import *; run('b', None, lambda request: {answer})")
    child.say(play_request())
    assert child.rest() == b""
    assert child.process.wait(WAIT_S) == 1
    assert said in child.stderr
    assert encode(play_request()).decode() in child.stderr


@pytest.mark.parametrize("answer", ["None", "[1, 2, 3]", "7", "Noted(None, 'x')"])
def test_what_is_no_pass_is_the_authors_mistake(bot: Start, answer: str) -> None:
    child = bot(f"from protocol.bot import *; run('b', lambda request: {answer}, None)")
    child.say(pass_request())
    assert child.rest() == b""
    assert child.process.wait(WAIT_S) == 1
    assert "a pass is answered with a list of cards, such as ['QS'], not with" in child.stderr


def test_an_illegal_card_is_left_to_the_referee(bot: Start) -> None:
    child = bot("from protocol.bot import run; run('b', None, lambda request: 'QS')")
    assert child.ask(play_request())["card"] == "QS"


# --- help for authors ------------------------------------------------------------------------------------


def test_rank_and_suit() -> None:
    assert [rank(card) for card in NAMES] == list(range(2, 15)) * 4
    assert "".join(suit(card) for card in NAMES) == "C" * 13 + "D" * 13 + "S" * 13 + "H" * 13


@pytest.mark.parametrize(
    ("trick", "card"), [("5D", "5D"), ("5D 4D AS", "5D"), ("5D TD AH JD", "JD"), ("2C KC AC AD", "AC")]
)
def test_winning_card(trick: str, card: str) -> None:
    assert winning_card(trick.split()) == card  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rules", "costs"),
    [
        ({}, {"QS": 13, "KS": 0, "AS": 0, "2H": 1, "AH": 1, "JD": 0, "TC": 0}),
        ({"jack_points": -10}, {"JD": -10, "TD": 0}),
        ({"jack_points": -10, "jack_card": "TD"}, {"JD": 0, "TD": -10}),
        ({"heart_points": "pips", "queen_points": 25}, {"QS": 25, "2H": 2, "TH": 10, "JH": 11, "AH": 14}),
        ({"king_points": 10, "ace_points": 7}, {"QS": 13, "KS": 10, "AS": 7}),
    ],
)
def test_points(rules: dict[str, Any], costs: dict[str, int]) -> None:
    assert {card: points(card, Rules(**rules)) for card in costs} == costs


def test_unseen() -> None:
    request = play_request(cards=("2C", "QS"), trick=("TC",), tricks=(Trick(0, ("3C", "4C", "5C", "6C"), 3),))
    assert set(unseen(request)) == set(NAMES) - {"2C", "QS", "TC", "3C", "4C", "5C", "6C"}
    assert "2D" not in unseen(request, Rules(players=3))
