"""`arena run` and `arena replay` as people and scripts meet them: sentences, exit status, signals, kills."""

from __future__ import annotations

import json
import os
import re
import resource
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.record.match_log import read_log
from referee.record.replay import replay
from tests.record.logs import a_log
from tests.table.hosting import Stage, marked, moves

ROOT = Path(__file__).parents[1]
ARENA = [sys.executable, "-c", "from referee.cli import main; main()"]
GUARD_S = 60


class Cli:
    """The command line, in a directory of its own."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.folder = stage.folder / "here"
        self.folder.mkdir()
        self.env = os.environ | {"PYTHONPATH": str(ROOT), "TERM": "dumb", "COLUMNS": "200"}

    def start(self, *words: str, **more: Any) -> subprocess.Popen[str]:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
        return subprocess.Popen([*ARENA, *words], cwd=self.folder, env=self.env, text=True, **pipes)

    def __call__(self, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
        with self.start(*words, **more) as process:
            out, err = process.communicate(timeout=GUARD_S)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def honest(self, seed: int, *more: str) -> str:
        """The word for a bot that plays by its seed."""
        rogue = shlex.quote(str(self.stage.bots / "rogue.py"))
        return f"honest-{seed}={sys.executable} -S -E {rogue} honest --seed {seed}"

    def table(self) -> list[str]:
        return [self.honest(seed) for seed in range(4)]

    def interrupted(self) -> Path:
        """The log of a match that was cut off, between bots that are nowhere."""
        path = self.folder / "cut.jsonl"
        lines = a_log(path, rules={"max_hands": 1})
        path.write_bytes(b"".join(lines[:20]) + lines[20][:9])
        return path


@pytest.fixture
def cli(stage: Stage) -> Cli:
    return Cli(stage)


# --- what cannot be done is said in a sentence -----------------------------------------------------------


def _not_executable(cli: Cli) -> list[str]:
    path = cli.folder / "bot"
    path.write_text("#!/bin/sh\n")
    return ["run", str(path), "duck", "duck", "duck"]


def _existing_log(cli: Cli) -> list[str]:
    (cli.folder / "x.jsonl").write_text("precious")
    return ["run", "duck", "duck", "duck", "duck", "--log", "x.jsonl"]


def _bot_toml(text: str) -> Callable[[Cli], list[str]]:
    def words(cli: Cli) -> list[str]:
        (cli.folder / "mybot").mkdir()
        (cli.folder / "mybot" / "bot.toml").write_text(text)
        return ["run", "mybot", "duck", "duck", "duck"]

    return words


def _empty_directory(cli: Cli) -> list[str]:
    (cli.folder / "mybot").mkdir()
    return ["run", "mybot", "duck", "duck", "duck"]


def _unwritable_cache(cli: Cli) -> list[str]:
    cli.env["XDG_CACHE_HOME"] = "/dev/null/cache"
    return _bot_toml('name="x"\nrun="./a"\nbuild="true"')(cli)


def _plain_text(cli: Cli) -> list[str]:
    (cli.folder / "notes").write_text("buy milk")
    return ["check", "notes"]


def _edited_log(command: str) -> Callable[[Cli], list[str]]:
    def words(cli: Cli) -> list[str]:
        path = cli.interrupted()
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join([*lines[:9], lines[10], lines[9], *lines[11:]]))
        return [*command.split(), str(path)]

    return words


def _changed_log(command: str, change: Callable[[bytes], bytes]) -> Callable[[Cli], list[str]]:
    def words(cli: Cli) -> list[str]:
        path = cli.interrupted()
        path.write_bytes(change(path.read_bytes()))
        return [*command.split(), str(path)]

    return words


def _fixed(*words: str) -> Callable[[Cli], list[str]]:
    return lambda _: [*words]


def _rules_file(text: str) -> Callable[[Cli], list[str]]:
    def words(cli: Cli) -> list[str]:
        (cli.folder / "house.toml").write_text(text)
        return ["rules", "./house.toml"]

    return words


DUCKS = ("duck", "duck", "duck", "duck")
VERSION_9 = {"change": lambda data: data.replace(b'"log":1', b'"log":9', 1)}
LONG = "x" * 300


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        pytest.param(
            _fixed("run", "./missing", *DUCKS[1:]), 1, "There is no bot './missing'", id="missing-bot"
        ),
        pytest.param(_fixed("run", "duk", *DUCKS[1:]), 1, "did you mean duck?", id="misspelt-bot"),
        pytest.param(_not_executable, 1, "is not executable; try: chmod +x", id="non-executable-bot"),
        pytest.param(_empty_directory, 1, "has no bot.toml", id="directory-without-bot.toml"),
        pytest.param(_bot_toml("name ="), 1, "is not TOML: Invalid value", id="bot.toml-is-no-toml"),
        pytest.param(_bot_toml('name="x"\nrun=1'), 1, "run must be text, as in run =", id="bot.toml-number"),
        pytest.param(_bot_toml('name="x"'), 1, "run is missing; write it as in", id="bot.toml-no-run"),
        pytest.param(
            _bot_toml('name="x"\nrun="a"\nbiuld="b"'), 1, "'biuld' means nothing", id="bot.toml-unknown"
        ),
        pytest.param(_unwritable_cache, 1, "choose another place with XDG_CACHE_HOME", id="no-cache"),
        pytest.param(_plain_text, 1, "neither executable nor of an ending", id="a-text-for-a-bot"),
        pytest.param(_bot_toml('name="x y"\nrun="a"'), 1, "must be 1 to 32 letters", id="bot.toml-bad-name"),
        pytest.param(_bot_toml('name="x"\nrun="./a"'), 1, "is not a file", id="bot.toml-nothing-to-run"),
        pytest.param(_bot_toml('name="x"\nrun="nonesuch a"'), 1, "is not on PATH", id="bot.toml-not-on-path"),
        pytest.param(
            _fixed("run", f"true {LONG}", *DUCKS[1:]), 1, "The match has no result", id="a-long-command-line"
        ),
        pytest.param(_fixed("run", LONG, *DUCKS[1:]), 1, "There is no bot", id="a-long-word"),
        pytest.param(_fixed("run", "'", *DUCKS[1:]), 1, "cannot be read as a shell would", id="half-a-quote"),
        pytest.param(_fixed("run", "", *DUCKS[1:]), 1, "There is no bot ''", id="empty-bot"),
        pytest.param(_fixed("run", *DUCKS, "duck"), 2, "seat 4 players; 5 bots were named", id="five-bots"),
        pytest.param(_fixed("run"), 2, "seat 4 players; 0 bots", id="no-bots"),
        pytest.param(_fixed("run", "duck"), 2, "seat 4 players; 1 bot was named", id="one-bot"),
        pytest.param(_fixed("run", *DUCKS[1:]), 2, "For 3 there is --rules three.", id="three-bots"),
        pytest.param(_fixed("run", *DUCKS, "--rules", "pagot"), 1, "did you mean pagat?", id="unknown-rules"),
        pytest.param(_fixed("run", *DUCKS, "--rules", LONG), 1, "There is no rule set", id="long-rules"),
        pytest.param(
            _fixed("run", *DUCKS, "--rules", "x.toml"), 1, "Cannot read the rules", id="missing-rules"
        ),
        pytest.param(_fixed("run", *DUCKS, "--set", "jak=1"), 1, "There is no rule 'jak'", id="unknown-rule"),
        pytest.param(
            _fixed("run", *DUCKS, "--set", "queen_point=1"),
            1,
            "did you mean queen_points?",
            id="misspelt-rule",
        ),
        pytest.param(_fixed("run", *DUCKS, "--set", "moon=maybe"), 1, "The rule moon is", id="bad-rule"),
        pytest.param(_fixed("run", *DUCKS, "--set", "moon"), 1, "must be written KEY=VALUE", id="no-value"),
        pytest.param(
            _fixed("run", *DUCKS, "--set", "target=" + "[" * 9999), 1, "The rule target is", id="deep-value"
        ),
        pytest.param(_fixed("run", *DUCKS, "--turn-time", "soon"), 2, "'soon' is no time", id="no-time"),
        pytest.param(
            _fixed("run", *DUCKS, "--turn-time", "9" * 400), 2, "is no time", id="a-time-beyond-numbers"
        ),
        pytest.param(_fixed("run", *DUCKS, "--turn-time", "0"), 1, "turn_ms is 0", id="no-time-at-all"),
        pytest.param(_fixed("run", *DUCKS, "--strikes", "-1"), 2, "-1 is not in the range", id="bad-strikes"),
        pytest.param(
            _fixed("run", *DUCKS, "--log", "/sys/x.jsonl"), 1, "Cannot write the log", id="unwritable"
        ),
        pytest.param(_fixed("run", *DUCKS, "--log", "no/x.jsonl"), 1, "Cannot write the log", id="no-folder"),
        pytest.param(_fixed("run", *DUCKS, "--log", LONG), 1, "Cannot write the log", id="long-log"),
        pytest.param(
            _fixed("run", *DUCKS, "--log", "."),
            1,
            ". is a directory; name another with --log",
            id="log-is-folder",
        ),
        pytest.param(
            _fixed("run", *DUCKS, "--log", "/dev/full"), 1, "/dev/full is no regular file", id="log-is-device"
        ),
        pytest.param(_existing_log, 1, "exists and is never overwritten; name another", id="existing-log"),
        pytest.param(
            _fixed("run", "--resume", "x.jsonl", "duck"), 2, "takes the bots from the log", id="resume-bots"
        ),
        pytest.param(
            _fixed("run", "--resume", "x.jsonl", "--turn-time", "5s"),
            2,
            "takes all from the log; --turn-time has no effect",
            id="resume-time",
        ),
        pytest.param(
            _fixed("run", "-q", "--resume", "x.jsonl", "--log", "y"), 2, "--log has no", id="resume-log"
        ),
        pytest.param(
            _fixed("run", "--resume", "x.jsonl", "-q", "--json"), 1, "Cannot read x.jsonl", id="resume-json"
        ),
        pytest.param(_fixed("run", "--resume", "x.jsonl"), 1, "Cannot read x.jsonl", id="resume-nothing"),
        pytest.param(_edited_log("run --resume"), 1, "line 10 does not follow", id="resume-edited-log"),
        pytest.param(_changed_log("run --resume", lambda _: b""), 1, "it is empty", id="resume-empty-log"),
        pytest.param(
            _changed_log("run --resume", lambda data: data.replace(b'["./bot-0"]', b"[]")),
            1,
            "is no longer there",
            id="resume-without-a-command",
        ),
        pytest.param(
            _changed_log("run --resume", **VERSION_9), 1, "of version 9; this arena reads", id="resume-9"
        ),
        pytest.param(
            _changed_log("run --resume", lambda data: data),
            1,
            "is no longer there",
            id="resume-without-the-bot",
        ),
        pytest.param(_fixed("replay", "x.jsonl"), 1, "Cannot read x.jsonl", id="replay-nothing"),
        pytest.param(_edited_log("replay --verify"), 1, "line 10 does not follow", id="verify-edited-log"),
        pytest.param(_edited_log("replay"), 1, "line 10 does not follow", id="replay-edited-log"),
        pytest.param(_changed_log("replay", lambda _: b""), 1, "it is empty", id="replay-empty-log"),
        pytest.param(
            _changed_log("replay", lambda _: bytes(range(256))), 1, "is no match log", id="replay-binary"
        ),
        pytest.param(_changed_log("replay", **VERSION_9), 1, "of version 9; this arena reads", id="replay-9"),
        pytest.param(_changed_log("replay", lambda data: data[:100]), 1, "is no match log", id="replay-cut"),
        pytest.param(
            _changed_log("replay --verify", lambda data: data), 0, "is not over", id="verify-truncated"
        ),
        pytest.param(
            _changed_log("replay --verify", lambda data: data.partition(b"\n")[0] + b"\n"),
            0,
            "0 hands, 0 cards, 0 faults; there is no deal.",
            id="verify-only-a-header",
        ),
        pytest.param(
            _fixed("replay", "x.jsonl", "--verify", "--hand", "1"),
            2,
            "--hand has no effect",
            id="verify-hand",
        ),
        pytest.param(
            _fixed("replay", "x.jsonl", "--verify", "--as", "1"), 2, "--as has no effect", id="verify-as"
        ),
        pytest.param(_changed_log("replay --as 7", lambda data: data), 1, "7", id="replay-as-nobody"),
        pytest.param(
            _rules_file("target = 0"), 1, "With ./house.toml: The rule target is 0", id="rules-file"
        ),
        pytest.param(_rules_file("target = inf"), 1, "The rule target is Infinity", id="rules-infinity"),
        pytest.param(
            _rules_file("moon = off"), 1, 'Words stand in quotes, as in moon = "off"', id="bareword"
        ),
        pytest.param(_rules_file("target = null"), 1, 'target = "none"', id="rules-null"),
        pytest.param(_rules_file("target = " + "9" * 5000), 1, "are not TOML: ", id="rules-huge-number"),
        pytest.param(
            _rules_file("removed = " + "[" * 3000 + "]" * 3000), 1, "it is nested too deep", id="rules-deep"
        ),
        pytest.param(_fixed("rules", ""), 1, "There is no rule set ''", id="rules-no-name"),
        pytest.param(
            _fixed("rules", "--set", "target=5", "--set", "target=6"),
            1,
            "--set target is given twice",
            id="set-twice",
        ),
        pytest.param(_fixed("rules", "--set", "target=\udcff"), 1, "is not UTF-8", id="set-no-text"),
        pytest.param(_fixed("run", *DUCKS, "--seed", "\udcff"), 1, "is not UTF-8", id="seed-no-text"),
        pytest.param(_fixed("run", "x\udcff", *DUCKS[1:]), 1, "is not UTF-8", id="bot-no-text"),
        pytest.param(_fixed("fly"), 2, "No such command", id="no-such-command"),
        pytest.param(_fixed("run", "--fly"), 2, "No such option", id="no-such-option"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    cli: Cli, words: Callable[[Cli], list[str]], status: int, said: str
) -> None:
    done = cli(*words(cli))
    assert done.returncode == status, done
    assert "Traceback" not in done.stderr + done.stdout
    if not status:
        assert said in done.stdout
        return
    assert said in done.stderr
    if status == 1:
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert "[Errno" not in done.stderr
        assert done.stderr.startswith("arena: ")
    precious = cli.folder / "x.jsonl"
    assert not precious.exists() or precious.read_text() == "precious"


# --- results ---------------------------------------------------------------------------------------------


def test_json_is_one_object_on_stdout_and_peoples_text_on_stderr(cli: Cli) -> None:
    table = cli.table()
    table[2] = table[2].replace(" honest ", " revoke ").replace("honest-2=", "revoker=")
    done = cli("run", *table, "--rules", "duplicate", "--seed", "json", "--log", "x.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    told = json.loads(line)
    assert told["names"] == ["honest-0", "honest-1", "revoker", "honest-3"]
    assert {"ranks", "scores", "hands", "retired", "faults", "log"} <= told.keys()
    assert told["hands"] == 1
    assert told["retired"] == [2]
    assert told["ranks"][2] == 4
    assert [fault["kind"] for fault in told["faults"]] == ["illegal_play"]
    assert read_log(cli.folder / told["log"]).lines
    assert "revoker" in done.stderr


def test_quiet_says_little(cli: Cli) -> None:
    done = cli("run", *cli.table(), "--rules", "duplicate", "--log", "x.jsonl", "--quiet")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) <= 2
    assert not done.stderr


def test_a_reader_that_goes_away_ends_nothing(cli: Cli) -> None:
    """As in `arena run ... | head -1`."""
    with cli.start("run", *cli.table(), "--set", "max_hands=3", "--log", "x.jsonl") as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(GUARD_S) == 0
    assert replay(read_log(cli.folder / "x.jsonl")).match.end


def test_a_stdout_that_is_closed_from_the_start_ends_nothing(cli: Cli) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = cli("run", *cli.table(), "--rules", "duplicate", "--log", "x.jsonl", stdout=writing)
    os.close(writing)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert replay(read_log(cli.folder / "x.jsonl")).match.end


FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this machine has no /dev/full")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["run", "--rules", "duplicate", "--log", "x.jsonl"], "nothing more is shown", id="run"),
        pytest.param(["run", "--rules", "duplicate", "--log", "x.jsonl", "--json"], "the result", id="json"),
        pytest.param(["rules"], "nothing more is shown", id="rules"),
        pytest.param(["rules", "--json"], "the result", id="rules-json"),
        pytest.param(["--help"], "nothing more is shown", id="help"),
    ],
)
@pytest.mark.parametrize(
    ("redirection", "why"),
    [
        pytest.param(">/dev/full", "No space left on device", marks=FULL, id="full"),
        pytest.param(">&-", "it is closed", id="closed"),
    ],
)
def test_a_stdout_that_takes_nothing_is_told_of_once_and_ends_no_match(
    cli: Cli, words: list[str], said: str, redirection: str, why: str
) -> None:
    command = [*ARENA, *words, *(cli.table() if words[0] == "run" else ())]
    done = subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", *command],
        cwd=cli.folder,
        env=cli.env,
        stderr=subprocess.PIPE,
        text=True,
        timeout=GUARD_S,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    (complaint,) = [line for line in done.stderr.splitlines() if line.startswith("arena: ")]
    assert said in complaint
    assert why in complaint
    if words[0] == "run":
        assert replay(read_log(cli.folder / "x.jsonl")).match.end


@pytest.mark.parametrize(
    "surroundings",
    [
        pytest.param({"PYTHONIOENCODING": "latin-1"}, id="latin-1"),
        pytest.param({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, id="ascii"),
    ],
)
def test_signs_that_cannot_be_shown_are_replaced(cli: Cli, surroundings: dict[str, str]) -> None:
    a_log(cli.folder / "x.jsonl", rules={"max_hands": 1})
    cli.env |= surroundings
    done = cli("replay", "x.jsonl")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert re.search(r"passes( ([2-9JQKA]|10)[CDSH]){3} to", done.stdout)
    assert cli("rules", "standard").returncode == 0
    assert json.loads(cli("rules", "--json").stdout)["players"] == 4


def test_a_match_without_a_result_is_status_1(cli: Cli) -> None:
    table = cli.table()
    table[1] = f"{sys.executable} -c pass"
    done = cli("run", *table, "--log", "x.jsonl")
    assert done.returncode == 1
    assert "The match has no result" in done.stderr
    assert done.stderr.endswith("arena check BOT\n")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("most", [7, 12, 16])
def test_too_few_open_files_are_told_with_what_helps(cli: Cli, most: int) -> None:
    done = cli(
        *("run", *cli.table(), "--log", "x.jsonl", "--sandbox", "none"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)),
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "ulimit -n 4096" in done.stderr
    assert "[Errno" not in done.stderr


# --- signals and kills -----------------------------------------------------------------------------------

TELLTALE = """
import os, runpy, sys
fifo, count = sys.argv.pop(1), int(sys.argv.pop(1))
sys.path.insert(0, os.path.dirname(sys.argv[1]))
sys.argv.pop(0)
from honest import Bot
answer = Bot.answer
def counted(self, request, asked=[0]):
    asked[0] += 1
    if asked[0] == count:
        with open(fifo, "w") as sign:
            sign.write("now")
        while os.read(0, 65536):  # no card more is played until the arena has been ended
            pass
        os._exit(0)
    return answer(self, request)
