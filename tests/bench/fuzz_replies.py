"""Generated replies through the conversation machine: each is an answer or a fault, never an exception.

    python tests/bench/fuzz_replies.py [--replies 1000000] [--seed N]

Half are good replies spoiled byte by byte, the others are put together from fragments of JSON or are noise.
They come in pieces, in and out of turn, with time going by, and processes end in between.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, get_args

from protocol.messages import Pass, Play, Ready
from protocol.presets import preset
from protocol.rules import Conditions
from referee.game.deal import deal
from referee.game.events import Answered, Dealt, Failed, FaultKind, MatchRecord, SeatRecord
from referee.game.match import Match
from referee.table.conversation import Chair, Conversation, Verdicts

FRAGMENTS = [
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b",",
        b'"',
        b"\\",
        b"\\u",
        b"\\ud800",
        b"\\n",
        b"\n",
        b"\r",
        b" ",
        b"\t",
        b"\0",
    ),
    *(b"null", b"true", b"false", b"NaN", b"Infinity", b"-", b"1e400", b"0", b"1", b"7.0", b"-1", b"9" * 30),
    *(
        b'"type"',
        b'"id"',
        b'"card"',
        b'"cards"',
        b'"note"',
        b'"name"',
        b'"version"',
        b'"tables"',
        b'"protocol"',
    ),
    *(
        b'"watch"',
        b'"pass"',
        b'"play"',
        b'"ready"',
        b'"start"',
        b'"QS"',
        b'"1X"',
        b'"2C"',
        b'"\xc3\xa9"',
        b"\xff",
    ),
    *(b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xf0\x9f\x82\xa1", b"[" * 2000, b'{"a":' * 500, b"x" * 70_000),
]
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2**53,
    1.5,
    "",
    "QS",
    "qs",
    "10H",
    [],
    {},
    ["2C", "3C", "4C"],
]
VALUES += [["2C", 2], [["2C"]], "x" * 101, "x" * 501, {"id": 1}, "é\u2028\0"]


def good(kind: type, id: int) -> dict[str, Any]:
    """The fields of a good reply."""
    if kind is Ready:
        return {"type": "ready", "id": id, "name": "bot", "version": "1"}
    if kind is Pass:
        return {"type": "pass", "id": id, "cards": ["2C", "3C", "4C"]}
    return {"type": "play", "id": id, "card": "QS"}


class Fuzz:
    """Conversations one after the other, each talked to until its process has ended."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.outcomes: Counter[str] = Counter()
        self.asked = 0
        self.match = Match(
            MatchRecord(
                arena="",
                id="",
                started="",
                seed="",
                rules=preset("standard"),
                conditions=Conditions(turn_ms=100, start_ms=500, bank_ms=50),
                seats=tuple(SeatRecord(seat=seat, name=str(seat)) for seat in range(4)),
            )
        )
        self.match.begin()
        for seat in range(4):
            self.match.advance(Answered(seat, Ready(0, "", "")))
        self.match.advance(Dealt(deal("", 1, self.match.book)))
        self.begin()

    def begin(self) -> None:
        """A new process."""
        self.now = 0.0
        self.tables = self.dice.choice([1, 1, 3])
        self.conversation = Conversation(self.match.header.conditions.clock())
        self.chairs = [Chair(self.match, 0) for _ in range(self.tables)]
        self.due: set[Chair] = set()

    def step(self) -> None:
        """Ask what can be asked, and answer it somehow."""
        dice, talk = self.dice, self.conversation
        if talk.idle:
            for chair in dice.sample(self.chairs, dice.randint(1, self.tables)):
                if chair not in self.due:
                    talk.ask(chair)
                    self.due.add(chair)
        self.take(talk.send(self.now)[1])
        for piece in self.pieces(self.reply()):
            self.now += dice.choice([0, 0, 0, 0.001, 0.02, 0.2])
            self.take(talk.receive(piece, self.now))
            if self.now >= talk.deadline:
                self.take(talk.expire(self.now))
        if dice.random() < 0.02:
            self.take(talk.end_of_output(self.now))
        if talk.dead or dice.random() < 0.01:
            self.take(talk.exited(dice.choice([0, 1, -9, -11])))
            self.take(talk.send(self.now)[1])
            assert not self.due, "a question had no outcome"
            assert talk.idle
            self.begin()

    def take(self, verdicts: Verdicts) -> None:
        for chair, what in verdicts:
            assert chair in self.due, "a question had two outcomes"
            self.due.remove(chair)
            if isinstance(what, Failed):
                assert what.kind in get_args(FaultKind)
                assert what.detail.isprintable(), what.detail
                assert what.reply is None or (what.reply.isprintable() and len(what.reply) <= 200)
                self.outcomes[what.kind] += 1
            else:
                self.outcomes["an answer"] += 1

    def reply(self) -> bytes:
        """One line, or what is none."""
        dice = self.dice
        open_ids = [*self.conversation._open]
        id = (
            dice.choice([*open_ids, *open_ids, *open_ids, 0, 1, 2, 10**6]) if open_ids else dice.randint(0, 9)
        )
        request = self.conversation._open.get(id)
        fields = good(request.answer if request else dice.choice([Ready, Pass, Play]), id)
        how = dice.random()
        if how < 0.2:
            return json.dumps(fields).encode() + b"\n"
        if how < 0.5:
            fields[dice.choice([*fields, "note", "tables", "watch", "protocol", "x"])] = dice.choice(VALUES)
            if dice.random() < 0.3:
                del fields[dice.choice([*fields])]
            return json.dumps(fields, ensure_ascii=dice.random() < 0.5).encode() + b"\n"
        if how < 0.8:
            line = bytearray(json.dumps(fields).encode() + b"\n")
            for _ in range(dice.randint(1, 4)):
                SPOIL[dice.randrange(len(SPOIL))](line, dice)
            return bytes(line)
        if how < 0.95:
            weights = [0.01 if len(fragment) > 1000 else 1 for fragment in FRAGMENTS]
            return b"".join(dice.choices(FRAGMENTS, weights, k=dice.randint(0, 12))) + b"\n"
        return dice.randbytes(dice.randint(0, 60)) + b"\n"

    def pieces(self, data: bytes) -> list[bytes]:
        if self.dice.random() < 0.7:
            return [data]
        at = self.dice.randint(0, len(data))
        return [data[:at], data[at:]]


