"""The spying bot at every level: what it gets, and that it gets nothing else.

It is told the process of a rival, the log, a file that is none of its business, and where listeners are; two
of its kind sit at the table and try to meet.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from protocol.rules import conditions_from
from referee.game.events import SeatRecord
from referee.table import bubblewrap, users
from referee.table.confine import Confinement
from referee.table.keep import landlock
from referee.table.keep.launch import Exited, Keeper, Started

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines")

FOUND = bubblewrap.find()
NO_BWRAP = pytest.mark.skipif(isinstance(FOUND, str), reason=str(FOUND))
NO_LANDLOCK = pytest.mark.skipif(not landlock.abi(), reason="this kernel has no Landlock")
LEVELS = ["none", pytest.param("auto", marks=NO_LANDLOCK), pytest.param("bwrap", marks=NO_BWRAP)]
BOTS = Path(__file__).parents[1] / "bots"
ROOT = os.geteuid() == 0
ATTEMPTS = [
    line.split()[0]
    for line in subprocess.run(
        [sys.executable, BOTS / "spy.py", "--list"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
]

HARMLESS = {
    "none": set(),
    "auto": {
        "rival_list",  # it was told by the test
        "no_limits",  # memory is watched, not limited by address space
        "capabilities",  # to read what is root's, as far as Landlock lets it
    },
    "bwrap": {
        "rival_list",
        "no_limits",
        "write_dev_shm",  # of its own
        "root_directory",  # with the way to the arena's interpreter, if that is there
        "home_directory",  # the sandbox's "/", if the user has no other
        # Its only parent in sight is the first process of its own sandbox, which holds what it holds itself.
        *("referee_cmdline", "referee_environ", "referee_cwd", "referee_descriptors", "referee_signal_0"),
    },
}
"""What the spy may get where it is confined, for it is nobody else's."""

STOPPED_AT_NONE = {
    *("inherited_descriptors", "inherited_environment", "rival_names", "seed", "raise_limits"),
}

START = {"type": "start", "id": 1, "seat": 0, "players": ["seat-0", "seat-1", "seat-2", "seat-3"]}
PLAY = {"type": "play", "id": 2, "hand": 1, "seat": 0, "cards": ["2C"], "legal": ["2C"], "tricks": []}


@pytest.fixture(scope="module", params=LEVELS)
def findings(request: pytest.FixtureRequest, tmp_path_factory) -> Iterator[tuple[str, dict[str, str]]]:
    """The level, and what one spy of two found beside a rival."""
    from tests.table.conftest import Bench

    folder = tmp_path_factory.mktemp("spying")
    with Keeper.start() as keeper:
        bench = Bench(keeper)
        yield request.param, _spy(bench, folder, request.param)
        bench.let_go()


def _spy(bench: Any, folder: Path, level: str) -> dict[str, str]:
    for name in ("spies", "rivals"):
        shutil.copytree(BOTS, folder / name, ignore=shutil.ignore_patterns("__pycache__", "rogue.py"))
    shutil.copy(BOTS / "rogue.py", folder / "rivals")
    log, secret = folder / "spies" / "match.jsonl", folder / "secret"
    for path in (log, secret):
        path.write_text('{"type":"match"}\n')
    tcp = socket.create_server(("127.0.0.1", 0))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    name = f"hearts-arena-spied-{os.getpid()}"
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(f"\0{name}")
    unix.listen()

    def seat(number: int, program: Path, *words: str) -> SeatRecord:
        command = (sys.executable, "-S", "-E", str(program), *words)
        files = (str(program.parent),)
        return SeatRecord(seat=number, name=f"b{number}", command=command, cwd=files[0], files=files)

    with tcp, udp, unix, Confinement(conditions_from({"sandbox": level}), private=[log]) as confinement:

        def start(record: SeatRecord) -> Any:
            spawned = bench.keeper.spawn(confinement.launch(record))
            bench.spawned.append(spawned)
            return spawned

        rival = start(seat(0, folder / "rivals" / "rogue.py", "honest"))
        target = bench.wait(Started, rival.key).pid
        said = [
            *("--tcp", str(tcp.getsockname()[1]), "--udp", str(udp.getsockname()[1]), "--unix", name),
            *("--log", str(log), "--secret", str(secret), "--target", str(target)),
        ]
        spies = [start(seat(number, folder / "spies" / "spy.py", *said)) for number in (1, 2)]
        for number, spy in enumerate(spies, start=1):
            _ask(bench, spy, START | {"seat": number})
        # Both leave their marks at a first question, and look for the other's at a second.
        for question in (PLAY | {"cards": ["2C", "3C"]}, PLAY | {"id": 3}):
            for number, spy in enumerate(spies, start=1):
                _ask(bench, spy, question | {"seat": number})
        for spy in spies:
            os.close(os.dup(spy.stdin))
        found = [json.loads(bench.read_until(spy.stderr, b"\n", 1)) for spy in spies]
        for spy in (*spies, rival):
            bench.keeper.kill(spy.key)
            bench.wait(Exited, spy.key)
    # Of those that meet, the second may find what the first has left.
    met = {name: found[1][name] for name in found[1] if name.startswith("meet_")}
    return found[0] | {name: verdict for name, verdict in met.items() if verdict.startswith("GOT")}


def _ask(bench: Any, spy: Any, question: dict[str, Any]) -> None:
    os.write(spy.stdin, json.dumps(question).encode() + b"\n")
    bench.read_until(spy.stdout, b"\n", 1)


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_what_the_spy_gets(findings: tuple[str, dict[str, str]], attempt: str) -> None:
    level, found = findings
    verdict = found[attempt]
    assert not verdict.startswith("broken"), verdict
    if level == "none":
        if attempt in STOPPED_AT_NONE:
            assert verdict.startswith("denied"), verdict
    elif attempt not in HARMLESS[level]:
        assert verdict.startswith("denied"), verdict


@pytest.mark.skipif(not ROOT, reason="only root has capabilities to keep")
@pytest.mark.parametrize("level", LEVELS[1:])
def test_nothing_is_kept_where_every_user_may_read(bench, level: str) -> None:
    with Confinement(conditions_from({"sandbox": level})) as confinement:
        seat = SeatRecord(seat=0, name="b", command=("grep", "-E", "Uid|Cap|NoNew", "/proc/self/status"))
        spawned = bench.keeper.spawn(confinement.launch(seat))
        bench.spawned.append(spawned)
        said = dict(line.split(":", 1) for line in bench.read_all(spawned.stdout).decode().splitlines())
        assert {int(said[name], 16) for name in said if name.startswith("Cap")} == {0}
        assert set(said["Uid"].split()) & {"0", str(users.NOBODY)} == set()
        assert said["NoNewPrivs"].strip() == "1"