Bot.answer = counted
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Sign:
    """A bot that tells us when it is asked for the so manyth time."""

    def __init__(self, cli: Cli, count: int) -> None:
        self.fifo = cli.folder / f"sign-{count}"
        os.mkfifo(self.fifo)
        telltale = cli.stage.bots / "telltale.py"
        telltale.write_text(TELLTALE)
        rogue = cli.stage.bots / "rogue.py"
        words = [sys.executable, "-S", "-E", str(telltale), str(self.fifo), str(count), str(rogue)]
        self.word = f"honest-0={shlex.join([*words, 'honest', '--seed', '0'])}"

    def wait(self) -> None:
        assert self.fifo.read_text() == "now"


def gone(mark: str) -> None:
    """Wait until no process with this mark is left."""
    while living := marked(mark):
        for pid in living:
            try:
                descriptor = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            ended = select.select([descriptor], [], [], GUARD_S)[0]
            os.close(descriptor)
            assert ended, f"{living[pid]} lives on"


RULES = ("--set", "max_hands=2", "--set", "target=none", "--seed", "kill", "--sandbox", "none")


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name
)
def test_a_signal_ends_every_bot_and_leaves_a_log_that_goes_on(cli: Cli, number: signal.Signals) -> None:
    assert cli("run", *cli.table(), *RULES, "--log", "whole.jsonl").returncode == 0
    sign = Sign(cli, 17)
    with cli.start("run", sign.word, *cli.table()[1:], *RULES, "--log", "x.jsonl") as process:
        sign.wait()
        process.send_signal(number)
        out, err = process.communicate(timeout=GUARD_S)
    assert process.returncode == 130
    assert "Go on with: arena run --resume x.jsonl" in out
    assert err == ""
    assert not marked(str(cli.stage.folder))
    resumed = cli("run", "--resume", "x.jsonl")
    assert resumed.returncode == 0, resumed.stderr
    assert bots_aside(cli.folder / "x.jsonl") == bots_aside(cli.folder / "whole.jsonl")


