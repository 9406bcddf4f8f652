"""The gallery of misbehaving bots: one program, honest until its moment comes, with a mode for each misdeed.

    python rogue.py MODE[:N] [--at start|pass|play|mid|end] [--seed N] [--times N]
    python rogue.py --list

`--at` says when it turns bad (default: play):

    start   in answer to `start`
    pass    at the first pass request
    play    at the first play request
    mid     at the first play request of hand 1 with at least five tricks done
    end     out of turn, right after it has played its last card of hand 1

A mode that spoils single answers does so once, then plays on honestly; with `--times N` N times, 0 is always.
`--seed` varies the cards it plays while it is honest.
The modes live in the `rogue_*` files, and `gallery` says what each of them must earn.
"""

import os
import signal
import sys
from collections.abc import Iterator

from honest import Bot, Message, mix
from misdeed import Catalogue, Turn
from rogue_bytes import BYTES
from rogue_deeds import DEEDS
from rogue_disk import DISK
from rogue_json import JSON
from rogue_moves import MOVES
from rogue_offspring import OFFSPRING

MIXED = Catalogue()

MOMENTS = {
    "start": lambda request: request["type"] == "start",
    "pass": lambda request: request["type"] == "pass",
    "play": lambda request: request["type"] == "play",
    "mid": lambda request: in_hand_1(request) and len(request["tricks"]) >= 5,
    "end": lambda request: in_hand_1(request) and len(request["cards"]) == 1,
}

LIFE_S = 3_600

MOVE_FIELDS = {"passes": ("pass", "cards"), "plays": ("play", "card")}

PETTY_LINES = ("not-json", "array-line", "bad-utf8", "missing-field", "string-id", "wrong-id", "skips")
PETTY_MOVES = ("pass-too-few", "pass-duplicate-card", "revoke", "play-not-held", "play-already-played")
PETTY = PETTY_LINES + PETTY_MOVES


def in_hand_1(request: Message) -> bool:
    """Whether a card of the first hand is to be played."""
    return request["type"] == "play" and request["hand"] == 1


@MIXED.says
def fickle(turn: Turn) -> Iterator[bytes] | list[bytes]:
    """Commits one of many petty misdeeds at about every Nth (8th) request, by seed and place."""
    request = turn.request
    where = (request.get("hand", 0), request["type"] == "play", len(request.get("tricks", ())))
    dice = mix(turn.bot.seed or 0, *where)
    if dice % (turn.argument or 8):
        return [turn.line]
    return spoiled(turn, PETTY[dice // 1_000 % len(PETTY)]) or [turn.line]


MODES = BYTES | JSON | MOVES | DEEDS | DISK | OFFSPRING | MIXED


def spoiled(turn: Turn, mode: str) -> Iterator[bytes] | list[bytes] | None:
    """What is written in `mode` for this request, bit by bit; None if the mode has to wait for another."""
    way, misdeed = MODES[mode]
    if way == "does":
        if turn.late:
            turn.give()
        misdeed(turn)
        turn.give()
        return []
    if way == "says":
        said = misdeed(turn)
        return [said] if isinstance(said, bytes) else said
    kind, field = MOVE_FIELDS[way]
    move = misdeed(turn) if turn.request["type"] == kind else None
    return None if move is None else [turn.but(**{field: move})]


def play(bot: Bot, mode: str, argument: int | None, at: str, times: int) -> None:
    """Sit at the table until the referee closes our stdin."""
    armed, done, before = False, 0, None
    for request in bot.messages():
        if "id" not in request:
            continue
        turn = Turn(bot, request, argument, before, late=at == "end")
        before = request["id"]
        armed = armed or MOMENTS[at](request)
        said = spoiled(turn, mode) if armed and (done < times or not times) else None
        if said is None:
            turn.give()
            continue
        done += 1
        for piece in said:
            turn.say(piece)
    bot.at_eof()


def main(words: list[str]) -> None:
    """Read the command line, and play."""
    if words == ["--list"]:
        for name, (_, misdeed) in MODES.items():
            print(f"{name:24}{misdeed.__doc__}")
        return
    mode, _, argument = words[0].partition(":") if words else ("", "", "")
    options = dict(zip(words[1::2], words[2::2], strict=False))
    at = options.pop("--at", "play")
    seed = options.pop("--seed", None)
    times = options.pop("--times", "0" if mode == "fickle" else "1")
    if mode not in MODES or at not in MOMENTS or options or len(words) % 2 == 0:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    signal.alarm(LIFE_S)  # whoever started us may have forgotten us
    play(Bot("rogue", int(seed) if seed else None), mode, int(argument) if argument else None, at, int(times))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BrokenPipeError:
        os._exit(0)  # the referee no longer listens
