"""What the spy tries on files: to read what is not its own, and to write where it should not."""

import os
import pwd
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from spy_kit import HERE, PROC, Attempts, Denied, Scene, text

ATTEMPTS = Attempts()

LOOK_AT = 3_000
"""How many directory entries are looked at in search of the log."""


@ATTEMPTS.add
def log_given(scene: Scene) -> str:
    """Read the match log where the test says it is."""
    return text(
        Path(scene.options.get("--log") or os.environ.get("ROGUE_LOG_HINT") or nowhere()).read_bytes()
    )


@ATTEMPTS.add
def log_found(scene: Scene) -> str:
    """Search the neighbourhood, the referee's too, for a match log."""
    seen: set[Path] = set()
    for directory in neighbourhood(scene):
        for path in walk(directory, depth=3):
            if len(seen) > LOOK_AT:
                break
            if path in seen:
                continue
            seen.add(path)
            with suppress(OSError):
                if path.is_file() and path.stat().st_size and starts_a_log(path):
                    return str(path)
    raise Denied(f"none among {len(seen)} files")


@ATTEMPTS.add
def secret_file(scene: Scene) -> str:
    """Read a file that is none of its business."""
    return text(Path(scene.option("--secret")).read_bytes())


@ATTEMPTS.add
def password_file(_: Scene) -> str:
    """Read /etc/passwd."""
    return text(Path("/etc/passwd").read_bytes())


@ATTEMPTS.add
def root_directory(_: Scene) -> str:
    """List /root."""
    return f"{sorted(path.name for path in Path('/root').iterdir())}"


@ATTEMPTS.add
def home_directory(_: Scene) -> str:
    """List the home directory of the user it runs as, and $HOME."""
    homes = {Path(os.environ.get("HOME", "/nonexistent"))}
    with suppress(Denied):
        homes.add(users_home())
    failure: OSError | None = None
    for home in sorted(homes):
        if not is_scratch(home):
            try:
                return f"{home}: {sorted(path.name for path in home.iterdir())}"
            except OSError as error:
                failure = error
    raise failure or Denied("its home is its scratch")


@ATTEMPTS.add
def temporary_files(_: Scene) -> str:
    """List what others left in /tmp."""
    others = [path.name for path in Path("/tmp").iterdir() if not is_scratch(path)]
    if not others or is_scratch(Path("/tmp")):
        raise Denied("only its own")
    return f"{others}"


@ATTEMPTS.add
def own_program(_: Scene) -> str:
    """Open its own program for writing; nothing is written."""
    with (HERE / "spy.py").open("ab"):
        return "open for writing"


def users_home() -> Path:
    """The home directory of the user that the spy runs as, whatever $HOME says."""
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise Denied("no such user") from None


def write_to(name: str, place: Callable[[], Path]) -> None:
    """Enter the attempt to make a file, taken away at once, in a directory outside of the scratch."""

    def attempt(_: Scene) -> str:
        directory = place()
        if is_scratch(directory):
            raise Denied("that is its scratch")
        path = directory / f"spy-{os.getpid()}"
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        path.unlink()
        return str(path)

    attempt.__doc__ = f"Make a file in {name}."
    ATTEMPTS["write_" + re.sub(r"\W+", "_", name).strip("_")] = attempt


write_to("/tmp", lambda: Path("/tmp"))
write_to("/var/tmp", lambda: Path("/var/tmp"))
write_to("/dev/shm", lambda: Path("/dev/shm"))
write_to("/etc", lambda: Path("/etc"))
write_to("home", users_home)
write_to("own directory", lambda: HERE)
write_to("parent directory", lambda: Path.cwd().parent)
write_to("referee directory", lambda: (PROC / str(os.getppid()) / "cwd").resolve(strict=True))


# -- how --------------------------------------------------------------------------------------------------


def nowhere() -> str:
    """There is no hint."""
    raise Denied("no --log given")


def is_scratch(path: Path) -> bool:
    """Whether the spy is meant to write here."""
    scratch = {Path.cwd(), Path(os.environ.get("TMPDIR", ".")).resolve()} - {Path("/")}
    return any(path.resolve().is_relative_to(place) for place in scratch)


def neighbourhood(scene: Scene) -> Iterator[Path]:
    """The directories where a log may lie."""
    with suppress(OSError, Denied):
        link = PROC / str(scene.referee) / "fd"
        for number in link.iterdir():
            with suppress(OSError):
                yield number.resolve(strict=True).parent
        yield (PROC / str(scene.referee) / "cwd").resolve(strict=True)
    yield Path.cwd()
    yield from list(Path.cwd().parents)[:2]
    yield HERE
    yield Path("/tmp")


def walk(directory: Path, depth: int) -> Iterator[Path]:
    """The files below a directory, near ones first."""
    with suppress(OSError):
        entries = sorted(os.scandir(directory), key=lambda entry: entry.is_dir(follow_symlinks=False))
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                yield Path(entry.path)
            elif depth > 1 and entry.name not in ("proc", "sys", "dev"):
                yield from walk(Path(entry.path), depth - 1)


def starts_a_log(path: Path) -> bool:
    """Whether a file begins as a match log does."""
    with path.open("rb") as file:
        return file.read(15) == b'{"type":"match"'
