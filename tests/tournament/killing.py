"""Tournaments that are killed again and again, for the tests and the benchmark."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.tournament.arena import GUARD_S, command, descendants, started, workers


def kill_and_go_on(folder: Path, words: list[object], kills: int, longest_s: float, seed: int) -> int:
    """Start a tournament and SIGKILL it at a random instant, so many times, then let it end.

    Returns how many times it was still running when it was killed.  Nothing of it may survive it.
    """
    chance = Random(seed)
    caught = 0
    for _ in range(kills):
        with started("tournament", folder, *words) as process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=chance.uniform(0, longest_s))
            below = descendants(process.pid)
            caught += process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.wait(GUARD_S)
        for pid in below:
            wait_until_gone(pid)
    done = subprocess.run(command("tournament", folder), capture_output=True, timeout=GUARD_S, check=False)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    return caught


def kill_workers(process: subprocess.Popen[str], kills: int) -> int:
    """SIGKILL workers of a tournament that runs, each as soon as it has bots; how many were hit."""
    hit: set[int] = set()
    while len(hit) < kills and process.poll() is None:
        for worker in workers(process.pid):
            if worker not in hit and len(descendants(worker)) > 1:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
                    hit.add(worker)
                break
    return len(hit)


def wait_until_gone(pid: int, still: Callable[[int], bool] = lambda _: True) -> None:
    """Return when this process is no more."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        import select

        assert select.select([descriptor], [], [], GUARD_S)[0], f"{pid} lives: {_words(pid)}"
    finally:
        os.close(descriptor)


def _words(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    return ""
