"""What a confined bot may read: the system, its interpreter, and of its directory what is nobody else's.

A bot's directory is often where the arena runs, with the match logs and other bots in it.  Landlock can only
add, and bubblewrap only bind, so such a directory is listed entry by entry.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

SYSTEM: Final = tuple(
    place
    for place in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
    if Path(place).exists()
)
"""Where programs and libraries lie."""

_ETC: Final = (
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld.so.preload", "alternatives", "localtime", "timezone"),
    *(
        "nsswitch.conf",
        "locale.alias",
        "ssl/openssl.cnf",
        "ssl/certs",
        "ca-certificates",
        "pki/tls/openssl.cnf",
    ),
    *("perl", "lua", "php", "R", "julia", "mono", "crypto-policies", "magic", "mime.types", "fonts"),
)
_PROC: Final = (
    *("self", "meminfo", "cpuinfo", "stat", "version", "loadavg", "uptime", "filesystems", "cgroups"),
    *("sys/kernel/osrelease", "sys/kernel/pid_max", "sys/kernel/threads-max", "sys/kernel/ngroups_max"),
    *("sys/kernel/cap_last_cap", "sys/vm/overcommit_memory", "sys/vm/max_map_count", "sys/fs/nr_open"),
)
_SYS: Final = ("devices/system/cpu", "devices/system/node", "kernel/mm/transparent_hugepage")

HIDDEN: Final = (".*", "*.stderr.txt", "*.jsonl")
"""Names in a bot's directory that are never its own."""

_MENTIONED_DEPTH: Final = 50
_LOOKED_AT: Final = 2_000
_SHEBANG: Final = 256


def settings() -> list[str]:
    """The files below /etc that programs need; none of them holds a secret."""
    etc = Path("/etc")
    found = [etc / name for name in _ETC]
    found += sorted(etc.glob("java*")) + sorted(etc.glob("python*")) + sorted(etc.glob("node*"))
    return [str(path) for path in found if path.exists()]


def kernel_files() -> list[str]:
    """What programs ask the kernel about the machine and themselves, and nothing about other processes."""
    return [f"/proc/{name}" for name in _PROC] + [f"/sys/{name}" for name in _SYS]


# --- programs --------------------------------------------------------------------------------------------


def search_path() -> str:
    """PATH for a bot: the operator's, with the shims of pyenv replaced by what they stand for."""
    places = []
    for place in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if not place.startswith("/"):
            continue
        if place.endswith("/shims"):
            place = _behind_shims(Path(place)) or ""
        if place and place not in places:
            places.append(place)
    return os.pathsep.join(places)


def _behind_shims(shims: Path) -> str | None:
    try:
        version = (shims.parent / "version").read_text().split()[0]
    except (OSError, IndexError, UnicodeDecodeError):
        return None
    place = shims.parent / "versions" / version / "bin"
    return str(place) if place.is_dir() else None


def programs(command: Sequence[str], path: str) -> list[Path]:
    """The files that are run when a command is: the program, and the interpreters that it names."""
    found: list[Path] = []
    name = command[0] if command else ""
    while name and len(found) < 5:
        where = shutil.which(name, path=path)
        if where is None:
            break
        found.append(Path(os.path.abspath(where)))  # noqa: PTH100 (links say what is meant: a venv)
        words = shebang(found[-1])
        if words and Path(words[0]).name == "env":
            rest = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
            found.append(Path(words[0]))
            name = rest[0] if rest else ""
        else:
            name = words[0] if words else ""
    return found


def shebang(path: Path) -> list[str]:
    """The words after a script's `#!`; none if it is no script."""
    try:
        with path.open("rb") as file:
            start = file.readline(_SHEBANG)
    except OSError:
        return []
    return start[2:].decode(errors="replace").split() if start.startswith(b"#!") else []


def homes_of(program: Path) -> list[str]:
    """The directories that a program outside of the system needs: its installation, and that of its venv."""
    found: list[str] = []
    for path in (program, program.resolve()):
        if path.is_relative_to("/usr") or any(path.is_relative_to(place) for place in SYSTEM):
            continue
        prefix = path.parent.parent
        settings_ = prefix / "pyvenv.cfg"
        if settings_.is_file():
            match = re.search(r"^home\s*=\s*(.+)$", settings_.read_text(), re.MULTILINE)
            if match:
                base = Path(match[1].strip())
                found += homes_of(base / path.name)
        found.append(str(prefix if path.parent.name == "bin" and not _is_shared(prefix) else path))
    return list(dict.fromkeys(found))


def _is_shared(prefix: Path) -> bool:
    """Whether much else lies there too: a home directory, `~/.local`, `~/.cargo` with its credentials."""
    home = Path.home()
    return (
        home.is_relative_to(prefix) or prefix in (home / ".local", home / ".cargo") or prefix == Path("/opt")
    )


