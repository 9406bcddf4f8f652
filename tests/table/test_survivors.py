"""Nothing that a bot has started survives it, and nothing survives the referee.

Nothing here sleeps: what is waited for is an event, the end of a pipe, or a pidfd.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.errors import ArenaError
from referee.table.keep import launch
from referee.table.keep.launch import Exited, Keeper, Started
from referee.table.keep.orphans import children, children_by_scan
from tests.table.test_keeper import state, until

GUARD_S = 60
ROOT = Path(__file__).parents[2]
PTRACE_CONT, PTRACE_SEIZE, PTRACE_O_TRACEEXIT, WALL = 7, 0x4206, 0x40, 0x40000000
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers, pidfds and /proc")

DAEMON = """
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.write(1, b"%d\\n" % os.getpid())
    for number in range(3):
        os.close(number)
    while True:
        signal.pause()
os.wait()
"""


def pids(lines: bytes) -> list[int]:
    return [int(line) for line in lines.split()]


def watch(*pids: int) -> Callable[[], None]:
    """Take hold of processes; what is returned waits until all of them have ended."""
    held = []
    for pid in pids:
        try:
            held.append(os.pidfd_open(pid))
        except ProcessLookupError:
            continue

    def ended() -> None:
        for descriptor in held:
            assert select.select([descriptor], [], [], GUARD_S)[0], f"one of {pids} lives on"
            os.close(descriptor)

    return ended


def test_kill_ends_the_whole_group(bench) -> None:
    spawned = bench.spawn("sh", "-c", "trap '' TERM; sleep 1000 & echo; wait")
    bench.read_some(spawned.stdout)
    bench.keeper.kill(spawned.key)
    assert bench.wait(Exited, spawned.key).status == -signal.SIGKILL
    assert bench.read_all(spawned.stdout) == b""


def test_kill_may_come_at_any_moment(bench) -> None:
    for _ in range(50):
        spawned = bench.spawn("sleep", "1000")
        bench.keeper.kill(spawned.key)  # it has hardly been forked
        assert bench.wait(Exited, spawned.key).status == -signal.SIGKILL
        bench.keeper.kill(spawned.key)  # and is no more
    bench.keeper.kill(12345)


def test_what_a_bot_leaves_in_its_group_ends_with_it(bench) -> None:
    spawned = bench.spawn("sh", "-c", "sleep 1000 & exit 5")
    assert bench.read_all(spawned.stdout) == b""
    assert bench.wait(Exited, spawned.key).status == 5


@linux
@pytest.mark.parametrize("end", ["killed", "exits", "lives"])
def test_a_daemon_is_swept(bench, end: str) -> None:
    """It has left the group and the session, closed the pipes, and ignores SIGTERM."""
    spawned = bench.python(DAEMON + ("sys.stdin.readline()" if end == "exits" else "signal.pause()"))
    (pid,) = pids(bench.read_until(spawned.stdout, b"\n", 1))
    swept = watch(pid)
    if end == "killed":
        bench.keeper.kill(spawned.key)
    elif end == "exits":
        os.write(spawned.stdin, b"\n")
    swept()


TRACED = """
import ctypes, os, signal, sys
bot = os.getpid()
if os.fork() == 0:
    os.setsid()
    assert not ctypes.CDLL(None).ptrace(0x4206, bot, None, ctypes.c_void_p(0x40))  # SEIZE, O_TRACEEXIT
    os.write(1, b"%d\\n%d\\n" % (bot, os.getpid()))
    signal.pause()
sys.stdin.readline()
sys.exit(5)
"""


@linux
@pytest.mark.parametrize("end", ["killed", "exits", "abandoned"])
def test_a_tracer_below_it_holds_up_no_end(bench, end: str) -> None:
    """Until its tracer has ended it is no zombie, and the tracer no orphan."""
    spawned = bench.python(TRACED)
    gone = watch(*pids(bench.read_until(spawned.stdout, b"\n", 2)))
    if end == "exits":
        os.write(spawned.stdin, b"\n")
        bot = bench.wait(Started, spawned.key).pid
        until(lambda: state(bot) == "t", "it does not try to exit")
    if end == "abandoned":
        bench.keeper.close()
    else:
        bench.keeper.kill(spawned.key)
        assert bench.wait(Exited, spawned.key).status == (5 if end == "exits" else -signal.SIGKILL)
    gone()


IMPATIENT = """
import sys
sys.path.append(sys.argv[1])
from referee.table.keep import bot
bot.GIVE_UP_S = 0.2
from referee.table.keep.keeper import main
main()
"""


@linux
def test_what_cannot_be_ended_is_not_waited_for(bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tracer out of the keeper's reach holds it up: this process."""
    monkeypatch.setattr(launch, "_BOOT", IMPATIENT)
    ptrace = ctypes.CDLL(None).ptrace
    with Keeper.start() as keeper:
        bench = type(bench)(keeper)
        spawned = bench.spawn("sleep", "1000")
        bot = bench.wait(Started, spawned.key).pid
        gone = watch(bot)
        if ptrace(PTRACE_SEIZE, bot, None, ctypes.c_void_p(PTRACE_O_TRACEEXIT)):
            pytest.skip("this system lets only ancestors trace")
        keeper.kill(spawned.key)
        assert bench.wait(Exited, spawned.key).status == -signal.SIGKILL
        assert state(bot) == "t"
        assert bench.run("echo", "another") == "another\n"
        os.waitpid(bot, WALL)
        ptrace(PTRACE_CONT, bot, None, None)
        os.waitpid(bot, WALL)
        gone()
        bench.let_go()
    assert [type(event) for event in bench.heard if event.key == spawned.key] == [Started, Exited]


