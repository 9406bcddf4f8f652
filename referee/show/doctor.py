"""`arena doctor`: what this machine offers to confine bots, and what each level stops here."""

from __future__ import annotations

import os
import platform
import select
import shutil
import sys
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
from msgspec import Struct
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from protocol.rules import Conditions, Sandbox
from referee.errors import ArenaError
from referee.game.events import SeatRecord
from referee.show.output import console, tell_program
from referee.table import bubblewrap, users
from referee.table.confine import Confinement
from referee.table.keep import landlock, seccomp
from referee.table.keep.launch import Exited, Failed, Keeper

_TRIAL_LIMIT_S: Final = 10
_SETTINGS: Final = (
    ("kernel.unprivileged_userns_clone", "0", "1"),
    ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
    ("user.max_user_namespaces", "0", "15000"),
)
"""What can keep ordinary users from making user namespaces: a setting, when it does, and what lets them."""


class Machine(Struct, frozen=True, kw_only=True):
    """What was found of this machine."""

    system: str
    kernel: str
    architecture: str
    landlock: int
    """The version (ABI) that the kernel offers; 0 is none."""
    seccomp: bool
    bubblewrap: str | None
    """The version that works here."""
    bubblewrap_refuses: str | None
    user_namespaces: bool
    """Whether an ordinary user may make them, as far as the settings tell."""
    root: bool
    own_users: bool
    """Whether each bot gets a user id of its own."""
    sweeps: bool
    """Whether what a bot leaves behind is found and ended."""


class Danger(Struct, frozen=True):
    """Something that a bot may try, and which levels stop it here."""

    name: str
    what: str
    stopped: dict[Sandbox, bool]


class Report(Struct, frozen=True):
    """All that the doctor says."""

    machine: Machine
    levels: dict[Sandbox, str]
    """For each level "works", or why not."""
    dangers: list[Danger]
    advice: list[str]


def show(*, as_json: bool) -> None:
    """Examine this machine and say what was found."""
    report = examine()
    if as_json:
        tell_program(msgspec.json.encode(report) + b"\n")
    else:
        console().print(_page(report))


def examine() -> Report:
    """What this machine offers, each level having been tried."""
    machine = look()
    levels: dict[Sandbox, str] = {level: try_level(level) for level in get_args(Sandbox)}
    return Report(machine, levels, dangers(machine, levels), advice(machine))


def look() -> Machine:
    """What can be seen without starting a bot."""
    found = bubblewrap.find() if sys.platform == "linux" else "only Linux has bubblewrap"
    works = isinstance(found, bubblewrap.Bubblewrap)
    return Machine(
        system=platform.system(),
        kernel=platform.release(),
        architecture=platform.machine(),
        landlock=landlock.abi(),
        seccomp=seccomp.offered(),
        bubblewrap=found.version if isinstance(found, bubblewrap.Bubblewrap) else None,
        bubblewrap_refuses=None if works else str(found),
        user_namespaces=sys.platform == "linux" and not _forbidding(),
        root=os.geteuid() == 0,
        own_users=os.geteuid() == 0 and sys.platform == "linux" and users.fresh() is not None,
        sweeps=sys.platform == "linux",
    )


def _forbidding() -> list[tuple[str, str]]:
    """The settings that keep ordinary users from making user namespaces, and what would let them."""
    found = []
    for name, forbids, allows in _SETTINGS:
        path = Path("/proc/sys", *name.split("."))
        try:
            if path.read_text().strip() == forbids:
                found.append((name, allows))
        except OSError:
            continue
    return found


def try_level(level: Sandbox) -> str:
    """Start a program at this level: "works", or why it does not."""
    seat = SeatRecord(seat=0, name="trial", command=("sh", "-c", "exit 0"), cwd="/")
    try:
        with Confinement(Conditions(sandbox=level)) as confinement, Keeper.start() as keeper:
            spawned = keeper.spawn(confinement.launch(seat))
            try:
                return _wait(keeper)
            finally:
                for pipe in (spawned.stdin, spawned.stdout, spawned.stderr):
                    os.close(pipe)
    except ArenaError as error:
        return (
            str(error).removeprefix(f"--sandbox {level} is not possible: ").partition("; `arena doctor`")[0]
        )


def _wait(keeper: Keeper) -> str:
    while select.select([keeper], [], [], _TRIAL_LIMIT_S)[0]:
        for event in keeper.events():
            if isinstance(event, Failed):
                return event.why
            if isinstance(event, Exited):
                return "works" if event.status == 0 else f"a program ended with status {event.status}"
    return "a program did not start in time"


