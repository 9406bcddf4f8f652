"""What is promised of the shape of lines, so that a bot may scan them from the left without a JSON parser."""

import json
import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import fields

from protocol.cards import NAMES, CardName
from protocol.codec import encode
from protocol.messages import (
    FromReferee,
    Notice,
    Pass,
    Passed,
    PassRequest,
    Play,
    PlayRequest,
    Ready,
    Reply,
    Request,
    StartRequest,
    Trick,
)
from protocol.presets import PRESETS, preset
from protocol.rules import Clock

MESSAGES: list[type[Struct]] = [*get_args(FromReferee), *get_args(Reply)]


def _tag(message: type[Struct]) -> object:
    return message.__struct_config__.tag


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.__name__)
def test_a_message_is_a_frozen_struct_that_cites_its_section(message: type[Struct]) -> None:
    assert message.__struct_config__.frozen
    assert message.__struct_config__.tag_field == "type"
    assert re.search(r"\[protocol 4\.[1-6]\]$", message.__doc__ or "")


def test_types_are_told_apart_in_each_direction() -> None:
    assert [_tag(message) for message in get_args(Request)] == ["start", "pass", "play"]
    assert [_tag(message) for message in get_args(Notice)] == ["hand_over", "match_over", "passed", "played"]
    assert [_tag(message) for message in get_args(Reply)] == ["ready", "pass", "play"]


def test_requests_and_replies_have_an_id_and_notices_none() -> None:
    for message in (*get_args(Request), *get_args(Reply)):
        assert fields(message)[0].name == "id"
    for message in get_args(Notice):
        assert "id" not in message.__struct_fields__


def test_every_line_from_the_referee_names_its_table() -> None:
    for message in get_args(FromReferee):
        assert next(name for name in message.__struct_fields__ if name != "id") == "table"


# --- for those who scan: [protocol 3.3] ------------------------------------------------------------------

cards = st.lists(st.sampled_from(NAMES), max_size=13).map(tuple)
sums = st.lists(st.integers(-99, 999), min_size=3, max_size=6).map(tuple)
tricks = st.lists(st.builds(Trick, st.just(4), cards, st.just(5)), max_size=13).map(tuple)
labels = st.from_regex(r"[A-Za-z0-9._-]{1,32}", fullmatch=True) | st.sampled_from(
    ["id", "seat", "players", "rules"]
)

requests = st.one_of(
    st.builds(
        StartRequest,
        id=st.integers(1, 999),
        table=labels,
        protocol=st.just(1),
        seat=st.integers(0, 5),
        players=st.lists(labels, min_size=3, max_size=6).map(tuple),
        rules=st.sampled_from([preset(name) for name in PRESETS]),
        conditions=st.builds(Clock),
    ),
    st.builds(PassRequest, *[st.integers(1, 9), labels, *[st.integers(0, 9)] * 6, cards, sums]),
    st.builds(
        PlayRequest,
        id=st.integers(1, 999),
        table=labels,
        hand=st.integers(1, 100),
        seat=st.integers(0, 5),
        dealer=st.integers(0, 5),
        hearts_broken=st.booleans(),
        lead=st.integers(0, 5),
        ms=st.integers(1, 9_999),
        cards=cards,
        legal=cards,
        trick=cards,
        taken=sums,
        scores=sums,
        tricks=tricks,
        passed=st.none() | st.builds(Passed, st.just(4), cards, st.just(5), cards),
    ),
)


@given(requests)
def test_a_request_starts_with_its_type_and_id(request: Request) -> None:
    line = encode(request).decode()
    assert line.startswith(f'{{"type":"{_tag(type(request))}","id":{request.id},"table":"')


@given(requests)
def test_the_first_mention_of_a_key_is_the_one_at_the_top(request: Request) -> None:
    line = encode(request).decode()
    for key, value in json.loads(line).items():
        after = line.split(f'"{key}":', 1)[1]
        assert json.JSONDecoder().raw_decode(after)[0] == value


@given(requests)
def test_lines_are_compact_and_name_each_field_every_time(request: Request) -> None:
    line = encode(request).decode()
    told = json.loads(line)
    assert line == json.dumps(told, separators=(",", ":")) + "\n"
    assert list(told) == ["type", *(field.encode_name for field in fields(request))]


@pytest.mark.parametrize("message", get_args(Request), ids=_tag)
def test_plain_values_come_before_lists_and_lists_before_what_nests(message: type[Struct]) -> None:
    plain = (int, str, bool)
    flat = (tuple[CardName, ...], tuple[int, ...], tuple[str, ...])
    order = [0 if field.type in plain else 1 if field.type in flat else 2 for field in fields(message)]
    assert order == sorted(order)


def test_cards_and_legal_come_before_all_other_lists() -> None:
    names = PlayRequest.__struct_fields__
    assert names[names.index("ms") + 1 :][:3] == ("cards", "legal", "trick")
    names = PassRequest.__struct_fields__
    assert names[names.index("ms") + 1 :][:1] == ("cards",)


# --- sizes -----------------------------------------------------------------------------------------------


def test_the_longest_reply_fits_in_a_line() -> None:
    worst = "\x00"  # six bytes in JSON
    longest: list[Reply] = [
        Ready(2**53 - 1, worst * 100, worst * 100, 2**53 - 1, watch=True, protocol=2**53 - 1),
        Pass(2**53 - 1, NAMES[:4], worst * 500),
        Play(2**53 - 1, "AH", worst * 500),
    ]
    assert max(len(encode(reply)) for reply in longest) < 4_096