BOMBS = {
    "100-daemons": """
import os, time
for number in range(100):
    if os.fork() == 0:
        os.setsid()
        os.write(1, b"x")
        time.sleep(1000)
os.write(1, b"x")
time.sleep(1000)
""",
    "100-in-a-row": """
import os, time
for number in range(100):
    os.write(1, b"x")
    if os.fork():
        time.sleep(1000)
    os.setsid()
os.write(1, b"x")
time.sleep(1000)
""",
    "a-tree-of-127": """
import os, time
for number in range(6):
    for side in range(2):
        if os.fork() == 0:
            os.setsid()
            break
    else:
        break
os.write(1, b"x")
time.sleep(1000)
""",
}


@linux
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_fork_bomb_is_swept(bench, bomb: str) -> None:
    spawned = bench.python(BOMBS[bomb])
    bench.read_until(spawned.stdout, b"x", 101)
    bench.keeper.kill(spawned.key)
    bench.read_all(spawned.stdout)  # ends when the last of them has


@linux
def test_a_process_that_always_moves_on_is_caught(bench) -> None:
    """It forks and exits without end, so that no process id of it lives for a millisecond."""
    spawned = bench.python("""
import os
os.write(1, b"x")
for generation in range(20_000):
    if os.fork():
        os._exit(0)
    if generation == 0:
        os.setsid()
os.write(1, b"escaped")
""")
    assert b"escaped" not in bench.read_all(spawned.stdout)
    assert bench.wait(Exited, spawned.key).status == 0


@linux
@pytest.mark.parametrize("way", ["killed", "closes"])
def test_nothing_outlives_the_referee(bench, way: str) -> None:
    """Neither a bot, nor its daemon, nor the keeper itself."""
    last = "signal.pause()" if way == "killed" else "keeper.close(); keeper.close()"
    bot = DAEMON + "os.write(1, b'%d\\n' % os.getpid()); signal.pause()"
    referee = subprocess.Popen(
        [sys.executable, "-c", fr"""
import os, select, signal, sys
from referee.table.keep.launch import Keeper, Launch
keeper = Keeper.start()
spawned = keeper.spawn(Launch((sys.executable, "-I", "-S", "-c", {bot!r}), {{}}, "/", {{}}))
os.write(1, b"%d\n" % keeper.pid)
received = b""
while received.count(b"\n") < 2:
    select.select([spawned.stdout], [], [])
    received += os.read(spawned.stdout, 100)
os.write(1, received)
sys.stdin.readline()
{last}
"""],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    with referee:
        assert referee.stdin
        assert referee.stdout
        try:
            all_gone = watch(*pids(bench.read_until(referee.stdout.fileno(), b"\n", 3)))
            if way == "closes":
                referee.stdin.close()  # and so it goes on to its last line
                referee.wait(GUARD_S)
        finally:
            referee.kill()
    all_gone()


@linux
def test_200_bots_leave_nothing_open_and_no_children(bench) -> None:
    bench.run("true")
    bench.let_go()
    resource.prlimit(bench.keeper.pid, resource.RLIMIT_NOFILE, (20, 20))  # the keeper may not be looked into
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(200):
        bench.run("true")
        bench.let_go()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert children(bench.keeper.pid) == []


@linux
@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into every process")
def test_a_bot_of_the_same_user_cannot_look_into_the_keeper(bench) -> None:
    assert bench.run("stat", "-c", "%u", "/proc/self/fd") == f"{os.geteuid()}\n"
    look = bench.spawn("ls", f"/proc/{bench.keeper.pid}/fd")
    assert b"Permission denied" in bench.read_all(look.stderr)


@linux
def test_its_death_is_an_error_and_takes_the_bots_along(bench) -> None:
    spawned = bench.spawn("sleep", "1000")
    gone = watch(bench.wait(Started, spawned.key).pid)
    os.kill(bench.keeper.pid, signal.SIGKILL)
    gone()
    with pytest.raises(ArenaError, match="ended with status -9"):  # once what it had said has been read
        bench.wait(Exited, spawned.key)
    with pytest.raises(ArenaError, match="ended with status -9"):
        bench.spawn("true")


@linux
def test_children_are_found_in_either_way() -> None:
    with subprocess.Popen(["sleep", "1000"]) as sleeper:
        assert sleeper.pid in children(os.getpid())
        assert sorted(children(os.getpid())) == sorted(children_by_scan(os.getpid()))
        sleeper.kill()
    assert children(sleeper.pid) == children_by_scan(sleeper.pid) == []
