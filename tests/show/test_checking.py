"""What `arena check` shows: what was sent and what came at each step, whole if it was wrong; a summary."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from referee.cli import cli
from referee.show.checking import summary
from referee.table.check.steps import Report, Step

BOT = """
import json, sys
print("thinking hard", file=sys.stderr)
for line in sys.stdin:
    r = json.loads(line)
    if r["type"] == "start":
        answer = {"type": "ready", "name": "first", "version": "1"}
    elif r["type"] == "pass":
        answer = {"type": "pass", "cards": r["cards"][:r["count"]]}
    elif r["type"] == "play":
        answer = {"type": "play", "card": r["legal"][0]}
    else:
        continue
    print(json.dumps({"id": r["id"]} | answer), flush=True)
"""


def arena(*words: str) -> Result:
    return CliRunner().invoke(cli, ["check", "--sandbox", "none", *words])


@pytest.fixture
def script(tmp_path: Path):
    """A bot of these lines, with one of them changed."""

    def write(old: str = "", new: str = "") -> str:
        path = tmp_path / "first.py"
        assert old in BOT
        path.write_text(BOT.replace(old, new) if old else BOT)
        return str(path)

    return write


def test_a_good_bot_is_ready_to_play(script) -> None:
    result = arena(script())
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[-1] == "first is ready to play."
    assert re.match(r"Ready after \d.* of 10 s. Slowest answer: .* of 2 s \(.*\).", lines[-2])
    ticks = [line[:4] for line in lines if line.startswith("✓")]
    assert ticks == [f"✓{number:>3}" for number in range(1, len(ticks) + 1)]
    assert "✗" not in result.output
    assert "It calls itself first 1." in result.output
    assert "stderr  thinking hard" in result.output
    assert '"legal":["2C"],"trick":[]' in result.output
    assert max(map(len, lines[2:-2])) <= 120


def test_a_bad_line_is_shown_whole_with_what_to_do(script) -> None:
    result = arena(script("json.dumps({", "str({"))
    assert result.exit_code == 1
    start = next(line for line in result.output.splitlines() if '"type":"start"' in line)
    assert start.rstrip().endswith('"bank_ms":0}}')
    assert "came    {'id': 1, 'type': 'ready', 'name': 'first', 'version': '1'}" in result.output
    assert "JSON wants double quotes" in result.output
    assert 'A good answer here: {"type":"ready","id":1,"name":"my-bot","version":"1"}' in result.output
    assert result.output.count("wrong   ") == 1
    assert "The same was wrong 2 times in this step." in result.output
    assert result.output.endswith("Step 1 of 9 failed, and 8 could not be reached.\n")


def test_a_traceback_is_shown_with_its_last_line(script) -> None:
    result = arena(script('r["legal"][0]', 'r["legal"][1]'))
    assert "IndexError: list index out of range (first.py, line 11)" in result.output
    assert "stderr  Traceback (most recent call last):" in result.output
    assert "✓  2" in result.output
    assert "✗  3" in result.output


def test_nothing_that_a_bot_writes_acts_on_the_terminal(script) -> None:
    hostile = r"'\x1b[2J\x1b]0;owned\x07\u202e'"
    answer = f"print(json.dumps({{'id': r['id']}} | answer), {hostile}, flush=True)"
    code = script('print("thinking hard"', f"print({hostile}")
    Path(code).write_text(
        Path(code).read_text().replace('print(json.dumps({"id": r["id"]} | answer), flush=True)', answer)
    )
    result = arena(code)
    assert result.exit_code == 1
    assert not set(result.output) & {"\x1b", "\x07", "\u202e"}
    assert r"\x1b[2J\x1b]0;owned\x07\u202e" in result.output
    assert "·[2J" in result.output


def test_verbose_shows_all(script) -> None:
    result = arena("--verbose", script())
    assert result.exit_code == 0
    asked = re.findall(
        r'sent    \{"type":"(?:start|pass|play)","id":(\d+),.*\}$', result.output, re.MULTILINE
    )
    assert asked == [str(number) for number in range(1, len(asked) + 1)]
    assert len(asked) > 60


def test_other_rules_and_times_can_be_asked_for(script) -> None:
    result = arena(script(), "--rules", "five", "--set", "pass_count=0", "--turn-time", "3s")
    assert result.exit_code == 0
    assert "rules five for 5, 3 s a turn" in result.output
    assert "It passes" not in result.output


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        pytest.param(["no-such-bot"], 1, "There is no bot 'no-such-bot'", id="no-bot"),
        pytest.param(["duck", "--rules", "fife"], 1, "did you mean five", id="no-rules"),
        pytest.param([], 2, "Missing argument 'BOT'", id="nothing"),
    ],
)
def test_an_operators_mistake_is_one_sentence(words: list[str], status: int, sentence: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", "from referee.cli import main; main()", "check", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == status
    assert sentence in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("states", "sentence"),
    [
        pytest.param("ffff", "b is ready to play.", id="fine"),
        pytest.param("fwff", "Step 2 of 4 failed.", id="one"),
        pytest.param("fwnn", "Step 2 of 4 failed, and 2 could not be reached.", id="one-and-the-end"),
        pytest.param("fwfw", "2 of 4 steps failed; start with step 2.", id="some"),
        pytest.param("wwnn", "2 of 4 steps failed, and 2 could not be reached; start with step 1.", id="all"),
        pytest.param("ffnn", "b is ready to play.", id="left-between-matches"),
    ],
)
def test_the_whole_in_one_sentence(states: str, sentence: str) -> None:
    meanings = {"f": "fine", "w": "wrong", "n": "not reached"}
    steps = [
        Step(name="pass", title="", number=number, state=meanings[letter])
        for number, letter in enumerate(states, 1)
    ]
    assert summary(Report("b", steps)) == sentence


def test_ctrl_c_ends_the_bot(tmp_path: Path) -> None:
    path = tmp_path / "sleeper.py"
    marker = tmp_path / "pid"
    path.write_text(
        f"import os, time\nopen({str(marker)!r}, 'w').write(str(os.getpid()))\ntime.sleep(1000)\n"
    )
    command = [
        sys.executable,
        "-c",
        "from referee.cli import main; main()",
        "check",
        "--sandbox",
        "none",
        str(path),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as arena:
        while not (marker.exists() and marker.read_text()):
            assert arena.poll() is None
        descriptor = os.pidfd_open(int(marker.read_text()))
        arena.send_signal(signal.SIGINT)
        output, _ = arena.communicate(timeout=30)
    assert arena.returncode == 130
    assert output.endswith("Interrupted; the bot has been ended.\n")
    assert select.select([descriptor], [], [], 30)[0]
    os.close(descriptor)
