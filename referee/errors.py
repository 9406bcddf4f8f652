"""The one error that is shown to an operator without a traceback."""


class ArenaError(Exception):
    """An operator's mistake or the machine's refusal, told in one sentence without a traceback."""
