"""What Landlock takes from a bot and what it leaves, as a bot launched by the keeper finds it."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.table.keep import landlock
from referee.table.keep.launch import Landlock

SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/no/such/path", sys.prefix, sys.base_prefix)
ABI = landlock.abi()


def needs(abi: int) -> pytest.MarkDecorator:
    return pytest.mark.skipif(abi > ABI, reason=f"this kernel has Landlock ABI {ABI}, {abi} is needed")


Run = Callable[..., str]


@pytest.fixture
def run(bench, tmp_path: Path) -> Run:
    """Runs a command that may read `tmp/in` and write `tmp/out`; returns all that it says."""
    for name in ("in", "out", "secret"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(f"{name}\n")

    def run(*argv: str, net: bool = False) -> str:
        rules = Landlock(read=(*SYSTEM, str(tmp_path / "in")), write=(str(tmp_path / "out"),), net=net)
        spawned = bench.spawn(*argv, cwd=str(tmp_path), landlock=rules)
        return (bench.read_all(spawned.stdout) + bench.read_all(spawned.stderr)).decode()

    return run


@needs(1)
@pytest.mark.parametrize(
    ("script", "said"),
    [
        pytest.param("cat in/file", "in\n", id="reads-inside"),
        pytest.param("cat out/file", "out\n", id="reads-what-it-may-write"),
        pytest.param("cat secret/file", "Permission denied", id="reads-nothing-else"),
        pytest.param("cat out/../secret/file", "Permission denied", id="nor-by-a-detour"),
        pytest.param("ln -s ../secret out/door; cat out/door/file", "Permission denied", id="nor-by-a-link"),
        pytest.param("ls secret", "Permission denied", id="lists-nothing-else"),
        pytest.param("echo x > in/file", "Permission denied", id="does-not-write-what-it-may-read"),
        pytest.param("echo x > in/new", "Permission denied", id="makes-no-file-there"),
        pytest.param("rm in/file", "Permission denied", id="removes-no-file-there"),
        pytest.param("echo x > secret/new", "Permission denied", id="writes-nothing-else"),
        pytest.param("echo x > out/new; mkdir out/d; mv out/new out/d/; cat out/d/new", "x\n", id="writes"),
        pytest.param("mknod out/zero c 1 5", "not permitted|denied", id="makes-no-device"),
        pytest.param("echo > /dev/null; head -qc 1 /dev/zero /dev/urandom | wc -c", "2\n", id="devices"),
        pytest.param("echo x > /dev/stdout", "x\n", id="its-own-pipes"),
    ],
)
def test_files(run: Run, script: str, said: str) -> None:
    heard = run("sh", "-c", script)
    if said.endswith("\n"):
        assert heard == said
    else:
        assert any(words in heard for words in said.split("|")), heard


@needs(1)
def test_a_bot_outside_its_own_sandbox_fails_to_start(bench, tmp_path: Path) -> None:
    bot = tmp_path / "bot"
    bot.write_bytes(Path("/bin/true").read_bytes())
    bot.chmod(0o755)
    assert "outside the sandbox" in bench.fails(str(bot), landlock=Landlock(SYSTEM, ())).why


@needs(3)
def test_files_elsewhere_are_not_cut_short(run: Run, tmp_path: Path) -> None:
    assert "denied" in run(sys.executable, "-c", "import os; os.truncate('secret/file', 0)")
    assert (tmp_path / "secret" / "file").read_text() == "secret\n"


@needs(4)
@pytest.mark.parametrize("net", [False, True])
def test_tcp(run: Run, net: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        call = f"import socket; socket.create_connection(('127.0.0.1', {port})); print('through')"
        assert run(sys.executable, "-c", call, net=net).endswith(
            "through\n" if net else "PermissionError: [Errno 13] Permission denied\n"
        )


@needs(6)
def test_no_signal_reaches_another(run: Run) -> None:
    assert "PermissionError" in run(sys.executable, "-c", f"import os; os.kill({os.getpid()}, 0)")
    assert run("sh", "-c", "sleep 1000 & kill $! && echo its own") == "its own\n"


@needs(6)
def test_no_abstract_socket_is_reached(run: Run) -> None:
    name = f"\0hearts-arena-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        call = f"import socket; socket.socket(socket.AF_UNIX).connect({name!r})"
        assert "PermissionError" in run(sys.executable, "-c", call)


@needs(1)
def test_it_cannot_be_undone(run: Run) -> None:
    """Nor by a set-uid program: `no_new_privs` comes with it."""
    assert run(sys.executable, "-c", "import ctypes; print(ctypes.CDLL(None).prctl(39, 0, 0, 0, 0))") == "1\n"
