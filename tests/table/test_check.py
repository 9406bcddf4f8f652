"""`arena check` on real processes: misbehaving bots are named rightly, every rule set has its situations."""

from __future__ import annotations

import re
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
import trio
from msgspec.structs import replace

from protocol.cards import NAMES, each, names_of
from protocol.messages import Pass, Play, Ready
from protocol.presets import PRESETS, preset
from protocol.rules import Rules, conditions_from
from referee.game.events import Answered, Ask, Dealt, MatchRecord, SeatRecord
from referee.game.match import Match
from referee.table.check.absence import last_error
from referee.table.check.scenes import MOMENTS, SCENES
from referee.table.check.steps import Report, Step, check, first_pass, plan, scenes
from referee.table.roster import Bot
from tests.bots.gallery import ROGUES, Rogue
from tests.table.hosting import Stage

# --- the scenes ------------------------------------------------------------------------------------------


def header(rules: Rules, hands: int) -> MatchRecord:
    seats = tuple(SeatRecord(seat=seat, name=f"bot-{seat}") for seat in range(rules.players))
    return MatchRecord(
        arena="test",
        id="test",
        started="",
        seed="test",
        first_hand=first_pass(rules),
        rules=replace(rules, max_hands=hands, target=None),
        conditions=conditions_from({}),
        seats=seats,
    )


def come_about(rules: Rules, dice: Random) -> tuple[list[str], list[str]]:
    """The situations that are planned for these rules, and those that come when seat 0 moves at random."""
    hands, steps = plan(rules)
    planned = [step.name for step in steps if step.hand]
    match = Match(header(rules, len(hands)))
    came: list[str] = []
    scene = hand = None
    todo = deque(match.begin())
    while not match.end:
        if not todo:
            assert match.wants_deal
            hand = hands.pop(0)
            scene = SCENES[hand](scenes.place_of(match, 0))
            todo.extend(match.advance(Dealt(scenes.dealt(scene, match))))
        effect = todo.popleft()
        if not isinstance(effect, Ask):
            continue
        seat = effect.seat
        expected = steps[len(came)] if len(came) < len(planned) else None
        if seat == 0 and match.stage is not Ready and expected and expected.hand == hand:
            came += [expected.name] if MOMENTS[expected.name](match, 0) else []
        if match.stage is Ready:
            answer = Ready(1, "test", "1")
        elif match.stage is Pass:
            count = rules.pass_count
            chosen = sum(1 << card for card in dice.sample(list(each(match.dealt[seat])), count))
            answer = Pass(1, names_of(chosen if seat == 0 else scenes.given(scene, match, seat)))
        elif seat == 0:
            answer = Play(1, NAMES[dice.choice(list(each(match.hand.legal)))])
        else:
            answer = Play(1, NAMES[scenes.played(scene, match, seat)])
        todo.extend(match.advance(Answered(seat, answer)))
    return planned, came


HOUSE_RULES = {
    "hold-first": {"pass_cycle": ("hold", "left")},
    "always-left": {"pass_cycle": ("left",)},
    "no-pass": {"pass_count": 0},
    "pass-one": {"pass_count": 1},
    "pass-four-of-six": {"players": 6, "pass_count": 4},
    "eldest-of-three": {"players": 3, "opening": "eldest"},
    "eldest-strict": {"opening": "eldest"},
    "any-club": {"opening": "any_club"},
    "any-club-of-five": {"players": 5, "opening": "any_club", "queen_breaks": True, "queen_lead": "broken"},
    "strict-heart": {"first_trick": "strict_heart", "forced_lead": "points"},
}


