"""The filter of system calls, run through a small machine for its instructions, as the kernel would."""

from __future__ import annotations

import errno
import os
import struct
import sys

import pytest

from referee.table.keep import seccomp

pytestmark = pytest.mark.skipif(not seccomp.offered(), reason="no filter is made for this kind of machine")

PID = 4321
ALLOWED = "allowed"
KILLED = "killed"
HERE = seccomp._MACHINES.get(os.uname().machine, (0, 0)) if sys.platform == "linux" else (0, 0)


def judged(program: bytes, number: int, *arguments: int, architecture: int = HERE[0]) -> str:
    """What becomes of a call: "allowed", "killed", the name of its errno, or "pretended"."""
    words = [argument & 0xFFFFFFFFFFFFFFFF for argument in (*arguments, *[0] * (6 - len(arguments)))]
    data = struct.pack("=IIQ6Q", number, architecture, 0, *words)
    steps = list(struct.iter_unpack("=HBBI", program))
    place = accumulator = 0
    while True:
        code, if_true, if_false, value = steps[place]
        place += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("=I", data, value)
            case 0x15:
                place += if_true if accumulator == value else if_false
            case 0x35:
                place += if_true if accumulator >= value else if_false
            case 0x45:
                place += if_true if accumulator & value else if_false
            case 0x06:
                if value == 0x7FFF0000:
                    return ALLOWED
                if value == 0x80000000:
                    return KILLED
                assert value >> 16 == 5
                return errno.errorcode.get(value & 0xFFFF, "pretended")
            case other:
                raise AssertionError(f"unknown instruction {other:#x}")


def call(name: str, *arguments: int, kind: str = "bot", abi: int = 7, shares_user: bool = True) -> str:
    number = seccomp._NUMBERS[name][HERE[1]]
    if number < 0:
        pytest.skip(f"{name} does not exist here")
    return judged(seccomp.program(kind, PID, abi, shares_user=shares_user), number, *arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "verdict"),
    [
        pytest.param("read", (0,), ALLOWED, id="reads"),
        pytest.param("ptrace", (16, 99), "EPERM", id="no-ptrace"),
        pytest.param("prlimit64", (0, 7, 0, 0), ALLOWED, id="own-limits"),
        pytest.param("prlimit64", (PID, 7, 0, 0), ALLOWED, id="own-limits-by-name"),
        pytest.param("prlimit64", (99, 7, 0, 0), "EPERM", id="not-a-rivals-limits"),
        pytest.param("setpriority", (0, 0, 19), ALLOWED, id="own-priority"),
        pytest.param("setpriority", (0, 99, 19), "EPERM", id="not-a-rivals-priority"),
        pytest.param("setpriority", (2, 0, 19), "EPERM", id="nor-a-whole-users"),
        pytest.param("sched_setaffinity", (99, 8, 0), "EPERM", id="not-a-rivals-processors"),
        pytest.param("socket", (2, 1, 0), "EACCES", id="no-tcp"),
        pytest.param("socket", (1, 1, 0), "EACCES", id="no-unix-socket"),
        pytest.param("socketpair", (1, 1, 0), ALLOWED, id="a-pair-of-its-own"),
        pytest.param("socketpair", (2, 1, 0), "EACCES", id="no-other-pair"),
        pytest.param("clone", (0x01200011,), ALLOWED, id="forks"),
        pytest.param("clone", (0x3D0F00,), ALLOWED, id="threads"),
        pytest.param("clone", (0x10000000,), "EPERM", id="no-user-namespace"),
        pytest.param("clone3", (0, 88), "ENOSYS", id="clone3-has-a-fallback"),
        pytest.param("unshare", (0x10000000,), "EPERM", id="no-unshare"),
        pytest.param("flock", (3, 2), "pretended", id="locks-are-pretended"),
        pytest.param("fcntl", (3, 6, 0), "pretended", id="posix-locks-too"),
        pytest.param("fcntl", (3, 1024, 0), "EPERM", id="no-leases"),
        pytest.param("fcntl", (3, 2, 1), ALLOWED, id="close-on-exec"),
        pytest.param("io_uring_setup", (8, 0), "ENOSYS", id="no-io-uring"),
        pytest.param("chmod", (0, 0o777), "EPERM", id="no-modes-of-the-operators-files"),
        pytest.param("utimensat", (0, 0, 0, 0), "pretended", id="times-are-pretended"),
        pytest.param("kill", (99, 9), ALLOWED, id="signals-are-for-landlock"),
        pytest.param("mmap_is_unknown", (), ALLOWED, id="what-is-not-named"),
    ],
)
def test_a_bots_calls(name: str, arguments: tuple[int, ...], verdict: str) -> None:
    if name == "mmap_is_unknown":
        assert judged(seccomp.program("bot", PID, 7, shares_user=True), 9 if HERE[1] == 0 else 222) == verdict
    else:
        assert call(name, *arguments) == verdict


