# ruff: noqa: PTH110, PTH112, PTH113, PTH118, PTH123
"""From fork to exec: the keeper's child gives up what it inherited, takes on its limits, and becomes the bot.

Whatever goes wrong here is told to the keeper in words that help an operator.  No pathlib: importing it would
make the keeper slower to start and larger to fork.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import sys

from referee.table.keep import landlock

if sys.platform == "linux":
    from referee.table.keep.syscalls import PR_SET_NO_NEW_PRIVS, PR_SET_PDEATHSIG, prctl

TYPE_CHECKING = False  # as `typing` has it, which would take longer to import than all of this
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

FILTER = "{filter}"  # in the command of a wrapper, where the number of a descriptor is to stand
# A wrapper's own processes keep their stdout as long as they live, but close what lies beyond their three.
_WRAPPED_OUTPUT = 3  # in the keeper its own wakeup, so never a pipe of a bot nor a report
_TAKE_OUTPUT = ("/bin/sh", "-c", f'exec "$@" >&{_WRAPPED_OUTPUT} {_WRAPPED_OUTPUT}>&-', "sh")
_OVERRIDE = 1  # the capability that lets it write, too, what is root's
REPORT_BYTES = 4096  # what Linux writes to a pipe in one piece
_WORDS = 300  # characters, of up to 12 bytes each
_LOADER = "it was built for another system, or the library loader that it names is missing"


class LaunchError(Exception):
    """The bot cannot be started: an errno, and why in words."""

    def __init__(self, number: int | None, why: str) -> None:
        super().__init__(why)
        self.number = number or errno.EINVAL
        self.why = why


def get_ready(cage: Mapping[str, Any]) -> None:
    """Import in the keeper what a child will need: behind Landlock it could not."""
    if cage["user"] is not None:
        from referee.table.keep import privileges  # noqa: F401
    if cage["calls"]:
        from referee.table.keep import seccomp  # noqa: F401


def become(order: Mapping[str, Any], pipes: Sequence[int], report: int, keeper: int) -> NoReturn:
    """Turn this process, just forked by `keeper`, into the bot that `order` describes.

    `report` closes by itself once the bot's program runs; if it cannot, `[errno, why]` is written there.
    Whatever runs here first copies the memory that it touches: a call or two can cost 0.1 ms.
    """
    try:
        _leave(keeper)
        _enter(order["cwd"])
        # Every other descriptor of the keeper is close-on-exec, and none of its three is below 3.
        for number, pipe in enumerate(pipes):
            os.dup2(pipe, number)
        cage = order["cage"]
        if cage["inside"]:
            _examine(cage["inside"], cage["inside_path"])
        elif cage["calls"] or order["landlock"]:  # from behind these, less can be seen of what is wrong
            _examine(order["argv"], order["env"].get("PATH", os.defpath))
        if order["landlock"] is not None:
            _confine(order["landlock"])
        _limit(order["limits"])
        if cage["user"] is not None:
            _drop_privileges(cage["user"], cage["capabilities"])
        argv = order["argv"]
        if cage["calls"]:
            argv = _filter_calls(cage, argv)
        if cage["inside"]:
            argv = _hide_options(_put_output_aside(argv))
        _execute(argv, order["env"])
    except LaunchError as refusal:
        _tell(report, refusal.number, refusal.why)
    except BaseException as error:  # nothing may unwind into the keeper's own code in this process
        _tell(report, getattr(error, "errno", None) or errno.EINVAL, f"cannot be started: {error!r}")
    finally:
        os._exit(127)


def _tell(report: int, number: int, why: str) -> None:
    os.write(report, json.dumps([number, why[:_WORDS]]).encode())


def _leave(keeper: int) -> None:
    """Leave the keeper's session, but not outlive it.  Its signals are seen to by exec: see keeper.main."""
    os.setsid()
    if sys.platform == "linux":
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != keeper:  # it died before the line above
            os._exit(127)


