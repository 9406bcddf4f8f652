"""What the spy tries on the rest of the world: the network, what it was given and told, its limits."""

import ctypes
import os
import re
import resource
import socket
import time
from contextlib import suppress

from spy_kit import PROC, Attempts, Denied, Scene, call, cmdline

ATTEMPTS = Attempts()

PATIENCE_S = 0.1

# -- the network ------------------------------------------------------------------------------------------


@ATTEMPTS.add
def tcp(scene: Scene) -> str:
    """Connect to a listener on 127.0.0.1."""
    with socket.create_connection(("127.0.0.1", int(scene.option("--tcp"))), PATIENCE_S):
        return "connected"


@ATTEMPTS.add
def udp(scene: Scene) -> str:
    """Send a datagram to 127.0.0.1."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("127.0.0.1", int(scene.option("--udp"))))
        sender.send(b"spy")
        time.sleep(0.01)
        sender.send(b"spy")  # if nobody listens, the first came back by now as an error
        return "sent"


@ATTEMPTS.add
def unix_abstract(scene: Scene) -> str:
    """Connect to an abstract unix socket."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + scene.option("--unix"))
        return "connected"


@ATTEMPTS.add
def route_out(_: Scene) -> str:
    """Find a route to another machine; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("192.0.2.1", 9))
        return f"from {sender.getsockname()[0]}"


@ATTEMPTS.add
def interfaces(_: Scene) -> str:
    """See the machine's network interfaces."""
    names = [name for _, name in socket.if_nameindex() if name != "lo"]
    if not names:
        raise Denied("only the loopback of its own")
    return f"{names}"


# -- what it was given ------------------------------------------------------------------------------------


@ATTEMPTS.add
def inherited_descriptors(scene: Scene) -> str:
    """Find descriptors that the referee left open in it."""
    if not scene.inherited:
        raise Denied("none but 0, 1 and 2")
    return f"{scene.inherited}"


@ATTEMPTS.add
def inherited_environment(_: Scene) -> str:
    """Find variables that a bot does not need."""
    needed = re.compile(r"PATH|HOME|TMPDIR|PWD|LANG|LC_\w+|TZ|USER|LOGNAME|SHELL|SHLVL|_|TERM")
    spare = [name for name in os.environ if not needed.fullmatch(name)]
    if not spare:
        raise Denied("only the usual")
    return f"{spare}"


@ATTEMPTS.add
def rival_names(scene: Scene) -> str:
    """Read the other bots' names in `players`: labels that say more than a letter or a number does."""
    seat, labels = scene.start["seat"], scene.start["players"]
    others = [label for number, label in enumerate(labels) if number != seat]
    plain = re.compile(r"(?i)(anon(ymous)?|bot|opponent|player|seat|p|s)?[-_. ]?([a-z]|\d{1,2})")
    if all(plain.fullmatch(label) for label in others):
        raise Denied(f"they say nothing: {others}")
    return f"{others}"


@ATTEMPTS.add
def seed(scene: Scene) -> str:
    """Find the seed: in what it was told, in environments, in command lines."""
    if "seed" in str(scene.start).lower():
        return "in the start request"
    for pid in (os.getpid(), *scene.ancestors):
        with suppress(OSError):
            words = cmdline(pid)
            for word, following in zip(words, [*words[1:], ""], strict=True):
                if word == "--seed" or word.startswith("--seed="):
                    return f"command line of {pid}: {word} {following}"
        with suppress(OSError):
            for item in (PROC / str(pid) / "environ").read_bytes().decode(errors="replace").split("\0"):
                if "SEED" in item.partition("=")[0].upper():
                    return f"environment of {pid}: {item}"
    raise Denied("nowhere")


# -- its limits -------------------------------------------------------------------------------------------

LIMITS = ("AS", "NOFILE", "NPROC", "FSIZE", "CPU", "CORE")


@ATTEMPTS.add
def raise_limits(_: Scene) -> str:
    """Raise its own hard limits."""
    raised = []
    for name in LIMITS:
        number = getattr(resource, f"RLIMIT_{name}")
        soft, hard = resource.getrlimit(number)
        if hard != resource.RLIM_INFINITY:
            with suppress(OSError, ValueError):
                resource.setrlimit(number, (soft, hard + 1))
                raised.append(name)
                resource.setrlimit(number, (soft, hard))
    if not raised:
        raise Denied("EPERM")
    return f"{raised}"


@ATTEMPTS.add
def no_limits(_: Scene) -> str:
    """Find memory and file size without a limit."""
    free = [
        name
        for name in ("AS", "FSIZE")
        if resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[0] == resource.RLIM_INFINITY
    ]
    if not free:
        raise Denied("both are limited")
    return f"{free}"


@ATTEMPTS.add
def be_root(_: Scene) -> str:
    """Be root, or become it."""
    if os.geteuid():
        os.setuid(0)
    return "uid 0"


@ATTEMPTS.add
def capabilities(_: Scene) -> str:
    """Hold capabilities."""
    for line in (PROC / "self/status").read_text().splitlines():
        if line.startswith("CapEff:") and int(line.split()[1], 16):
            return line.split()[1]
    raise Denied("none")


@ATTEMPTS.add
def user_namespace(_: Scene) -> str:
    """Make a user namespace, in a child, where it would be root."""
    child = os.fork()
    if not child:
        with suppress(BaseException):
            call("unshare", 0x10000000)
            os._exit(0)
        os._exit(min(ctypes.get_errno(), 255) or 255)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status:
        raise OSError(status, os.strerror(status))
    return "made"