@pytest.mark.parametrize("name", [*PRESETS, *HOUSE_RULES])
def test_every_planned_situation_comes_about_whatever_the_bot_does(name: str) -> None:
    rules = preset(name) if name in PRESETS else preset("standard", HOUSE_RULES[name])
    for number in range(30):
        planned, came = come_about(rules, Random(number))
        assert came == planned


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        pytest.param({}, "pass forced follow void lead whole again leave", id="standard"),
        pytest.param({"pass_count": 0}, "forced follow void lead whole again leave", id="3.1-no-pass"),
        pytest.param(
            {"opening": "eldest"}, "pass forced follow void lead whole again leave", id="4.1-eldest"
        ),
    ],
)
def test_situations_that_the_rules_do_not_have_are_left_out(changes: dict[str, object], names: str) -> None:
    _, steps = plan(preset("standard", changes))
    assert [step.name for step in steps] == names.split()


# --- the gallery -----------------------------------------------------------------------------------------

OTHER_TALK = "prints other things on stdout"
NOT_FLUSHED = "output is not being flushed"
NEWLINE = "newline is missing"
SPOKE = "when nothing was asked"
ENDED = "It ended .* with status 0"

NAMED = {
    "ignores-sigterm-and-eof": "did not leave when its stdin was closed",
    "traced": "did not leave when its stdin was closed",
    "bom": "byte order mark",
    "utf-16": "UTF-16",
    "bad-utf8": "not UTF-8 at byte",
    "bad-utf8-unknown-field": "not UTF-8 at byte",
    "nul": r"NUL byte",
    "empty-line": "an empty line",
    "banner": f"{OTHER_TALK}.*; its answer came behind it",
    "chatter": OTHER_TALK,
    "flood-lines": OTHER_TALK,
    "not-json": OTHER_TALK,
    "single-quotes": "JSON wants double quotes",
    "pretty": "A message is one line",
    "trailing-comma": "comma before a closing bracket",
    "two-on-one-line": "write one message a line",
    "array-line": "not an object",
    "scalar-line": "not an object",
    "nan": "NaN, .* are not JSON",
    "control-character": "not JSON",
    "lone-surrogate": "half a character",
    "deep-nesting:30000": "nested too deep",
    "deep-nesting": "too long a line",
    "just-too-long": "too long a line",
    "huge-line": "too long a line",
    "flood-bytes": "too long a line",
    "echo": "sends back what it was sent",
    "empty-object": "the field type is missing",
    "no-type": "the field type is missing",
    "unknown-type": 'type is "move"',
    "missing-field": "the field (name|cards?) is missing",
    "wrong-type-field": "(name|cards?) is 12; it must be",
    "null-field": "(name|cards?) is null; it must be",
    "bool-card": "(name|card) is true; it must be|cards holds true",
    "note-too-long": "note has 501 characters",
    "note-not-text": "note is .* it must be text",
    "no-id": "the field id is missing",
    "null-id": "id is null; it must be a whole number",
    "string-id": r'id is "\d+"; it must be a whole number',
    "float-id": r"id is \d+\.0; it must be a whole number",
    "bool-id": "id is true; it must be a whole number",
    "huge-float-id": "id is 1e400; it must be a whole number",
    "huge-integer-id": "id is 9+…; it must be a whole number",
    "wrong-id": "The id is wrong",
    "old-id": "answered twice",
    "two-answers": "answered twice",
    "flood-answers": "answered twice",
    "predict": f"{SPOKE}: it answered a request that has not been made",
    "unasked": SPOKE,
    "conflicting-keys": "no proper answer",
    "wrong-reply": "was asked for",
    "no-tables": "tables is 0",
    "other-protocol": "speaks protocol 2",
    "ghost-writer": f"{ENDED}|{OTHER_TALK}|{SPOKE}",
    "daemonize": ENDED,
    "silent": "It was silent: it has read the request",
    "never-reads": "neither answered .* nor reads on|does not read its stdin",
    "stuffed-stdin": "does not read its stdin",
    "stopped": "its process is stopped",
    "unflushed": NOT_FLUSHED,
    "exec-sleep": "neither answered .* nor reads on|does not read its stdin",
    "drip": r"\d+ bytes but no newline",
    "no-newline": NEWLINE,
    "carriage-return": f"{NEWLINE}.*carriage return",
    "skips": "It was silent: it has read the request",
    "slow:60000": "neither answered .* nor reads on",
    "close-stdout": "has closed its stdout",
    "close-both": "has closed its stdout",
    "exit": ENDED,
    "exit:3": "It ended .* with status 3",
    "exit-mid-line": "ended in the middle of a line",
    "exit-before-newline": "last answer lacks the newline",
    "traceback": r"ended with an error .*ValueError: no idea what to play \(rogue_deeds.py, line \d+\)",
    "segfault": "SIGSEGV .*memory that is not its own",
    "killed": "SIGKILL .*killed itself",
    "fork-child": ENDED,
    "grandchild-keeps-pipe": ENDED,
    "allocate:1000": "MB of memory|memory",
    "close-stdin": "has closed its stdin",
    "close-after-answer": "has closed its stdout",
    "exit-after-answer": ENDED,
    "after-deadline:400": "too slow: its answer came after",
    "late-for-ever": "too slow: its answer came after",
    "pass-too-few": "passed 2 cards; 3 are to be passed",
    "pass-too-many": "passed 4 cards; 3 are to be passed",
    "pass-empty": "passed 0 cards; 3 are to be passed",
    "pass-whole-hand": "passed 13 cards; 3 are to be passed",
    "pass-duplicate-card": "passed .. twice",
    "pass-not-held": "is not in your hand",
    "pass-not-a-card": '"1X", which is no card',
    "revoke": "it must follow (diamonds|spades|clubs)",
    "play-not-held": "it is not in your hand",
    "play-already-played": "it is not in your hand",
    "play-not-a-card": '"1X", which is no card',
    "play-ten-in-digits": "the ten is T",
    "play-lower-case": "capital letters",
    "not-the-opening-card": "it must lead 2C",
    "point-on-first-trick": "no point card on the first trick",
    "heart-lead-unbroken": "hearts may not be led before hearts are broken",
}
"""What must be said about each mode that does wrong."""

