"""Tournaments on a Dask cluster: scheduler and workers are started for each test as an operator would."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from msgspec.structs import replace

from referee.errors import ArenaError
from referee.table.roster import find_bot
from referee.tournament.plan import Entrant, Plan
from referee.tournament.work import Task
from referee.tournament.work import play as play_task
from tests.tournament.arena import FOUR, GUARD_S, QUICK, ROOT, descendants, play, results, started
from tests.tournament.killing import wait_until_gone

DEALS = 6
NO_DASK = pytest.mark.skipif(find_spec("distributed") is None, reason="the extra `cluster` is not installed")


class Cluster:
    """A scheduler on this machine, and what is started for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        scheduler = self._start("scheduler", "--port", 0, "--no-dashboard", "--scheduler-file", file)
        while not file.exists() or not (text := file.read_text()):
            assert scheduler.poll() is None, "the scheduler has ended"
        self.address: str = json.loads(text)["address"]

    def worker(self) -> subprocess.Popen[bytes]:
        """Start a worker without a nanny, so that what is killed stays dead."""
        return self._start(
            *(
                "worker",
                self.address,
                "--nthreads",
                1,
                "--resources",
                "bots=1",
                "--no-nanny",
                "--no-dashboard",
            ),
            *("--local-directory", self.folder),
        )

    def _start(self, *words: object) -> subprocess.Popen[bytes]:
        with (self.folder / "dask.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *map(str, words)],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
            )
        self.processes.append(process)
        return process

    def end(self) -> None:
        """End everything that was started."""
        for process in reversed(self.processes):
            below = descendants(process.pid)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(GUARD_S)
            for pid in below:
                wait_until_gone(pid)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path)
    try:
        yield cluster
    finally:
        cluster.end()


@NO_DASK
def test_three_workers_of_which_one_is_killed(tmp_path: Path, cluster: Cluster):
    workers = [cluster.worker() for _ in range(3)]
    words = (*FOUR, *QUICK, "--deals", DEALS, "--batch-time", "1ms")
    with started("tournament", tmp_path / "there", *words, "--cluster", cluster.address) as process:
        busy = None
        while busy is None:  # one whose bots have started
            assert process.poll() is None
            busy = next((worker for worker in workers if len(descendants(worker.pid)) > 2), None)
        busy.kill()
        said, _ = process.communicate(timeout=GUARD_S)
    assert process.returncode == 0, said
    play(tmp_path / "here", "--deals", DEALS)
    assert results(tmp_path / "there") == results(tmp_path / "here")


@NO_DASK
def test_a_scheduler_that_ends_is_told_in_a_sentence(tmp_path: Path, cluster: Cluster):
    worker = cluster.worker()
    words = (*FOUR, *QUICK, "--deals", 5000, "--cluster", cluster.address)
    with started("tournament", tmp_path / "t", *words) as process:
        while len(descendants(worker.pid)) <= 2:
            assert process.poll() is None
        cluster.processes[0].kill()
        said, _ = process.communicate(timeout=GUARD_S)
    assert process.returncode == 1
    assert "The scheduler of the workers is gone." in said
    assert "Traceback" not in said


def test_a_bot_that_another_machine_has_otherwise_is_refused(tmp_path: Path):
    program = tmp_path / "bot.py"
    shutil.copy(ROOT / "example_bots" / "duck.py", program)
    bots = (replace(find_bot(str(program)), name="mine"), replace(find_bot("duck"), name="duck"))
    plan = Plan(
        bots=tuple(
            Entrant(bot.name, run, bot.fingerprint)
            for bot, run in zip(bots, (str(program), "duck"), strict=True)
        ),
        seed="elsewhere",
    )
    task = Task(plan=plan, deals=(0,), bots=bots, elsewhere=True)
    program.write_text("# another\n" + program.read_text())
    with pytest.raises(ArenaError, match=rf"On .* the bot mine .{program}. is not what it is where"):
        play_task(task)
    program.unlink()
    with pytest.raises(ArenaError, match=r"On .* the bot mine is missing\."):
        play_task(task)


@NO_DASK
def test_a_scheduler_that_is_not_there_is_told_in_a_sentence(tmp_path: Path):
    said = play(tmp_path / "t", "--cluster", "tcp://127.0.0.1:1", status=1)
    assert "There is no Dask scheduler at tcp://127.0.0.1:1" in said
    assert "Traceback" not in said


@NO_DASK
def test_an_address_that_is_none_is_told_in_a_sentence(tmp_path: Path):
    said = play(tmp_path / "t", "--cluster", "nowhere in particular", status=1)
    assert "There is no Dask scheduler at nowhere in particular" in said
    assert "Traceback" not in said


def test_without_the_extra_it_says_what_to_install(tmp_path: Path):
    (tmp_path / "distributed.py").write_text("raise ImportError\n")
    surroundings = os.environ | {"PYTHONPATH": str(tmp_path)}
    said = play(tmp_path / "t", "--cluster", "tcp://127.0.0.1:1", status=1, env=surroundings)
    assert "pip install 'hearts-arena[cluster]'" in said
