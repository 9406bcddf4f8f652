"""What the spy tries on other processes: its rivals, and the referee that started them."""

import ctypes
import os
import resource
import signal
import time
from contextlib import suppress
from pathlib import Path

from spy_kit import HERE, PIDFD_GETFD, PROC, Attempts, Denied, Scene, call, cmdline, names, processes, text

ATTEMPTS = Attempts()

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000

# -- rivals -----------------------------------------------------------------------------------------------


@ATTEMPTS.add
def rival_list(scene: Scene) -> str:
    """See which processes sit at the table."""
    if not scene.rivals:
        raise Denied("no rival in sight")
    return f"processes {scene.rivals}"


@ATTEMPTS.on_rivals
def rival_cmdline(pid: int) -> str:
    """Read a rival's command line."""
    return " ".join(cmdline(pid)) or "(empty)"


@ATTEMPTS.on_rivals
def rival_environ(pid: int) -> str:
    """Read a rival's environment."""
    return names((PROC / str(pid) / "environ").read_bytes())


@ATTEMPTS.on_rivals
def rival_cwd(pid: int) -> str:
    """List a rival's working directory."""
    return f"{sorted(os.listdir(PROC / str(pid) / 'cwd'))}"  # noqa: PTH208


@ATTEMPTS.on_rivals
def rival_source(pid: int) -> str:
    """Read a rival's program."""
    failure: Exception = Denied("none that is not its own too")
    words = [f"root{word}" if word.startswith("/") else f"cwd/{word}" for word in cmdline(pid)]
    for word in ("exe", *words):
        path = PROC / str(pid) / word
        try:
            if path.is_file() and not is_public(path):
                return f"{path}: {text(path.read_bytes())}"
        except OSError as error:
            failure = error
    raise failure


@ATTEMPTS.on_rivals
def rival_mem(pid: int) -> str:
    """Read a rival's memory through /proc."""
    with (PROC / str(pid) / "mem").open("rb", buffering=0) as memory:
        memory.seek(somewhere(pid))
        return text(memory.read(64))


@ATTEMPTS.on_rivals
def rival_vm_readv(pid: int) -> str:
    """Read a rival's memory by process_vm_readv."""
    return vm_read(pid, somewhere(pid))


@ATTEMPTS.on_rivals
def rival_stdin(pid: int) -> str:
    """Peek into a rival's stdin, where its hand passes by; a copy is made, nothing is taken out."""
    return peek(os.open(f"/proc/{pid}/fd/0", os.O_RDONLY | os.O_NONBLOCK))


@ATTEMPTS.on_rivals
def rival_stdout(pid: int) -> str:
    """Open a rival's stdout, where a play could be forged; nothing is written."""
    os.close(os.open(f"/proc/{pid}/fd/1", os.O_WRONLY | os.O_NONBLOCK))
    return "open for writing"


@ATTEMPTS.on_rivals
def rival_pidfd_getfd(pid: int) -> str:
    """Copy a rival's stdin by pidfd_getfd."""
    handle = os.pidfd_open(pid)
    try:
        return peek(call("syscall", PIDFD_GETFD, handle, 0, 0))
    finally:
        os.close(handle)


@ATTEMPTS.on_rivals
def rival_signal_0(pid: int) -> str:
    """Send a rival signal 0, which says whether it could be killed."""
    os.kill(pid, 0)
    return "could be killed or stopped"


@ATTEMPTS.on_rivals
def rival_sigcont(pid: int) -> str:
    """Send a rival SIGCONT, which wakes it if the referee froze it."""
    os.kill(pid, signal.SIGCONT)
    return "sent"


@ATTEMPTS.on_rivals
def rival_ptrace(pid: int) -> str:
    """Attach to a rival as a debugger, and let it go at once."""
    call("ptrace", PTRACE_SEIZE, pid, 0, 0)
    call("ptrace", PTRACE_INTERRUPT, pid, 0, 0)
    end = time.monotonic() + 0.5
    while os.waitpid(pid, os.WNOHANG | WALL) == (0, 0) and time.monotonic() < end:
        time.sleep(0.001)
    call("ptrace", PTRACE_DETACH, pid, 0, 0)
    return "attached"


@ATTEMPTS.on_rivals
def rival_limits(pid: int) -> str:
    """Set a rival's limit on open files, to what it is."""
    limit = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, limit)
    return f"set to {limit}"