NAMED_AT = {
    ("echo", "pass"): "passed 13 cards; 3 are to be passed",
    ("flood-bytes", "end"): f"too long a line|{SPOKE}",
    ("huge-line", "end"): f"too long a line|{SPOKE}",
    ("wrong-id", "end"): f"{SPOKE}: it answered a request that has not been made",
    ("drip", "end"): r"\d+ bytes but no newline",
}

NOTED = {
    "many-tables": "requests in .* writes, up to 8 in one",
    "stderr-flood": "bytes to stderr",
    "stderr-for-ever": "bytes to stderr",
    "fork-bomb": "has grown to 1.. processes",
    "burn-cpu": "computes though nothing is asked",
}
"""What must be said about modes that do nothing wrong, yet something that their author should know."""

EITHER = {"before-deadline", "after-deadline", "fickle", "daemonize", "ghost-writer"}
"""Modes whose outcome hangs on the machine; the first two may also be fine."""


def rows() -> Iterator[tuple[Rogue, str]]:
    """Every row of the gallery at one of its moments, in turn."""
    for number, rogue in enumerate(ROGUES):
        yield rogue, rogue.moments[number % len(rogue.moments)]


ROWS = {f"{rogue.mode}@{moment}": (rogue, moment) for rogue, moment in rows()}


class Enough(Exception):
    """The first step that fails is known."""


class Finding:
    """What was said of one bot: in its first step that failed, or in all its notes if none did."""

    def __init__(self) -> None:
        self.report: Report | None = None
        self.steps: list[Step] = []

    def watch(self, step: Step) -> None:
        self.steps.append(step)
        if step.wrongs:
            raise Enough

    @property
    def said(self) -> str:
        lines = [note for step in self.steps for note in step.notes]
        for wrong in self.steps[-1].wrongs:
            lines += [wrong.diagnosis.what, *wrong.diagnosis.advice]
        return "\n".join(lines)


async def find(bot: Bot, **conditions: object) -> Finding:
    finding = Finding()
    try:
        settings = conditions_from({"sandbox": "none", **conditions})
        finding.report = await check(bot, preset("standard"), settings, finding.watch)
    except Enough:
        pass
    return finding