def dangers(machine: Machine, levels: dict[Sandbox, str]) -> list[Danger]:
    """What bots may try, and what stops it at each level on this machine."""
    files = machine.landlock > 0
    calls = machine.seccomp
    apart = machine.own_users
    linux = machine.sweeps

    def danger(name: str, what: str, *, none: bool = False, auto: bool, bwrap: bool = True) -> Danger:
        inside = bwrap and levels.get("bwrap") == "works"
        return Danger(name, what, {"auto": auto, "none": none, "bwrap": inside})

    return [
        danger("leftovers", "leaves processes behind", none=linux, auto=linux),
        danger("memory", "uses memory without end", none=linux, auto=linux),
        danger("disk", "fills the disk", auto=files),
        danger("processes", "starts processes without end", auto=apart),
        danger("rival_hand", "reads a rival's cards from its pipes or memory", auto=files or apart),
        danger("rival_forged", "writes or debugs in a rival's place", auto=files or apart),
        danger("rival_stopped", "stops or kills a rival", auto=machine.landlock >= 6 or calls or apart),
        danger("rival_slowed", "lowers a rival's limits or priority", auto=calls or apart),
        danger("processes_seen", "sees who else runs, and how it was started", auto=files),
        danger("files_read", "reads the match log, other bots, your files", auto=files),
        danger("files_written", "writes where it should not", auto=files),
        danger("modes_changed", "changes the modes of your files", auto=calls or apart),
        danger("tcp", "uses TCP", auto=machine.landlock >= 4 or calls),
        danger("udp", "uses UDP, or sockets of this machine", auto=calls),
        danger("copies_meet", "meets another copy of itself", auto=files and calls),
        danger("timing", "signals to another by how busy the machine is", auto=False, bwrap=False),
        danger("kernel", "uses an unknown hole of the kernel", auto=False, bwrap=False),
    ]


def advice(machine: Machine) -> list[str]:
    """What would make this machine offer more."""
    found = []
    if machine.system != "Linux":
        return ["Only Linux can confine bots; here run only bots that you trust."]
    if not machine.landlock:
        found.append(
            "The kernel offers no Landlock: use Linux 5.13 or newer, and boot with landlock among lsm=..."
        )
    elif machine.landlock < 6:
        found.append(
            f"Landlock is of version {machine.landlock}; "
            "from Linux 6.12 (version 6) on it also keeps signals apart."
        )
    if machine.bubblewrap is None:
        if shutil.which("bwrap") is None:
            found.append("For --sandbox bwrap install bubblewrap: apt install bubblewrap")
        elif not machine.root and (settings := _forbidding()):
            needs = "Bubblewrap needs user namespaces for you: sysctl -w"
            found += [f"{needs} {name}={allows}" for name, allows in settings]
        else:
            found.append(
                "Bubblewrap may not make its namespaces here; in a container its operator has to allow it."
            )
        if any(shutil.which(tool) is None for tool in ("prlimit", "setpriv")):
            found.append("Bubblewrap is used with prlimit and setpriv: apt install util-linux")
    if not machine.seccomp:
        found.append(f"System calls can be filtered on x86_64 and aarch64, not on {machine.architecture}.")
    if machine.bubblewrap is not None:
        found.append("For bots of people you do not know use --sandbox bwrap.")
    return found


def _page(report: Report) -> RenderableType:
    machine = report.machine
    facts = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    facts.add_column(style="bold", no_wrap=True)
    facts.add_column()
    facts.add_row("system", f"{machine.system} {machine.kernel}, {machine.architecture}")
    facts.add_row("Landlock", f"version {machine.landlock}" if machine.landlock else "no")
    facts.add_row("call filter", "yes" if machine.seccomp else "no")
    facts.add_row("bubblewrap", machine.bubblewrap or f"no: {machine.bubblewrap_refuses}")
    facts.add_row(
        "user namespaces", "for every user" if machine.user_namespaces else "not for ordinary users"
    )
    as_whom = "root; each bot becomes a user of its own" if machine.own_users else "root"
    facts.add_row("running as", as_whom if machine.root else "an ordinary user, and so do the bots")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("a bot that ...")
    order = [level for level in ("none", "auto", "bwrap") if level in report.levels]
    for level in order:
        table.add_column(f"--sandbox {level}", no_wrap=True)
    for danger in report.dangers:
        table.add_row(danger.what, *(_word(danger, level, report) for level in order))
    troubles = [
        Text(f"--sandbox {level} does not work here: {report.levels[level]}", style="red")
        for level in order
        if report.levels[level] != "works"
    ]
    hints = [Text(f"- {line}") for line in report.advice]
    return Group(Padding(facts, (0, 0, 1, 0), expand=False), table, "", *troubles, *hints)


def _word(danger: Danger, level: Any, report: Report) -> Text:
    if report.levels[level] != "works":
        return Text("-", style="dim")
    return Text("stopped", style="green") if danger.stopped[level] else Text("not stopped", style="yellow")
