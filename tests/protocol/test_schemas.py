"""The JSON Schemas of the specification: fresh, met by every line shown, and as strict as the decoder."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from protocol.cards import NAMES
from protocol.codec import BadLine, decode_reply
from referee.show.schemas import schemas

SPEC: Final = Path(__file__).parents[2] / "spec"
AGAIN: Final = "if the change is meant, run: python -m referee.show.schemas spec/schemas"

FRESH: Final = schemas()


def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(FRESH[name]))


FROM_REFEREE: Final = _validator("from_referee.json")
REPLY: Final = _validator("reply.json")
MATCH_LOG: Final = _validator("match_log.json")


@pytest.mark.parametrize("name", FRESH)
def test_the_schema_is_fresh(name: str) -> None:
    assert (SPEC / "schemas" / name).read_bytes() == FRESH[name], AGAIN


@pytest.mark.parametrize("name", FRESH)
def test_the_schema_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(json.loads(FRESH[name]))


def test_no_other_schema_lies_there() -> None:
    assert {path.name for path in (SPEC / "schemas").iterdir()} == set(FRESH)


# --- lines that are shown --------------------------------------------------------------------------------


def _examples(page: str) -> list[dict[str, Any]]:
    blocks = re.findall(r"```json\n(.*?)```", (SPEC / page).read_text(), re.DOTALL)
    return [json.loads(line) for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("line", _examples("protocol.md"), ids=lambda line: str(line["type"]))
def test_an_example_of_the_protocol_meets_its_schema(line: dict[str, Any]) -> None:
    assert FROM_REFEREE.is_valid(line) or REPLY.is_valid(line)


@pytest.mark.parametrize("line", _examples("match_log.md"), ids=lambda line: str(line["type"]))
def test_an_example_of_a_log_meets_its_schema(line: dict[str, Any]) -> None:
    MATCH_LOG.validate(line)


@pytest.mark.parametrize("path", sorted((SPEC / "transcripts").glob("*.txt")), ids=lambda path: path.stem)
def test_every_line_of_a_transcript_meets_its_schema(path: Path) -> None:
    broken = []
    for line in path.read_text().splitlines():
        if line[1:4] == " < ":
            FROM_REFEREE.validate(json.loads(line[4:]))
        elif line[1:4] == " > " and not REPLY.is_valid(json.loads(line[4:])):
            broken.append(line[4:])
    assert broken == (['{"type":"play","id":11,"card":"10D"}'] if path.stem == "mishaps" else [])


@pytest.mark.parametrize("path", sorted((SPEC / "transcripts").glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_line_of_a_log_meets_its_schema(path: Path) -> None:
    for line in path.read_text().splitlines():
        MATCH_LOG.validate(json.loads(line))


# --- as strict as the decoder ----------------------------------------------------------------------------

values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 3),
    st.integers(2**53 - 2, 2**53 + 1),
    st.sampled_from([0.5, "2", "no card", "x" * 100, "x" * 101, "x" * 500, "x" * 501, "é" * 500]),
    st.sampled_from(NAMES),
    st.lists(st.sampled_from([*NAMES, "1X"]), max_size=4),
    st.lists(st.integers(), max_size=1),
)
SOUND: Final = {
    "ready": {"id": 1, "name": "low", "version": "1", "tables": 2, "watch": True, "protocol": 1},
    "pass": {"id": 1, "cards": ["2C", "3C", "4C"], "note": "low"},
    "play": {"id": 1, "card": "2C", "note": "low"},
}


@given(
    st.sampled_from([*SOUND, "start", "hand_over", None]),
    st.dictionaries(st.sampled_from(["id", "name", "tables", "watch", "cards", "card", "note", "x"]), values),
    st.sets(
        st.sampled_from(["type", "id", "name", "version", "tables", "cards", "card", "note"]), max_size=1
    ),
)
def test_the_decoder_takes_what_the_schema_of_replies_takes(
    kind: str | None, odd: dict[str, Any], missing: set[str]
) -> None:
    fields = {"type": kind, **SOUND.get(kind or "play", {}), **odd}
    line = {key: value for key, value in fields.items() if key not in missing}
    try:
        decode_reply(json.dumps(line).encode())
    except BadLine:
        assert not REPLY.is_valid(line)
    else:
        REPLY.validate(line)
