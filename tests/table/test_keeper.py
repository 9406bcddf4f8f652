"""The keeper with real processes: bots start as asked, and what goes wrong is told in words.

Nothing here sleeps: what is waited for is an event, the end of a pipe, or a pidfd.
"""

from __future__ import annotations

import errno
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import pytest

from referee.errors import ArenaError
from referee.table.keep import launch
from referee.table.keep.launch import Cage, Exited, Keeper, Launch, Started

GUARD_S = 60
ENV = {"PATH": "/usr/bin:/bin"}
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers, pidfds and /proc")


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def until(true: Callable[[], bool], otherwise: str) -> None:
    """For what the kernel shows but does not announce."""
    limit = time.monotonic() + GUARD_S
    while not true():
        assert time.monotonic() < limit, otherwise


# Starting, and what is heard of it.


@pytest.mark.parametrize(
    ("script", "status"),
    [
        pytest.param("exit 0", 0, id="ends-well"),
        pytest.param("exit 3", 3, id="ends-badly"),
        pytest.param("kill -KILL $$", -signal.SIGKILL, id="is-killed"),
        pytest.param("kill -PIPE $$", -signal.SIGPIPE, id="SIGPIPE-is-not-ignored"),
    ],
)
def test_a_bot_starts_and_its_end_is_told(bench, script: str, status: int) -> None:
    spawned = bench.spawn("sh", "-c", script)
    exited = bench.wait(Exited, spawned.key)
    assert exited.status == status
    assert exited.peak_kb > 0
    assert [type(event) for event in bench.heard] == [Started, Exited]


def test_it_talks_through_its_three_pipes(bench) -> None:
    spawned = bench.spawn("sh", "-c", "read line; echo out $line; echo err $line >&2")
    os.write(spawned.stdin, b"7\n")
    assert bench.read_all(spawned.stdout) == b"out 7\n"
    assert bench.read_all(spawned.stderr) == b"err 7\n"
    assert not any(os.get_blocking(end) for end in (spawned.stdin, spawned.stdout, spawned.stderr))


def test_its_environment_and_directory_are_those_given(bench, tmp_path: Path) -> None:
    assert bench.run("env", env={"PATH": "/usr/bin:/bin", "A": "1"}) == "PATH=/usr/bin:/bin\nA=1\n"
    assert bench.run("pwd", cwd=str(tmp_path)) == f"{tmp_path.resolve()}\n"


def test_a_name_without_a_slash_is_found_on_its_own_path(bench, tmp_path: Path) -> None:
    executable(tmp_path / "bot", "#!/bin/sh\necho mine\n")
    assert bench.run("bot", env={"PATH": f"/nowhere:{tmp_path}"}) == "mine\n"


def test_an_argument_need_not_be_text(bench) -> None:
    spawned = bench.spawn("printf", "%s", os.fsdecode(b"caf\xe9"))
    assert bench.read_all(spawned.stdout) == b"caf\xe9"


def executable(path: Path, content: str | bytes) -> str:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(0o755)
    return str(path)


ELF_FOR_NO_MACHINE = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\xfe\xfe" + bytes(100)


@pytest.mark.parametrize(
    ("content", "number", "words"),
    [
        pytest.param("echo hello\n", errno.ENOEXEC, 'begins with "#!"', id="no-shebang"),
        pytest.param("", errno.ENOEXEC, "is empty", id="empty"),
        pytest.param("#!/no/such/sh -e\n", errno.ENOENT, "not exist: '/no/such/sh'", id="no-interpreter"),
        pytest.param("#!/bin/sh\r\n", errno.ENOENT, "Windows line ends", id="carriage-return"),
        pytest.param(ELF_FOR_NO_MACHINE, errno.ENOEXEC, "another kind of machine", id="foreign-program"),
    ],
)
def test_a_file_that_does_not_run(
    bench, tmp_path: Path, content: str | bytes, number: int, words: str
) -> None:
    failed = bench.fails(executable(tmp_path / "bot", content))
    assert failed.errno == number
    assert words in failed.why
    assert repr(str(tmp_path / "bot")) in failed.why


