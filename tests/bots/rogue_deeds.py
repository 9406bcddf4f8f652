"""Rogue modes that are a matter of what the one process does: it hangs, closes, dies, takes what there is.

A mode that acts and returns lets the honest answer follow; at the moment `end` that answer went before.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from time import sleep

from misdeed import LIFE_S, Catalogue, Turn, sit

DEEDS = Catalogue()

MB = 1_000_000


# -- honest ----------------------------------------------------------------------------------------------


@DEEDS.does
def honest(_: Turn) -> None:
    """Does nothing wrong."""


@DEEDS.does
def ignores_sigterm_and_eof(turn: Turn) -> None:
    """Plays honestly, and never leaves: not at end of input, not on SIGTERM, SIGINT, SIGHUP or SIGQUIT."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    turn.bot.at_eof = sit


@DEEDS.does
def tiny_pipes(_: Turn) -> None:
    """Plays honestly over pipes that it shrank to one page."""
    import fcntl

    for pipe in (0, 1, 2):
        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)


@DEEDS.does
def close_stderr(_: Turn) -> None:
    """Closes stderr, and plays honestly."""
    os.close(2)


@DEEDS.does
def stderr_flood(turn: Turn) -> None:
    """Writes N MB (1) to stderr before it answers."""
    for _ in range((turn.argument or 1) * 1_000):
        os.write(2, b"e" * 999 + b"\n")


# -- hangs -----------------------------------------------------------------------------------------------


@DEEDS.does
def silent(turn: Turn) -> None:
    """Reads on, and never answers again."""
    for _ in turn.bot.messages():
        pass
    os._exit(0)


@DEEDS.does
def never_reads(_: Turn) -> None:
    """Shrinks its stdin to one page, and neither reads nor answers again."""
    import fcntl

    with suppress(OSError):
        fcntl.fcntl(0, fcntl.F_SETPIPE_SZ, 4096)
    sit()


@DEEDS.does
def stuffed_stdin(_: Turn) -> None:
    """Fills its own stdin to the brim through /proc, and neither reads nor answers again."""
    with suppress(OSError):
        brim = os.open("/proc/self/fd/0", os.O_WRONLY | os.O_NONBLOCK)
        with suppress(BlockingIOError):
            while True:
                os.write(brim, b"\n")
        os.close(brim)
    sit()


@DEEDS.does
def stopped(_: Turn) -> None:
    """Stops itself by SIGSTOP, and again whenever it is continued."""
    signal.alarm(LIFE_S)
    while True:
        os.kill(os.getpid(), signal.SIGSTOP)
        sleep(0.01)


@DEEDS.does
def unflushed(turn: Turn) -> None:
    """Plays honestly into a buffer that it never flushes."""
    stdout = open(1, "wb", buffering=MB, closefd=False)  # noqa: SIM115 (to close it would flush it)
    turn.bot.write = stdout.write


@DEEDS.does
def exec_sleep(_: Turn) -> None:
    """Becomes another program, one that sleeps."""
    with suppress(OSError):
        os.execv("/bin/sleep", ["sleep", str(LIFE_S)])
    sit()


# -- closes ----------------------------------------------------------------------------------------------


@DEEDS.does
def close_stdout(turn: Turn) -> None:
    """Closes stdout, and reads on."""
    os.close(1)
    silent(turn)


@DEEDS.does
def close_stdin(turn: Turn) -> None:
    """Closes stdin, answers what it was asked, and waits for ever."""
    os.close(0)
    turn.give()
    sit()


@DEEDS.does
def close_both(_: Turn) -> None:
    """Closes stdin and stdout, and lives on."""
    os.close(0)
    os.close(1)
    sit()


@DEEDS.does
def close_after_answer(turn: Turn) -> None:
    """Answers, closes stdout, and reads on."""
    turn.give()
    close_stdout(turn)


# -- dies ------------------------------------------------------------------------------------------------


@DEEDS.does
def exit_(turn: Turn) -> None:
    """Exits without a word, with status N (0)."""
    os._exit(turn.argument or 0)


@DEEDS.says
def exit_mid_line(turn: Turn) -> Iterator[bytes]:
    """Exits in the middle of its answer."""
    yield turn.line[: len(turn.line) // 2]
    os._exit(1)


@DEEDS.says
def exit_before_newline(turn: Turn) -> Iterator[bytes]:
    """Exits behind its whole answer, of which only the newline is missing."""
    yield turn.line[:-1]
    os._exit(0)


@DEEDS.does
def exit_after_answer(turn: Turn) -> None:
    """Answers and exits at once."""
    turn.give()
    os._exit(0)


@DEEDS.does
def traceback(_: Turn) -> None:
    """Dies of an exception, which Python reports on stderr."""
    raise ValueError("no idea what to play")


@DEEDS.does
def segfault(_: Turn) -> None:
    """Reads address 0."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ImportError):
        import ctypes

        ctypes.string_at(0)
    os.kill(os.getpid(), signal.SIGSEGV)


@DEEDS.does
def killed(_: Turn) -> None:
    """Kills itself by SIGKILL."""
    os.kill(os.getpid(), signal.SIGKILL)
    sit()  # the first process of a pid namespace survives its own SIGKILL


# -- takes what there is ---------------------------------------------------------------------------------


@DEEDS.does
def allocate(turn: Turn) -> None:
    """Takes memory without end, N MB (8,000) at most, and then sits on it."""
    held = []
    while len(held) * 16 < (turn.argument or 8_000):
        held.append(b"m" * (16 * MB))
    sit()


@DEEDS.does
def open_files(turn: Turn) -> None:
    """Opens N files (4,096), or as many as it may, and plays honestly."""
    with suppress(OSError):
        for _ in range(turn.argument or 4_096):
            os.open("/dev/null", os.O_RDONLY)
