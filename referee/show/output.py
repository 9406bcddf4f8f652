"""Where words go: people's text, results for programs, and one sentence for an error.

Text that cannot be written is lost and ends nothing: a match goes on without its audience.  A reader that has
gone away (`| head`) is not even told of; a full disk is, once.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import sys
from typing import IO, TYPE_CHECKING, Any, Final

from referee.errors import ArenaError

if TYPE_CHECKING:
    from rich.console import Console


_PLAIN_WIDTH: Final = 500
_IN_ASCII: Final = {ord(sign): plain for sign, plain in zip("♣♦♠♥…·✓✗±█━", "CDSH..+x~#-", strict=True)}
"""What stands for a sign where it cannot be shown; `?` for any other."""


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """A handler of characters that a stream cannot show."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(_IN_ASCII.get(ord(char), "?") for char in missing), error.end


codecs.register_error("arena.plainly", _plainly)


class _Forgiving:
    """A text stream that goes on as /dev/null once it cannot be written."""

    def __init__(self, stream: IO[str], name: str) -> None:
        self._stream = stream
        self._name = name
        self.failed = False

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            self._lose(error)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            self._lose(error)

    def _lose(self, error: OSError) -> None:
        _to_nowhere(self._stream)
        if not isinstance(error, BrokenPipeError):
            self.failed = True
            complain(f"Cannot write to {self._name}: {_why(error)}; nothing more is shown there.")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def prepare() -> None:
    """Make stdout and stderr streams that neither a full disk, nor a closed descriptor, nor a character that
    they have no code for can break.
    """
    # A descriptor that is closed would become the next file that is opened, and words would go into a log.
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if descriptor == 2 else os.O_RDONLY)
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        stream = getattr(sys, name)
        if stream is None:  # it was closed
            stream = open(descriptor, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        stream.reconfigure(errors="arena.plainly")
        setattr(sys, name, _Forgiving(stream, name))


def console(*, stderr: bool = False) -> Console:
    """A console for people's text, on stdout or stderr, plain where that is no terminal."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _PLAIN_WIDTH
    return Console(file=stream, width=width, markup=False, highlight=False)


def tell_program(data: bytes) -> None:
    """Write on stdout what a program reads, whole and as it is.  Raises ArenaError where that cannot be."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _to_nowhere(sys.stdout)
    except OSError as error:
        _to_nowhere(sys.stdout)
        raise ArenaError(f"Cannot write the result to stdout: {_why(error)}.") from None


def complain(sentence: str) -> None:
    """Tell an operator what is wrong."""
    with contextlib.suppress(OSError):
        print(f"arena: {sentence}", file=sys.stderr)


def finish() -> bool:
    """Flush what is left, so that the interpreter has nothing to complain of when it ends.

    False if something that belonged on stdout was lost.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return not getattr(sys.stdout, "failed", False)


def _why(error: OSError) -> str:
    return "it is closed" if error.errno == errno.EBADF else error.strerror or str(error)


def _to_nowhere(stream: IO[str]) -> None:
    """From now on it is /dev/null, for the interpreter flushes it once more at its end."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
