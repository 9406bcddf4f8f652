"""The log as a file: what is read, what is refused and in which words, and that nothing written is lost."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from referee.record.match_log import LogError, MatchLog, ResumeRecord, read_log
from tests.record.logs import a_log, header

HEADER = msgspec.json.encode(header()) + b"\n"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(b"", "is no match log: it is empty", id="empty"),
        pytest.param(HEADER[:-20], "is no match log: its first line is not JSON", id="half-a-header"),
        pytest.param(b"\n", "first line is not JSON", id="an-empty-line"),
        pytest.param(b"hello\nworld\n", "first line is not JSON", id="text"),
        pytest.param(bytes(range(256)) * 10, "first line is not JSON", id="binary"),
        pytest.param(b"\x7fELF\x02\x01\x01" + b"\0" * 100, "first line is not JSON", id="a-program"),
        pytest.param(b"\xef\xbb\xbf" + HEADER, "first line is not JSON", id="byte-order-mark"),
        pytest.param(HEADER.decode().encode("utf-16"), "first line is not JSON", id="utf-16"),
        pytest.param(b"[]\n", "first line is not JSON of type match", id="an-array"),
        pytest.param(b"{}\n", "its first line is of type 'none'", id="an-object"),
        pytest.param(b'{"type":"start","id":1}\n', "its first line is of type 'start'", id="another-type"),
        pytest.param(b'{"a":' * 50_000 + b"\n", "is no match log", id="nested-without-end"),
        pytest.param(HEADER.replace(b'"log":1', b'"log":2'), "match log of version 2", id="version-2"),
        pytest.param(HEADER.replace(b'"log":1', b'"log":0'), "match log of version 0", id="version-0"),
        pytest.param(HEADER.replace(b'"log":1,', b""), "its first line lacks the field log", id="no-version"),
        pytest.param(HEADER.replace(b'"log":1', b'"log":1.0'), "of version 1.0", id="a-version-that-is-none"),
        pytest.param(HEADER + b"[[[[\n" + HEADER, "line 2 is no line of a match log", id="damage-within"),
        pytest.param(HEADER + b"\n\n", "line 2 is no line of a match log", id="an-empty-line-within"),
        pytest.param(HEADER + b"\xff\n\n", "line 2 is no line of a match log", id="not-utf-8"),
        pytest.param(HEADER + b"[" * 50_000 + b"\n\n", "line 2 is no line", id="nested-within"),
        pytest.param(HEADER + b'{"type":"poem"}\n', "line 2 is no line", id="a-type-that-is-none"),
        pytest.param(
            HEADER.replace(b'"players":4', b'"players":7'), "line 1 is no line", id="impossible-rules"
        ),
        pytest.param(
            HEADER.replace(b'"strikes":0', b'"strikes":-1'), "line 1 is no line", id="impossible-conditions"
        ),
    ],
)
def test_what_is_no_log_is_said_in_a_sentence(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    with pytest.raises(LogError) as refusal:
        read_log(path)
    assert words in str(refusal.value)
    assert str(refusal.value).startswith(str(path))
    assert "\n" not in str(refusal.value)
    assert path.read_bytes() == data


@pytest.mark.parametrize("path", ["missing.jsonl", "."], ids=["missing", "a-directory"])
def test_what_cannot_be_read(tmp_path: Path, path: str) -> None:
    with pytest.raises(LogError, match=r"Cannot read .*: (No such file|Is a directory)"):
        read_log(tmp_path / path)


def test_1_3_a_torn_last_line_is_left_off(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    lines = a_log(path)
    path.write_bytes(b"".join(lines[:10]) + lines[10][:-5])
    log = read_log(path)
    assert log.torn
    assert len(log.lines) == 9


def test_1_3_a_last_line_without_its_newline_counts_if_it_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    lines = a_log(path)
    path.write_bytes(b"".join(lines)[:-1])
    log = read_log(path)
    assert not log.torn
    assert len(log.lines) == len(lines) - 1


def test_1_4_unknown_keys_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(HEADER[:-2] + b',"mood":"calm"}\n')
    assert read_log(path).header == header()


def test_1_1_a_log_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("precious")
    with pytest.raises(LogError, match="exists and is never overwritten; name another file with --log"):
        MatchLog.create(path)
    assert path.read_text() == "precious"


@pytest.mark.parametrize("path", ["no/such/x.jsonl", "x" * 300], ids=["no-directory", "too-long"])
def test_a_log_that_cannot_be_written(tmp_path: Path, path: str) -> None:
    with pytest.raises(LogError, match=r"Cannot write the log .*; name another with --log"):
        MatchLog.create(tmp_path / path)


def test_5_1_going_on_cuts_off_what_is_torn(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(HEADER + b'{"type":"de')
    log = MatchLog.reopen(path, len(HEADER))
    log.write(ResumeRecord("now", "test"))
    log.close()
    assert path.read_bytes() == HEADER + b'{"type":"resume","at":"now","arena":"test"}\n'


def test_5_1_going_on_ends_a_last_line_that_counts(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(HEADER[:-1])
    log = MatchLog.reopen(path, len(HEADER) - 1)
    log.write(ResumeRecord("now", "test"))
    log.close()
    assert path.read_bytes() == HEADER + b'{"type":"resume","at":"now","arena":"test"}\n'


def test_nobody_goes_on_with_a_log_that_is_being_written(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    log = MatchLog.create(path)
    log.write(header())
    before = path.read_bytes()
    with pytest.raises(LogError, match="is being written by another arena"):
        MatchLog.reopen(path, 0)
    assert path.read_bytes() == before
    log.close()
    MatchLog.reopen(path, len(before)).close()


_FULL = """
import resource, signal, sys
from pathlib import Path
from referee.record.match_log import LogError, MatchLog
from tests.record.logs import header
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
log = MatchLog.create(Path(sys.argv[1]))
try:
    while True:
        log.write(header())
except LogError as error:
    print(error)
"""


def test_1_3_a_full_disk_loses_nothing_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    run = subprocess.run(
        [sys.executable, "-c", _FULL, str(path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"Cannot write to the log {path}: " in run.stdout
    assert f"go on with: arena run --resume {path}" in run.stdout
    log = read_log(path)
    assert log.torn
    assert len(log.lines) == 5000 // len(HEADER) - 1
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 5000
    assert path.stat().st_size == 5000
