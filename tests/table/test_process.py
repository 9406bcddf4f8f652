"""The process around a conversation: real pipes, a keeper that starts nothing, and a clock that is told."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

import pytest

from protocol.messages import Pass, Ready
from protocol.rules import Clock
from referee.game.events import Answered, Failed
from referee.table.conversation import Chair, Verdicts
from referee.table.keep.launch import Exited, Launch, Spawned
from referee.table.poller import Poller
from referee.table.process import LEAVE_GRACE_S, Process, Tail
from tests.table.test_conversation import SEAT, a_match, passes, ready


class StubKeeper:
    """Starts nothing: the bot's ends of the pipes are ours."""

    def __init__(self) -> None:
        self.killed = 0
        self.bot: list[int] = []

    def spawn(self, _: Launch) -> Spawned:
        (bot_in, stdin), (stdout, bot_out), (stderr, bot_err) = (os.pipe() for _ in range(3))
        for descriptor in (stdin, stdout, stderr, bot_in):
            os.set_blocking(descriptor, False)
        self.bot = [bot_in, bot_out, bot_err]
        return Spawned(1, stdin, stdout, stderr)

    def kill(self, _: int) -> None:
        self.killed += 1


class Bench:
    """A seated process at its table, and the bot's ends of its pipes."""

    def __init__(self) -> None:
        self.keeper = StubKeeper()
        self.poller: Poller[Verdicts] = Poller()
        self.woken: list[float] = []
        launch = Launch((), {}, "/", {})
        clock = Clock(turn_ms=500, start_ms=5000)
        self.process = Process("bot", launch, clock, self.keeper, self.poller, self.woken.append)  # type: ignore[arg-type]
        self.stdin, self.stdout, self.stderr = self.keeper.bot
        self.chair = Chair(a_match(turn_ms=500), SEAT)
        self.chair.match.stage = Ready
        self.ask(0.0)
        os.write(self.stdout, ready(1))
        assert self.poll(0.0) == ["ready"]
        self.chair.match.stage = Pass
        self.hear()

    def ask(self, now: float) -> list[str]:
        self.process.conversation.ask(self.chair)
        return told(self.process.flush(now))

    def hear(self) -> bytes:
        """What the bot finds in its stdin."""
        try:
            return os.read(self.stdin, 1 << 20)
        except BlockingIOError:
            return b""

    def poll(self, now: float) -> list[str]:
        """Call what is due, until nothing is."""
        heard = []
        while calls := self.poller.ready():
            for call in calls:
                heard += told(call(now))
        return heard

    def close(self) -> None:
        self.process.abandon()
        self.poller.close()
        for descriptor in self.keeper.bot:
            if descriptor >= 0:
                os.close(descriptor)


def told(verdicts: Verdicts) -> list[str]:
    return [
        what.kind if isinstance(what, Failed) else what.message.__struct_config__.tag
        for _, what in verdicts
        if isinstance(what, Failed | Answered)
    ]


@pytest.fixture
def at() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.close()


def test_5_1_at_the_deadline_the_pipe_is_read_once_more(at: Bench) -> None:
    """Nobody had called `on_output`: the referee was late itself."""
    at.ask(10.0)
    os.write(at.stdout, passes(2))
    assert at.process.alarm == 10.5
    assert told(at.process.at_alarm(12.0)) == ["pass"]
    assert at.process.alarm == math.inf


def test_5_1_a_bot_that_does_not_read_is_under_the_deadline_too(at: Bench) -> None:
    """Its pipe fills; what it never began to read is not kept for it, and what it has begun is finished."""
    timeouts, now = 0, 10.0
    while timeouts < 300:
        at.ask(now)
        now += 0.5
        timeouts += told(at.process.at_alarm(now)) == ["timeout"]
        now += 1
    assert len(at.process._unsent) < 2000
    read = at.hear()
    assert at.poll(now) == []
    lines = (read + at.hear()).splitlines(keepends=True)
    assert all(line.startswith(b'{"type":"pass"') and line.endswith(b"}\n") for line in lines)


