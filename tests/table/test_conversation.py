"""The conversation machine under a fake clock, without any process; ids are numbers of `spec/protocol.md`."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.codec import MAX_LINE
from protocol.messages import HandOverNotice, Pass, Ready
from protocol.presets import preset
from protocol.rules import conditions_from
from referee.game.deal import deal
from referee.game.events import RECOVERABLE, Answered, Dealt, Failed, MatchRecord, SeatRecord
from referee.game.match import Match
from referee.table.conversation import BATCH_CAP_MS, EXIT_GRACE_S, Chair, Conversation, Verdicts

SEAT = 2
MS = 0.001


def a_match(**conditions: Any) -> Match:
    """A match in which all seats sit and passes are due."""
    match = Match(
        MatchRecord(
            arena="test",
            id="test",
            started="",
            seed="test",
            rules=preset("standard"),
            conditions=conditions_from(conditions),
            seats=tuple(SeatRecord(seat=seat, name=f"bot-{seat}") for seat in range(4)),
        )
    )
    match.begin()
    for seat in range(4):
        match.advance(Answered(seat, Ready(0, "bot", "1")))
    match.advance(Dealt(deal("test", 1, match.book)))
    return match


class Talk:
    """One conversation on a clock that stands still unless it is told to move, and a chair to be asked."""

    def __init__(self, *, tables: int = 1, sits: bool = True, **conditions: Any) -> None:
        conditions = {"turn_ms": 500, "start_ms": 5000} | conditions
        self.now = 100.0
        self.chairs = [Chair(a_match(**conditions), SEAT) for _ in range(tables)]
        self.chair = self.chairs[0]
        self.conversation = Conversation(conditions_from(conditions).clock())
        self.heard: list[str] = []
        for chair in self.chairs:
            chair.match.stage = Ready
        if sits:
            self.sit(tables)

    def sit(self, tables: int = 1) -> None:
        for chair in self.chairs:
            self.ask(chair)
            self.say(ready(self.last_id, tables=tables))
            chair.match.stage = Pass
        assert self.taken() == ["ready"] * len(self.chairs)

    # --- the referee's doing

    def ask(self, *chairs: Chair) -> list[dict[str, Any]]:
        """Ask these chairs (the first), and return what is written."""
        for chair in chairs or [self.chair]:
            self.conversation.ask(chair)
        return self.send()

    def send(self) -> list[dict[str, Any]]:
        data, verdicts = self.conversation.send(self.now)
        self._take(verdicts)
        lines = [json.loads(line) for line in data.splitlines()]
        self.ids = [line["id"] for line in lines if "id" in line]
        return lines

    @property
    def last_id(self) -> int:
        return self.ids[-1]

    # --- the bot's doing

    def say(self, *chunks: bytes, after_s: float = 0.0) -> Talk:
        """The bot writes these bytes, each chunk `after_s` later than what was before."""
        for chunk in chunks:
            self.now += after_s
            self._take(self.conversation.receive(chunk, self.now))
        return self

    def closes(self) -> Talk:
        self._take(self.conversation.end_of_output(self.now))
        return self

    def exits(self, status: int = 0) -> Talk:
        self._take(self.conversation.exited(status))
        return self

    def waits(self, seconds: float) -> Talk:
        """Time goes by, and the deadline may pass: the table calls `expire` when it has."""
        self.now += seconds
        if self.now >= self.conversation.deadline:
            self._take(self.conversation.expire(self.now))
        return self

    # --- what came of it

    def _take(self, verdicts: Verdicts) -> None:
        for chair, what in verdicts:
            assert chair in self.chairs
            self.heard.append(what.kind if isinstance(what, Failed) else what.message.__struct_config__.tag)
        self.verdicts = verdicts

    def taken(self) -> list[str]:
        """What was judged since the last look: kinds of faults, and of good answers."""
        heard, self.heard = self.heard, []
        return heard


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def ready(id: int, **more: Any) -> bytes:
    return line(**{"type": "ready", "id": id, "name": "bot", "version": "1"} | more)


def passes(id: int, **more: Any) -> bytes:
    return line(**{"type": "pass", "id": id, "cards": ["2C", "3C", "4C"]} | more)


GOOD = passes(2)


def padded(length: int) -> bytes:
    """A good answer to request 2, this long without its newline."""
    blank = passes(2, pad="")
    return passes(2, pad="x" * (length + 1 - len(blank)))


def cut(data: bytes, *sizes: int) -> list[bytes]:
    pieces = []
    for size in sizes:
        pieces.append(data[:size])
        data = data[size:]
    return [*pieces, data]


# --- 3. lines --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chunks", "outcome"),
    [
        pytest.param([GOOD], ["pass"], id="3.1-whole"),
        pytest.param([GOOD[:-1] + b"\r\n"], ["pass"], id="3.1-crlf"),
        pytest.param([b"  \t" + GOOD[:-1] + b" \t \n"], ["pass"], id="3.1-spaces-and-tabs"),
        pytest.param([b"  \t" + GOOD[:-1] + b" \t \r\n"], ["pass"], id="3.1-spaces-and-crlf"),
        pytest.param(cut(GOOD, 10), ["pass"], id="3.1-halves"),
        pytest.param(cut(GOOD[:-1] + b"\r\n", len(GOOD)), ["pass"], id="3.1-halves-within-crlf"),
        pytest.param([bytes([byte]) for byte in GOOD], ["pass"], id="3.1-byte-by-byte"),
        pytest.param(cut(passes(2, note="é"), 52), ["pass"], id="3.1-halves-within-a-letter"),
        pytest.param([GOOD[:-1]], [], id="3.1-no-newline-is-no-line-yet"),
        pytest.param([GOOD[:-1] + b"\r"], [], id="3.1-return-alone-ends-no-line"),
        pytest.param([GOOD[:-1], b"\n"], ["pass"], id="3.1-newline-comes-later"),
        pytest.param([padded(MAX_LINE)], ["pass"], id="3.1-65536-bytes"),
        pytest.param([padded(MAX_LINE)[:-1] + b"\r\n"], ["pass"], id="3.1-65536-bytes-and-crlf"),
        pytest.param(cut(padded(MAX_LINE), MAX_LINE), ["pass"], id="3.1-65536-bytes-then-newline"),
        pytest.param(
            cut(padded(MAX_LINE)[:-1] + b"\r\n", MAX_LINE + 1),
            ["pass"],
            id="3.1-65536-bytes-return-then-newline",
        ),
        pytest.param([padded(MAX_LINE + 1)], ["too_long"], id="3.1-65537-bytes"),
        pytest.param(
            cut(padded(MAX_LINE + 1), MAX_LINE + 1), ["too_long"], id="3.1-65537-bytes-then-newline"
        ),
        pytest.param([b"x" * MAX_LINE], [], id="3.1-65536-bytes-may-still-end"),
        pytest.param([b"x" * MAX_LINE, b"xx"], ["too_long"], id="3.1-no-newline-in-sight"),
        pytest.param([b"x" * 10_000_000], ["too_long"], id="3.1-ten-megabytes"),
        pytest.param([b"\n"], ["malformed"], id="3.1-empty-line"),
        pytest.param([b"\r\n"], ["malformed"], id="3.1-empty-line-crlf"),
        pytest.param([b"\xef\xbb\xbf" + GOOD], ["malformed"], id="3.1-byte-order-mark"),
        pytest.param([b"\xff" + GOOD], ["malformed"], id="3.1-not-utf-8"),
        pytest.param(
            [passes(2, pad="@").replace(b"@", b"\xff")], ["malformed"], id="3.1-not-utf-8-where-ignored"
        ),
        pytest.param([passes(2, more={"deep": [1]})], ["pass"], id="3.2-unknown-fields"),
        pytest.param([GOOD[:-1].replace(b"2,", b"2.0,") + b"\n"], ["malformed"], id="3.2-fractional-id"),
        pytest.param([GOOD.replace(b": 2,", b': "2",')], ["malformed"], id="3.2-id-in-quotes"),
        pytest.param([passes(2**53)], ["malformed"], id="3.2-id-of-over-53-bits"),
        pytest.param([passes(2**53 - 1)], ["wrong_id"], id="3.2-id-of-53-bits"),
        pytest.param([b"[" * 30_000 + b"]" * 30_000 + b"\n"], ["malformed"], id="3.1-deep"),
        pytest.param([GOOD[:-1] + GOOD], ["malformed"], id="3.2-two-on-one-line"),
        pytest.param([passes(2, cards=["2C", "3C", "1X"])], ["malformed"], id="6.1-no-card"),
        pytest.param([ready(2)], ["malformed"], id="6.1-reply-of-another-type"),
        pytest.param([passes(3)], ["wrong_id"], id="6.1-id-never-given"),
        pytest.param([passes(0)], ["wrong_id"], id="6.1-id-0"),
        pytest.param([passes(1)], ["wrong_id"], id="6.1-id-answered-before"),
        pytest.param([GOOD, GOOD], ["pass"], id="6.1-a-second-answer-waits-for-its-charge"),
        pytest.param([b"hello\n" + GOOD], ["malformed"], id="6.1-a-stray-line-is-taken-for-the-answer"),
    ],
)
def test_a_line(chunks: list[bytes], outcome: list[str]) -> None:
    talk = Talk()
    talk.ask()
    assert talk.say(*chunks).taken() == outcome


def test_3_1_what_the_referee_sends() -> None:
    """Compact, ASCII, no backslash, keys in their order."""
    talk = Talk()
    talk.conversation.ask(talk.chair)
    data, _ = talk.conversation.send(talk.now)
    assert data.isascii()
    assert data.count(b"\n") == 1
    assert not {*b" \\"} & {*data}
    assert data.startswith(b'{"type":"pass","id":2,"table":"1",')


# --- 5.1 to 5.3: deadlines -------------------------------------------------------------------------------


def test_5_1_an_answer_a_millisecond_before_the_deadline() -> None:
    talk = Talk(turn_ms=500)
    talk.ask()
    assert talk.waits(0.499).say(GOOD).waits(1).taken() == ["pass"]


def test_5_1_an_answer_a_millisecond_after_the_deadline() -> None:
    """What comes after the last look into the pipe is late, and costs nothing more."""
    talk = Talk(turn_ms=500)
    talk.ask()
    assert talk.waits(0.501).taken() == ["timeout"]
    assert talk.say(GOOD).taken() == []
    assert talk.ask()
    assert talk.say(passes(3)).taken() == ["pass"]


def test_5_1_what_was_in_the_pipe_at_expiry_counts() -> None:
    """However late the referee looks: then it was itself late, and the bot is not blamed."""
    talk = Talk(turn_ms=500)
    talk.ask()
    talk.now += 30
    talk._take(talk.conversation.receive(GOOD, talk.now))
    talk._take(talk.conversation.expire(talk.now))
    assert talk.taken() == ["pass"]


def test_5_1_an_unfinished_line_at_expiry_does_not_count() -> None:
    talk = Talk(turn_ms=500)
    talk.ask()
    talk.say(GOOD[:-1]).waits(0.5)
    assert talk.taken() == ["timeout"]
    assert "only an unfinished line of 54 bytes" in talk.verdicts[0][1].detail
    assert talk.say(b"\n").taken() == []  # late now, and no part of the next answer
    talk.ask()
    assert talk.say(passes(3)).taken() == ["pass"]


def test_5_1_bytes_that_arrive_do_not_move_the_deadline() -> None:
    talk = Talk(turn_ms=500)
    talk.ask()
    deadline = talk.conversation.deadline
    assert deadline == talk.now + 0.5
    for _ in range(9):
        talk.say(b"x", after_s=0.05)
        assert talk.conversation.deadline == deadline
    assert talk.waits(0.1).taken() == ["timeout"]


def test_5_1_expiry_before_its_time_is_none() -> None:
    talk = Talk(turn_ms=500)
    talk.ask()
    assert talk.conversation.expire(talk.conversation.deadline - MS) == []


def test_5_1_an_answer_ends_the_deadline() -> None:
    talk = Talk()
    talk.ask()
    talk.say(GOOD)
    assert talk.conversation.deadline == math.inf
    assert talk.conversation.idle


def test_5_2_the_first_start_has_a_budget_of_its_own() -> None:
    talk = Talk(sits=False, start_ms=5000, turn_ms=10)
    (start,) = talk.ask()
    assert start["type"] == "start"
    assert talk.conversation.deadline == talk.now + 5
    assert talk.waits(4.999).say(ready(1)).taken() == ["ready"]


def test_5_2_no_ready_in_time_is_a_failed_launch() -> None:
    talk = Talk(sits=False, start_ms=5000)
    talk.ask()
    assert talk.waits(5).taken() == ["launch"]
    assert talk.conversation.dead
    talk.ask()
    assert talk.taken() == ["launch"]


def test_5_2_a_further_start_has_the_time_of_a_turn() -> None:
    talk = Talk(turn_ms=300)
    further = Chair(a_match(turn_ms=300), SEAT)
    further.match.stage = Ready
    talk.chairs.append(further)
    (start,) = talk.ask(further)
    assert start["type"] == "start"
    assert talk.conversation.deadline == talk.now + 0.3
    assert talk.waits(0.3).taken() == ["timeout"]
    assert not talk.conversation.dead


def test_2_3_the_first_start_comes_alone() -> None:
    talk = Talk(sits=False, tables=3)
    (start,) = talk.ask(*talk.chairs)
    assert start["type"] == "start"
    assert talk.send() == []
    talk.say(ready(1, tables=3))
    assert [line["type"] for line in talk.send()] == ["start", "start"]
    talk.say(ready(3) + ready(2))
    assert talk.taken() == ["ready"] * 3


def test_2_3_only_the_first_ready_says_how_many_tables() -> None:
    talk = Talk(sits=False, tables=2)
    talk.ask(*talk.chairs)
    talk.say(ready(1, tables=2))
    talk.send()
    talk.say(ready(2, tables=9))
    assert talk.conversation.tables == 2


@pytest.mark.parametrize(
    ("tables", "turn_ms", "budget_ms"),
    [
        pytest.param(1, 500, 500, id="5.3-one"),
        pytest.param(3, 500, 1500, id="5.3-the-sum"),
        pytest.param(20, 500, BATCH_CAP_MS, id="5.3-twenty-are-just-ten-seconds"),
        pytest.param(21, 500, BATCH_CAP_MS, id="5.3-at-most-ten-seconds"),
        pytest.param(2, 30_000, 30_000, id="5.3-or-one-turn"),
        pytest.param(1, 30_000, 30_000, id="5.3-one-long-turn"),
    ],
)
def test_the_deadline_of_a_batch(tables: int, turn_ms: int, budget_ms: int) -> None:
    talk = Talk(tables=tables, turn_ms=turn_ms)
    lines = talk.ask(*talk.chairs)
    assert [line["ms"] for line in lines] == [turn_ms] * tables
    assert talk.conversation.deadline == talk.now + budget_ms / 1000
    assert talk.waits(budget_ms / 1000 - MS).taken() == []
    assert talk.waits(2 * MS).taken() == ["timeout"] * tables


def test_5_3_nothing_more_goes_out_until_a_batch_is_answered() -> None:
    talk = Talk(tables=3)
    talk.ask(talk.chairs[0], talk.chairs[1])
    assert talk.ask(talk.chairs[2]) == []
    first, second = 4, 5
    talk.say(passes(second))
    assert talk.send() == []
    talk.say(passes(first))
    assert len(talk.send()) == 1
    assert talk.taken() == ["pass", "pass"]


def test_5_3_answers_come_in_any_order_and_to_the_right_chair() -> None:
    talk = Talk(tables=3)
    talk.ask(*talk.chairs)
    judged = []
    for id in (6, 4, 5):
        talk.say(passes(id))
        judged += [chair for chair, _ in talk.verdicts]
    assert judged == [talk.chairs[2], talk.chairs[0], talk.chairs[1]]


# --- 5.4: the bank ---------------------------------------------------------------------------------------


def test_5_4_the_bank() -> None:
    talk = Talk(turn_ms=500, bank_ms=1000)
    (request,) = talk.ask()
    assert request["ms"] == 1500
    talk.say(GOOD, after_s=0.4)  # within the turn: nothing is taken
    (request,) = talk.ask()
    assert request["ms"] == 1500
    talk.say(passes(3), after_s=1.1)
    (request,) = talk.ask()
    assert request["ms"] == 900
    assert talk.waits(0.899).taken() == ["pass", "pass"]
    assert talk.waits(2 * MS).taken() == ["timeout"]
    (request,) = talk.ask()
    assert request["ms"] == 500
    assert talk.conversation.deadline == talk.now + 0.5


def test_5_4_a_fault_uses_time_too() -> None:
    talk = Talk(turn_ms=500, bank_ms=1000)
    talk.ask()
    talk.say(b"hm\n", after_s=0.7)
    (request,) = talk.ask()
    assert request["ms"] == 1300


def test_5_4_who_plays_several_tables_has_no_bank() -> None:
    talk = Talk(tables=2, turn_ms=500, bank_ms=1000)
    assert [line["ms"] for line in talk.ask(*talk.chairs)] == [500, 500]
    assert talk.conversation.deadline == talk.now + 1


# --- 5.5: late answers -----------------------------------------------------------------------------------


def test_5_5_a_late_answer_is_dropped_once() -> None:
    talk = Talk()
    talk.ask()
    talk.waits(0.5)
    talk.ask()
    assert talk.taken() == ["timeout"]
    assert talk.say(GOOD).taken() == []
    assert talk.say(GOOD).taken() == ["wrong_id"]


@pytest.mark.parametrize(
    "late",
    [
        pytest.param(b"", id="5.5-nothing"),
        pytest.param(GOOD, id="5.5-a-good-answer"),
        pytest.param(passes(2, cards=["1X"]), id="5.5-a-bad-answer-of-that-id"),
        pytest.param(ready(2), id="5.5-an-answer-of-another-type"),
    ],
)
@pytest.mark.parametrize("asked", [True, False], ids=["while-asked", "while-not-asked"])
def test_a_late_line(late: bytes, asked: bool) -> None:
    talk = Talk()
    talk.ask()
    assert talk.waits(0.5).taken() == ["timeout"]
    if asked:
        talk.ask()
    talk.say(late)
    if not asked:
        assert talk.ask()
    assert talk.say(passes(3)).taken() == ["pass"]


def test_5_5_what_comes_after_a_fault_in_the_same_request_is_late() -> None:
    talk = Talk()
    talk.ask()
    assert talk.say(b"hm\n").taken() == ["malformed"]
    assert talk.say(GOOD).taken() == []
    talk.ask()
    assert talk.say(passes(3)).taken() == ["pass"]


# --- 6.1: who is charged for what ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "charged"),
    [
        pytest.param(b"hm\n", ["malformed"] * 3, id="6.1-a-bad-line-without-an-id-is-everybodys"),
        pytest.param(passes(5, cards=5), ["malformed"], id="6.1-a-bad-line-with-an-id-is-that-ones"),
        pytest.param(ready(5), ["malformed"], id="6.1-so-is-a-reply-of-another-type"),
        pytest.param(passes(99, cards=5), ["malformed"] * 3, id="6.1-a-bad-line-with-a-strange-id"),
        pytest.param(passes(99), ["wrong_id"] * 3, id="6.1-a-strange-id"),
        pytest.param(b"x" * 70_000, ["too_long"] * 3, id="6.1-too-long"),
    ],
)
def test_a_bad_line_in_a_batch(said: bytes, charged: list[str]) -> None:
    talk = Talk(tables=3)
    talk.ask(*talk.chairs)  # ids 4, 5, 6
    talk.say(said)
    if len(charged) == 1:
        assert [chair for chair, _ in talk.verdicts] == [talk.chairs[1]]
    assert talk.taken() == charged


def test_6_1_an_exit_is_charged_at_every_table() -> None:
    talk = Talk(tables=3)
    talk.ask(*talk.chairs)
    talk.say(passes(5))
    assert talk.exits(3).taken() == ["pass", "exit", "exit"]
    talk.ask(talk.chairs[1])  # what is asked of the dead is charged at once
    assert talk.taken() == ["exit"]


@pytest.mark.parametrize(
    ("said", "charged"),
    [
        pytest.param(b"hm\n", "unasked", id="6.1-any-line"),
        pytest.param(b"hm\n" * 100, "unasked", id="6.1-many-lines-are-one-charge"),
        pytest.param(GOOD, "wrong_id", id="6.1-a-second-answer"),
        pytest.param(GOOD + b"hm\n", "wrong_id", id="6.1-the-first-line-counts"),
        pytest.param(passes(3), "unasked", id="6.1-an-id-to-come"),
        pytest.param(passes(999), "unasked", id="6.1-an-id-never-given"),
        pytest.param(passes(0), "unasked", id="6.1-id-0"),
        pytest.param(passes(2, cards=5), "unasked", id="6.1-a-bad-line-with-a-known-id"),
        pytest.param(b"x" * 70_000, "too_long", id="6.1-too-long"),
    ],
)
def test_what_is_said_out_of_turn_is_charged_at_the_next_request(said: bytes, charged: str) -> None:
    talk = Talk()
    talk.ask()
    assert talk.say(GOOD + said).taken() == ["pass"]
    assert talk.ask() == []
    assert talk.taken() == [charged]
    if charged in RECOVERABLE:  # and it goes on
        assert len(talk.ask()) == 1
        assert talk.say(passes(3)).taken() == ["pass"]


def test_6_1_what_is_unfinished_when_asked_is_the_beginning_of_the_answer() -> None:
    talk = Talk()
    talk.say(GOOD[:10])
    talk.ask()
    assert talk.say(GOOD[10:]).taken() == ["pass"]


def test_6_1_while_nothing_is_asked_no_time_runs() -> None:
    talk = Talk()
    assert talk.waits(3600).taken() == []
    assert talk.say(b"hm").waits(3600).taken() == []
    assert not talk.conversation.dead


@pytest.mark.parametrize(
    ("last_words", "outcome"),
    [
        pytest.param(b"", ["exit"], id="6.1-nothing"),
        pytest.param(GOOD, ["pass"], id="6.1-who-answers-and-leaves-has-answered"),
        pytest.param(GOOD[:-1], ["exit"], id="6.1-half-a-line"),
        pytest.param(b"hm\n", ["malformed"], id="6.1-what-it-wrote-counts-first"),
    ],
)
def test_the_end_of_a_process(last_words: bytes, outcome: list[str]) -> None:
    talk = Talk()
    talk.ask()
    assert talk.say(last_words).closes().exits().waits(1).taken() == outcome
    talk.ask()
    assert talk.taken() == ["exit"]


def test_6_1_an_exit_says_how() -> None:
    for status, words in ((0, "status 0"), (3, "status 3"), (-11, "SIGSEGV"), (-9, "SIGKILL"), (-63, "63")):
        talk = Talk()
        talk.ask()
        talk.exits(status)
        ((_, failed),) = talk.verdicts
        assert words in failed.detail


def test_6_1_closed_is_told_from_exit_by_a_moments_grace() -> None:
    talk = Talk()
    talk.ask()
    talk.closes()
    assert talk.conversation.deadline == talk.now + EXIT_GRACE_S
    assert talk.waits(EXIT_GRACE_S - MS).exits().taken() == ["exit"]

    talk = Talk()
    talk.ask()
    assert talk.closes().waits(EXIT_GRACE_S).taken() == ["closed"]
    assert talk.exits().taken() == []


def test_6_1_the_grace_is_never_longer_than_the_deadline() -> None:
    talk = Talk(turn_ms=500)
    talk.ask()
    deadline = talk.conversation.deadline
    talk.waits(0.49).closes()
    assert talk.conversation.deadline == deadline


def test_6_1_what_was_closed_before_is_charged_at_the_next_request() -> None:
    talk = Talk()
    assert talk.closes().waits(60).taken() == []
    talk.ask()
    assert talk.conversation.deadline == talk.now + EXIT_GRACE_S
    assert talk.waits(EXIT_GRACE_S).taken() == ["closed"]


@pytest.mark.parametrize(
    ("happens", "kind"),
    [
        pytest.param(lambda talk: talk.exits(), "launch", id="6.1-exit"),
        pytest.param(lambda talk: talk.closes().waits(EXIT_GRACE_S), "launch", id="6.1-closed"),
        pytest.param(lambda talk: talk.waits(5), "launch", id="6.1-silent"),
        pytest.param(lambda talk: talk.say(b"hm\n"), "malformed", id="6.1-malformed"),
        pytest.param(lambda talk: talk.say(ready(7)), "wrong_id", id="6.1-wrong-id"),
        pytest.param(lambda talk: talk.say(ready(1, tables=0)), "malformed", id="6.1-no-tables"),
        pytest.param(lambda talk: talk.say(ready(1, name="x" * 101)), "malformed", id="4.1-name-of-101"),
        pytest.param(lambda talk: talk.say(ready(1, name="é" * 100)), "ready", id="4.1-name-of-100"),
        pytest.param(lambda talk: talk.say(b"x" * 70_000), "too_long", id="6.1-too-long"),
    ],
)
def test_before_the_first_ready(happens, kind: str) -> None:
    talk = Talk(sits=False)
    talk.ask()
    assert happens(talk).taken() == [kind]


def test_6_1_what_is_said_before_the_start_is_charged_to_it() -> None:
    talk = Talk(sits=False)
    talk.say(b"Picked up JAVA_TOOL_OPTIONS\n")
    assert talk.ask() == []
    assert talk.taken() == ["unasked"]


def test_6_1_a_process_that_could_not_be_started() -> None:
    talk = Talk(sits=False)
    talk.ask()
    talk._take(talk.conversation.failed_to_start("no such file"))
    assert talk.taken() == ["launch"]


# --- 2.4, 2.5: leaving, and starting anew ----------------------------------------------------------------


def test_2_5_a_new_process_sits_down_in_the_middle_of_a_match() -> None:
    """It gets a start, to which the match did not ask, and goes on with the next request."""
    talk = Talk(sits=False)
    talk.chair.match.stage = Pass
    (start,) = talk.ask()
    assert start["type"] == "start"
    assert talk.conversation.deadline == talk.now + 5
    assert talk.say(ready(1, watch=True)).taken() == []
    (request,) = talk.send()
    assert request["type"] == "pass"
    assert talk.say(passes(2)).taken() == ["pass"]
    assert talk.chair.match._watchers == [SEAT]


@pytest.mark.parametrize(
    ("happens", "kind"),
    [
        pytest.param(lambda talk: talk.waits(5), "launch", id="2.5-silent"),
        pytest.param(lambda talk: talk.exits(1), "launch", id="2.5-exits"),
        pytest.param(lambda talk: talk.say(b"hm\n"), "malformed", id="2.5-malformed"),
        pytest.param(lambda talk: talk.say(ready(1, protocol=2)), "launch", id="4.1-another-protocol"),
    ],
)
def test_a_new_process_that_will_not_sit_down(happens, kind: str) -> None:
    """What the match waits for is charged once, and not asked any more."""
    talk = Talk(sits=False)
    talk.chair.match.stage = Pass
    talk.ask()
    assert happens(talk).taken() == [kind]
    assert talk.send() == []
    assert talk.taken() == []


def test_2_4_who_has_left_its_table_owes_nothing() -> None:
    talk = Talk(tables=2)
    talk.ask(*talk.chairs)
    talk.conversation.leave(talk.chairs[0])
    assert talk.say(passes(3)).taken() == []
    assert talk.say(passes(4)).taken() == ["pass"]
    talk.conversation.leave(talk.chairs[1])
    assert talk.conversation.idle
    assert talk.exits().taken() == []


def test_5_notices_wait_for_no_answer() -> None:
    talk = Talk()
    talk.ask()
    talk.conversation.tell(HandOverNotice("1", 1, None, (), (), ()))
    assert talk.conversation.has_news
    (notice,) = talk.send()
    assert notice["type"] == "hand_over"
    assert talk.say(GOOD).taken() == ["pass"]


# --- laws ------------------------------------------------------------------------------------------------

_WORDS = [GOOD, ready(1), b"hm\n", b"\n", b"\r\n", b"x" * 70_000, b"{", b'{"type":', b"\xff\xfe", b"[" * 5000]
_scraps = st.lists(st.sampled_from(_WORDS) | st.binary(max_size=40) | st.integers(0, 5).map(passes))


@settings(deadline=None)
@given(scraps=_scraps, cuts=st.lists(st.integers(0, 400)), pauses=st.lists(st.floats(0, 1)))
def test_any_bytes_in_any_pieces_give_verdicts_and_nothing_else(
    scraps: list[bytes], cuts: list[int], pauses: list[float]
) -> None:
    """Each question has one outcome, whatever comes, and a charge is of a known kind."""
    talk = Talk()
    pieces = cut(b"".join(scraps), *cuts)
    asked = 0
    for number, piece in enumerate(pieces):
        if talk.conversation.idle:
            talk.ask()
            asked += 1
        talk.say(piece)
        talk.waits(pauses[number] if number < len(pauses) else 0)
    talk.waits(1).closes().waits(1).exits()
    assert len(talk.taken()) == asked
    assert talk.conversation.idle
    assert talk.conversation.deadline == math.inf


@settings(deadline=None)
@given(scraps=_scraps, cuts=st.lists(st.integers(0, 400)))
def test_the_pieces_in_which_a_line_comes_make_no_difference(scraps: list[bytes], cuts: list[int]) -> None:
    whole, pieced = Talk(), Talk()
    data = b"".join(scraps)
    for talk, pieces in ((whole, [data]), (pieced, cut(data, *cuts))):
        talk.ask()
        talk.say(*pieces)
        for _ in range(3):
            if talk.conversation.idle:
                talk.ask()
        talk.exits()
    assert whole.taken() == pieced.taken()


def test_two_machines_back_to_back() -> None:
    """A whole match of four conversations with a bot that is a function, and no I/O."""
    bots = [Talk(sits=False) for _ in range(4)]
    match = Match(bots[0].chair.match.header)
    effects = match.begin()
    conversations = [Conversation(match.header.conditions.clock()) for _ in range(4)]
    chairs = [Chair(match, seat) for seat in range(4)]
    now, hands = 0.0, 0
    while not match.end:
        for effect in effects:
            match effect.__class__.__name__:
                case "Ask":
                    conversations[effect.seat].ask(chairs[effect.seat])
                case "Tell":
                    conversations[effect.seat].tell(effect.notice)
                case "WantDeal":
                    hands += 1
        effects = []
        if match.wants_deal:
            effects = match.advance(Dealt(deal("test", match.hand_number, match.book)))
            continue
        for conversation in conversations:
            data, verdicts = conversation.send(now)
            assert not verdicts
            for request in map(json.loads, data.splitlines()):
                if request["type"] == "start":
                    answer = ready(request["id"])
                elif request["type"] == "pass":
                    answer = passes(request["id"], cards=request["cards"][:3])
                elif request["type"] == "play":
                    answer = line(type="play", id=request["id"], card=request["legal"][-1])
                else:
                    continue
                now += MS
                for _, what in conversation.receive(answer, now):
                    effects += match.advance(what)
    assert match.end.reason == "target"
    assert hands == match.hand_number
