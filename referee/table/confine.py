"""What surrounds a bot: its environment, a scratch directory, limits, and what it may touch.

`none` only tidies up around it.  `auto` adds what the kernel gives without privileges: Landlock, a filter of
system calls, and where the arena is root a user of its own.  `bwrap` puts it into namespaces.  What each
level stops is told in `spec/confinement.md`.  [protocol 2.2]
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from protocol.rules import Conditions, Sandbox
from referee.errors import ArenaError
from referee.game.events import SeatRecord
from referee.table import bubblewrap, reach, users
from referee.table.keep import landlock, scratch, seccomp
from referee.table.keep.launch import Cage, Landlock, Launch

_MB: Final = 1 << 20
_MANY: Final = 50
_DATA_SHARE: Final = 16
"""The part of the machine's memory that a bot may always reserve: what runtimes do grows with the machine."""


class Confinement:
    """The surroundings of all bots of one match; leaving it removes their scratch directories.

    `private` are files and directories that no bot may read, the match log first of all.
    """

    def __init__(
        self, conditions: Conditions, seats: Iterable[SeatRecord] = (), private: Iterable[Path] = ()
    ) -> None:
        self.conditions = conditions
        self._seats = tuple(seats)
        self._private = tuple(private)
        self._root = Path()
        self._started = 0

    def __enter__(self) -> Self:
        check(self.conditions.sandbox)
        self._root = Path(tempfile.mkdtemp(prefix="hearts-"))
        if os.geteuid() == 0:
            self._root.chmod(0o711)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        scratch.remove(str(self._root))

    def launch(self, seat: SeatRecord) -> Launch:
        """How this seat's bot is started."""
        self._started += 1
        place = str(self._root / str(self._started))
        level = self.conditions.sandbox
        if level == "none":
            return self._plain(seat, place, Cage(scratch=place, calls=""), None)
        own = self._own_files(seat)
        command = absolute(seat)
        path = reach.search_path()
        homes = [home for program in reach.programs(command, path) for home in reach.homes_of(program)]
        if level == "bwrap":
            return self._wrapped(command, path, homes, own)
        user, capabilities = self._user(homes, own)
        cage = Cage(
            scratch=place,
            user=user,
            capabilities=capabilities,
            calls="bot" if seccomp.offered() else "",
        )
        rules = None
        if landlock.abi():
            read = (*reach.SYSTEM, *reach.settings(), *reach.kernel_files(), *homes, *own)
            lists = tuple(str(Path(each).parent) for each in own)
            rules = Landlock(read=read, write=(place,), lists=lists)
        return self._plain(seat, place, cage, rules)

    def _plain(self, seat: SeatRecord, place: str, cage: Cage, rules: Landlock | None) -> Launch:
        conditions = self.conditions
        return Launch(
            argv=absolute(seat),
            env=environment(place, reach.search_path()),
            cwd=place,
            limits=limits(conditions, per_user=cage.user not in (None, 0)),
            landlock=rules,
            cage=_with_sizes(cage, conditions),
        )

    def _wrapped(self, command: tuple[str, ...], path: str, homes: list[str], own: list[str]) -> Launch:
        conditions = self.conditions
        bwrap = bubblewrap.find()
        assert isinstance(bwrap, bubblewrap.Bubblewrap)
        user = (users.fresh() or users.NOBODY) if os.geteuid() == 0 else None
        read = {place: place for place in (*homes, *own)}
        closed = user is not None and not reach.open_to_all(own, deep=True)
        if closed or len(own) > _MANY:
            read = {place: place for place in homes} | self._staged(own, open_all=closed)
        argv = bubblewrap.command(
            bwrap,
            command,
            environment(bubblewrap.HOME, path),
            read,
            user=user,
            scratch=conditions.scratch_mb * _MB,
            processes=conditions.processes,
            filtered=seccomp.offered(),
        )
        cage = Cage(
            base=str(self._root),
            calls="alone" if seccomp.offered() else "",
            inside=command,
            inside_path=path,
            inside_scratches=bubblewrap.SCRATCHES,
            scratch_mb=conditions.scratch_mb,
            memory_mb=conditions.memory_mb,
        )
        return Launch(argv, environment("/", path), "/", limits(conditions, per_user=False), cage=cage)

    def _staged(self, own: list[str], *, open_all: bool) -> dict[str, str]:
        """A bot's files gathered in directories of ours, to be bound where theirs are.

        Many entries cannot be bound one by one: it takes 20 s for 2,000.  With `open_all` they become copies
        that any user may read, for a bot that is not root in root's sandbox.
        """
        paths = [path for path in map(Path, own) if path.exists()]
        parents = {path.parent for path in paths}
        tops = [parent for parent in parents if parents.isdisjoint(parent.parents)]
        stages = {top: self._root / f"{self._started}.{number}" for number, top in enumerate(tops)}
        copy = shutil.copy2 if open_all else _link_or_copy
        for top, stage in stages.items():
            for path in paths:
                if path.is_relative_to(top):
                    _copy(path, stage / path.relative_to(top), copy)
            for path in (stage, *stage.rglob("*")) if open_all else (stage,):
                if not path.is_symlink():
                    mode = path.stat().st_mode
                    path.chmod(mode | 0o444 | (0o111 if path.is_dir() or mode & 0o100 else 0))
        return {str(top): str(stage) for top, stage in stages.items()}

    def _own_files(self, seat: SeatRecord) -> list[str]:
        own = _named_files(seat)
        others = {
            path
            for other in self._seats
            if other.seat != seat.seat
            for path in _named_files(other)[:1]
            if path not in own[:1]
        }
        mine = [path for path in own if path not in others]
        return reach.own_files(seat.files, mine, others, [*self._private, self._root])

    def _user(self, homes: Iterable[str], own: Iterable[str]) -> tuple[int | None, tuple[int, ...]]:
        """Whom the bot runs as, if we are root, and what it needs to reach its files all the same.

        Only Landlock makes it safe to read in spite of modes; without it the bot stays among root's files.
        """
        if os.geteuid() != 0:
            return None, ()
        if reach.open_to_all(homes, deep=False) and reach.open_to_all(own, deep=True):
            return users.fresh() or 0, ()
        user = users.fresh() if landlock.abi() and seccomp.offered() else None
        return (0, ()) if user is None else (user, users.reading_capabilities(own))