def _enter(cwd: str) -> None:
    try:
        os.chdir(cwd)
    except FileNotFoundError as error:
        raise LaunchError(error.errno, f"the working directory {cwd!r} does not exist") from error
    except OSError as error:
        raise LaunchError(
            error.errno, f"the working directory {cwd!r} cannot be entered: {error.strerror}"
        ) from error
    except ValueError as error:
        raise LaunchError(None, f"the working directory {cwd!r} is no possible name: {error}") from error


def _confine(rules: Mapping[str, Any]) -> None:
    try:
        landlock.confine(rules["read"], rules["write"], rules["net"], rules["lists"])
    except OSError as error:
        raise LaunchError(error.errno, f"Landlock cannot be set up: {error.strerror}") from error
    except ValueError as error:
        raise LaunchError(None, f"Landlock cannot be set up: {error}") from error


def _drop_privileges(user: int, kept: Sequence[int]) -> None:
    from referee.table.keep import privileges

    try:
        privileges.drop(user, kept)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # the kernel has forgotten it with the old user
    except OSError as error:
        raise LaunchError(error.errno, f"it cannot be made user {user}: {error.strerror}") from error


def _filter_calls(cage: Mapping[str, Any], argv: Sequence[str]) -> Sequence[str]:
    """Put on the filter of system calls, or hand it to the wrapper that will do so inside."""
    from referee.table.keep import seccomp

    shares_user = cage["user"] in (None, 0) or _OVERRIDE in cage["capabilities"]
    try:
        filter_ = seccomp.program(cage["calls"], os.getpid(), landlock.abi(), shares_user=shares_user)
        if not cage["inside"]:
            prctl(PR_SET_NO_NEW_PRIVS, 1)
            seccomp.install(filter_)
            return argv
        file = _in_memory(filter_)
    except OSError as error:
        raise LaunchError(error.errno, f"its system calls cannot be filtered: {error.strerror}") from error
    return [str(file) if word == FILTER else word for word in argv]


def _put_output_aside(argv: Sequence[str]) -> Sequence[str]:
    """Let the bot alone hold its stdout, not its wrapper too: only so can it be seen to close it."""
    os.dup2(1, _WRAPPED_OUTPUT)
    os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), 1)
    end = argv.index("--") + 1
    return [*argv[:end], *_TAKE_OUTPUT, *argv[end:]]


def _hide_options(argv: Sequence[str]) -> Sequence[str]:
    """Hand the wrapper its options by a file: its command line can be read inside."""
    end = argv.index("--")
    options = "\0".join(argv[1:end]) + "\0"
    return [argv[0], "--args", str(_in_memory(os.fsencode(options))), *argv[end:]]


def _in_memory(content: bytes) -> int:
    """A file that has no name, open for the program that this process becomes."""
    file = os.memfd_create("", 0)
    os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _limit(limits: Mapping[str, int]) -> None:
    for name, value in limits.items():
        which = getattr(resource, name, None) if name.startswith("RLIMIT_") else None
        if which is None:
            raise LaunchError(None, f"this system has no limit named {name!r}")
        try:
            _, most = resource.getrlimit(which)
            if most != resource.RLIM_INFINITY:
                value = most if value == resource.RLIM_INFINITY else min(value, most)
            resource.setrlimit(which, (value, value))
        except (OSError, ValueError, OverflowError) as error:
            number, reason = getattr(error, "errno", None), getattr(error, "strerror", None) or error
            raise LaunchError(number, f"{name} cannot be set to {value}: {reason}") from error


