"""The log played again: what follows is accepted, cut anywhere it can be gone on with, and no edit passes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from referee.game.deal import deal
from referee.game.events import Ask, Dealt, Effect, Record
from referee.record.match_log import LogError, read_log
from referee.record.replay import replay
from tests.record.logs import Strategy, a_log, faulty, honest, lines_of, play_on

POLICIES = ["retire", "substitute", "hand", "match"]


def test_4_1_a_log_that_follows(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    lines = a_log(path)
    replayed = replay(read_log(path))
    assert replayed.match.end
    assert not replayed.owed
    assert replayed.length == sum(map(len, lines))


@pytest.mark.parametrize("on_fault", POLICIES)
@pytest.mark.parametrize("strikes", [0, 3])
@pytest.mark.parametrize("every", [5, 30])
def test_4_1_a_log_of_faults_follows(tmp_path: Path, on_fault: str, strikes: int, every: int) -> None:
    path = tmp_path / "x.jsonl"
    lines = a_log(path, faulty(every), on_fault=on_fault, strikes=strikes)
    assert any(b'"fault"' in line for line in lines)
    assert replay(read_log(path)).match.end


# --- 5. going on -----------------------------------------------------------------------------------------


def go_on(path: Path, strategy: Strategy) -> list[bytes]:
    """What the log becomes when its match is gone on with: as the table does it, without any process."""
    replayed = replay(read_log(path))
    match = replayed.match
    kept = path.read_bytes()[: replayed.length].splitlines(keepends=True)
    if kept and not kept[-1].endswith(b"\n"):
        kept[-1] += b"\n"
    effects: list[Effect] = [Record(event) for event in replayed.owed]
    if match.wants_deal:
        effects += match.advance(Dealt(deal(match.header.seed, match.hand_number, match.book)))
    else:
        effects += [Ask(seat) for seat in sorted(match.awaiting)]
    return kept + lines_of(play_on(match, effects, strategy))


@pytest.mark.parametrize("on_fault", POLICIES)
def test_5_1_cut_after_any_line_it_comes_to_the_same_end(tmp_path: Path, on_fault: str) -> None:
    path = tmp_path / "x.jsonl"
    strategy = faulty(20)
    lines = a_log(path, strategy, on_fault=on_fault, strikes=1)
    for kept in range(1, len(lines)):
        path.write_bytes(b"".join(lines[:kept]))
        assert go_on(path, strategy) == lines, f"cut after line {kept}"


def test_5_1_cut_within_any_line_it_comes_to_the_same_end(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    strategy = faulty(10)
    lines = a_log(path, strategy, on_fault="substitute", rules={"max_hands": 1})
    data = b"".join(lines)
    for length in range(len(lines[0]) - 1, len(data), 11):
        path.write_bytes(data[:length])
        assert go_on(path, strategy) == lines, f"cut after byte {length}"


def test_2_8_a_resume_line_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    lines = a_log(path, rules={"max_hands": 1})
    resume = b'{"type":"resume","at":"now","arena":"test"}\n'
    path.write_bytes(lines[0] + resume + resume.join(lines[1:]) + resume)
    assert replay(read_log(path)).match.end


# --- 4. no edit passes -----------------------------------------------------------------------------------

Edit = Callable[[dict[str, Any]], object]


def put(**fields: Any) -> Edit:
    return lambda line: line.update(fields)


def add(field: str, number: int = 1) -> Edit:
    return lambda line: line.update({field: line[field] + number})


def drop(field: str) -> Edit:
    return lambda line: line.pop(field)


def swap(field: str, first: int = 0, second: int = 1) -> Edit:
    def edit(line: dict[str, Any]) -> None:
        row = line[field]
        row[first], row[second] = row[second], row[first]

    return edit


def bump(field: str) -> Edit:
    def edit(line: dict[str, Any]) -> None:
        line[field][0] += 1

    return edit


def by_referee(line: dict[str, Any]) -> bool:
    return "by" in line


EDITS: list[tuple[str, str, Edit, Callable[[dict[str, Any]], bool]]] = [
    ("match", "seats-missing", lambda line: line["seats"].pop(), lambda _: True),
    ("match", "seats-in-disorder", lambda line: line["seats"].reverse(), lambda _: True),
    ("match", "another-seat", lambda line: line["seats"][0].update(seat=3), lambda _: True),
    ("match", "no-label", lambda line: line["seats"][0].update(name="\x1b[31mX"), lambda _: True),
    ("match", "a-label-twice", lambda line: line["seats"][0].update(name="bot-1"), lambda _: True),
    ("match", "first-hand", put(first_hand=-3), lambda _: True),
    ("match", "nobody-sat-down", lambda line: line["seats"][0].update(says=""), lambda _: True),
    ("deal", "hand", add("hand"), lambda _: True),
    ("deal", "dealer", put(dealer=3), lambda _: True),
    ("deal", "direction", put(**{"pass": "across"}), lambda line: line["pass"] != "across"),
    ("deal", "two-hands-swapped", swap("cards"), lambda _: True),
    ("deal", "a-hand-missing", lambda line: line["cards"].pop(), lambda _: True),
    (
        "deal",
        "a-card-twice",
        lambda line: line["cards"][0].__setitem__(0, line["cards"][1][0]),
        lambda _: True,
    ),
    ("deal", "cards-out-of-order", lambda line: line["cards"][0].reverse(), lambda _: True),
    ("pass", "hand", add("hand"), lambda _: True),
    ("pass", "seat", put(seat=2), lambda line: line["seat"] != 2),
    ("pass", "no-such-seat", put(seat=4), lambda _: True),
    ("pass", "too-few", lambda line: line["cards"].pop(), lambda _: True),
    ("pass", "a-card-twice", lambda line: line["cards"].__setitem__(0, line["cards"][1]), lambda _: True),
    ("pass", "out-of-order", lambda line: line["cards"].reverse(), lambda _: True),
    ("pass", "not-the-caretakers", drop("by"), by_referee),
    ("pass", "the-caretakers", put(by="referee"), lambda line: "by" not in line),
    ("play", "hand", add("hand"), lambda _: True),
    ("play", "trick", add("trick"), lambda _: True),
    ("play", "seat", lambda line: line.update(seat=(line["seat"] + 1) % 4), lambda _: True),
    ("play", "the-caretakers", put(by="referee"), lambda line: "by" not in line),
    ("play", "not-the-caretakers", drop("by"), by_referee),
    ("fault", "hand", add("hand"), lambda _: True),
    ("fault", "trick", add("trick"), lambda _: True),
    ("fault", "seat", lambda line: line.update(seat=(line["seat"] + 1) % 4), lambda _: True),
    ("fault", "then", put(then="match"), lambda _: True),
    ("fault", "then-void", put(then="void"), lambda _: True),
    ("fault", "cards-missing", drop("cards"), lambda line: "cards" in line),
    ("fault", "cards-empty", put(cards=[]), lambda line: line["kind"] == "illegal_play"),
    (
        "fault",
        "more-cards",
        lambda line: line["cards"].append("2C"),
        lambda line: line["kind"] == "illegal_play",
    ),
    (
        "fault",
        "illegal-play-in-a-pass",
        put(kind="illegal_play"),
        lambda line: line["kind"] == "illegal_pass",
    ),
    (
        "fault",
        "illegal-pass-in-a-play",
        put(kind="illegal_pass"),
        lambda line: line["kind"] == "illegal_play",
    ),
    ("fault", "cards-of-a-timeout", put(cards=["2C"]), lambda line: line["kind"] == "timeout"),
    (
        "fault",
        "an-illegal-play-without-cards",
        put(kind="illegal_play"),
        lambda line: line["kind"] == "timeout",
    ),
    (
        "fault",
        "an-illegal-pass-without-cards",
        put(kind="illegal_pass"),
        lambda line: line["kind"] == "timeout",
    ),
    ("fault", "detail-of-the-game", put(detail="x"), lambda line: "cards" in line),
    ("hand_over", "hand", add("hand"), lambda _: True),
    ("hand_over", "points", bump("points"), lambda _: True),
    ("hand_over", "scores", bump("scores"), lambda _: True),
    ("hand_over", "moon", put(moon=0), lambda _: True),
    ("match_over", "reason", put(reason="target"), lambda _: True),
    ("match_over", "ranks", bump("ranks"), lambda line: bool(line["ranks"])),
    ("match_over", "scores", bump("scores"), lambda _: True),
    ("match_over", "retired", put(retired=[]), lambda line: bool(line["retired"])),
]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[list[bytes]]:
    path = tmp_path_factory.mktemp("logs") / "x.jsonl"
    return [
        a_log(path, faulty(every), on_fault=policy, strikes=1)
        for policy, every in (("retire", 12), ("substitute", 12), ("substitute", 3))
    ]


@pytest.mark.parametrize(("type_", "edit", "where"), [
    pytest.param(type_, edit, where, id=f"4.1-{type_}-{what}") for type_, what, edit, where in EDITS
])  # fmt: skip
def test_an_edited_line_is_named(
    tmp_path: Path, logs: list[list[bytes]], type_: str, edit: Edit, where: Callable[[dict[str, Any]], bool]
) -> None:
    """The first line that does not follow is the one that was edited, wherever it is."""
    path = tmp_path / "x.jsonl"
    tried = 0
    for lines in logs:
        parsed = [(number, json.loads(row)) for number, row in enumerate(lines, start=1)]
        fitting = [(number, line) for number, line in parsed if line["type"] == type_ and where(line)]
        for number, line in [*fitting[:2], *fitting[2:][-1:]]:
            edit(line)
            edited = json.dumps(line).encode() + b"\n"
            path.write_bytes(b"".join([*lines[: number - 1], edited, *lines[number:]]))
            with pytest.raises(LogError) as refusal:
                replay(read_log(path))
            assert f"line {number} does not follow" in str(refusal.value)
            assert "\n" not in str(refusal.value)
            tried += 1
    assert tried


@pytest.mark.parametrize("change", ["missing", "doubled", "swapped"])
def test_4_1_lines_in_another_order(tmp_path: Path, logs: list[list[bytes]], change: str) -> None:
    path = tmp_path / "x.jsonl"
    lines = logs[0]
    for at in range(1, len(lines) - 1, 7):
        changed = {
            "missing": [*lines[:at], *lines[at + 1 :]],
            "doubled": [*lines[: at + 1], *lines[at:]],
            "swapped": [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]],
        }[change]
        path.write_bytes(b"".join(changed))
        if change == "swapped" and {json.loads(line)["type"] for line in lines[at : at + 2]} == {"pass"}:
            continue  # those of one pass: read in any order, and named where they stand
        with pytest.raises(LogError, match=r"line \d+ does not follow"):
            replay(read_log(path))


def test_4_1_another_seed_names_the_first_deal(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    lines = a_log(path)
    lines[0] = lines[0].replace(b'"seed":"test"', b'"seed":"tess"')
    path.write_bytes(b"".join(lines))
    with pytest.raises(
        LogError, match="line 2 does not follow: the cards are not those that the seed deals for hand 1"
    ):
        replay(read_log(path))
    assert replay(read_log(path), check_deals=False).match.end


def test_4_3_what_is_taken_on_trust(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    lines = a_log(path, faulty(12), on_fault="substitute")
    data = (
        b"".join(lines)
        .replace(b'"us":5', b'"us":6')
        .replace(b'"low"', b'"high"')
        .replace(b"as it h", b"so it h")
    )
    path.write_bytes(data)
    assert replay(read_log(path)).match.end


def test_2_7_nothing_stands_behind_the_end(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    lines = a_log(path)
    path.write_bytes(b"".join([*lines, lines[-2]]))
    with pytest.raises(LogError, match=f"line {len(lines) + 1} does not follow: the match is over before it"):
        replay(read_log(path))


# --- whatever the file holds, there is no exception but LogError ------------------------------------------

_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["2C", "QS", "pass", "play", "retire", "illegal_play", "referee", "left", "hold"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def parsed(logs: list[list[bytes]]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in logs[1]]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_edits_at_random(tmp_path: Path, parsed: list[dict[str, Any]], data: st.DataObject) -> None:
    lines = [dict(line) for line in parsed[: data.draw(st.integers(1, len(parsed)))]]
    for _ in range(data.draw(st.integers(1, 3))):
        line = data.draw(st.sampled_from([lines[0], lines[-1], data.draw(st.sampled_from(lines))]))
        field = data.draw(st.sampled_from([*line, "by", "cards", "us", "note"]))
        inner = line.get(field)
        value = data.draw(_json)
        if isinstance(inner, dict) and inner and data.draw(st.booleans()):
            line[field] = inner | {data.draw(st.sampled_from([*inner])): value}
        elif isinstance(inner, int) and data.draw(st.booleans()):
            line[field] = data.draw(st.integers(-1, 5))
        else:
            line[field] = value
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    follow(path)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.floats(0, 1), cut=st.integers(0, 300), noise=st.binary(max_size=12))
@example(where=0.0, cut=0, noise=b"")
def test_bytes_at_random(
    tmp_path: Path, logs: list[list[bytes]], where: float, cut: int, noise: bytes
) -> None:
    data = b"".join(logs[0])
    at = int(where * len(data))
    path = tmp_path / "x.jsonl"
    path.write_bytes(data[:at] + noise + data[at + cut :])
    follow(path)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200))
def test_noise(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    follow(path)


def follow(path: Path) -> None:
    """Follow a log as far as it goes; what is told of it is one line."""
    try:
        log = read_log(path)
        replay(log, check_deals=False)
        go_on(path, honest)
    except LogError as error:
        told = str(error)
    else:
        return
    assert told.startswith(str(path))
