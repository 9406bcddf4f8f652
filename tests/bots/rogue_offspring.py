"""Rogue modes that work through other processes: children, daemons, bombs, and what they do beside the bot.

All of them are bounded: at most 130 at a time, and none lives longer than LIFE_S seconds.
"""

import os
import signal
from contextlib import suppress
from time import monotonic, sleep

from misdeed import LIFE_S, Catalogue, Turn, offspring, sit

OFFSPRING = Catalogue()

BURN_S = 30
PTRACE_SEIZE, PTRACE_O_TRACEEXIT = 0x4206, 0x40


# -- leaves others behind --------------------------------------------------------------------------------


@OFFSPRING.does
def fork_child(_: Turn) -> None:
    """Exits, and leaves a child that holds its pipes."""
    offspring(sit)
    os._exit(0)


@OFFSPRING.does
def grandchild_keeps_pipe(_: Turn) -> None:
    """Exits, and leaves a grandchild in a session of its own that holds its pipes."""
    offspring(sit, own_session=True)
    os._exit(0)


@OFFSPRING.does
def ghost_writer(_: Turn) -> None:
    """Exits, and leaves a grandchild in a session of its own that writes lines for ever."""

    def haunt() -> None:
        while True:
            os.write(1, b"I am still here\n" * 100)

    offspring(haunt, own_session=True)
    os._exit(0)


@OFFSPRING.does
def daemon(_: Turn) -> None:
    """Leaves a grandchild in a session of its own, and plays on honestly."""
    offspring(sit, own_session=True)


@OFFSPRING.does
def daemonize(_: Turn) -> None:
    """Exits, and plays on honestly as a daemon in a session of its own."""
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    signal.alarm(LIFE_S)


@OFFSPRING.does
def fork_bomb(_: Turn) -> None:
    """Plays honestly while a tree of 128 sleeping processes grows, each in a session of its own."""

    def explode() -> None:
        for _ in range(7):
            with suppress(OSError):
                if not os.fork():
                    os.setsid()
        sit()

    offspring(explode)


@OFFSPRING.does
def hydra(_: Turn) -> None:
    """Plays honestly beside a pair of processes: when one dies the other makes a new one, 50 times."""

    def grow() -> None:
        end = monotonic() + BURN_S
        for _ in range(50):
            eyes, mouth = os.pipe()
            if os.fork():
                os.close(eyes)
                sleep(max(0, end - monotonic()))  # `mouth` closes when we die, however we die
                return
            os.setsid()
            os.close(mouth)
            os.read(eyes, 1)
            os.close(eyes)
            if monotonic() > end:
                return

    offspring(grow, own_session=True)


# -- works beside the bot ----------------------------------------------------------------------------------


@OFFSPRING.does
def stderr_for_ever(_: Turn) -> None:
    """Plays honestly while a child writes to stderr as fast as it can, bytes that are not text."""

    def flood() -> None:
        while True:
            os.write(2, bytes(range(256)) * 256)

    offspring(flood, life_s=BURN_S)


@OFFSPRING.does
def burn_cpu(_: Turn) -> None:
    """Plays honestly while a child burns a processor, in turn and out of turn."""

    def burn() -> None:
        while True:
            pass

    offspring(burn, life_s=BURN_S)


@OFFSPRING.does
def traced(_: Turn) -> None:
    """Plays honestly beside a child that, where it may, holds up its end with ptrace and ignores signals."""
    import ctypes

    bot = os.getpid()
    eyes, mouth = os.pipe()

    def hold() -> None:
        os.setsid()
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGALRM}:
            signal.signal(number, signal.SIG_IGN)
        ctypes.CDLL(None).ptrace(PTRACE_SEIZE, bot, None, ctypes.c_void_p(PTRACE_O_TRACEEXIT))
        os.write(mouth, b"x")
        sit()

    offspring(hold)
    os.close(mouth)
    os.read(eyes, 1)
    os.close(eyes)