@pytest.mark.parametrize(
    ("name", "arguments", "verdict"),
    [
        pytest.param("kill", (99, 9), "EPERM", id="not-a-rival"),
        pytest.param("kill", (-1 & 0xFFFFFFFF, 9), "EPERM", id="not-everybody"),
        pytest.param("kill", (0, 9), ALLOWED, id="its-group"),
        pytest.param("kill", (PID, 9), ALLOWED, id="itself"),
        pytest.param("kill", (-PID, 9), ALLOWED, id="its-group-by-name"),
        pytest.param("tgkill", (PID, 5555, 6), ALLOWED, id="its-threads"),
        pytest.param("tgkill", (99, 99, 9), "EPERM", id="not-a-rivals-threads"),
    ],
)
def test_signals_where_landlock_does_not_keep_them_apart(
    name: str, arguments: tuple[int, ...], verdict: str
) -> None:
    assert call(name, *arguments, abi=5) == verdict
    assert call(name, *arguments, abi=5, shares_user=False) == ALLOWED


def test_truncate_where_landlock_does_not_know_it() -> None:
    assert call("truncate", 0, 0, abi=2) == "EPERM"
    assert call("truncate", 0, 0, abi=3) == ALLOWED


@pytest.mark.parametrize("name", ["chmod", "fchmod", "fchmodat", "flock"])
def test_a_build_sets_modes_and_locks(name: str) -> None:
    assert call(name, 3, 0, kind="build") == ALLOWED


@pytest.mark.parametrize("name", ["chmod", "utimensat"])
def test_a_user_of_its_own_may_set_the_modes_of_its_files(name: str) -> None:
    assert call(name, 0, 0, shares_user=False) == ALLOWED


def test_another_architecture_is_ended() -> None:
    program = seccomp.program("bot", PID, 7, shares_user=True)
    assert judged(program, 0, architecture=0x40000003) == KILLED


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("kind", ["bot", "build", "alone"])
def test_each_program_ends_and_is_short(monkeypatch: pytest.MonkeyPatch, machine: str, kind: str) -> None:
    """Every jump stays inside, so that the kernel takes it, which holds 4096 instructions at most."""
    monkeypatch.setitem(seccomp._MACHINES, os.uname().machine, seccomp._MACHINES[machine])
    for abi in (0, 2, 5, 7):
        program = seccomp.program(kind, PID, abi, shares_user=True)
        steps = list(struct.iter_unpack("=HBBI", program))
        assert len(steps) < 4096
        for place, (code, if_true, if_false, _) in enumerate(steps):
            if code & 0x07 == 0x05:
                assert place + 1 + max(if_true, if_false) < len(steps)
        assert steps[-1][0] == 0x06


def test_no_number_is_given_twice() -> None:
    for column in (0, 1):
        numbers = [pair[column] for pair in seccomp._NUMBERS.values() if pair[column] >= 0]
        assert len(numbers) == len(set(numbers))
