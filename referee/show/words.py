"""Faults, ends and cards in plain words, and text from bots made harmless for a terminal."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import assert_never

from protocol.rules import Direction
from referee.game.events import RECOVERABLE, FaultKind, FaultRecord, MatchOverRecord

SUIT_SIGNS = {"C": "♣", "D": "♦", "S": "♠", "H": "♥"}


def card(name: str) -> str:
    """A card as people write it: `10♥`, `Q♠`."""
    rank = "10" if name[0] == "T" else name[0]
    return rank + SUIT_SIGNS[name[1]]


def cards(names: tuple[str, ...]) -> str:
    """Cards in a row, grouped by suit: `♣ 2 5 K  ♠ Q`."""
    groups = []
    for suit, sign in SUIT_SIGNS.items():
        ranks = ["10" if name[0] == "T" else name[0] for name in names if name[1] == suit]
        if ranks:
            groups.append(f"{sign} {' '.join(ranks)}")
    return "  ".join(groups) or "nothing"


def harmless(text: str) -> str:
    """Text that a bot wrote, without anything that a terminal would act on."""
    return "".join(char if char.isprintable() else "·" for char in text)


def count(number: int, what: str) -> str:
    """How many: `1 hand`, `3 hands`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def command(words: Iterable[str]) -> str:
    """How a bot is started, in short: `python3` for this Python, `~` for the home directory."""
    home = f"{Path.home()}/"
    short = ("python3" if word == sys.executable else word for word in words)
    return harmless(" ".join(f"~/{word[len(home) :]}" if word.startswith(home) else word for word in short))


def direction(word: Direction) -> str:
    """Where a hand passes: `pass left`, `no pass`."""
    return {"hold": "no pass", "left2": "pass two to the left", "right2": "pass two to the right"}.get(
        word, f"pass {word}"
    )


def fault(record: FaultRecord) -> str:
    """What a bot did wrong, as the rest of a sentence that begins with its name."""
    if record.kind == "exit" and record.detail:
        return harmless(record.detail)
    return f"{_did(record.kind)}: {harmless(record.detail)}" if record.detail else _did(record.kind)


def _did(kind: FaultKind) -> str:
    match kind:
        case "launch":
            return "could not be started"
        case "timeout":
            return "ran out of time"
        case "exit":
            return "ended"
        case "closed":
            return "closed its output"
        case "too_long":
            return "wrote too long a line"
        case "malformed":
            return "wrote a line that is no answer"
        case "wrong_id":
            return "answered what was not asked"
        case "unasked":
            return "spoke out of turn"
        case "illegal_pass":
            return "passed illegally"
        case "illegal_play":
            return "played illegally"
        case _:
            assert_never(kind)


def consequence(record: FaultRecord) -> str:
    """What a fault costs, as a sentence."""
    match record.then:
        case "retire":
            return "It forfeits the match; a caretaker plays its cards."
        case "substitute":
            stays = "the bot stays" if record.kind in RECOVERABLE else "the bot is started anew"
            return f"A caretaker answers in its place; {stays}."
        case "hand":
            return "It takes all the points of the hand."
        case "match":
            return "It forfeits, and the match ends here."
        case "void":
            return "The match is void for the others."
        case _:
            assert_never(record.then)


def reason(end: MatchOverRecord, target: int | None) -> str:
    """Why a match ended."""
    match end.reason:
        case "target":
            return f"{target} points were reached"
        case "max_hands":
            return "all hands were played"
        case "one_left":
            return "one bot was left"
        case "fault":
            return "a fault ended it"
        case "void":
            return "it is void: nobody was left to win it" if any(end.scores) else "it is void"
        case _:
            assert_never(end.reason)