def arenas_own() -> list[str]:
    """What the bundled bots need: the interpreter that runs the arena."""
    return [*homes_of(Path(sys.executable)), *homes_of(Path(sys.base_prefix) / "bin" / "python3")]


# --- a bot's own files -----------------------------------------------------------------------------------


def own_files(
    wanted: Iterable[str], mine: Iterable[Path], others: Iterable[Path], shut: Iterable[Path]
) -> list[str]:
    """Of the directories and files that a bot wants, the parts that it may read.

    `mine` are the files that its command names, `others` those of the other bots, `shut` what no bot may
    read.  Match logs, what bots said on stderr, and hidden files are never its own.  In a directory that it
    shares with another bot, or that is everybody's, only the files that its own name can be.
    """
    rivals, closed = list(others), [path.resolve() for path in shut]
    own = [path for path in mine if path.resolve() not in closed and not _is_private(path)]
    found: list[Path] = []
    for place in map(Path, wanted):
        if not place.is_dir() or not _needs_care(place, rivals, closed):
            found.append(place)
        elif any(path.parent == place for path in rivals) or _is_everybodys(place):
            found += _mentioned(place, [path for path in own if path.parent == place], rivals, closed)
        else:
            found += _parts(place, rivals, closed)
    return [str(path) for path in dict.fromkeys([*found, *own])]


def _is_everybodys(place: Path) -> bool:
    """Whether a directory holds much that has nothing to do with a bot: a home directory, `/tmp`."""
    return Path.home().is_relative_to(place) or place in (Path("/tmp"), Path("/var/tmp"))


def _needs_care(place: Path, rivals: list[Path], closed: list[Path]) -> bool:
    if _is_everybodys(place) or Path.cwd().is_relative_to(place):
        return True
    if any(path.is_relative_to(place) for path in (*rivals, *closed)):
        return True
    return any(_is_private(entry) for entry in _entries(place))


def _parts(place: Path, rivals: list[Path], closed: list[Path]) -> Iterator[Path]:
    """The entries of a directory, and where one holds what is shut, its own entries."""
    for entry in _entries(place):
        if entry in rivals or entry in closed or _is_private(entry):
            continue
        if entry.is_dir() and any(path.is_relative_to(entry) for path in (*rivals, *closed)):
            yield from _parts(entry, rivals, closed)
        else:
            yield entry


def _mentioned(place: Path, own: list[Path], rivals: list[Path], closed: list[Path]) -> list[Path]:
    """What the scripts `own` name in their text, and what that names: modules they import, data they open."""
    entries = [entry for entry in _parts(place, rivals, closed) if entry.is_file()]
    found, waiting = list(own), list(own)
    while waiting and len(found) < _MENTIONED_DEPTH:
        path = waiting.pop()
        try:
            words = set(re.findall(r"[\w-]+(?:\.[\w-]+)*", path.read_text(errors="ignore")))
        except OSError:
            continue
        words |= {part for word in words for part in word.split(".")}
        fresh = [entry for entry in entries if entry not in found and {entry.name, entry.stem} & words]
        found += fresh
        waiting += fresh
    return found


def _entries(place: Path) -> list[Path]:
    try:
        return sorted(place.iterdir())
    except OSError:
        return []


def _is_private(path: Path) -> bool:
    """Whether a file is hidden, a match log, or what a bot said on stderr."""
    name = path.name
    if name.startswith(".") or name.endswith((".stderr.txt", ".jsonl")):
        return True
    if not name.endswith((".json", ".log", ".txt")) or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(15) == b'{"type":"match"'
    except OSError:
        return True


# --- other users -----------------------------------------------------------------------------------------


def open_to_all(paths: Iterable[str], *, deep: bool) -> bool:
    """Whether any user may read these files and directories, and enter all that lead there.

    `deep` looks at what is in the directories too.
    """
    for name in paths:
        path = Path(name).resolve()
        try:
            if not all(parent.stat().st_mode & stat.S_IXOTH for parent in path.parents):
                return False
            inside = [path, *_some_below(path)] if deep else [path]
            if not all(_is_open(each.stat().st_mode) for each in inside if each.exists()):
                return False
        except OSError:
            return False
    return True


def _is_open(mode: int) -> bool:
    needed = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) or mode & stat.S_IXUSR else 0)
    return mode & needed == needed


def _some_below(path: Path) -> Iterator[Path]:
    if path.is_dir() and not any(path.is_relative_to(place) for place in SYSTEM):
        for count, entry in enumerate(path.rglob("*")):
            if count > _LOOKED_AT:
                break
            yield entry
