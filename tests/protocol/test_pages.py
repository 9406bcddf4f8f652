"""The pages of the specification keep their word: field tables, examples, the bot of five minutes."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import pytest
from msgspec import Struct
from msgspec.structs import FieldInfo, fields

from protocol.cards import CardName
from protocol.codec import decode_from_referee, decode_reply, encode
from protocol.messages import (
    HandOverNotice,
    MatchOverNotice,
    Pass,
    Passed,
    PassedNotice,
    PassRequest,
    Play,
    PlayedNotice,
    PlayRequest,
    Ready,
    StartRequest,
    Trick,
)
from protocol.rules import Conditions
from referee.game.events import (
    DealRecord,
    FaultRecord,
    HandOverRecord,
    MatchOverRecord,
    MatchRecord,
    PassRecord,
    PlayRecord,
    SeatRecord,
)
from referee.record.match_log import ResumeRecord, Used, UsedRecord

SPEC: Final = Path(__file__).parents[2] / "spec"
TRANSCRIPTS: Final = SPEC / "transcripts"
PROTOCOL: Final = (SPEC / "protocol.md").read_text()
MATCH_LOG: Final = (SPEC / "match_log.md").read_text()


# --- field tables ----------------------------------------------------------------------------------------

PROTOCOL_TABLES: Final[dict[str, type[Struct]]] = {
    "`start` request": StartRequest,
    "`ready` reply": Ready,
    "`pass` request": PassRequest,
    "`pass` reply": Pass,
    "`play` request": PlayRequest,
    "trick": Trick,
    "passed": Passed,
    "`play` reply": Play,
    "`hand_over` notice": HandOverNotice,
    "`match_over` notice": MatchOverNotice,
    "`passed` notice": PassedNotice,
    "`played` notice": PlayedNotice,
}
MATCH_LOG_TABLES: Final[dict[str, type[Struct]]] = {
    "`match`": MatchRecord,
    "conditions": Conditions,
    "seats": SeatRecord,
    "`deal`": DealRecord,
    "`pass`": PassRecord,
    "`play`": PlayRecord,
    "`fault`": FaultRecord,
    "`hand_over`": HandOverRecord,
    "`match_over`": MatchOverRecord,
    "`resume`": ResumeRecord,
    "`used`": UsedRecord,
    "used by a seat": Used,
}
KINDS: Final[dict[Any, str]] = {
    int: "integer",
    str: "text",
    bool: "boolean",
    CardName: "card",
    tuple[CardName, ...]: "cards",
    tuple[int, ...]: "integers",
    tuple[str, ...]: "texts",
    tuple[Trick, ...]: "tricks",
    tuple[SeatRecord, ...]: "list",
    tuple[Used, ...]: "list",
    tuple[tuple[CardName, ...], ...]: "lists of cards",
    int | None: "integer or null",
    Passed | None: "object or null",
}


def _tables(page: str) -> dict[str, list[tuple[str, str]]]:
    """The tables of fields on a page: for each its names and types."""
    tables: dict[str, list[tuple[str, str]]] = {}
    rows: list[tuple[str, str]] = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            rows = []
        elif cells[1:] == ["type", "meaning"]:
            rows = tables[cells[0]] = []
        elif len(cells) == 3 and not line.startswith("|--"):
            rows.append((cells[0].strip("`"), cells[1]))
    return tables


def _row(message: type[Struct], field: FieldInfo) -> tuple[str, str]:
    """How the page should tell a field."""
    if not field.required and (message.__struct_config__.omit_defaults or message in (Pass, Play)):
        return field.encode_name, f"{_kind(get_args(field.type)[0])}, optional"
    if not field.required and message is Ready:
        return field.encode_name, f"{_kind(field.type)}, default {json.dumps(field.default)}"
    return field.encode_name, _kind(field.type)


def _kind(kind: Any) -> str:
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return KINDS.get(kind) or ("text" if get_origin(kind) is Literal else "object")


@pytest.mark.parametrize("title", PROTOCOL_TABLES)
def test_the_protocol_tells_every_field_in_its_order(title: str) -> None:
    message = PROTOCOL_TABLES[title]
    assert _tables(PROTOCOL)[title] == [_row(message, field) for field in fields(message)]


@pytest.mark.parametrize("title", MATCH_LOG_TABLES)
def test_the_match_log_page_tells_every_field_in_its_order(title: str) -> None:
    record = MATCH_LOG_TABLES[title]
    assert _tables(MATCH_LOG)[title] == [_row(record, field) for field in fields(record)]


def test_no_other_tables_of_fields_stand_there() -> None:
    assert list(_tables(PROTOCOL)) == list(PROTOCOL_TABLES)
    assert list(_tables(MATCH_LOG)) == list(MATCH_LOG_TABLES)


# --- example lines ---------------------------------------------------------------------------------------


def examples(page: str) -> list[str]:
    """The lines of a page's JSON examples."""
    return [
        line for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL) for line in block.splitlines()
    ]


def transcript_lines(mark: str) -> list[str]:
    """What bots read (`<`) or wrote (`>`) in the transcripts."""
    lines = [line for path in TRANSCRIPTS.glob("*.txt") for line in path.read_text().splitlines()]
    return [line[4:] for line in lines if line[1:4] == f" {mark} "]


@pytest.mark.parametrize("line", examples(PROTOCOL), ids=lambda line: line[:22])
def test_an_example_of_the_protocol_has_really_been_said(line: str) -> None:
    assert line in transcript_lines("<") + transcript_lines(">")


@pytest.mark.parametrize("line", examples(MATCH_LOG), ids=lambda line: line[:22])
def test_an_example_of_a_log_has_really_been_written(line: str) -> None:
    logs = "".join(path.read_text() for path in TRANSCRIPTS.glob("*.jsonl"))
    assert line in logs.splitlines() or line.startswith(('{"type":"resume",', '{"type":"used",'))


def test_what_the_referee_says_is_compact_ascii_without_a_backslash() -> None:
    for line in transcript_lines("<"):
        assert line.isascii()
        assert "\\" not in line
        assert " " not in line
        message = decode_from_referee(line.encode())
        assert message
        assert encode(message).decode() == line + "\n"


# --- the bot of five minutes -----------------------------------------------------------------------------


def test_the_bot_of_five_minutes_plays() -> None:
    found = re.search(r"```python\n(.*?)```", PROTOCOL, re.DOTALL)
    assert found
    said = transcript_lines("<")
    asked = [message for message in map(json.loads, said) if "id" in message]
    ended = subprocess.run(
        [sys.executable, "-c", found[1]],
        input="".join(f"{line}\n" for line in said),
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    answers = [decode_reply(line.encode()) for line in ended.stdout.splitlines()]
    assert [answer.id for answer in answers] == [request["id"] for request in asked]
    for request, answer in zip(asked, answers, strict=True):
        match answer:
            case Ready():
                assert request["type"] == "start"
            case Pass(cards=cards):
                assert len(set(cards) & set(request["cards"])) == len(cards) == request["count"]
            case Play(card=card):
                assert card in request["legal"]
