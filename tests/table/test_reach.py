"""Which files are a bot's own, and which programs and settings it needs besides."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from referee.table import reach

TREE = {
    "alice/bot.py": "import helper, tools.deep\nopen('weights.bin')\n",
    "alice/helper.py": "import more\n",
    "alice/more.py": "",
    "alice/weights.bin": "",
    "alice/tools/deep.py": "",
    "alice/.git/config": "",
    "alice/match.jsonl": '{"type":"match"}',
    "alice/odd.json": '{"type":"match","log":1}',
    "alice/book.json": '{"opening":"2C"}',
    "alice/match.bob.stderr.txt": "my cards",
    "alice/logs/deep/match.jsonl": "",
    "alice/logs/deep/notes.txt": "",
    "shared/a.py": "import util_a, b\nprint('stolen.txt')\n",
    "shared/util_a.py": "",
    "shared/b.py": "",
    "shared/unnamed.txt": "",
    "shared/stolen.txt": "",
}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in TREE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path / "alice")
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    return tmp_path


def own(
    tree: Path, wanted: str, mine: str, others: tuple[str, ...] = (), shut: tuple[str, ...] = ()
) -> set[str]:
    found = reach.own_files(
        [str(tree / wanted)],
        [tree / mine],
        [tree / name for name in others],
        [tree / name for name in shut],
    )
    return {os.path.relpath(path, tree) for path in found}


def test_in_its_directory_all_but_logs_and_hidden_files(tree: Path) -> None:
    assert own(tree, "alice", "alice/bot.py") == {
        *("alice/bot.py", "alice/helper.py", "alice/more.py", "alice/weights.bin", "alice/book.json"),
        *("alice/tools", "alice/logs"),
    }


def test_around_a_log_further_down_all_else(tree: Path) -> None:
    found = own(tree, "alice", "alice/bot.py", shut=("alice/logs/deep/match.jsonl",))
    assert "alice/logs" not in found
    assert "alice/logs/deep/notes.txt" in found
    assert not any(name.endswith(".jsonl") for name in found)


def test_a_directory_with_nothing_to_hide_is_whole(tree: Path) -> None:
    assert own(tree, "alice/tools", "alice/tools/deep.py") == {"alice/tools", "alice/tools/deep.py"}


def test_in_a_shared_directory_what_its_text_names_but_no_rival(tree: Path) -> None:
    assert own(tree, "shared", "shared/a.py", others=("shared/b.py",)) == {
        *("shared/a.py", "shared/util_a.py", "shared/stolen.txt"),
    }


def test_so_in_a_home_directory(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tree / "alice"))
    found = own(tree, "alice", "alice/bot.py")
    assert found == {"alice/bot.py", "alice/helper.py", "alice/more.py", "alice/weights.bin"}


def test_a_log_is_not_its_own_even_if_its_command_names_it(tree: Path) -> None:
    assert own(tree, "alice/tools", "alice/match.jsonl") == {"alice/tools"}
    assert own(tree, "alice/tools", "alice/book.json", shut=("alice/book.json",)) == {"alice/tools"}


def test_a_venv_needs_its_interpreters_home_too(tmp_path: Path) -> None:
    base, venv = tmp_path / "python" / "bin", tmp_path / "venv"
    for place in (base, venv / "bin"):
        place.mkdir(parents=True)
    (base / "python3").touch()
    (venv / "pyvenv.cfg").write_text(f"home = {base}\nversion = 3.11\n")
    (venv / "bin" / "python").symlink_to(base / "python3")
    assert set(reach.homes_of(venv / "bin" / "python")) == {str(venv), str(tmp_path / "python")}


def test_a_program_among_secrets_is_read_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    program = tmp_path / ".local" / "bin" / "tool"
    program.parent.mkdir(parents=True)
    program.touch()
    assert reach.homes_of(program) == [str(program)]
    assert reach.homes_of(Path("/usr/bin/env")) == []


@pytest.mark.parametrize(
    ("first", "words"),
    [
        pytest.param("#!/bin/sh\n", ["/bin/sh"], id="plain"),
        pytest.param("#! /usr/bin/env -S python3 -I\n", ["/usr/bin/env", "-S", "python3", "-I"], id="env"),
        pytest.param("echo\n", [], id="none"),
    ],
)
def test_a_script_names_its_interpreter(tmp_path: Path, first: str, words: list[str]) -> None:
    path = tmp_path / "script"
    path.write_text(first)
    assert reach.shebang(path) == words


def test_programs_are_followed_to_the_last_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/usr/bin/env python3\n")
    script.chmod(0o755)
    (tmp_path / "python3").symlink_to(sys.executable)
    found = reach.programs([str(script)], f"{tmp_path}:/usr/bin")
    assert found == [script, Path("/usr/bin/env"), tmp_path / "python3"]


def test_shims_are_replaced_by_what_they_stand_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "versions" / "3.11.7" / "bin").mkdir(parents=True)
    (tmp_path / "shims").mkdir()
    (tmp_path / "version").write_text("3.11.7\n")
    monkeypatch.setenv("PATH", f"{tmp_path}/shims:relative:/usr/bin:/usr/bin")
    assert reach.search_path() == f"{tmp_path}/versions/3.11.7/bin:/usr/bin"


def test_what_any_user_may_read(tmp_path: Path) -> None:
    if os.geteuid() and not reach.open_to_all([str(tmp_path)], deep=False):
        pytest.skip("no other user can come here")
    place = tmp_path / "bot"
    place.mkdir()
    (place / "file").touch(0o600)
    tmp_path.chmod(0o755)
    place.chmod(0o755)
    if not reach.open_to_all([str(tmp_path)], deep=False):
        pytest.skip("no other user can come here")
    assert reach.open_to_all([str(place)], deep=False)
    assert not reach.open_to_all([str(place)], deep=True)
    (place / "file").chmod(0o644)
    assert reach.open_to_all([str(place)], deep=True)
    (place / "file").chmod(0o744)  # a program that others may not run
    assert not reach.open_to_all([str(place)], deep=True)


def test_no_setting_that_is_read_is_a_secret() -> None:
    for name in reach.settings():
        assert Path(name).stat().st_mode & 0o004, name
        assert "private" not in name
