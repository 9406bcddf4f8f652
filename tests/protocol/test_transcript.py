"""The worked transcripts of the specification, replayed line by line through the referee's two machines.

`python tests/protocol/test_transcript.py` plays them anew and writes them, after a change that is meant.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import pytest

from protocol.presets import preset
from protocol.rules import Conditions
from referee.game.deal import deal
from referee.game.events import (
    Ask,
    Dealt,
    Dismiss,
    Effect,
    Event,
    MatchRecord,
    Record,
    SeatRecord,
    Tell,
    WantDeal,
)
from referee.game.match import Match
from referee.record.match_log import read_log
from referee.record.replay import replay
from referee.table.conversation import Chair, Conversation, Verdicts

SPEC: Final = Path(__file__).parents[2] / "spec"
TRANSCRIPTS: Final = SPEC / "transcripts"
AGAIN: Final = "if the change is meant, run: python tests/protocol/test_transcript.py"

STEP_S: Final = 0.001
"""How long each line of a bot takes."""


class Stage:
    """One match between bots that are not there: their lines come in and the referee's go out."""

    def __init__(self, header: MatchRecord) -> None:
        self.match = Match(header)
        clock = header.conditions.clock()
        seats = range(self.match.book.seats)
        self.chairs = [Chair(self.match, seat) for seat in seats]
        self.talks = [Conversation(clock) for _ in seats]
        self.log: list[Event] = []
        self.now = 0.0
        self._leaving: set[int] = set()
        self._perform(self.match.begin())

    def hear(self, seat: int, mark: str, what: str) -> None:
        """Take one line of a transcript that is the bot's doing."""
        talk = self.talks[seat]
        if mark == ">":
            self.now += STEP_S
            self._deliver(talk.receive(what.encode() + b"\n", self.now))
        elif what == "its deadline passes":
            self.now = talk.deadline
            self._deliver(talk.expire(self.now))
        else:
            self._deliver(talk.exited(int(what.removeprefix("exits with status "))))

    def speak(self) -> Iterator[tuple[int, str, str]]:
        """What the referee says and does now, seat by seat."""
        while any(talk.has_news for talk in self.talks):
            for seat, talk in enumerate(self.talks):
                data, verdicts = talk.send(self.now)
                yield from ((seat, "<", line) for line in data.decode().splitlines())
                self._deliver(verdicts)
        for seat in sorted(self._leaving):
            if not self.talks[seat].dead:
                yield seat, "!", "its stdin is closed"
        self._leaving.clear()

    def _deliver(self, verdicts: Verdicts) -> None:
        for _, what in verdicts:
            self._perform(self.match.advance(what))

    def _perform(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Record(event):
                    self.log.append(event)
                case Ask(seat):
                    self.talks[seat].ask(self.chairs[seat])
                case Tell(seat, notice):
                    self.talks[seat].tell(notice)
                case Dismiss(seat):
                    self.talks[seat].leave(self.chairs[seat])
                    self._leaving.add(seat)
                case WantDeal(hand):
                    cards = deal(self.match.header.seed, hand, self.match.book)
                    self._perform(self.match.advance(Dealt(cards)))
                case _:
                    raise AssertionError(effect)

    def logged(self) -> str:
        """The match log."""
        return "".join(msgspec.json.encode(event).decode() + "\n" for event in self.log)


# --- the two matches -------------------------------------------------------------------------------------

Doing: TypeAlias = tuple[str, str]
"""What a bot does: a mark and what stands behind it in the transcript."""

Bot: TypeAlias = Callable[[dict[str, Any]], Iterator[Doing]]


class Play(NamedTuple):
    """A match that is told in a transcript."""

    header: MatchRecord
    bots: list[Bot]


def _play_of(name: str, conditions: Conditions, bots: list[Bot]) -> Play:
    header = MatchRecord(
        arena="0.1.0",
        id=name,
        started="2026-01-01T12:00:00Z",
        seed=name,
        rules=preset("duplicate"),
        conditions=conditions,
        seats=tuple(
            SeatRecord(seat=seat, name=bot.__name__, command=(f"./{bot.__name__}",))
            for seat, bot in enumerate(bots)
        ),
    )
    return Play(header, bots)


_RANKS: Final = "23456789TJQKA"


def _chosen(request: dict[str, Any]) -> dict[str, Any]:
    """What a simple bot answers: it passes its highest cards and plays the highest that loses the trick."""
    if request["type"] == "start":
        name = request["players"][request["seat"]].title()
        return {"type": "ready", "id": request["id"], "name": name, "version": "1"}
    if request["type"] == "pass":
        highest = sorted(request["cards"], key=lambda card: _RANKS.index(card[0]))[-request["count"] :]
        return {"type": "pass", "id": request["id"], "cards": highest}
    legal = sorted(request["legal"], key=lambda card: _RANKS.index(card[0]))
    card = legal[0]
    if request["trick"]:
        led = request["trick"][0][1]
        best = max(_RANKS.index(card[0]) for card in request["trick"] if card[1] == led)
        losing = [card for card in legal if card[1] != led or _RANKS.index(card[0]) < best]
        card = "QS" if "QS" in losing else (losing or legal)[-1]
    return {"type": "play", "id": request["id"], "card": card}


def _line(answer: dict[str, Any]) -> Doing:
    return ">", msgspec.json.encode(answer).decode()


def plain(request: dict[str, Any]) -> Iterator[Doing]:
    yield _line(_chosen(request))


def watcher(request: dict[str, Any]) -> Iterator[Doing]:
    """Wants to be told of every card."""
    answer = _chosen(request)
    yield _line(answer | {"watch": True} if answer["type"] == "ready" else answer)


def noter(request: dict[str, Any]) -> Iterator[Doing]:
    """Says why, now and then."""
    answer = _chosen(request)
    if answer["type"] == "play" and answer["card"][1] not in [card[1] for card in request["trick"][:1]]:
        answer["note"] = "my lowest card" if not request["trick"] else f"no {request['trick'][0][1]} left"
    yield _line(answer)


def loose(request: dict[str, Any]) -> Iterator[Doing]:
    """Writes its JSON in a way of its own, which is allowed."""
    answer = {"id": request["id"]} | _chosen(request) | {"mood": "fine"}
    yield ">", " " + msgspec.json.encode(answer).decode().replace(":", ": ").replace(',"', ', "')


def short_pass(request: dict[str, Any]) -> Iterator[Doing]:
    """Passes too few cards, and later does not know how to write the ten."""
    answer = _chosen(request)
    if answer["type"] == "pass":
        answer["cards"].pop()
    elif answer["type"] == "play" and answer["card"].startswith("T"):
        answer["card"] = answer["card"].replace("T", "10")
    yield _line(answer)


def quitter(request: dict[str, Any]) -> Iterator[Doing]:
    """Ends with status 1 in the tenth trick."""
    if len(request.get("tricks", ())) == 9:
        yield "!", "exits with status 1"
    else:
        yield _line(_chosen(request))


def sleeper(request: dict[str, Any]) -> Iterator[Doing]:
    """Is late once: its answer comes after its time, and is dropped."""
    if len(request.get("tricks", ())) == 1:
        yield "!", "its deadline passes"
    yield _line(_chosen(request))


PLAYS: Final = {
    "one_hand": _play_of("one_hand", Conditions(), [watcher, noter, plain, loose]),
    "mishaps": _play_of(
        "mishaps", Conditions(turn_ms=500, strikes=1), [watcher, short_pass, quitter, sleeper]
    ),
}


def _play(play: Play) -> tuple[str, str]:
    """Play a match: its transcript and its log."""
    stage = Stage(play.header)
    lines: list[str] = []
    doings: list[tuple[int, Doing]] = []
    heading = None
    while True:
        now = _heading(stage.match)
        if now != heading:
            heading = now
            lines += ["", f"# {heading}"] if lines else [f"# {heading}"]
        for seat, mark, what in stage.speak():
            lines.append(f"{seat} {mark} {what}")
            message = msgspec.json.decode(what) if mark == "<" else {}
            if "id" in message:
                doings += [(seat, doing) for doing in play.bots[seat](message)]
        if not doings:
            return "\n".join(lines) + "\n", stage.logged()
        seat, doing = doings.pop(0)
        lines.append(f"{seat} {doing[0]} {doing[1]}")
        stage.hear(seat, *doing)


def _heading(match: Match) -> str:
    if match.end:
        return "The end"
    if match.hand_number == 0:
        return "The handshake"
    return f"Trick {len(match.hand.tricks) + 1}" if match.passes else "The pass"


# --- the transcripts as they stand in the specification --------------------------------------------------

_LINE: Final = re.compile(r"(\d) ([<>!]) (.*)")
_SHOWN: Final = re.compile(r"(?<=```transcript\n).*?(?=```)", re.DOTALL)
SHOWN_SEAT: Final = "2"


def _lines(transcript: str) -> list[tuple[int, str, str]]:
    parsed = []
    for line in transcript.splitlines():
        if line and not line.startswith("#"):
            match = _LINE.fullmatch(line)
            assert match, f"no line of a transcript: {line}"
            parsed.append((int(match[1]), match[2], match[3]))
    return parsed


def _seat(transcript: str, seat: str) -> str:
    """What crosses one bot's pipes."""
    lines = [line for line in transcript.splitlines() if line.startswith(seat)]
    return "".join(f"{line.removeprefix(seat).lstrip()}\n" for line in lines)


@pytest.mark.parametrize("name", PLAYS)
def test_the_referee_says_what_the_transcript_tells(name: str) -> None:
    told = _lines((TRANSCRIPTS / f"{name}.txt").read_text())
    stage = Stage(PLAYS[name].header)
    said: list[tuple[int, str, str]] = list(stage.speak())
    for line in told:
        if line[1] == ">" or (line[1] == "!" and line[2] != "its stdin is closed"):
            assert said == told[: len(said)], AGAIN
            said.append(line)
            stage.hear(*line)
            said += stage.speak()
    assert said == told, AGAIN
    assert stage.match.end
    assert stage.logged() == (TRANSCRIPTS / f"{name}.jsonl").read_text(), AGAIN


def test_the_page_shows_one_seat_of_the_transcript() -> None:
    shown = _SHOWN.findall((SPEC / "protocol.md").read_text())
    assert shown == [_seat((TRANSCRIPTS / "one_hand.txt").read_text(), SHOWN_SEAT)], AGAIN


@pytest.mark.parametrize("name", PLAYS)
def test_the_log_of_a_transcript_verifies(name: str) -> None:
    assert replay(read_log(TRANSCRIPTS / f"{name}.jsonl")).match.end


def write() -> None:
    """Play the matches anew and write their transcripts, their logs, and the part that the page shows."""
    for name, play in PLAYS.items():
        transcript, log = _play(play)
        (TRANSCRIPTS / f"{name}.txt").write_text(transcript)
        (TRANSCRIPTS / f"{name}.jsonl").write_text(log)
    page = SPEC / "protocol.md"
    shown = _seat((TRANSCRIPTS / "one_hand.txt").read_text(), SHOWN_SEAT)
    page.write_text(_SHOWN.sub(shown.replace("\\", r"\\"), page.read_text()))


if __name__ == "__main__":
    write()
