"""Bubblewrap: a bot in namespaces of its own, with nothing there but the system, its files, a private /tmp.

An ordinary user makes them through a user namespace.  Root needs none: its bubblewrap keeps just the
capabilities to become another user inside, for a bot that is root in no namespace can undo nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from referee.table import reach
from referee.table.keep.child import FILTER

HOME: Final = "/tmp"
"""The bot's working directory, home and scratch inside."""

_PATH: Final = "/usr/bin:/bin:/usr/sbin:/sbin"
_SHARED: Final = "/dev/shm"
_SHARED_MEMORY: Final = 64 << 20
SCRATCHES: Final = (HOME, _SHARED)
"""All places inside where it may write."""

_PROBE_LIMIT_S: Final = 10
_LINKS: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")


class Bubblewrap(Struct, frozen=True):
    """The bubblewrap of this machine: where it is, and whether it can forbid more user namespaces inside."""

    path: str
    version: str
    disables_userns: bool


@cache
def find() -> Bubblewrap | str:
    """The bubblewrap that works here, or why none does."""
    path = shutil.which("bwrap", path=os.environ.get("PATH", "") + os.pathsep + _PATH)
    if path is None:
        return "bubblewrap is not installed (Debian's package: bubblewrap)"
    for tool in ("prlimit", *(("setpriv",) if os.geteuid() == 0 else ())):
        if shutil.which(tool, path=_PATH) is None:
            return f"{tool} is not installed (Debian's package: util-linux)"
    said = _run([path, "--version"]).stdout.split()
    version = said[-1] if said else "of unknown version"
    refused = "it does not start"
    for disables in (True, False):
        candidate = Bubblewrap(path, version, disables and os.geteuid() != 0)
        user = 65_534 if os.geteuid() == 0 else None
        trial = _run(
            command(candidate, ("true",), {}, {}, user=user, scratch=1 << 20, processes=0, filtered=False)
        )
        if trial.returncode == 0:
            return candidate
        refused = trial.stderr.strip().splitlines()[-1] if trial.stderr.strip() else refused
    return f"bubblewrap {version} cannot make its namespaces here: {refused}"


def command(
    bwrap: Bubblewrap,
    bot: Sequence[str],
    env: Mapping[str, str],
    read: Mapping[str, str],
    *,
    user: int | None,
    scratch: int,
    processes: int,
    filtered: bool,
    write: str = "",
) -> tuple[str, ...]:
    """The command that runs `bot` inside, as `user` if we are root.

    `read` says what is bound, and where from; `write` is bound too and is where it works.
    """
    words = [bwrap.path, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--hostname", "bot", "--die-with-parent", "--new-session"]
    words += ["--cap-drop", "ALL"]
    if user is None:
        words.append("--unshare-user")
        if bwrap.disables_userns:
            words.append("--disable-userns")
    else:
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
            words += ["--cap-add", capability]
    words.append("--clearenv")
    for name, value in env.items():
        words += ["--setenv", name, value]
    words += _system()
    words += ["--proc", "/proc", "--dev", "/dev"]
    sizes = ((_SHARED, _SHARED_MEMORY), (HOME, scratch))
    for place, size in sizes:
        words += ["--perms", "1777", *(["--size", str(size)] if size else []), "--tmpfs", place]
    made: set[str] = set()
    for name in _topmost(read):
        words += [*_way_to(name, made), "--ro-bind", read[name], name]
    if write:
        words += [*_way_to(write, made), "--bind", write, write]
    words += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", write or HOME]
    if filtered:
        words += ["--seccomp", FILTER]
    words.append("--")
    if processes:
        words += ["/usr/bin/prlimit", f"--nproc={processes}:{processes}", "--"]
    if user is not None:
        words += ["/usr/bin/setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        words += ["--inh-caps=-all", "--bounding-set=-all", "--"]
    return (*words, *bot)


def _system() -> list[str]:
    words = []
    for place in reach.SYSTEM:
        path = Path(place)
        if place in _LINKS and path.is_symlink():
            words += ["--symlink", str(path.readlink()), place]
        else:
            words += ["--ro-bind", place, place]
    made: set[str] = set()
    for place in reach.settings():
        words += [*_way_to(place, made), "--ro-bind-try", place, place]
    return words


def _way_to(name: str, made: set[str]) -> list[str]:
    """Make the directories that lead there: made by bubblewrap itself, they are closed to other users."""
    words: list[str] = []
    for parent in map(str, reversed(Path(name).parents[:-1])):
        if parent not in made:
            made.add(parent)
            words += ["--perms", "0755", "--dir", parent]
    return words


def _topmost(names: Iterable[str]) -> list[str]:
    """The places to bind, those that lie in another or in the system left out."""
    places = [Path(name) for name in dict.fromkeys(names) if Path(name).exists()]
    places = [place for place in places if not any(place.is_relative_to(system) for system in reach.SYSTEM)]
    all_of_them = set(places)
    return [str(place) for place in places if all_of_them.isdisjoint(place.parents)]


def _run(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=False,
            timeout=_PROBE_LIMIT_S,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(words, 1, "", str(error))
