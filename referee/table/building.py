"""A bot's build, confined as the bot will be: it is its author's program too, and runs before any match."""

from __future__ import annotations

import os
import select
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from protocol.rules import Conditions, Sandbox
from referee.errors import ArenaError
from referee.table import bubblewrap, confine, reach, users
from referee.table.keep import landlock, scratch, seccomp
from referee.table.keep.launch import Cage, Event, Exited, Failed, Keeper, Landlock, Launch, Spawned

LIMIT_S: Final = 300.0
"""How long a build may take."""
_LIMITS: Final = Conditions(memory_mb=4096, scratch_mb=2048, file_mb=1024, processes=1024, open_files=1024)
_KEPT: Final = 65_536

_TOOLCHAINS: Final = (
    *(".rustup", ".cargo/bin", ".cargo/registry", ".sdkman/candidates", ".nvm/versions", ".pyenv/versions"),
    *("go", ".ghcup", ".opam", ".juliaup", ".dotnet", ".m2/repository"),
)
"""What compilers keep in a home directory, as far as no secrets lie there."""


class Built(Struct, frozen=True):
    """How a build ended: an empty `failure`, or what went wrong as the end of a sentence; what it said."""

    failure: str
    output: str


def build(command: Sequence[str], folder: Path, sandbox: Sandbox, limit_s: float = LIMIT_S) -> Built:
    """Run a build command in `folder`, which it may write to, at a level of confinement."""
    confine.check(sandbox)
    root = Path(tempfile.mkdtemp(prefix="hearts-"))
    user = users.fresh() if os.geteuid() == 0 and sandbox != "none" else None
    try:
        if user is not None:
            root.chmod(0o711)
            _give(folder, user)
        with Keeper.start() as keeper:
            spawned = keeper.spawn(_launch(tuple(command), folder, root, sandbox, user))
            try:
                return _follow(keeper, spawned, limit_s)
            finally:
                for pipe in (spawned.stdin, spawned.stdout, spawned.stderr):
                    os.close(pipe)
    finally:
        if user is not None:
            _give(folder, 0)
        scratch.remove(str(root))


def _launch(command: tuple[str, ...], folder: Path, root: Path, sandbox: Sandbox, user: int | None) -> Launch:
    place = str(root / "scratch")
    path = os.environ.get("PATH", os.defpath)
    limits = confine.limits(_LIMITS, per_user=user is not None and sandbox == "auto")
    if sandbox == "none":
        cage = Cage(str(root), place, _LIMITS.scratch_mb, _LIMITS.memory_mb)
        return Launch(command, _environment(place, path), str(folder), limits, cage=cage)
    path = reach.search_path()
    homes = [str(Path.home() / name) for name in _TOOLCHAINS if (Path.home() / name).exists()]
    homes += [home for program in reach.programs(command, path) for home in reach.homes_of(program)]
    filtered = seccomp.offered()
    if sandbox == "bwrap":
        bwrap = bubblewrap.find()
        assert isinstance(bwrap, bubblewrap.Bubblewrap)
        argv = bubblewrap.command(
            bwrap,
            command,
            _environment(bubblewrap.HOME, path),
            {home: home for home in homes},
            user=user,
            scratch=_LIMITS.scratch_mb << 20,
            processes=_LIMITS.processes,
            filtered=filtered,
            write=str(folder),
        )
        cage = Cage(
            str(root),
            memory_mb=_LIMITS.memory_mb,
            calls="alone" if filtered else "",
            inside=command,
            inside_path=path,
        )
        return Launch(argv, _environment("/", path), "/", limits, cage=cage)
    rules = None
    if landlock.abi():
        read = (*reach.SYSTEM, *reach.settings(), *reach.kernel_files(), *homes)
        rules = Landlock(read=read, write=(place, str(folder)))
    cage = Cage(
        str(root),
        place,
        _LIMITS.scratch_mb,
        _LIMITS.memory_mb,
        user,
        users.reading_capabilities([]) if user and rules and filtered else (),
        "build" if filtered else "",
    )
    return Launch(command, _environment(place, path), str(folder), limits, rules, cage)


def _environment(home: str, path: str) -> dict[str, str]:
    found = dict(confine.environment(home, path))
    rustup = Path(os.environ.get("RUSTUP_HOME", Path.home() / ".rustup"))
    if rustup.is_dir():
        found |= {"RUSTUP_HOME": str(rustup), "CARGO_HOME": f"{home}/cargo", "CARGO_NET_OFFLINE": "true"}
    return found


def _follow(keeper: Keeper, spawned: Spawned, limit_s: float) -> Built:
    """Wait for the end of a build and keep the last of what it says."""
    said = bytearray()
    pipes = {spawned.stdout, spawned.stderr}
    deadline = time.monotonic() + limit_s
    late = False
    while True:
        left = deadline - time.monotonic()
        if left < 0 and not late:
            late = True
            keeper.kill(spawned.key)
        ready, _, _ = select.select([keeper.fileno(), *pipes], [], [], 10.0 if late else max(left, 0.0))
        if late and not ready:
            raise ArenaError("a build that is out of time cannot be ended")
        for pipe in pipes.intersection(ready):
            if not _read(pipe, said):
                pipes.discard(pipe)
        for event in keeper.events() if keeper.fileno() in ready else ():
            failure = _ending(event, limit_s if late else 0)
            if failure is not None:
                for pipe in pipes:
                    _read(pipe, said)
                return Built(failure, said.decode(errors="replace"))


def _ending(event: Event, out_of_time_s: float) -> str | None:
    match event:
        case Failed(why=why):
            return why
        case Exited() if out_of_time_s:
            return f"was not done in {out_of_time_s:g} s"
        case Exited(why=why) if why:
            return f"was ended: {why}"
        case Exited(status=status) if status < 0:
            return f"was ended by {signal.Signals(-status).name}"
        case Exited(status=status):
            return f"ended with status {status}" if status else ""
    return None


def _read(pipe: int, said: bytearray) -> bool:
    """Take what a pipe holds now; False at its end."""
    try:
        data = os.read(pipe, _KEPT)
    except BlockingIOError:
        return True
    said += data
    del said[:-_KEPT]
    return bool(data)


def _give(folder: Path, user: int) -> None:
    """Make a directory and all in it another user's, so that a build that is not root can write there."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, user, follow_symlinks=False)
