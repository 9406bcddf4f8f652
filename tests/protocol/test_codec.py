"""Bytes to messages and back: good lines, bad lines and what their authors are told, and noise."""

import json
import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.cards import NAMES
from protocol.codec import MAX_LINE, BadLine, decode_from_referee, decode_reply, encode
from protocol.messages import (
    FromReferee,
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
    Reply,
    StartRequest,
    Trick,
)
from protocol.presets import PRESETS, preset
from protocol.rules import Clock

MUST_BE_CARDS = 'it must be a list of cards such as ["2C","TD","QS"]'
MUST_BE_ID = "it must be a whole number such as 7"
MUST_BE_NAME = "it must be text of at most 100 characters"


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        pytest.param(
            '{"type":"ready","id":1,"name":"low","version":"1"}',
            Ready(1, "low", "1", tables=1, watch=False, protocol=1),
            id="4.1-ready-defaults",
        ),
        pytest.param(
            '{"type":"ready","id":1,"name":"low","version":"1","tables":64,"watch":true,"protocol":1}',
            Ready(1, "low", "1", tables=64, watch=True),
            id="4.1-ready-in-full",
        ),
        pytest.param(
            '{"type":"pass","id":7,"cards":["QS","2C","AH"]}',
            Pass(7, ("QS", "2C", "AH")),
            id="4.2-pass-in-any-order",
        ),
        pytest.param('{"type":"pass","id":7,"cards":[]}', Pass(7, ()), id="4.2-the-game-judges-the-count"),
        pytest.param(
            '{"type":"pass","id":7,"cards":["QS","QS"]}', Pass(7, ("QS", "QS")), id="4.2-and-duplicates"
        ),
        pytest.param('{"type":"play","id":7,"card":"TH"}', Play(7, "TH"), id="4.3-play"),
        pytest.param('{"type":"play","id":7,"card":"TH","note":null}', Play(7, "TH"), id="4.3-note-of-null"),
        pytest.param(
            '{"type":"play","id":7,"card":"TH","note":"über"}', Play(7, "TH", "über"), id="3.1-utf8"
        ),
        pytest.param(
            '{"type":"play","id":7,"card":"TH","note":"' + "é" * 500 + '"}',
            Play(7, "TH", "é" * 500),
            id="4.3-note-is-counted-in-characters",
        ),
        pytest.param('{"card":"TH","id":7,"type":"play"}', Play(7, "TH"), id="3.2-keys-in-any-order"),
        pytest.param('{ "type" : "play" , "id" : 7 , "card" : "TH" }', Play(7, "TH"), id="3.1-spaces"),
        pytest.param('\t{"type":"play","id":7,"card":"TH"} \r', Play(7, "TH"), id="3.1-spaces-around-and-cr"),
        pytest.param(
            '{"type":"play","id":7,"card":"TH","mood":{"now":[1e400,null]}}',
            Play(7, "TH"),
            id="3.2-unknown-fields",
        ),
        pytest.param('{"type":"play","id":7,"card":"\\u0054H"}', Play(7, "TH"), id="3.1-escapes"),
        pytest.param('{"type":"play","id":9007199254740991,"card":"TH"}', Play(2**53 - 1, "TH"), id="3.2-id"),
    ],
)
def test_a_good_line_is_its_reply(line: str, reply: Reply) -> None:
    assert decode_reply(line.encode()) == reply