def _execute(argv: Sequence[str], env: Mapping[str, str]) -> None:
    """Replace this process, or raise `LaunchError`; a name without a slash is looked for as a shell would."""
    if not argv or not argv[0]:
        raise LaunchError(None, "the command is empty")
    name = argv[0]
    path = env.get("PATH", os.defpath)
    places = [name] if "/" in name else [os.path.join(place, name) for place in path.split(os.pathsep)]
    refusal = None
    for place in places:
        try:
            os.execve(place, list(argv), dict(env))
        except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
            if "/" in name or (refusal is None and os.path.isfile(place)):
                refusal = _explain(place, error)
        except OSError as error:
            raise _explain(place, error) from error
        except ValueError as error:  # NUL in an argument, "=" in the name of a variable, lone surrogates
            raise LaunchError(None, f"the command or its environment cannot be passed on: {error}") from error
    raise refusal or LaunchError(errno.ENOENT, f"{name!r} is not a program on PATH ({path!r})")


def _examine(argv: Sequence[str], path: str) -> None:
    """Find what would keep this command from running, as far as can be seen without running it."""
    if not argv or not argv[0]:
        raise LaunchError(None, "the command is empty")
    name = argv[0]
    places = [name] if "/" in name else [os.path.join(place, name) for place in path.split(os.pathsep)]
    place = next((each for each in places if os.path.isfile(each)), places[0])
    if any("\0" in word for word in argv):
        raise LaunchError(
            None, "the command or its environment cannot be passed on: it holds a NUL character"
        )
    if "/" not in name and not os.path.isfile(place):
        raise LaunchError(errno.ENOENT, f"{name!r} is not a program on PATH ({path!r})")
    number = 0
    if not os.path.lexists(place) or not os.path.exists(place):
        number = errno.ENOENT
    elif not os.path.isfile(place) or not os.access(place, os.X_OK):
        number = errno.EACCES
    else:
        start = _first_line(place)
        if start.startswith(b"#!"):
            interpreter = os.fsdecode(start[2:].strip(b" \t").split(b" ")[0].split(b"\t")[0])
            number = 0 if os.path.isfile(interpreter) else errno.ENOENT
        elif not start.startswith((b"\x7fELF", b"?")):
            number = errno.ENOEXEC
    if number:
        raise _explain(place, OSError(number, os.strerror(number)))


def _explain(path: str, error: OSError) -> LaunchError:
    """Say what is the matter with the program at `path`."""
    return LaunchError(error.errno, f"{path!r} {_ailment(path, error)}")


def _ailment(path: str, error: OSError) -> str:
    if os.path.isdir(path):
        return "is a directory, not a program"
    if not os.path.lexists(path):
        lost = error.errno in (errno.ENOENT, errno.ENOTDIR)
        return "does not exist" if lost else f"cannot be reached: {error.strerror}"
    if not os.path.exists(path):
        return "is a link to something that does not exist"
    if not os.path.isfile(path):
        return "is not a file"
    if not os.access(path, os.X_OK):
        return "is not executable (chmod +x)"
    start = _first_line(path)
    script = start.startswith(b"#!")
    interpreter = os.fsdecode(start[2:].strip(b" \t").split(b" ")[0].split(b"\t")[0]) if script else ""
    match error.errno:
        case errno.ENOENT if script and interpreter.endswith("\r"):
            return "has Windows line ends, so that its first line names an interpreter that does not exist"
        case errno.ENOENT if script:
            return f"names an interpreter that does not exist: {interpreter!r}"
        case errno.ENOENT:
            return f"cannot be run: {_LOADER}"
        case errno.EACCES if script:
            return f"may not be run, or its interpreter {interpreter!r} may not"
        case errno.EACCES:
            return "may not be run: it lies outside the sandbox, or on a file system mounted noexec"
        case errno.ENOEXEC if not start:
            return "is empty"
        case errno.ENOEXEC if start.startswith(b"\x7fELF"):
            return "is a program for another kind of machine"
        case errno.ENOEXEC:
            return 'is neither a program for this machine nor a script that begins with "#!"'
        case errno.ETXTBSY:
            return "is still open for writing"
        case errno.E2BIG:
            return "is given more arguments and environment than the system allows"
    return f"cannot be run: {error.strerror}"


def _first_line(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.readline(256).removesuffix(b"\n")
    except OSError:  # executable, but not readable by us
        return b"?"
