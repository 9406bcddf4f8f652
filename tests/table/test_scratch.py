"""Scratch directories: measured and removed whatever lies in them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from referee.table.keep import scratch

DEPTH = 2_000


def deep(place: Path) -> None:
    """Nest directories deeper than any path can be long."""
    inside = os.open(place, os.O_RDONLY)
    for _ in range(DEPTH):
        os.mkdir("deeper", dir_fd=inside)
        below = os.open("deeper", os.O_RDONLY, dir_fd=inside)
        os.close(inside)
        inside = below
    os.close(os.open("bottom", os.O_WRONLY | os.O_CREAT, dir_fd=inside))
    os.close(inside)


def locked(place: Path) -> None:
    (place / "a/b/c").mkdir(parents=True)
    (place / "a/b/c/file").touch()
    for name in ("a/b/c/file", "a/b/c", "a/b", "a"):
        (place / name).chmod(0)


def links(place: Path) -> None:
    (place / "root").symlink_to("/")
    (place / "loop").symlink_to("loop")
    (place / "beside").symlink_to(place.parent / "beside")
    os.mkfifo(place / "pipe")


def names(place: Path) -> None:
    for name in (b"\xff\n\\", b"-rf", b" ", b"*", b"x" * 255):
        (place / os.fsdecode(name)).mkdir()


def many(place: Path) -> None:
    for number in range(2_500):
        (place / f"file-{number}").touch()


def read_only(place: Path) -> None:
    (place / "file").touch()
    (place / "inner").mkdir()
    (place / "inner" / "file").touch()
    (place / "inner").chmod(0o500)
    place.chmod(0o500)


@pytest.mark.parametrize(
    "litter", [deep, locked, links, names, many, read_only], ids=lambda each: each.__name__
)
def test_removed_whatever_lies_in_it(tmp_path: Path, litter) -> None:
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "kept").touch()
    place = tmp_path / "scratch"
    place.mkdir()
    litter(place)
    before = len(list(Path("/dev/fd").iterdir()))
    scratch.measure(str(place), 1 << 30)
    scratch.remove(str(place))
    assert not os.path.lexists(place)
    assert (tmp_path / "beside" / "kept").exists()
    assert len(list(Path("/dev/fd").iterdir())) == before


def test_removing_what_is_not_there_is_no_mistake(tmp_path: Path) -> None:
    scratch.remove(str(tmp_path / "nothing"))
    (tmp_path / "file").touch()
    scratch.remove(str(tmp_path / "file"))
    assert not (tmp_path / "file").exists()


def test_it_goes_in_steps(tmp_path: Path) -> None:
    place = tmp_path / "scratch"
    place.mkdir()
    many(place)
    steps = scratch.removing(str(place))
    next(steps)
    assert 0 < len(list(place.iterdir())) < 2_500
    assert len(list(steps)) >= 2
    assert not place.exists()


def test_each_large_file_is_a_step(tmp_path: Path) -> None:
    place = tmp_path / "scratch"
    place.mkdir()
    for number in range(3):
        with (place / str(number)).open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, 20 << 20)
    assert len(list(scratch.removing(str(place)))) == 3
    assert not place.exists()


def test_what_is_measured(tmp_path: Path) -> None:
    place = tmp_path / "scratch"
    (place / "a" / "b").mkdir(parents=True)
    for number, name in enumerate(("x", "a/x", "a/b/x", "a/b/y"), start=1):
        (place / name).write_bytes(b"x" * 100_000 * number)
    used, entries = scratch.measure(str(place), 1 << 30)
    assert entries == 6
    assert 1_000_000 <= used < 1_100_000


def test_a_hole_takes_no_room(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.truncate(tmp_path / "file", 1 << 30)
    assert scratch.measure(str(tmp_path), 1 << 30)[0] < 1 << 20


@pytest.mark.parametrize("mode", [0, 0o300, 0o400], ids=oct)
def test_what_a_bot_has_locked_is_measured(tmp_path: Path, mode: int) -> None:
    """It owns its directories as we do if we are not root, and may make them without these rights."""
    place = tmp_path / "scratch"
    (place / "a" / "b").mkdir(parents=True)
    (place / "a" / "b" / "file").write_bytes(b"x" * 1_000_000)
    for name in ("a/b", "a", "."):
        (place / name).chmod(mode)
    used, entries = scratch.measure(str(place), 1 << 30)
    assert entries == 3
    assert used >= 1_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_the_machines_own_files_are_not_those_of_a_sandbox() -> None:
    """A sandbox's first processes begin with our root."""
    assert scratch.entries_inside(["/proc/self/root", "/proc/no-such/root"], ["/tmp"]) == 0


def test_nothing_outside_is_unlocked(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "beside").mkdir(mode=0)
    (tmp_path / "scratch" / "link").symlink_to(tmp_path / "beside")
    assert scratch.measure(str(tmp_path / "scratch"), 1 << 30)[1] == 1
    assert not (tmp_path / "beside").stat().st_mode & 0o777


def test_it_is_measured_to_the_bottom(tmp_path: Path) -> None:
    deep(tmp_path)
    assert scratch.measure(str(tmp_path), 1 << 30)[1] == DEPTH + 1
    scratch.remove(str(tmp_path / "deeper"))


def test_no_more_is_looked_at_than_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "MOST_ENTRIES", 100)
    many(tmp_path)
    assert scratch.measure(str(tmp_path), 1 << 30)[1] == 101