def time_for(rogue: Rogue) -> dict[str, int]:
    """A short turn where the bot will miss it, else time enough on a busy machine."""
    if rogue.kinds() & {"timeout"} and rogue.name != "allocate":
        return {"turn_ms": 700, "start_ms": 10_000}
    return {"turn_ms": 5000, "start_ms": 1500 if "launch" in rogue.kinds() else 10_000}


@pytest.fixture(scope="module")
def findings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Finding]:
    """All rows that were selected, several at a time: most of their time is waiting."""
    if sys.platform != "linux":
        pytest.skip("looks into /proc")
    wanted = {item.callspec.params["row"] for item in request.session.items if "row" in _params(item)}
    stage = Stage(tmp_path_factory.mktemp("gallery"))
    found: dict[str, Finding] = {}

    async def one(row: str, limiter: trio.CapacityLimiter) -> None:
        rogue, moment = ROWS[row]
        async with limiter:
            found[row] = await find(stage.rogue(rogue.mode, moment), **time_for(rogue))

    async def everything() -> None:
        limiter = trio.CapacityLimiter(10)
        async with trio.open_nursery() as nursery:
            for row in sorted(wanted & set(ROWS)):
                nursery.start_soon(one, row, limiter)

    trio.run(everything)
    return found


def _params(item: pytest.Item) -> dict[str, object]:
    return item.callspec.params if hasattr(item, "callspec") else {}


@pytest.mark.parametrize("row", ROWS)
def test_each_mode_of_the_gallery_is_named(findings: dict[str, Finding], row: str) -> None:
    rogue, moment = ROWS[row]
    finding = findings[row]
    if finding.report:
        assert None in rogue.kinds() or rogue.mode in NAMED, "it did wrong, and nobody saw it"
        if rogue.mode not in EITHER:
            assert finding.report.fine
            assert re.search(NOTED.get(rogue.mode, ""), finding.said)
        return
    at_end = SPOKE if moment == "end" and rogue.kinds() == {"unasked"} else None
    phrase = NAMED_AT.get((rogue.mode, moment)) or at_end or NAMED.get(rogue.mode) or NAMED.get(rogue.name)
    assert phrase or rogue.mode in EITHER, finding.said
    assert re.search(phrase or "", finding.said, re.DOTALL), finding.said


def test_the_table_has_no_mode_that_the_gallery_has_not() -> None:
    modes = {rogue.mode for rogue in ROGUES} | {rogue.name for rogue in ROGUES}
    assert {*NAMED, *NOTED} <= modes
    assert {mode for mode, _ in NAMED_AT} <= modes


# --- a bot at a time -------------------------------------------------------------------------------------

BOT = """
import json, sys
def answer(r):
    if r["type"] == "start":
        return {"type": "ready", "name": "b", "version": "1"}
    if r["type"] == "pass":
        return {"type": "pass", "cards": r["cards"][:r["count"]]}
    return {"type": "play", "card": r["legal"][0]}
def say(r, **changes):
    print(json.dumps({"id": r["id"]} | answer(r) | changes), flush=True)
"""
LOOP = "for line in sys.stdin:\n    r = json.loads(line)\n    if 'id' in r:\n        "


def bot(folder: Path, code: str) -> Bot:
    path = folder / "bot.py"
    path.write_text(BOT + code)
    return Bot(name="b", command=(sys.executable, "-S", "-E", str(path)), cwd=str(folder), fingerprint="")


async def ask(a_bot: Bot, rules: Rules | None = None, **conditions: object) -> Report:
    steps: list[Step] = []
    settings = conditions_from({"sandbox": "none", **conditions})
    report = await check(a_bot, rules or preset("standard"), settings, steps.append)
    assert report.steps == steps
    assert [step.number for step in steps] == list(range(1, len(steps) + 1))
    return report


def states(report: Report) -> dict[str, str]:
    return {step.name: step.state for step in report.steps}


def words(report: Report) -> str:
    return "\n".join(
        line
        for step in report.steps
        for wrong in step.wrongs
        for line in (wrong.diagnosis.what, *wrong.diagnosis.advice)
    )