@ATTEMPTS.on_rivals
def rival_priority(pid: int) -> str:
    """Set a rival's priority, to what it is."""
    priority = os.getpriority(os.PRIO_PROCESS, pid)
    os.setpriority(os.PRIO_PROCESS, pid, priority)
    return f"set to {priority}"


# -- the referee ------------------------------------------------------------------------------------------


@ATTEMPTS.add
def referee_cmdline(scene: Scene) -> str:
    """Read the referee's command line, where log and rivals stand."""
    return " ".join(cmdline(scene.referee)) or "(empty)"


@ATTEMPTS.add
def referee_environ(scene: Scene) -> str:
    """Read the referee's environment."""
    return names((PROC / str(scene.referee) / "environ").read_bytes())


@ATTEMPTS.add
def referee_cwd(scene: Scene) -> str:
    """List the referee's working directory."""
    return f"{sorted(os.listdir(PROC / str(scene.referee) / 'cwd'))}"  # noqa: PTH208


@ATTEMPTS.add
def referee_descriptors(scene: Scene) -> str:
    """Open what the referee has open: the log, the pipes."""
    opened = []
    numbers = sorted(int(name) for name in os.listdir(f"/proc/{scene.referee}/fd"))  # noqa: PTH208
    for number in numbers:
        link = PROC / str(scene.referee) / "fd" / str(number)
        with suppress(OSError):
            where = str(link.readlink())
            if where.startswith(("/", "pipe:")) and not where.startswith("/dev/"):
                os.close(os.open(link, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))
                opened.append(f"{number} {where}")
    if not opened:
        raise Denied(f"none of {len(numbers)} can be opened")
    return ", ".join(opened)


@ATTEMPTS.add
def referee_mem(scene: Scene) -> str:
    """Read the referee's memory, where all four hands are."""
    return vm_read(scene.referee, somewhere(scene.referee))


@ATTEMPTS.add
def referee_signal_0(scene: Scene) -> str:
    """Send the referee signal 0, which says whether it could be killed."""
    os.kill(scene.referee, 0)
    return "could be killed or stopped"


@ATTEMPTS.add
def strangers_list(scene: Scene) -> str:
    """See processes that are none of the spy's business."""
    own = os.getsid(0)
    others = []
    for pid in processes():
        with suppress(OSError):
            if os.getsid(pid) != own and pid not in scene.ancestors[:1]:
                others.append(pid)
    if not others:
        raise Denied("only its own")
    return f"{len(others)} processes, such as {others[:5]}"


# -- how --------------------------------------------------------------------------------------------------


def is_public(path: Path) -> bool:
    """Whether a file is the system's, or the spy's own."""
    place = path.resolve()
    return place.parent == HERE or place.is_relative_to("/usr") or path.samefile("/proc/self/exe")


def somewhere(pid: int) -> int:
    """An address in a process's heap, or else in its stack."""
    places = {}
    for line in (PROC / str(pid) / "maps").read_text().splitlines():
        span, access, *rest = line.split(None, 5)
        if access.startswith("rw") and rest[-1] in ("[heap]", "[stack]"):
            places[rest[-1]] = span
    if not places:
        raise Denied("no heap and no stack")
    low, _, high = places.get("[heap]", places.get("[stack]", "")).partition("-")
    return int(low, 16) if "[heap]" in places else int(high, 16) - 64


class Span(ctypes.Structure):
    """A `struct iovec`."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def vm_read(pid: int, address: int) -> str:
    """Read 64 bytes of another process's memory."""
    buffer = ctypes.create_string_buffer(64)
    local, remote = Span(ctypes.addressof(buffer), 64), Span(address, 64)
    call("process_vm_readv", pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    return text(buffer.raw)


def peek(pipe: int) -> str:
    """Copy what waits in a pipe without taking it out, and close our end."""
    inlet, outlet = os.pipe()
    os.set_blocking(inlet, False)
    seen = b""
    with suppress(OSError):
        call("tee", pipe, outlet, 4096, 2)
        seen = os.read(inlet, 60)
    for number in (pipe, inlet, outlet):
        os.close(number)
    return f"open for reading, {text(seen)} waits there" if seen else "open for reading, empty just now"