@pytest.mark.parametrize(
    ("argv", "options", "number", "words"),
    [
        pytest.param(
            ["no-such-bot"], {}, errno.ENOENT, "not a program on PATH ('/usr/bin:/bin')", id="not-on-path"
        ),
        pytest.param(["./bot"], {}, errno.ENOENT, "'./bot' does not exist", id="missing"),
        pytest.param(["/dev/null/x"], {}, errno.ENOTDIR, "does not exist", id="below-a-file"),
        pytest.param(["/usr"], {}, errno.EACCES, "is a directory", id="directory"),
        pytest.param(["/dev/null"], {}, errno.EACCES, "is not a file", id="device"),
        pytest.param(["/etc/passwd"], {}, errno.EACCES, "not executable (chmod +x)", id="not-executable"),
        pytest.param(["true", "a\0b"], {}, errno.EINVAL, "null byte", id="nul-in-argument"),
        pytest.param(["true", "\ud800"], {}, errno.EINVAL, "surrogates", id="lone-surrogate"),
        pytest.param(["true", "x" * 300_000], {}, errno.E2BIG, "more arguments", id="too-many-arguments"),
        pytest.param(["true"], {"env": {"A=B": "", **ENV}}, errno.EINVAL, "environment", id="bad-variable"),
        pytest.param([], {}, errno.EINVAL, "command is empty", id="no-command"),
        pytest.param([""], {}, errno.EINVAL, "command is empty", id="empty-name"),
        pytest.param(
            ["true"], {"cwd": "/no/where"}, errno.ENOENT, "'/no/where' does not exist", id="no-directory"
        ),
        pytest.param(
            ["true"], {"cwd": "/dev/null"}, errno.ENOTDIR, "cannot be entered", id="no-such-directory"
        ),
        pytest.param(["true"], {"cwd": "\0"}, errno.EINVAL, "no possible name", id="nul-in-directory"),
        pytest.param(["true"], {"RLIMIT_LUCK": 1}, errno.EINVAL, "no limit named", id="unknown-limit"),
    ],
)
def test_a_launch_that_fails(
    bench, argv: list[str], options: dict[str, object], number: int, words: str
) -> None:
    failed = bench.fails(*argv, **options)
    assert words in failed.why
    assert failed.errno == number
    assert bench.run("echo", "still here") == "still here\n"
    assert not [event for event in bench.heard if event.key == failed.key and event is not failed]


def test_a_link_to_nothing(bench, tmp_path: Path) -> None:
    (tmp_path / "bot").symlink_to("nothing")
    assert "is a link to something that does not exist" in bench.fails(str(tmp_path / "bot")).why


def test_a_keeper_out_of_descriptors_says_so_and_recovers(bench) -> None:
    assert bench.run("echo", "1") == "1\n"
    before = resource.prlimit(bench.keeper.pid, resource.RLIMIT_NOFILE)
    for room in range(5, 9):  # it has 0 to 4 open: none, one, two or all three pipes arrive
        resource.prlimit(bench.keeper.pid, resource.RLIMIT_NOFILE, (room, before[1]))
        failed = bench.fails("true")
        assert failed.errno == errno.EMFILE
        assert "no more processes" in failed.why
    resource.prlimit(bench.keeper.pid, resource.RLIMIT_NOFILE, before)
    assert bench.run("echo", "2") == "2\n"


def test_many_commands_at_once_keep_their_descriptors(bench) -> None:
    """Commands of every size, sent faster than they are carried out: the pipes must not be mixed up."""
    started = [
        bench.spawn("echo", str(number), env={**ENV, "X": "x" * (number % 7 * 15_000)})
        for number in range(150)
    ]
    for number, spawned in enumerate(started):
        assert bench.read_all(spawned.stdout) == b"%d\n" % number
        assert bench.wait(Exited, spawned.key).status == 0
    told = [(event.key, type(event)) for event in bench.heard]
    assert all(told.index((key, Started)) < told.index((key, Exited)) for key, _ in told)


# What a bot does not inherit, and what it is given.


@linux
def test_signals_are_as_a_program_expects_them(bench) -> None:
    """Whatever the referee ignores or blocks, Python's own SIGPIPE included."""
    usr1 = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2, signal.SIGCHLD])
    try:
        keeper = Keeper.start()
    finally:
        signal.signal(signal.SIGUSR1, usr1)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    with keeper:
        bench = type(bench)(keeper)
        status = bench.run("grep", "Sig[BI]", "/proc/self/status").split()
        bench.let_go()
    assert status == ["SigBlk:", "0" * 16, "SigIgn:", "0" * 16]


def test_it_holds_three_descriptors_and_leads_a_session(bench) -> None:
    with Path(os.devnull).open() as file:
        os.set_inheritable(file.fileno(), True)
        listing = (
            "import os; print(sorted(os.listdir('/dev/fd')), os.getsid(0) == os.getpid() == os.getpgid(0))"
        )
        assert (
            bench.run(sys.executable, "-c", listing) == "['0', '1', '2', '3'] True\n"
        )  # 3 is the listing's own