BAD_LINES = [
    pytest.param(b"", "an empty line", None, id="empty"),
    pytest.param(b"   ", "an empty line", None, id="blank"),
    pytest.param(b"\xff\xfe{\0}\0", "not UTF-8 at byte 0", None, id="utf16"),
    pytest.param(b'{"type":"play","id":7,"card":"2C","x":"\xe9"}', "not UTF-8 at byte 39", 7, id="latin1"),
    pytest.param(
        b'\xef\xbb\xbf{"type":"play","id":7,"card":"2C"}',
        "starts with a byte order mark; write UTF-8 without one",
        None,
        id="bom",
    ),
    pytest.param(
        b"my turn", 'not JSON: an answer starts with "{"; anything else belongs on stderr', None, id="chatter"
    ),
    pytest.param(b"{", "not JSON: it ends too early; a message is one whole line", None, id="pretty-printed"),
    pytest.param(
        b'{"type":"play","id":7,"card":"2C"}{"type":"play","id":8,"card":"3C"}',
        "not JSON: more follows the object; write one message a line",
        None,
        id="two-on-a-line",
    ),
    pytest.param(
        b"{'type':'play','id':7,'card':'2C'}",
        "not JSON: object keys must be strings (byte 1)",
        None,
        id="single-quotes",
    ),
    pytest.param(
        b'{"type":"play","id":7,"card":"2C",}',
        "not JSON: trailing comma in object (byte 34)",
        None,
        id="comma",
    ),
    pytest.param(
        b'{"type":"play","id":7,"card":"2C","note":"\\ud800"}',
        "not JSON: a \\u escape of half a character",
        None,
        id="lone-surrogate",
    ),
    pytest.param(
        b'{"type":"play","id":7,"card":"2C","x":' + b"[" * 9_000 + b"]" * 9_000 + b"}",
        "nested too deep",
        None,
        id="deep",
    ),
    pytest.param(
        b"7", 'not an object; an answer looks like {"type":"play","id":7,"card":"QS"}', None, id="number"
    ),
    pytest.param(
        b"[]", 'not an object; an answer looks like {"type":"play","id":7,"card":"QS"}', None, id="array"
    ),
    pytest.param(b"{}", "the field type is missing; it must be ready, pass or play", None, id="no-fields"),
    pytest.param(
        b'{"id":7,"card":"2C"}', "the field type is missing; it must be ready, pass or play", 7, id="no-type"
    ),
    pytest.param(
        b'{"type":"foo","id":7}', 'type is "foo"; it must be ready, pass or play', 7, id="unknown-type"
    ),
    pytest.param(b'{"type":5,"id":7}', "type is 5; it must be ready, pass or play", 7, id="type-of-number"),
    pytest.param(b'{"type":"play","card":"2C"}', "the field id is missing", None, id="no-id"),
    pytest.param(b'{"type":"play","id":7.0,"card":"2C"}', f"id is 7.0; {MUST_BE_ID}", None, id="id-fraction"),
    pytest.param(b'{"type":"play","id":"7","card":"2C"}', f'id is "7"; {MUST_BE_ID}', None, id="id-quoted"),
    pytest.param(b'{"type":"play","id":null,"card":"2C"}', f"id is null; {MUST_BE_ID}", None, id="id-null"),
    pytest.param(b'{"type":"play","id":true,"card":"2C"}', f"id is true; {MUST_BE_ID}", None, id="id-bool"),
    pytest.param(b'{"type":"play","id":-1,"card":"2C"}', f"id is -1; {MUST_BE_ID}", -1, id="id-negative"),
    pytest.param(
        b'{"type":"play","id":1' + b"0" * 5_000 + b',"card":"2C"}',
        f"id is 1{'0' * 38}…; {MUST_BE_ID}",
        None,
        id="id-huge",
    ),
    pytest.param(b'{"type":"play","id":7}', "the field card is missing", 7, id="no-card"),
    pytest.param(
        b'{"type":"play","id":7,"card":"1X"}', 'card is "1X", which is no card', 7, id="no-such-card"
    ),
    pytest.param(b'{"type":"play","id":7,"card":"10H"}', 'card is "10H", which is no card', 7, id="ten"),
    pytest.param(b'{"type":"play","id":7,"card":"qs"}', 'card is "qs", which is no card', 7, id="lower-case"),
    pytest.param(
        b'{"type":"play","id":7,"card":"\\n\\u0007"}',
        'card is "\\n\\u0007", which is no card',
        7,
        id="card-in-escapes",
    ),
    pytest.param(
        '{"type":"play","id":7,"card":"\u202e"}'.encode(),
        'card is "\\u202e", which is no card',
        7,
        id="unprintable-is-shown-escaped",
    ),
    pytest.param(
        b'{"type":"play","id":7,"card":12}', 'card is 12; it must be a card such as "QS"', 7, id="card-number"
    ),
    pytest.param(
        b'{"type":"play","id":7,"card":["QS"]}',
        'card is ["QS"]; it must be a card such as "QS"',
        7,
        id="card-list",
    ),
    pytest.param(b'{"type":"pass","id":7,"card":"QS"}', "the field cards is missing", 7, id="no-cards"),
    pytest.param(
        b'{"type":"pass","id":7,"cards":"QS"}', f'cards is "QS"; {MUST_BE_CARDS}', 7, id="cards-text"
    ),
    pytest.param(
        b'{"type":"pass","id":7,"cards":null}', f"cards is null; {MUST_BE_CARDS}", 7, id="cards-null"
    ),
    pytest.param(
        b'{"type":"pass","id":7,"cards":["2C","1X","QS"]}',
        'cards holds "1X", which is no card',
        7,
        id="cards-with-none",
    ),
    pytest.param(
        b'{"type":"pass","id":7,"cards":[["2C"]]}',
        'cards holds ["2C"], which is no card',
        7,
        id="cards-nested",
    ),
    pytest.param(
        b'{"type":"pass","id":7,"cards":[1e999]}', f"cards is [1e999]; {MUST_BE_CARDS}", 7, id="cards-huge"
    ),
    pytest.param(
        b'{"type":"play","id":7,"card":"2C","note":["a"]}',
        'note is ["a"]; it must be text of at most 500 characters',
        7,
        id="note-list",
    ),
    pytest.param(
        b'{"type":"play","id":7,"card":"2C","note":"' + b"x" * 1_501 + b'"}',
        "note has 1,501 characters; it must be text of at most 500 characters",
        7,
        id="note-long",
    ),
    pytest.param(b'{"type":"ready","id":1,"version":"1"}', "the field name is missing", 1, id="no-name"),
    pytest.param(b'{"type":"ready","id":1,"name":"low"}', "the field version is missing", 1, id="no-version"),
    pytest.param(
        b'{"type":"ready","id":1,"name":"low","version":1}', f"version is 1; {MUST_BE_NAME}", 1, id="version"
    ),
    pytest.param(
        b'{"type":"ready","id":1,"name":"' + b"x" * 101 + b'","version":"1"}',
        f"name has 101 characters; {MUST_BE_NAME}",
        1,
        id="name-long",
    ),
    pytest.param(
        b'{"type":"ready","id":1,"name":"low","version":"1","tables":0}',
        "tables is 0; it must be a whole number from 1 up to 2^53 - 1",
        1,
        id="no-tables",
    ),
    pytest.param(
        b'{"type":"ready","id":1,"name":"low","version":"1","watch":1}',
        "watch is 1; it must be true or false",
        1,
        id="watch-number",
    ),
    pytest.param(
        b'{"type":"ready","id":1,"name":"low","version":"1","protocol":"1"}',
        'protocol is "1"; it must be a whole number such as 1',
        1,
        id="protocol-text",
    ),
    pytest.param(
        b'{"type":"play","id":"7","id":7,"card":"2C"}',
        "no proper answer: Expected `int`, got `str` - at `$.id`",
        None,
        id="a-field-twice",
    ),
]


