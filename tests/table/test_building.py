"""Builds run confined too: what they may read and write, their limit in time, and what is said when they
fail.
"""

from __future__ import annotations

import shutil
import socket
import sys
from pathlib import Path

import pytest

from referee.errors import ArenaError
from referee.table import bubblewrap, building, roster
from referee.table.keep import landlock

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines")

FOUND = bubblewrap.find()
NO_BWRAP = pytest.mark.skipif(isinstance(FOUND, str), reason=str(FOUND))
NO_LANDLOCK = pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")
CONFINED = [pytest.param("auto", marks=NO_LANDLOCK), pytest.param("bwrap", marks=NO_BWRAP)]
LEVELS = ["none", *CONFINED]
every_level = pytest.mark.parametrize("level", LEVELS)
EXAMPLES = Path(__file__).parents[2] / "example_bots"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    place = tmp_path / "bot"
    place.mkdir()
    return place


@every_level
@pytest.mark.parametrize(
    ("language", "compiler"), [("c", "cc"), ("java", "javac"), ("rust", "rustc")], ids=["c", "java", "rust"]
)
def test_compilers_work(folder: Path, level: str, language: str, compiler: str) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    bot = roster.find_bot(str(EXAMPLES / language), sandbox=level)
    assert Path(bot.cwd).is_relative_to(folder.parent / "cache")
    assert {path.stat().st_uid for path in Path(bot.cwd).rglob("*")} == {folder.stat().st_uid}


@pytest.mark.parametrize("level", CONFINED)
@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param("cat {0}/secret", id="reads-elsewhere"),
        pytest.param("echo > {0}/made", id="writes-elsewhere"),
        pytest.param("cat /etc/passwd", id="reads-etc"),
        pytest.param("echo > /var/tmp/made", id="writes-var-tmp"),
    ],
)
def test_what_a_build_may_not_do(folder: Path, level: str, attempt: str) -> None:
    (folder.parent / "secret").write_text("hunter2")
    built = building.build(["sh", "-c", attempt.format(folder.parent)], folder, level)
    assert built.failure or level == "bwrap"  # in whose own /tmp it may write
    assert "hunter2" not in built.output
    assert not (folder.parent / "made").exists()


@pytest.mark.parametrize("level", CONFINED)
def test_a_build_reaches_no_network(folder: Path, level: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        call = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))"
        assert building.build([sys.executable, "-c", call], folder, level).failure


@every_level
def test_it_may_write_where_it_builds_and_to_its_scratch(folder: Path, level: str) -> None:
    words = "echo made > made; chmod 700 made; mkdir d; echo x > $HOME/x; echo y > $TMPDIR/y"
    assert building.build(["sh", "-c", words], folder, level) == building.Built("", "")
    assert (folder / "made").read_text() == "made\n"
    assert (folder / "made").stat().st_uid == folder.stat().st_uid


@every_level
@pytest.mark.parametrize(
    ("command", "failure"),
    [
        pytest.param(("sh", "-c", "echo no >&2; exit 3"), "ended with status 3", id="status"),
        pytest.param(("no-such-compiler",), "is not a program on PATH", id="no-compiler"),
        pytest.param(("sh", "-c", "sleep 100"), "was not done in 0.5 s", id="time"),
        pytest.param(("sh", "-c", "setsid sleep 100 & sleep 100"), "was not done in 0.5 s", id="daemon"),
    ],
)
def test_failures_in_words(folder: Path, level: str, command: tuple[str, ...], failure: str) -> None:
    built = building.build(command, folder, level, limit_s=5 if "exit 3" in command[-1] else 0.5)
    assert failure in built.failure
    assert ("no\n" in built.output) == ("exit 3" in command[-1])


def test_what_a_build_said_is_shown_when_it_fails(folder: Path) -> None:
    (folder / "bot.toml").write_text(
        'name = "broken"\nbuild = "sh -c \'echo line 7: missing semicolon; exit 1\'"\nrun = "./x"\n'
    )
    with pytest.raises(ArenaError, match=r"ended with status 1 and said:\nline 7: missing semicolon"):
        roster.find_bot(str(folder))
    assert not list((folder.parent / "cache").rglob("*.tmp"))