def _flip(line: bytearray, dice: random.Random) -> None:
    if line:
        line[dice.randrange(len(line))] ^= 1 << dice.randrange(8)


def _cut(line: bytearray, dice: random.Random) -> None:
    at = dice.randint(0, len(line))
    del line[at : at + dice.randint(1, 8)]


def _insert(line: bytearray, dice: random.Random) -> None:
    at = dice.randint(0, len(line))
    line[at:at] = dice.choice(FRAGMENTS[:-3])


def _repeat(line: bytearray, dice: random.Random) -> None:
    at = dice.randint(0, len(line))
    line[at:at] = line[: dice.randint(0, len(line))]


SPOIL: list[Callable[[bytearray, random.Random], None]] = [_flip, _cut, _insert, _repeat]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replies", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    args = parser.parse_args()
    fuzz = Fuzz(args.seed)
    began = time.perf_counter()
    for number in range(args.replies):
        try:
            fuzz.step()
        except Exception:
            print(f"reply {number} of --seed {args.seed}:", file=sys.stderr)
            raise
    seconds = time.perf_counter() - began
    print(f"{args.replies:,} replies in {seconds:.0f} s (--seed {args.seed}), and no exception")
    for outcome, count in fuzz.outcomes.most_common():
        print(f"{outcome:>12} {count:>9,}")


if __name__ == "__main__":
    main()