@pytest.mark.parametrize(("line", "why", "id"), BAD_LINES)
def test_a_bad_line_says_what_is_wrong(line: bytes, why: str, id: int | None) -> None:
    with pytest.raises(BadLine) as caught:
        decode_reply(line)
    assert str(caught.value) == why
    assert caught.value.id == id


@pytest.mark.parametrize("tail", ["", "\\u", '"', "\0", "é"])
def test_what_is_said_of_a_bad_line_is_short_and_printable(tail: str) -> None:
    for field in ("type", "id", "card", "note"):
        with pytest.raises(BadLine) as caught:
            decode_reply(f'{{"type":"play","id":7,"card":"2C","{field}":["{"x" * 60_000}{tail}"]}}'.encode())
        assert len(str(caught.value)) < 200
        assert str(caught.value).isprintable()


# --- noise -----------------------------------------------------------------------------------------------

names = st.text(st.characters(codec="utf-8"), max_size=100)
notes = st.none() | st.text(st.characters(codec="utf-8"), max_size=500)
cards = st.sampled_from(NAMES)
whole = st.integers(0, 2**53 - 1)
seats = st.integers(0, 5)
sums = st.lists(st.integers(-1_000, 1_000), min_size=3, max_size=6).map(tuple)
some_cards = st.lists(cards, max_size=13).map(tuple)
tables = st.text(st.characters(codec="ascii"), min_size=1, max_size=20)
tricks = st.lists(st.builds(Trick, seats, some_cards, seats), max_size=13).map(tuple)

