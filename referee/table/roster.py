"""From what an operator types to what is started: paths, command lines, bot directories and the bundled bots.

A directory with a `bot.toml` that says `build` is copied to a cache under the hash of its content and built
there, once.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from protocol.rules import Sandbox
from referee.errors import ArenaError, why
from referee.game.events import LABEL, SeatRecord
from referee.table import building
from referee.table.settings import toml_from

BUNDLED: Final = {"random": "random_bot", "duck": "duck", "heuristic": "heuristic"}
"""The bots that come with the arena, and their modules in `example_bots`."""

_INTERPRETERS: Final = {
    ".py": (sys.executable,),
    ".js": ("node",),
    ".mjs": ("node",),
    ".pl": ("perl",),
    ".sh": ("bash",),
    ".rb": ("ruby",),
    ".lua": ("lua",),
    ".php": ("php",),
    ".jl": ("julia",),
    ".r": ("Rscript",),
    ".jar": ("java", "-jar"),
}
_IN_TOML: Final = {"name": "my-bot", "run": "./bot --fast", "build": "cc -O2 -o bot bot.c"}
_NAMED: Final = re.compile(rf"({LABEL.pattern})=(.+)", re.DOTALL)
_BUILD_OUTPUT_SHOWN: Final = 4000


class Bot(Struct, frozen=True, kw_only=True):
    """A bot that can be started: its label, its command, where it runs, the hash of what it is made of.

    `files` are the paths that it needs to read beside the system's.
    """

    name: str
    command: tuple[str, ...]
    cwd: str
    fingerprint: str
    files: tuple[str, ...] = ()

    def seated(self, seat: int) -> SeatRecord:
        """What the log says of this bot in a seat before it has sat down."""
        return SeatRecord(
            seat=seat,
            name=self.name,
            command=self.command,
            fingerprint=self.fingerprint,
            cwd=self.cwd,
            files=self.files,
        )


class BotToml(Struct):
    """A `bot.toml`: what the bot is called, how it is built (if it is) and run."""

    name: str
    run: str
    build: str | None = None


def find_bots(
    words: Sequence[str], say: Callable[[str], None] = lambda _: None, sandbox: Sandbox = "auto"
) -> list[Bot]:
    """The bots that these command-line words mean, with labels that are unique.

    Builds those that need it, confined at the level `sandbox`; `say` is told so.  Raises ArenaError with one
    sentence for a word that means no bot that can be started.
    """
    return uniquely_named([find_bot(word, say, sandbox) for word in words])


def find_bot(word: str, say: Callable[[str], None] = lambda _: None, sandbox: Sandbox = "auto") -> Bot:
    """The bot that one word means: `NAME=BOT`, a bundled name, a directory, a file, or a quoted
    command line.
    """
    if "\0" in word:
        raise ArenaError(f"The bot {word!r} has a NUL character in it; no path or command has.")
    named = _NAMED.fullmatch(word)
    if named and not os.path.exists(word):  # noqa: PTH110 (unlike a Path, it takes any length for an answer)
        bot = find_bot(named[2], say, sandbox)
        return msgspec.structs.replace(bot, name=named[1])
    if word in BUNDLED:
        return _bundled(word)
    path = Path(word)
    if not word.strip() or not os.path.exists(word):  # noqa: PTH110
        return _from_command(word)
    if path.is_dir():
        return _from_directory(path, say, sandbox)
    return _from_file(path)


def uniquely_named(bots: Sequence[Bot]) -> list[Bot]:
    """The same bots, with -2, -3 and so on behind labels that come again."""
    taken: set[str] = set()
    unique = []
    for bot in bots:
        name, count = bot.name, 1
        while name in taken:
            count += 1
            name = f"{bot.name[: 31 - len(str(count))]}-{count}"
        taken.add(name)
        unique.append(msgspec.structs.replace(bot, name=name))
    return unique


def _bundled(word: str) -> Bot:
    module = BUNDLED[word]
    packages = _packages()
    folder = Path(packages[0])
    return Bot(
        name=word,
        command=(sys.executable, "-P", "-m", f"example_bots.{module}"),
        cwd=str(folder),
        fingerprint=_hash_of([folder / f"{module}.py"], folder),
        files=packages,
    )


def _packages() -> tuple[str, ...]:
    """Where the packages of the arena are, which every Python bot may import."""
    import example_bots
    import protocol
    import referee

    return tuple(str(Path(package.__path__[0])) for package in (example_bots, protocol, referee))


def _from_directory(folder: Path, say: Callable[[str], None], sandbox: Sandbox) -> Bot:
    path = folder / "bot.toml"
    toml = _read_toml(path)
    folder = folder.resolve()
    fingerprint = _hash_of(_files_below(folder), folder)
    if toml.build:
        folder = _build(folder, toml.build, fingerprint, say, sandbox)
    command = _split(toml.run, path)
    first = command[0]
    if "/" in first:
        command[0] = str(folder / first)
        _check_executable(Path(command[0]), f"{path}: run")
    elif shutil.which(first) is None:
        raise ArenaError(
            f"{path}: run starts {first}, which is not on PATH; install it or write a path with a slash."
        )
    python = any(word.endswith(".py") or Path(word).name.startswith("python") for word in command)
    files = (str(folder), *(_packages() if python else ()))
    return Bot(name=toml.name, command=tuple(command), cwd=str(folder), fingerprint=fingerprint, files=files)


def _read_toml(path: Path) -> BotToml:
    try:
        fields = toml_from(path.read_bytes())
    except FileNotFoundError:
        raise ArenaError(
            f"The directory {path.parent} has no bot.toml; "
            "write one with name, run and, if it is built, build."
        ) from None
    except OSError as error:
        raise ArenaError(f"Cannot read {path}: {why(error)}.") from None
    except ValueError as error:
        raise ArenaError(f"{path} is not TOML: {error}.") from None
    for field in BotToml.__struct_fields__:
        if field not in fields and field != "build":
            raise ArenaError(f'{path}: {field} is missing; write it as in {field} = "{_IN_TOML[field]}"')
        if not isinstance(fields.get(field, ""), str):
            raise ArenaError(f'{path}: {field} must be text, as in {field} = "{_IN_TOML[field]}"')
    for field in fields:
        if field not in BotToml.__struct_fields__:
            raise ArenaError(f"{path}: {field!r} means nothing; there are name, run and build.")
    if not LABEL.fullmatch(fields["name"]):
        raise ArenaError(
            f"{path}: the name {fields['name']!r} must be 1 to 32 letters, digits, dots, dashes or "
            "underscores."
        )
    return BotToml(**fields)


def _build(source: Path, build: str, fingerprint: str, say: Callable[[str], None], sandbox: Sandbox) -> Path:
    """Build a copy of a bot's directory in the cache and return where; a bot of the same content is built
    once.
    """
    import platformdirs

    cache = Path(platformdirs.user_cache_dir("hearts-arena")) / "builds"
    built = cache / fingerprint[:32]
    if built.exists():
        return built
    say(f"Building {source.name}: {build}")
    scratch = cache / f"{fingerprint[:32]}.{os.getpid()}.tmp"
    try:
        shutil.rmtree(scratch, ignore_errors=True)
        _copy(source, scratch)
        command = _split(build, source / "bot.toml")
        made = building.build(command, scratch, sandbox)
        if made.failure:
            shown = made.output[-_BUILD_OUTPUT_SHOWN:].rstrip()
            said = f" and said:\n{shown}" if shown else " and said nothing."
            raise ArenaError(f"Building {source} failed: {build!r} {made.failure}{said}")
        try:
            scratch.rename(built)
        except OSError as error:
            if not built.exists():  # somebody else was faster: theirs is as good
                raise _no_cache(cache, error) from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return built


def _copy(source: Path, scratch: Path) -> None:
    try:
        shutil.copytree(source, scratch, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", ".git"))
    except shutil.Error as error:  # a list of files, each with the words of its error
        raise ArenaError(f"Cannot copy {error.args[0][0][0]} to build it in {scratch.parent}.") from None
    except OSError as error:
        raise _no_cache(scratch.parent, error) from None


def _no_cache(cache: Path, error: OSError) -> ArenaError:
    return ArenaError(
        f"The cache for builds, {cache}, cannot be written: {why(error)}; "
        "choose another place with XDG_CACHE_HOME."
    )


def _from_file(path: Path) -> Bot:
    path = path.resolve()
    interpreter = _INTERPRETERS.get(path.suffix.lower())
    if interpreter and not (os.access(path, os.X_OK) and _begins_with(path, b"#!")):
        if shutil.which(interpreter[0]) is None:
            raise ArenaError(f"{path} needs {interpreter[0]}, which is not on PATH; install it.")
        command: tuple[str, ...] = (*interpreter, str(path))
    else:
        if path.is_file() and not os.access(path, os.X_OK) and not _begins_with(path, b"#!", b"\x7fELF"):
            raise ArenaError(
                f"The bot {path} is neither executable nor of an ending that tells its language; make it "
                f'executable with a first line #!..., or give a command line, as "python3 {path}".'
            )
        _check_executable(path, "The bot")
        command = (str(path),)
    name = _label_of(path.stem)
    files = (str(path.parent), *(_packages() if path.suffix == ".py" else ()))
    return Bot(
        name=name,
        command=command,
        cwd=str(path.parent),
        fingerprint=_hash_of([path], path.parent),
        files=files,
    )


def _from_command(word: str) -> Bot:
    command = _split(word, None)
    program = command[0] if command else ""
    found = shutil.which(program) if program else None
    if found is None or ("/" in word and len(command) == 1):
        raise ArenaError(_no_such_bot(word, program))
    here = Path.cwd()
    parts = [Path(found), *(Path(part) for part in command[1:])]
    files = [part.resolve() for part in parts if os.path.isfile(part)]  # noqa: PTH113
    scripts = files[1:] or files
    name = _label_of(scripts[0].stem)
    python = any(part.suffix == ".py" or part.name.startswith("python") for part in parts)
    return Bot(
        name=name,
        command=(str(Path(found).absolute()) if "/" in program else program, *command[1:]),
        cwd=str(here),
        fingerprint=sha256(
            _hash_of(scripts, scripts[0].parent).encode() + "\0".join(command).encode()
        ).hexdigest(),
        files=(str(scripts[0].parent), *(_packages() if python else ())),
    )


def _no_such_bot(word: str, program: str) -> str:
    if word != program:
        why = f"{program!r} is neither on PATH nor a file that can be executed"
        return f"The command {word!r} cannot be started: {why}."
    close = get_close_matches(word, BUNDLED, 1)
    hint = f"did you mean {close[0]}?" if close else f"the bundled bots are {', '.join(BUNDLED)}."
    return f"There is no bot {word!r}: no such file, directory, command on PATH or bundled bot; {hint}"


def _split(line: str, where: Path | None) -> list[str]:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ArenaError(f"The command {line!r} cannot be read as a shell would: {error}.") from None
    if where and not words:
        raise ArenaError(f"{where}: an empty command cannot be run.")
    return words


def _check_executable(path: Path, what: str) -> None:
    if not path.is_file():
        raise ArenaError(f"{what} {path} is not a file.")
    if not os.access(path, os.X_OK):
        raise ArenaError(f"{what} {path} is not executable; try: chmod +x {shlex.quote(str(path))}")


def _begins_with(path: Path, *marks: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4).startswith(marks)
    except OSError as error:
        raise ArenaError(f"Cannot read {path}: {why(error)}.") from None


def _label_of(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text)[:32].strip("-") or "bot"


def _files_below(folder: Path) -> list[Path]:
    """The files that make up a bot's directory; caches of tools are none of it."""
    skipped = {"__pycache__", ".git"}
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and not skipped & set(path.parts)]


def _hash_of(files: Sequence[Path], below: Path) -> str:
    """The hash of the names and the content of these files."""
    whole = sha256()
    for path in files:
        name = os.path.relpath(path, below).encode()
        try:
            with path.open("rb") as file:
                content = _digest(file)
        except OSError as error:
            raise ArenaError(f"Cannot read {path}: {why(error)}.") from None
        whole.update(len(name).to_bytes(4, "big") + name + content)
    return whole.hexdigest()


def _digest(file: Any) -> bytes:
    digest = sha256()
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    return digest.digest()
