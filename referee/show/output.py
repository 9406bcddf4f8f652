"""Where words go: people's text and one sentence for an error.  A reader that has gone away (`| head`) ends
nothing.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.console import Console


_PLAIN_WIDTH: Final = 500


class _Forgiving:
    """A text stream that goes on as /dev/null once its reader has gone."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            _to_nowhere(self._stream)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            _to_nowhere(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def console(*, stderr: bool = False) -> Console:
    """A console for people's text, on stdout or stderr, plain where that is no terminal."""
    from rich.console import Console

    stream = _Forgiving(sys.stderr if stderr else sys.stdout)
    terminal = stream.isatty()
    width = None if terminal else _PLAIN_WIDTH
    return Console(file=stream, width=width, markup=False, highlight=False)  # type: ignore[arg-type]


def complain(sentence: str) -> None:
    """Tell an operator what is wrong."""
    with contextlib.suppress(OSError):
        print(f"arena: {sentence}", file=sys.stderr)


def finish() -> None:
    """Flush what is left, so that the interpreter has nothing to complain of when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _to_nowhere(stream)


def _to_nowhere(stream: IO[str]) -> None:
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