def check(level: Sandbox) -> None:
    """Raise ArenaError if this machine cannot confine at this level."""
    if level == "bwrap" and isinstance(found := bubblewrap.find(), str):
        raise ArenaError(f"--sandbox bwrap is not possible: {found}; `arena doctor` says more.")


def describe(level: Sandbox) -> str:
    """A level as it is on this machine: `auto (Landlock 7)`."""
    if level == "none":
        return "none (any bot can read and stop the others)"
    if level == "bwrap":
        found = bubblewrap.find()
        return f"bwrap ({found.version})" if isinstance(found, bubblewrap.Bubblewrap) else "bwrap"
    parts = [f"Landlock {landlock.abi()}" if landlock.abi() else "no Landlock"]
    parts += ["seccomp"] if seccomp.offered() else []
    return f"auto ({', '.join(parts)})"


def limits(conditions: Conditions, *, per_user: bool) -> dict[str, int]:
    """Resource limits for each process of a bot; the memory of them all is watched, not limited so.

    Address space is of no use as a limit: Java and V8 reserve far more than they touch.  The limit on data is
    a backstop against what allocates faster than the keeper looks.
    """
    found = {"RLIMIT_CORE": 0}
    if conditions.file_mb:
        found["RLIMIT_FSIZE"] = conditions.file_mb * _MB
    if conditions.open_files:
        found["RLIMIT_NOFILE"] = conditions.open_files
    if conditions.memory_mb:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        found["RLIMIT_DATA"] = max(4 * conditions.memory_mb * _MB, machine // _DATA_SHARE)
    if conditions.processes and per_user:
        found["RLIMIT_NPROC"] = conditions.processes
    return found


def environment(home: str, path: str) -> Mapping[str, str]:
    """The few variables that a bot is given: nothing of the operator's but PATH."""
    return {"PATH": path, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8"}


def absolute(seat: SeatRecord) -> tuple[str, ...]:
    """The command with relative paths made absolute, as in `-cp .` or `--book=b.txt`: it runs elsewhere."""
    here = Path(seat.cwd)

    def found(word: str) -> str:
        head, equals, tail = word.rpartition("=")
        if not tail or tail.startswith(("/", "-")) or "\0" in word:
            return word
        try:
            there = (here / tail).exists()
        except OSError:
            return word
        return f"{head}{equals}{here / tail}" if there else word

    return (seat.command[0], *map(found, seat.command[1:])) if seat.cwd else seat.command


def _with_sizes(cage: Cage, conditions: Conditions) -> Cage:
    from dataclasses import replace

    return replace(
        cage,
        base=str(Path(cage.scratch).parent),
        scratch_mb=conditions.scratch_mb,
        memory_mb=conditions.memory_mb,
    )


def _copy(source: Path, target: Path, copy: Callable[[str, str], object]) -> None:
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        hidden = shutil.ignore_patterns(*reach.HIDDEN)
        shutil.copytree(source, target, symlinks=True, ignore=hidden, copy_function=copy, dirs_exist_ok=True)
    else:
        copy(str(source), str(target))


def _link_or_copy(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or another's file
        shutil.copy2(source, target)


def _named_files(seat: SeatRecord) -> list[Path]:
    """The files of a bot that its command names, its program or script first."""
    words = [word for word in absolute(seat) if word.startswith("/") and "\0" not in word]
    paths = [Path(os.path.normpath(word)) for word in words]
    return [path for path in paths if path.is_file() and _is_its_own(path, seat)]


def _is_its_own(path: Path, seat: SeatRecord) -> bool:
    """Whether a file that a command names is a part of the bot: one that lies in its directories."""
    if any(path.is_relative_to(place) for place in reach.SYSTEM):
        return False
    return any(path.is_relative_to(place) for place in seat.files)