replies: st.SearchStrategy[Reply] = st.one_of(
    st.builds(Ready, whole, names, names, st.integers(1, 2**53 - 1), st.booleans(), whole),
    st.builds(Pass, whole, some_cards, notes),
    st.builds(Play, whole, cards, notes),
)
from_referee: st.SearchStrategy[FromReferee] = st.one_of(
    st.builds(
        StartRequest,
        id=whole,
        table=tables,
        protocol=whole,
        seat=seats,
        players=st.lists(tables, max_size=6).map(tuple),
        rules=st.sampled_from([preset(name) for name in PRESETS]),
        conditions=st.builds(Clock, turn_ms=whole, start_ms=whole, bank_ms=whole),
    ),
    st.builds(PassRequest, whole, tables, whole, seats, seats, whole, seats, whole, some_cards, sums),
    st.builds(
        PlayRequest,
        id=whole,
        table=tables,
        hand=whole,
        seat=seats,
        dealer=seats,
        hearts_broken=st.booleans(),
        lead=seats,
        ms=whole,
        cards=some_cards,
        legal=some_cards,
        trick=some_cards,
        taken=sums,
        scores=sums,
        tricks=tricks,
        passed=st.none() | st.builds(Passed, seats, some_cards, seats, some_cards),
    ),
    st.builds(HandOverNotice, tables, whole, st.none() | seats, sums, sums, tricks),
    st.builds(MatchOverNotice, tables, st.sampled_from(["target", "void"]), sums, sums, sums),
    st.builds(PassedNotice, tables, seats),
    st.builds(PlayedNotice, tables, seats, cards),
)


@given(replies)
def test_a_reply_survives_the_pipe(reply: Reply) -> None:
    line = encode(reply)
    assert line.endswith(b"\n")
    assert b"\n" not in line[:-1]
    assert decode_reply(line[:-1]) == reply


@given(from_referee)
def test_what_the_referee_says_survives_the_pipe(message: FromReferee) -> None:
    line = encode(message)
    assert line.isascii()
    assert b"\n" not in line[:-1]
    assert len(line) <= MAX_LINE
    assert decode_from_referee(line) == message


def _judged(line: bytes) -> Reply | None:
    """The reply, or None for a line that was refused in the proper way."""
    try:
        return decode_reply(line)
    except BadLine as error:
        why = str(error)
    assert why
    assert why.isprintable()
    return None


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_bad_line(line: bytes) -> None:
    _judged(line)


@given(replies, st.randoms(use_true_random=False))
def test_no_damaged_line_raises_anything_but_bad_line(reply: Reply, lots: random.Random) -> None:
    line = bytearray(encode(reply)[:-1])
    for _ in range(lots.randrange(1, 4)):
        at = lots.randrange(len(line) + 1)
        line[at : at + lots.randrange(4)] = lots.choice(
            [
                b"",
                b'"',
                b"\\",
                b"{",
                b"}",
                b"[",
                b",",
                b":",
                b"\xff",
                b"\\ud800",
                b"9" * 30,
                b"null",
                b"\0",
                b" ",
            ]
        )
    _judged(bytes(line))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | cards,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
known_fields = st.sampled_from(
    ["type", "id", "name", "version", "tables", "watch", "protocol", "card", "cards", "note"]
)
odd_replies = st.dictionaries(known_fields, json_values).flatmap(
    lambda odd: st.sampled_from(["ready", "pass", "play", None]).map(
        lambda kind: odd | ({"type": kind} if kind else {}),
    )
)


@given(odd_replies)
def test_no_odd_field_raises_anything_but_bad_line(fields: dict[str, object]) -> None:
    reply = _judged(json.dumps(fields).encode())
    assert reply is None or decode_reply(encode(reply)) == reply


@given(st.binary(max_size=200) | from_referee.map(lambda message: encode(message)[7:-9]))
def test_a_bot_meets_nothing_but_bad_line(line: bytes) -> None:
    with suppress(BadLine):
        decode_from_referee(line)


# --- what a bot reads ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"weather","table":"1","rain":true}',
        b'{"type":"chat","table":"1","says":{"to":[1,2]}}',
        b'{"table":"1","type":"later"}',
    ],
)
def test_a_bot_passes_over_messages_it_does_not_know(line: bytes) -> None:
    assert decode_from_referee(line) is None


def test_a_bot_passes_over_fields_it_does_not_know() -> None:
    line = b'{"type":"passed","table":"1","seat":2,"weather":{"rain":[true]}}'
    assert decode_from_referee(line) == PassedNotice("1", 2)


@pytest.mark.parametrize(
    "line",
    [b"", b"[]", b"{}", b'{"type":7}', b'{"type":"played","table":"1"}', b'{"type":"x","y":' + b"[" * 9_000],
)
def test_a_bot_is_told_of_lines_that_no_referee_sends(line: bytes) -> None:
    with pytest.raises(BadLine):
        decode_from_referee(line)