def test_a_signal_before_anybody_sits_says_that_there_is_nothing_to_go_on_with(cli: Cli) -> None:
    (cli.stage.bots / "deaf.py").write_text(
        "import sys\nopen(sys.argv[1], 'w').write('now')\nsys.stdin.read()\n"
    )
    fifo = cli.folder / "sign"
    os.mkfifo(fifo)
    deaf = shlex.join([sys.executable, str(cli.stage.bots / "deaf.py"), str(fifo)])
    with cli.start("run", deaf, *cli.table()[1:], *RULES, "--log", "x.jsonl") as process:
        assert fifo.read_text() == "now"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=GUARD_S)
    assert process.returncode == 130
    assert err == ""
    assert "--resume" not in out
    assert "Nothing was played" in out
    assert not (cli.folder / "x.jsonl").exists()


def test_killed_again_and_again_it_comes_to_the_same_log(cli: Cli) -> None:
    """SIGKILL at one moment after the other: nobody is left alive, and nothing that was played is lost."""
    assert cli("run", *cli.table(), *RULES, "--log", "whole.jsonl").returncode == 0
    words = ["run", "", *cli.table()[1:], *RULES, "--log", "x.jsonl"]
    for count in (2, 3, 9, 21):
        sign = Sign(cli, count)
        if words[1] != "--resume":
            words[1] = sign.word
        else:  # the bot is in the log: tell it where to sign this time
            log = cli.folder / "x.jsonl"
            before, _, after = log.read_text().partition("\n")
            header = json.loads(before)
            header["seats"][0]["command"] = shlex.split(sign.word.partition("=")[2])
            log.write_text(json.dumps(header, separators=(",", ":")) + "\n" + after)
        with cli.start(*words) as process:
            sign.wait()
            process.kill()
            process.wait(GUARD_S)
        gone(str(cli.stage.folder))
        words = ["run", "--resume", "x.jsonl"]
    log = cli.folder / "x.jsonl"
    log.write_text(log.read_text().replace("sign-21", "nowhere"))
    resumed = cli("run", "--resume", "x.jsonl")
    assert resumed.returncode == 0, resumed.stderr
    assert bots_aside(log) == bots_aside(cli.folder / "whole.jsonl")
    assert log.read_text().count('"resume"') == 4
    assert replay(read_log(log)).match.end


