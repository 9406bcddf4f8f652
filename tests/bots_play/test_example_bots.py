"""The bundled Python bots: situations and what they play, every rule set, and how strong they are."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

import example_bots
from example_bots import duck, heuristic
from example_bots.random_bot import RandomBot
from protocol.cards import NAMES, CardName
from protocol.codec import encode
from protocol.messages import (
    MatchOverNotice,
    Pass,
    PassRequest,
    Play,
    PlayRequest,
    Ready,
    StartRequest,
    Trick,
)
from protocol.presets import PRESETS, preset
from protocol.rules import Clock, Conditions, Rules
from referee.game.deal import deal
from referee.game.events import Answered, Dealt, MatchRecord, SeatRecord
from referee.game.match import Match
from tests.bench.strength import Player, bot, compare, play_hand

TABLE = "situation"


def cards(text: str) -> tuple[CardName, ...]:
    return tuple(text.split())  # type: ignore[arg-type]


def passing(hand: str, count: int = 3) -> PassRequest:
    return PassRequest(1, TABLE, 1, 0, 0, count, 1, 1000, cards(hand), (0, 0, 0, 0))


def playing(
    hand: str,
    trick: str = "",
    *,
    legal: str | None = None,
    tricks: Sequence[str] = ("2C 9C TC JC",),
    taken: tuple[int, ...] = (0, 0, 0, 0),
) -> PlayRequest:
    """A turn of seat 0.  `tricks` were led and won by seat 3; one went by before, so that points may fall."""
    led = trick[1:2]
    held = cards(hand)
    follow = tuple(card for card in held if card[1] == led) or held
    return PlayRequest(
        id=1,
        table=TABLE,
        hand=1,
        seat=0,
        dealer=0,
        hearts_broken=True,
        lead=(4 - len(trick.split())) % 4,
        ms=1000,
        cards=held,
        legal=follow if legal is None else cards(legal),
        trick=cards(trick),
        taken=taken,
        scores=(0, 0, 0, 0),
        tricks=tuple(Trick(3, cards(played), 3) for played in tricks),
        passed=None,
    )


# --- duck ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "passed"),
    [
        pytest.param("2C AC 3D AS QS KS AH", "QS AS KS", id="the-queen-and-above-her"),
        pytest.param("2C KC 3D AD JS KH", "AD KC KH", id="then-high-cards"),
    ],
)
def test_duck_passes(hand: str, passed: str) -> None:
    assert tuple(duck.choose_pass(passing(hand))) == cards(passed)


@pytest.mark.parametrize(
    ("hand", "trick", "card"),
    [
        pytest.param("9C 4D JS 5H", "", "4D", id="leads-the-lowest"),
        pytest.param("2C 8C JC", "9C 3C", "8C", id="the-highest-that-loses"),
        pytest.param("JC QC AC", "9C 3C", "JC", id="else-the-lowest"),
        pytest.param("JC QS AH", "2D", "QS", id="void-throws-the-queen"),
        pytest.param("JC AS 2H KH", "2D", "KH", id="void-throws-the-highest-heart"),
        pytest.param("2S QS", "KS", "QS", id="the-queen-under-the-king"),
        pytest.param("QS AS", "JS", "AS", id="keeps-the-queen-when-it-must-win"),
    ],
)
def test_duck_plays(hand: str, trick: str, card: str) -> None:
    assert duck.choose_play(playing(hand, trick)) == card


def one_match_of_requests(seed: str) -> list[PassRequest | PlayRequest]:
    """Everything that four seats are asked in one hand."""
    seats = tuple(SeatRecord(seat=seat, name=f"s{seat}") for seat in range(4))
    rules, conditions = Rules(target=None, max_hands=1), Conditions()
    header = MatchRecord(
        arena="", id="", started="", seed=seed, rules=rules, conditions=conditions, seats=seats
    )
    match, player = Match(header), RandomBot(7)
    asked: list[PassRequest | PlayRequest] = []
    match.begin()
    for seat in range(4):
        match.advance(Answered(seat, Ready(0, "", "")))
    match.advance(Dealt(deal(seed, 1, match.book)))
    while match.awaiting:
        for seat in sorted(match.awaiting):
            request = match.request(seat, len(asked), 1000)
            assert not isinstance(request, StartRequest)
            asked.append(request)
            if isinstance(request, PassRequest):
                match.advance(Answered(seat, Pass(1, tuple(player.choose_pass(request)))))
            else:
                match.advance(Answered(seat, Play(1, player.choose_play(request))))
    return asked


@pytest.mark.parametrize("language", ["c", "java", "javascript", "perl", "rust"])
def test_duck_plays_like_the_duck_in(language: str, tmp_path: Path) -> None:
    home = tmp_path / language
    shutil.copytree(Path(example_bots.__file__).parent / language, home)
    config = tomllib.loads((home / "bot.toml").read_text())
    tools = {"c": "cc", "java": "javac", "javascript": "node", "perl": "perl", "rust": "rustc"}
    if not shutil.which(tools[language]):
        pytest.skip(f"needs {tools[language]}")
    if "build" in config:
        subprocess.run(config["build"].split(), cwd=home, check=True, capture_output=True)
    requests = [request for number in range(5) for request in one_match_of_requests(f"languages-{number}")]
    asked = b"".join(map(encode, requests))
    said = subprocess.run(
        config["run"].split(), cwd=home, input=asked, capture_output=True, check=True
    ).stdout
    theirs = [msgspec.json.decode(line, type=Pass | Play) for line in said.splitlines()]
    for request, answer in zip(requests, theirs, strict=True):
        if isinstance(answer, Pass):
            assert isinstance(request, PassRequest)
            assert list(answer.cards) == duck.choose_pass(request), request
        else:
            assert isinstance(request, PlayRequest)
            assert answer.card == duck.choose_play(request), request


# --- heuristic -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "passed"),
    [
        pytest.param("3C 5C 7C 9C 2D 4D 6D 8D JD QS KS 2H 4H", "QS KS", id="short-spades-let-the-queen-go"),
        pytest.param("2C 4C 6C 8C 9C 2D 4D 6D 7D AS 2H 3H 5H", "AS", id="a-bare-ace-of-spades-goes"),
        pytest.param("3C 5C 7C 9C TC AD 2S 4S 6S 8S 2H 4H 6H", "AD", id="a-short-suit-becomes-void"),
    ],
)
def test_heuristic_passes(hand: str, passed: str) -> None:
    assert set(cards(passed)) <= set(heuristic.choose_pass(passing(hand)))


def test_heuristic_keeps_low_spades_that_guard_it() -> None:
    kept = set(heuristic.choose_pass(passing("KC AC 9D QD AD 2S 3S 4S 5S 2H 7H JH QH")))
    assert not kept & set(cards("2S 3S 4S 5S"))


LATE = ("2C 9C TC JC", "2D 9D TD JD", "3D 5D 6D 7D", "3C 4C 5C 6C")


@pytest.mark.parametrize(
    ("request_", "card"),
    [
        pytest.param(playing("3C 8C AC", "9C 4C 5C"), "AC", id="last-with-no-points-takes-with-the-highest"),
        pytest.param(playing("3C 8C AC", "9C 4C KH"), "8C", id="last-with-points-ducks-with-the-highest"),
        pytest.param(playing("2S 5S QS", "KS"), "QS", id="the-queen-under-the-king"),
        pytest.param(playing("2S 5S QS", "JS"), "5S", id="the-queen-stays-when-she-would-win"),
        pytest.param(playing("3D QS AH", "9C"), "QS", id="void-throws-the-queen"),
        pytest.param(playing("6S 3D 3H", tricks=LATE), "6S", id="a-low-spade-smokes-the-queen-out"),
        pytest.param(playing("4S AS", "2S 3S 5S"), "AS", id="the-ace-of-spades-goes-while-last-and-safe"),
        pytest.param(playing("4S AS", "2S"), "4S", id="the-ace-of-spades-hides-from-the-queen"),
        pytest.param(playing("JD KD", "2D 3D QH"), "JD", id="wins-low-when-it-must-take-points"),
    ],
)
def test_heuristic_plays(request_: PlayRequest, card: str) -> None:
    assert heuristic.choose_play(request_) == card


def test_heuristic_takes_a_heart_to_stop_a_moon() -> None:
    tricks = ("2C 9C TC JC", "QS 2S 3S KS", "TH JH QH KH", "6H 7H 8H 9H")
    trick, hand = "5H 4H 3H", "2H AH"
    assert heuristic.choose_play(playing(hand, trick, tricks=tricks, taken=(0, 0, 0, 21))) == "AH"
    assert heuristic.choose_play(playing(hand, trick, tricks=tricks, taken=(0, 1, 0, 20))) == "2H"
    assert heuristic.choose_play(playing(hand, trick, tricks=tricks, taken=(21, 0, 0, 0))) == "2H"


def test_heuristic_reads_the_rules_of_its_table() -> None:
    request = playing("3D QD", "JD 4D 5D")
    start = StartRequest(0, TABLE, 1, 0, ("a", "b", "c", "d"), Rules(jack_points=-10), Clock())
    with_heart = replace(request, trick=cards("JD 4D 5H"))
    assert heuristic.choose_play(with_heart) == "3D"
    heuristic.on_start(start)
    assert heuristic.choose_play(with_heart) == "QD"
    heuristic.on_match_over(MatchOverNotice(TABLE, "target", (1, 2, 3, 4), (0, 0, 0, 0), ()))
    assert TABLE not in heuristic.RULES
    assert heuristic.choose_play(with_heart) == "3D"


# --- all -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("bot_name", ["random", "duck", "heuristic"])
def test_every_bot_plays_by_every_rule_set(bot_name: str, name: str) -> None:
    rules = replace(preset(name), max_hands=1, tie="shared")
    for number in range(6):  # `play_hand` raises at a fault
        play_hand(rules, f"{name}-{number}", 1 + number, [bot(bot_name)] * rules.players)


@pytest.mark.parametrize("player", [RandomBot(3), duck, heuristic], ids=["random", "duck", "heuristic"])
def test_every_bot_is_a_function_of_the_request(player: Player) -> None:
    requests = one_match_of_requests("function")

    def answer(request: PassRequest | PlayRequest) -> Any:
        if isinstance(request, PassRequest):
            return player.choose_pass(request)
        return player.choose_play(request)

    forwards = [answer(request) for request in requests]
    backwards = [answer(replace(request, table="another")) for request in reversed(requests)]
    assert forwards == backwards[::-1]


def test_random_seeds_differ_and_no_seed_is_random() -> None:
    requests = [playing(" ".join(NAMES[:13]), tricks=()) for _ in range(40)]
    chosen = [{RandomBot(seed).choose_play(request) for request in requests} for seed in range(20)]
    assert all(len(cards) == 1 for cards in chosen)
    assert len(set.union(*chosen)) > 5
    free = RandomBot()
    assert len({free.choose_play(request) for request in requests}) > 5


@pytest.mark.parametrize(
    ("module", "arguments", "name"),
    [
        ("random_bot", [], "random"),
        ("random_bot", ["--seed", "7"], "random"),
        ("duck", [], "duck"),
        ("heuristic", [], "heuristic"),
    ],
)
def test_every_bot_runs_as_a_module(module: str, arguments: list[str], name: str, tmp_path: Path) -> None:
    start = StartRequest(9, "t", 1, 0, ("a", "b", "c", "d"), Rules(), Clock())
    request = passing("2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC")
    done = subprocess.run(
        [sys.executable, "-P", "-m", f"example_bots.{module}", *arguments],
        input=encode(start) + encode(request),
        capture_output=True,
        check=True,
        cwd=tmp_path,
    )
    ready, passed = (msgspec.json.decode(line, type=Ready | Pass) for line in done.stdout.splitlines())
    assert isinstance(ready, Ready)
    assert (ready.id, ready.name, ready.tables) == (9, name, 64)
    assert isinstance(passed, Pass)
    assert len(passed.cards) == 3
    assert done.stderr == b""


@pytest.mark.parametrize(("one", "others"), [("duck", "random"), ("heuristic", "duck")])
def test_strength_is_clear_of_chance(one: str, others: str) -> None:
    payoff = compare(bot(one), bot(others), deals=300)
    assert payoff.mean - payoff.within > 0.5, payoff
