"""What the spy's attempts are written with: the scene, the verdicts, processes, calls into the kernel."""

import ctypes
import errno
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from honest import Message

PROC = Path("/proc")
HERE = Path(__file__).resolve().parent


def descriptors() -> dict[int, str]:
    """Our open descriptors above stderr, and where they lead."""
    found = {}
    for number in range(3, 256):
        with suppress(OSError):
            os.fstat(number)
            found[number] = "?"
            found[number] = os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115 (a Path would resolve less)
    return found


INHERITED = descriptors()
"""What was open, besides stdin, stdout and stderr, before the spy opened anything."""


class Denied(Exception):
    """The attempt led to nothing, for a reason that is not an errno."""


@dataclass
class Scene:
    """What the spy knows when it begins to spy."""

    options: dict[str, str]
    start: Message
    request: Message
    inherited: dict[int, str]
    ancestors: list[int] = field(default_factory=list)
    rivals: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ancestors = ancestors()
        self.rivals = rivals(self.ancestors, self.options.get("--target"))

    @property
    def referee(self) -> int:
        """The process that started the spy, as far as the spy can see."""
        if not self.ancestors:
            raise Denied("no parent in sight")
        return self.ancestors[0]

    def option(self, name: str) -> str:
        """What the test set up under this name."""
        if name not in self.options:
            raise Denied(f"no {name} given")
        return self.options[name]


Attempt = Callable[[Scene], str]


class Attempts(dict[str, Attempt]):
    """Attempts by name; each returns its evidence, or raises `Denied` or an OSError."""

    def add(self, attempt: Attempt) -> Attempt:
        """Enter an attempt under its function's name."""
        self[attempt.__name__] = attempt
        return attempt

    def on_rivals(self, attempt: Callable[[int], str]) -> Callable[[int], str]:
        """Enter an attempt that is made on one rival after another until it succeeds."""

        def on_any(scene: Scene) -> str:
            failure: Exception = Denied("no rival in sight")
            for rival in scene.rivals:
                try:
                    return f"{rival}: {attempt(rival)}"
                except (OSError, Denied) as error:
                    failure = error
            raise failure

        on_any.__doc__ = attempt.__doc__
        self[attempt.__name__] = on_any
        return attempt


def attempted(attempt: Attempt, scene: Scene) -> str:
    """The verdict on one attempt."""
    try:
        return f"GOT: {attempt(scene)[:160]}"
    except Denied as reason:
        return f"denied: {reason}"
    except OSError as error:
        return f"denied: {errno.errorcode.get(error.errno or 0, str(error))}"
    except Exception as error:  # a spy that dies would forfeit, and tell nothing
        return f"broken: {error!r}"


# -- processes --------------------------------------------------------------------------------------------


def processes() -> list[int]:
    """The processes in sight."""
    return sorted(int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit())


def cmdline(pid: int) -> list[str]:
    """The words of a process's command line."""
    return (PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]


def parent(pid: int) -> int:
    """The parent of a process, 0 if it is not in sight."""
    return int((PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])


def ancestors() -> list[int]:
    """Our parent, its parent, and so on, as far as they are in sight."""
    found: list[int] = []
    pid = os.getppid()
    while pid > 0:
        found.append(pid)
        try:
            pid = parent(pid)
        except OSError:
            break
    return found


def rivals(ours: list[int], target: str | None) -> list[int]:
    """The processes that seem to sit at the table too; the first process of a machine is nobody's referee."""
    found = [int(target)] if target else []
    with suppress(OSError):
        for pid in processes():
            with suppress(OSError):
                named = any(word.rpartition("/")[2] in ("spy.py", "rogue.py") for word in cmdline(pid))
                sibling = parent(pid) == os.getppid() > 1
                if (named or sibling) and pid not in (os.getpid(), *ours, *found):
                    found.append(pid)
    return found


# -- the kernel -------------------------------------------------------------------------------------------

LIBC = ctypes.CDLL(None, use_errno=True)
MACHINE = 0 if os.uname().machine == "x86_64" else 1
ADD_KEY, KEYCTL = ((248, 250), (217, 219))[MACHINE]
PIDFD_GETFD = 438


def call(name: str, *arguments: object) -> int:
    """Call a function of libc whose integers are long; an error is an OSError."""
    function = getattr(LIBC, name)
    function.restype = ctypes.c_long
    result = function(*(ctypes.c_long(word) if isinstance(word, int) else word for word in arguments))
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def names(environ: bytes) -> str:
    """The names in an environment, as evidence; the values may be somebody's secrets."""
    found = sorted(item.partition(b"=")[0].decode(errors="replace") for item in environ.split(b"\0") if item)
    return f"{len(found)} variables: {' '.join(found)}"


def text(data: bytes) -> str:
    """Bytes as evidence."""
    return repr(data[:60])[2:-1]