def bots_aside(log: Path) -> list[bytes]:
    """What was played, whoever played it."""
    header, *rest = moves(log)
    told = json.loads(header)
    for seat in told["seats"]:
        del seat["command"], seat["fingerprint"]
    return [json.dumps(told).encode(), *rest]


# --- what the machine refuses ----------------------------------------------------------------------------


def limited(**limits: int) -> Callable[[], None]:
    def limit() -> None:
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, name), (value, value))

    return limit


def test_a_full_disk_loses_nothing(cli: Cli) -> None:
    assert cli("run", *cli.table(), *RULES, "--log", "whole.jsonl").returncode == 0
    full = cli("run", *cli.table(), *RULES, "--log", "x.jsonl", preexec_fn=limited(RLIMIT_FSIZE=6000))
    assert full.returncode == 1
    assert "Cannot write to the log x.jsonl" in full.stderr
    assert "make room and go on with: arena run --resume x.jsonl" in full.stderr
    assert len(full.stderr.splitlines()) == 1
    again = cli("run", "--resume", "x.jsonl", preexec_fn=limited(RLIMIT_FSIZE=6000))
    assert again.returncode == 1
    assert "Cannot write to the log x.jsonl" in again.stderr
    assert "Traceback" not in again.stderr
    assert cli("run", "--resume", "x.jsonl").returncode == 0
    assert bots_aside(cli.folder / "x.jsonl") == bots_aside(cli.folder / "whole.jsonl")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_that_is_one(cli: Cli) -> None:
    """A tmpfs of a few pages; the stderr of a bot finds no room on it either."""
    disk = cli.folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "none", str(disk)], check=False)
    if mounted.returncode:
        pytest.skip("not allowed to mount")
    try:
        table = cli.table()
        table[3] = table[3].replace(" honest ", " stderr-flood ").replace("honest-3=", "noisy=")
        full = cli("run", *table, *RULES, "--log", "disk/x.jsonl")
        assert full.returncode == 1
        assert "Cannot write to the log disk/x.jsonl" in full.stderr
        assert len(full.stderr.splitlines()) == 1
        moved = cli.folder / "x.jsonl"
        moved.write_bytes((disk / "x.jsonl").read_bytes())
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    assert cli("run", "--resume", "x.jsonl").returncode == 0
    assert replay(read_log(moved)).match.end


@pytest.mark.parametrize("descriptors", [12, 16, 20, 26])
def test_without_descriptors_it_says_so(cli: Cli, descriptors: int) -> None:
    done = cli(
        "run",
        *DUCKS,
        "--rules",
        "duplicate",
        "--log",
        "x.jsonl",
        preexec_fn=limited(RLIMIT_NOFILE=descriptors),
    )
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1)
    if done.returncode:
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert "[Errno" not in done.stderr
        assert done.stderr.startswith("arena: ")
