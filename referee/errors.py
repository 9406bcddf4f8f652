"""The one error that is shown to an operator without a traceback, and a machine's refusals in words."""

import errno


class ArenaError(Exception):
    """An operator's mistake or the machine's refusal, told in one sentence without a traceback."""


def why(error: OSError) -> str:
    """Why the machine refused, without a number, and what helps where that is always the same."""
    text = error.strerror or str(error)
    return f"{text} (more are had with: ulimit -n 4096)" if error.errno == errno.EMFILE else text