@pytest.mark.parametrize("name", ["three", "five", "six", "black_maria"])
async def test_other_rule_sets_are_played(stage: Stage, name: str) -> None:
    report = await ask(stage.honest(7), preset(name))
    assert set(states(report).values()) == {"fine"}


async def test_a_match_that_ends_early_is_followed_by_another(stage: Stage) -> None:
    """8.1: with a target of one point the first hand is the last."""
    report = await ask(stage.honest(7), preset("standard", {"target": 1, "tie": "shared"}))
    assert set(states(report).values()) == {"fine"}
    tables = {exchange.request.table for step in report.steps for exchange in step.exchanges}
    assert len(tables) > 4


async def test_several_mistakes_are_found_in_one_run(tmp_path: Path) -> None:
    code = f"""
{LOOP}if r["type"] == "pass" and r["hand"] == 1: say(r, cards=r["cards"][:2])
        elif r["type"] == "play" and r["hand"] == 2 and not r["tricks"]: say(r, card=r["cards"][-1])
        elif r["type"] == "start" and r["table"] != "1": say(r); print("hello again", flush=True)
        else: say(r)
"""
    report = await ask(bot(tmp_path, code))
    assert states(report) == {
        "start": "fine", "pass": "wrong", "forced": "fine", "follow": "fine", "void": "wrong",
        "lead": "fine", "whole": "fine", "again": "wrong", "leave": "fine",
    }  # fmt: skip


async def test_a_bad_first_line_is_forgiven_once(tmp_path: Path) -> None:
    report = await ask(bot(tmp_path, f"print('Welcome!', flush=True)\n{LOOP}say(r)"))
    assert [name for name, state in states(report).items() if state == "wrong"] == ["start"]
    assert "prints other things on stdout, which is for answers only; its answer came behind it" in words(
        report
    )


async def test_what_reads_all_its_input_first_is_told_from_what_does_not_flush(tmp_path: Path) -> None:
    code = f"{LOOP.replace('sys.stdin', 'sys.stdin.readlines()')}say(r)"
    report = await ask(bot(tmp_path, code), start_ms=700)
    assert "reads all of its input before it answers" in words(report)
    code = f"{LOOP}print(json.dumps({{'id': r['id']}} | answer(r)))"
    report = await ask(bot(tmp_path, code), start_ms=700)
    assert "output is not being flushed" in words(report)


async def test_an_endless_loop_is_told_from_sleep(tmp_path: Path) -> None:
    report = await ask(
        bot(tmp_path, f"{LOOP}\n        while r['type'] == 'play': pass\n        say(r)"), turn_ms=700
    )
    assert "computes on: an endless loop" in words(report)


async def test_a_prompt_before_the_answer_is_seen(tmp_path: Path) -> None:
    report = await ask(
        bot(tmp_path, "while True:\n    r = json.loads(input('> '))\n    if 'id' in r: say(r)")
    )
    assert "prints other things on stdout" in words(report)


async def test_tables_that_get_mixed_up_are_named(tmp_path: Path) -> None:
    """2.3: it says that it plays several tables, but remembers one hand only."""
    code = f"""
held = []
{LOOP}if r["type"] == "start": say(r, tables=4); held.clear()
        elif r["type"] == "pass": held[:] = [c for c in r["cards"] if c not in r["cards"][:3]]; say(r)
        else: say(r) if r["table"] < "3" else say(r, card=held[-1])
"""
    report = await ask(bot(tmp_path, code))
    assert [step.name for step in report.failed] == ["tables"]
    assert "apart for each `table`" in words(report)


async def test_leaving_between_matches_is_no_fault(tmp_path: Path) -> None:
    """2.4: each match gets a fresh process if need be."""
    code = f"{LOOP}say(r)\n    elif r['type'] == 'match_over': break"
    report = await ask(bot(tmp_path, code))
    assert report.fine
    assert states(report)["again"] == "not reached"
    assert "left when the match was over, which it may" in report.steps[-3].notes[-1]


