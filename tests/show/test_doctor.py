"""`arena doctor`: what it finds here, and what it would say elsewhere."""

from __future__ import annotations

import json
import sys
from typing import get_args

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from protocol.rules import Sandbox
from referee.cli import cli
from referee.show import doctor
from referee.show.doctor import Machine
from referee.table import bubblewrap
from referee.table.keep import landlock

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="tells of Linux")

DEBIAN = Machine(
    system="Linux",
    kernel="6.1.0",
    architecture="x86_64",
    landlock=2,
    seccomp=True,
    bubblewrap="0.8.0",
    bubblewrap_refuses=None,
    user_namespaces=True,
    root=False,
    own_users=False,
    sweeps=True,
)
WORKS: dict[Sandbox, str] = {"auto": "works", "none": "works", "bwrap": "works"}


def test_the_page_says_what_each_level_stops() -> None:
    result = CliRunner().invoke(cli, ["doctor"])
    assert result.exit_code == 0, result.output
    assert "Landlock" in result.output
    for level in get_args(Sandbox):
        assert f"--sandbox {level}" in result.output
    assert "reads a rival's cards" in result.output


def test_as_json() -> None:
    result = CliRunner().invoke(cli, ["doctor", "--json"])
    assert result.exit_code == 0, result.output
    report = json.loads(result.output)
    assert report["machine"]["landlock"] == landlock.abi()
    assert set(report["levels"]) == set(get_args(Sandbox))
    assert report["levels"]["none"] == "works"
    assert (report["levels"]["bwrap"] == "works") == isinstance(bubblewrap.find(), bubblewrap.Bubblewrap)
    assert all(set(danger["stopped"]) == set(get_args(Sandbox)) for danger in report["dangers"])


def stopped(machine: Machine, levels: dict[Sandbox, str] = WORKS) -> dict[str, dict[Sandbox, bool]]:
    return {danger.name: danger.stopped for danger in doctor.dangers(machine, levels)}


@pytest.mark.parametrize(
    ("machine", "name", "held"),
    [
        pytest.param(DEBIAN, "tcp", True, id="the-filter-stands-in-for-landlock-4"),
        pytest.param(DEBIAN, "rival_stopped", True, id="and-for-landlock-6"),
        pytest.param(replace(DEBIAN, seccomp=False), "rival_stopped", False, id="no-filter-no-signals-kept"),
        pytest.param(replace(DEBIAN, seccomp=False), "files_read", True, id="landlock-alone-keeps-files"),
        pytest.param(replace(DEBIAN, landlock=0), "files_read", False, id="no-landlock-no-files-kept"),
        pytest.param(replace(DEBIAN, landlock=0), "rival_hand", False, id="nor-hands"),
        pytest.param(
            replace(DEBIAN, landlock=0, root=True, own_users=True),
            "rival_hand",
            True,
            id="but-from-other-users",
        ),
        pytest.param(DEBIAN, "timing", False, id="nothing-stops-timing"),
    ],
)
def test_what_auto_stops_on_other_machines(machine: Machine, name: str, held: bool) -> None:
    assert stopped(machine)[name]["auto"] is held


def test_what_does_not_work_stops_nothing() -> None:
    refused: dict[Sandbox, str] = {**WORKS, "bwrap": "bubblewrap is not installed"}
    assert not any(levels["bwrap"] for levels in stopped(DEBIAN, refused).values())


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        pytest.param(replace(DEBIAN, landlock=0), "no Landlock", id="old-kernel"),
        pytest.param(DEBIAN, "keeps signals apart", id="older-landlock"),
        pytest.param(replace(DEBIAN, seccomp=False, architecture="riscv64"), "riscv64", id="no-filter"),
        pytest.param(replace(DEBIAN, system="Darwin"), "Only Linux", id="not-linux"),
    ],
)
def test_advice(machine: Machine, words: str) -> None:
    assert words in " ".join(doctor.advice(machine))


def test_the_package_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _name, **_more: None)
    lines = doctor.advice(replace(DEBIAN, bubblewrap=None, bubblewrap_refuses="bubblewrap is not installed"))
    assert "For --sandbox bwrap install bubblewrap: apt install bubblewrap" in lines
    assert any("apt install util-linux" in line for line in lines)


def test_a_setting_that_forbids_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name, **_more: f"/usr/bin/{name}")
    monkeypatch.setattr(doctor, "_forbidding", lambda: [("kernel.unprivileged_userns_clone", "1")])
    lines = doctor.advice(replace(DEBIAN, bubblewrap=None))
    assert any("sysctl -w kernel.unprivileged_userns_clone=1" in line for line in lines)