def test_2_1_who_speaks_out_of_turn_is_not_read_until_it_is_asked(at: Bench) -> None:
    os.write(at.stdout, b"chatter\n")
    assert at.poll(1.0) == []
    os.write(at.stdout, b"chatter\n" * 1000)
    assert not at.poller.peek()
    assert at.ask(2.0) == ["unasked"]
    at.ask(3.0)
    assert at.poller.peek()


def test_2_1_a_flood_on_stderr_is_read_with_rests(at: Bench) -> None:
    os.set_blocking(at.stderr, False)
    written = os.write(at.stderr, b"e" * 65_536)
    assert at.poll(1.0) == []
    assert at.process.errors.total == written
    (wake,) = at.woken
    assert 1.0 < wake == at.process.alarm < 1.1
    os.write(at.stderr, b"e")
    assert not at.poller.peek()
    at.process.at_alarm(wake)
    assert at.poll(wake) == []
    assert at.process.errors.total == written + 1


def test_6_1_the_end_of_stdout_moves_the_alarm_forward(at: Bench) -> None:
    at.ask(10.0)
    os.close(at.stdout)
    at.keeper.bot[1] = -1
    assert at.poll(10.1) == []
    assert at.woken == [at.process.alarm]
    assert at.process.alarm == pytest.approx(10.2)
    assert told(at.process.at_alarm(10.3)) == ["closed"]


def test_6_1_last_words_are_heard_before_the_exit(at: Bench) -> None:
    at.ask(10.0)
    os.write(at.stdout, passes(2))
    os.write(at.stderr, b"farewell")
    assert told(at.process.on_exit(Exited(1, 0, 0, 0), 10.1)) == ["pass"]
    assert bytes(at.process.errors) == b"farewell"
    assert at.process.gone
    assert at.ask(10.2) == ["exit"]


def test_6_1_a_child_that_goes_on_writing_does_not_hold_up_the_exit(at: Bench) -> None:
    """The pipe never ends and never is empty: a bounded look must do."""
    at.ask(10.0)
    os.set_blocking(at.stdout, False)
    os.write(at.stdout, b"x" * 60_000)
    assert told(at.process.on_exit(Exited(1, 3, 0, 0), 10.1)) == ["exit"]


def test_2_4_who_does_not_leave_is_killed_after_a_second(at: Bench) -> None:
    at.process.leave(20.0)
    assert at.hear() == b""
    assert at.process.alarm == 20.0 + LEAVE_GRACE_S
    at.process.at_alarm(20.0 + LEAVE_GRACE_S - 0.001)
    assert not at.keeper.killed
    at.process.at_alarm(20.0 + LEAVE_GRACE_S)
    assert at.keeper.killed == 1
    at.process.leave(22.0)
    assert at.process.alarm == math.inf


def test_a_closed_stdin_is_no_fault_in_itself(at: Bench) -> None:
    os.close(at.stdin)
    at.keeper.bot[0] = -1
    at.ask(10.0)
    os.write(at.stdout, passes(2))
    assert at.poll(10.1) == ["pass"]


@pytest.mark.parametrize("pieces", [[10], [200_000], [65_536, 65_536], [65_537] * 2, [1000] * 500])
def test_2_1_the_first_and_the_last_64_kib_are_kept(pieces: list[int]) -> None:
    tail, said = Tail(), b""
    for number, size in enumerate(pieces):
        piece = (b"%06d" % number * size)[:size]
        said += piece
        tail.add(piece)
    kept = bytes(tail)
    if len(said) <= 2 * 65_536:
        assert kept == said
    else:
        assert kept.startswith(said[:65_536])
        assert kept.endswith(said[-65_536:])
        assert f"[... {len(said) - 2 * 65_536} bytes left out ...]".encode() in kept
