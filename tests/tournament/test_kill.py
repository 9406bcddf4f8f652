"""Whatever is killed, and when: the end is that of an undisturbed run, row for row but for the times."""

from __future__ import annotations

import json
import os
import select
import signal
from pathlib import Path

import pytest

from tests.tournament.arena import (
    FOUR,
    GUARD_S,
    QUICK,
    descendants,
    logs,
    play,
    results,
    rogue,
    started,
    workers,
)
from tests.tournament.killing import kill_and_go_on, kill_workers, wait_until_gone

DEALS = 12
WORDS = [*FOUR, *QUICK, "--deals", DEALS, "--batch-time", "1ms"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "t"
    play(folder, "--deals", DEALS)
    return folder


def test_a_tournament_killed_at_random_instants(tmp_path: Path, undisturbed: Path):
    assert kill_and_go_on(tmp_path / "t", WORDS, kills=4, longest_s=4, seed=1)
    assert results(tmp_path / "t") == results(undisturbed)
    assert logs(tmp_path / "t") == logs(undisturbed)


def test_workers_killed_as_they_play(tmp_path: Path, undisturbed: Path):
    folder = tmp_path / "t"
    with started("tournament", folder, *WORDS, "--jobs", 2) as process:
        assert kill_workers(process, 3) == 3
        said, _ = process.communicate(timeout=GUARD_S)
    assert process.returncode == 0, said
    assert results(folder) == results(undisturbed)
    assert logs(folder) == logs(undisturbed)
    journal = [json.loads(line)["what"] for line in (folder / "journal.jsonl").read_text().splitlines()]
    assert sum("A worker died" in what for what in journal) == 3


def test_a_batch_that_always_loses_its_worker_is_left_out_and_told(tmp_path: Path):
    killer = tmp_path / "killer.py"
    killer.write_text(
        "import os, signal\n"
        "def parent(pid):\n"
        "    return int(open(f'/proc/{pid}/stat').read().rpartition(')')[2].split()[1])\n"
        "input()\n"
        "os.kill(parent(os.getppid()), signal.SIGKILL)\n"
        "input()\n"
    )
    folder = tmp_path / "t"
    said = play(folder, "--deals", 1, "--jobs", 1, bots=(*FOUR[:3], f"killer={killer}"), status=1)
    assert "The deals 1 to 1 are not all played" in said
    assert results(folder) == []
    play(folder, "--withdraw", "killer", "--deals", 1, bots=())
    assert len(results(folder)) == 12


def test_ctrl_c_ends_everything_and_says_how_to_go_on(tmp_path: Path):
    folder = tmp_path / "t"
    with started("tournament", folder, rogue("slow", "slow:50", times=0), *FOUR[1:], *QUICK) as process:
        assert process.stdout
        while not (below := descendants(process.pid)) or len(below) < 8:
            assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        said = process.stdout.read()
        process.wait(GUARD_S)
    assert process.returncode == 130, said
    assert f"Go on with: arena tournament {folder}" in said
    assert "Traceback" not in said
    for pid in below:
        wait_until_gone(pid)


def test_nothing_of_a_deal_is_on_the_disk_before_it_is_whole(tmp_path: Path):
    folder = tmp_path / "t"
    with started("tournament", folder, *WORDS, "--jobs", 2) as process:
        descriptor = os.pidfd_open(process.pid)
        while not select.select([descriptor], [], [], 0)[0]:
            if (folder / "results.db").exists() and (folder / "logs.db").exists():
                seatings: dict[str, int] = {}
                for row in results(folder):
                    seatings[row[1]] = seatings.get(row[1], 0) + 1
                assert set(seatings.values()) <= {4}
        os.close(descriptor)
        process.communicate(timeout=GUARD_S)
    assert len(results(folder)) == 4 * DEALS


def test_a_keeper_killed_is_a_worker_lost(tmp_path: Path, undisturbed: Path):
    folder = tmp_path / "t"
    with started("tournament", folder, *WORDS, "--jobs", 1) as process:
        keeper = None
        while keeper is None:  # the one child of a worker, once it has bots
            assert process.poll() is None
            for worker in workers(process.pid):
                if len(below := descendants(worker)) > 1:
                    keeper = below[0]
        os.kill(keeper, signal.SIGKILL)
        said, _ = process.communicate(timeout=GUARD_S)
    assert process.returncode == 0, said
    assert results(folder) == results(undisturbed)