def test_limits_are_set_and_cut_down_to_what_is_allowed(bench) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    show = "ulimit -Sn; ulimit -Hn; ulimit -c"
    assert bench.run("sh", "-c", show, RLIMIT_NOFILE=50, RLIMIT_CORE=0) == "50\n50\n0\n"
    if most != resource.RLIM_INFINITY:
        assert bench.run("sh", "-c", "ulimit -Hn", RLIMIT_NOFILE=most + 1) == f"{most}\n"
        assert bench.run("sh", "-c", "ulimit -Hn", RLIMIT_NOFILE=resource.RLIM_INFINITY) == f"{most}\n"


# The keeper itself.

SLOW_TO_CLEAR_AWAY = """
import sys
sys.path.append(sys.argv[1])
from referee.table.keep import scratch
removing = scratch.removing
def waiting(path):
    open(path.rpartition("/")[0] + "/go-on").close()
    yield from removing(path)
scratch.removing = waiting
from referee.table.keep.keeper import main
main()
"""


def test_an_end_is_told_before_the_scratch_is_cleared_away(
    bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "_BOOT", SLOW_TO_CLEAR_AWAY)
    os.mkfifo(tmp_path / "go-on")
    place = tmp_path / "scratch"
    with Keeper.start() as keeper:
        bench = type(bench)(keeper)
        bench.spawned = [keeper.spawn(Launch(("true",), ENV, "/", {}, cage=Cage(scratch=str(place))))]
        assert bench.wait(Exited, bench.spawned[0].key).status == 0
        bench.let_go()
        assert list(tmp_path.glob("scratch*"))
        (tmp_path / "go-on").write_bytes(b"")
    assert not list(tmp_path.glob("scratch*"))


@linux
def test_freeze_and_thaw(bench) -> None:
    spawned = bench.spawn("cat")
    pid = bench.wait(Started, spawned.key).pid
    bench.keeper.freeze(spawned.key)
    until(lambda: state(pid) == "T", "it does not stop")
    os.write(spawned.stdin, b"hello\n")
    bench.run("true")  # meanwhile the others go on
    assert not select.select([spawned.stdout], [], [], 0)[0]
    bench.keeper.thaw(spawned.key)
    assert bench.read_some(spawned.stdout) == b"hello\n"
    bench.keeper.freeze(spawned.key)
    bench.keeper.kill(spawned.key)
    assert bench.wait(Exited, spawned.key).status == -signal.SIGKILL


@linux
def test_signals_do_not_end_it(bench) -> None:
    bench.run("true")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        os.kill(bench.keeper.pid, number)
    assert bench.run("echo", "here") == "here\n"


@contextmanager
def fresh(bench):
    """A bench of the same kind with a keeper started now, whose stderr is what ours is now."""
    with Keeper.start() as keeper:
        ours = type(bench)(keeper)
        yield ours
        ours.let_go()


@linux
def test_a_bot_that_takes_its_descriptors_away_is_told_of_in_a_sentence(bench, capfd) -> None:
    """At sandbox none a bot can."""
    with fresh(bench) as ours:
        spawned = ours.spawn("sleep", "1000")
        gone = os.pidfd_open(ours.wait(Started, spawned.key).pid)
        resource.prlimit(ours.keeper.pid, resource.RLIMIT_NOFILE, (0, 0))
        with pytest.raises(ArenaError, match="a bot has lowered the limits of the keeper"):
            ours.wait(Exited, ours.spawn("true").key)
    assert select.select([gone], [], [], GUARD_S)[0]
    os.close(gone)
    assert capfd.readouterr().err == ""


def test_a_mistake_of_ours_leaves_one_traceback(bench, capfd) -> None:
    with fresh(bench) as ours:
        spawned = ours.spawn("sleep", "1000")
        ours.keeper._send({"do": "err"})
        with pytest.raises(ArenaError, match="ended with status 1"):
            ours.wait(Exited, spawned.key)
    told = capfd.readouterr().err
    assert told.count("Traceback") == 1
    assert "unknown command 'err'" in told


def test_after_close_there_is_only_an_error() -> None:
    keeper = Keeper.start()
    keeper.close()
    keeper.close()
    with pytest.raises(ArenaError, match="has been closed"):
        keeper.spawn(Launch(("true",), ENV, "/", {}))
    with pytest.raises(ArenaError, match="has been closed"):
        keeper.events()