async def test_leaving_in_a_match_is_a_fault(tmp_path: Path) -> None:
    report = await ask(bot(tmp_path, f"{LOOP}say(r)\n    elif r['type'] == 'hand_over': break"))
    assert [step.name for step in report.failed] == ["follow"]
    assert "It ended after its answer" in words(report)


async def test_a_notice_that_is_answered_is_named(tmp_path: Path) -> None:
    code = f"{LOOP}say(r)\n    else: print(json.dumps({{'ok': r['type']}}), flush=True)"
    report = await ask(bot(tmp_path, code))
    assert "after the notice hand_over, which gets no answer" in words(report)


async def test_timing_is_told(tmp_path: Path) -> None:
    code = f"import time\n{LOOP}time.sleep(0.1 if r['type'] == 'pass' and r['hand'] == 2 else 0); say(r)"
    report = await ask(bot(tmp_path, code))
    assert report.slowest
    assert report.slowest.request.hand == 2  # type: ignore[union-attr]
    assert 100_000 <= (report.slowest.us or 0) < 1_000_000
    assert report.start_us


@pytest.mark.parametrize(
    ("script", "phrase"),
    [
        pytest.param("#!/nowhere/python\n", "install what it names", id="bad-interpreter"),
        pytest.param("print(1)\n", "begin with a line such as #!", id="no-shebang"),
        pytest.param("#!/bin/sh\r\necho\r\n", "Unix line ends", id="windows-line-ends"),
        pytest.param("#!/bin/sh\nexec nosuchprogram\n", "did not find a command", id="shell-finds-nothing"),
    ],
)
async def test_what_cannot_be_started_is_named(tmp_path: Path, script: str, phrase: str) -> None:
    path = tmp_path / "bot"
    path.write_text(script, newline="")
    path.chmod(0o755)
    report = await ask(Bot(name="b", command=(str(path),), cwd=str(tmp_path), fingerprint=""))
    assert phrase in words(report)
    assert [step.name for step in report.failed] == ["start"]


def descriptors() -> list[str]:
    return [path.name for path in Path("/proc/self/fd").iterdir()]


@pytest.mark.parametrize(
    ("stderr", "error"),
    [
        pytest.param(
            'Traceback (most recent call last):\n  File "/a/bot.py", line 3, in f\n    x\nKeyError: 1\n',
            "KeyError: 1 (bot.py, line 3)",
            id="python",
        ),
        pytest.param(
            "/a/bot.js:3\n  f(\n  ^\n\nTypeError: f is not a function\n    at main (/a/bot.js:3:3)\n",
            "TypeError: f is not a function",
            id="javascript",
        ),
        pytest.param(
            'Exception in thread "main" java.lang.RuntimeException: no\n\tat Bot.main(Bot.java:3)\n',
            'Exception in thread "main" java.lang.RuntimeException: no',
            id="java",
        ),
        pytest.param(
            "bot: bot.c:9: main: Assertion `cards > 0' failed.\n",
            "bot: bot.c:9: main: Assertion `cards > 0' failed.",
            id="c",
        ),
        pytest.param("Can't find x at bot.pl line 3.\n", "Can't find x at bot.pl line 3.", id="perl"),
        pytest.param(
            "bot.sh: line 3: jq: command not found\n", "bot.sh: line 3: jq: command not found", id="shell"
        ),
        pytest.param("all is well\n", "", id="nothing"),
    ],
)
def test_the_line_of_an_error_report_that_matters(stderr: str, error: str) -> None:
    assert last_error(stderr.encode()) == error


async def test_nothing_is_left_when_it_is_cancelled(stage: Stage) -> None:
    """The stage looks for processes that live on."""
    before = set(descriptors())
    with trio.move_on_after(1):
        await ask(stage.rogue("fork-bomb", "start"), turn_ms=100_000)
        await ask(stage.rogue("silent", "mid"), turn_ms=100_000)
    assert set(descriptors()) == before
    assert not list(Path(tempfile.gettempdir()).glob("hearts-*"))
