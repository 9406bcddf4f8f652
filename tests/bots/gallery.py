"""What each mode of the rogue must earn, for the tests: a fault's kind, or None where it did nothing wrong.

Five laws of the faults decide the rows:

- before its first `ready`, whatever is not a bad line (malformed, wrong_id, too_long, unasked) is a `launch`;
- a well-formed answer whose id was answered before is `wrong_id`, in turn or out of it, and while something
  is asked so is one whose id was never given; all other words out of turn are `unasked`;
- what is said out of turn is charged at the next request, so it needs another request to come;
- a line that the protocol refuses is `malformed`; one that only the game refuses is an illegal pass or play;
- a process that answered and then broke has answered, and is charged at the next request.
"""

from collections.abc import Iterator
from dataclasses import dataclass

Kind = str | None

ANSWERS = ("start", "pass", "play", "mid")
TURNS = ("pass", "play", "mid")
ALWAYS = (*ANSWERS, "end")
LATER = (*TURNS, "end")


@dataclass(frozen=True)
class Rogue:
    """One mode at some of its moments, and what it must earn there: one kind, or any of a set."""

    mode: str
    expected: Kind | frozenset[Kind]
    moments: tuple[str, ...]
    note: str = ""

    @property
    def name(self) -> str:
        """The mode without its argument."""
        return self.mode.partition(":")[0]

    def kinds(self) -> frozenset[Kind]:
        """The kinds that are right, in every sandbox."""
        return self.expected if isinstance(self.expected, frozenset) else frozenset({self.expected})


def either(*kinds: Kind) -> frozenset[Kind]:
    """Any of `kinds`; the row's note says why."""
    return frozenset(kinds)


HONEST = (
    Rogue("honest", None, ALWAYS),
    Rogue("crlf", None, ANSWERS),
    Rogue("spaces", None, ANSWERS),
    Rogue("halves", None, ANSWERS),
    Rogue("halves-in-a-letter", None, ANSWERS),
    Rogue("byte-by-byte", None, ANSWERS),
    Rogue("nearly-too-long", None, ANSWERS),
    Rogue("escapes", None, ANSWERS),
    Rogue("unknown-fields", None, ANSWERS),
    Rogue("huge-unknown-number", None, ANSWERS, "what is ignored need only be JSON, and 1e400 is"),
    Rogue("note-of-500", None, TURNS, "500 characters, however many bytes"),
    Rogue("hostile-note", None, ANSWERS, "a name or note is shown to people: nothing in it may act"),
    Rogue("many-tables", None, ("start",)),
    Rogue("duplicate-keys", None, ANSWERS, "the same both times"),
    Rogue("slow:150", None, ANSWERS, "with a turn of 500 ms or more"),
    Rogue("before-deadline:150", None, TURNS, "with a turn of 300 ms or more"),
    Rogue("ignores-sigterm-and-eof", None, ALWAYS, "it has to be killed in the end"),
    Rogue("tiny-pipes", None, ALWAYS, "most requests then fill the pipe"),
    Rogue("close-stderr", None, ALWAYS),
    Rogue("stderr-flood", None, ALWAYS),
    Rogue("stderr-for-ever", None, ALWAYS, "a process remains to be swept"),
    Rogue("open-files", None, ALWAYS),
    Rogue("fill-disk:500", None, ALWAYS, "the scratch has its limit; a process remains to be swept"),
    Rogue("awkward-scratch", None, ALWAYS, "the scratch is gone afterwards all the same"),
    Rogue("daemon", None, ALWAYS, "a process remains to be swept"),
    Rogue("fork-bomb", None, ALWAYS, "128 processes remain to be swept"),
    Rogue("hydra", None, ALWAYS, "whoever sweeps it one by one must be quicker than it forks"),
    Rogue("burn-cpu", None, ALWAYS, "a process remains to be swept"),
    Rogue("traced", None, ALWAYS, "it can end only when its child has"),
)

BAD_LINES = (
    Rogue("bom", "malformed", ANSWERS),
    Rogue("utf-16", "malformed", ANSWERS),
    Rogue("bad-utf8", "malformed", ANSWERS),
    Rogue("bad-utf8-unknown-field", "malformed", ANSWERS, "what is ignored must be UTF-8 too"),
    Rogue("nul", "malformed", ANSWERS),
    Rogue("empty-line", "malformed", ANSWERS, "an empty line is not a JSON object"),
    Rogue("banner", "malformed", ANSWERS),
    Rogue("chatter", "malformed", ANSWERS, "its first line is the answer, and no JSON"),
    Rogue("flood-lines", "malformed", ANSWERS),
    Rogue("not-json", "malformed", ANSWERS),
    Rogue("single-quotes", "malformed", ANSWERS),
    Rogue("pretty", "malformed", ANSWERS),
    Rogue("trailing-comma", "malformed", ANSWERS),
    Rogue("two-on-one-line", "malformed", ANSWERS),
    Rogue("array-line", "malformed", ANSWERS),
    Rogue("scalar-line", "malformed", ANSWERS),
    Rogue("nan", "malformed", ANSWERS),
    Rogue("control-character", "malformed", ANSWERS),
    Rogue("lone-surrogate", "malformed", ANSWERS, "no UTF-8 can hold it, so no log could keep it"),
    Rogue("deep-nesting:30000", "malformed", ANSWERS, "60 KB: nesting too deep"),
    Rogue("deep-nesting", "too_long", ANSWERS, "200 KB: its length comes first"),
    Rogue("just-too-long", "too_long", ANSWERS),
    Rogue("huge-line", "too_long", ANSWERS),
    Rogue("flood-bytes", "too_long", ANSWERS),
    Rogue("echo", "malformed", ("start", "play", "mid"), "`start` is no reply, and `play` lacks its card"),
    Rogue("echo", "illegal_pass", ("pass",), "13 cards, in a line that is a proper pass"),
    Rogue("empty-object", "malformed", ANSWERS),
    Rogue("no-type", "malformed", ANSWERS),
    Rogue("unknown-type", "malformed", ANSWERS),
    Rogue("missing-field", "malformed", ANSWERS),
    Rogue("wrong-type-field", "malformed", ANSWERS),
    Rogue("null-field", "malformed", ANSWERS),
    Rogue("bool-card", "malformed", ANSWERS),
    Rogue("note-too-long", "malformed", TURNS, "a `ready` has no note, so there it is ignored"),
    Rogue("note-not-text", "malformed", TURNS),
    Rogue("wrong-reply", "malformed", ANSWERS, "a sound line, but no answer to this id"),
    Rogue("no-tables", "malformed", ("start",)),
    Rogue("other-protocol", "launch", ("start",), "a sound line, of no use"),
    Rogue("no-id", "malformed", ANSWERS),
    Rogue("null-id", "malformed", ANSWERS),
    Rogue("string-id", "malformed", ANSWERS),
    Rogue("float-id", "malformed", ANSWERS),
    Rogue("huge-integer-id", "malformed", ANSWERS),
    Rogue("huge-integer-id:5000", "malformed", ANSWERS, "over Python's limit of 4,300 digits"),
    Rogue("bool-id", "malformed", ANSWERS, "the first id is 1, and in Python True == 1"),
    Rogue("huge-float-id", "malformed", ANSWERS),
    Rogue("wrong-id", "wrong_id", ANSWERS),
    Rogue("wrong-id", "unasked", ("end",), "its id was never given, and nothing is asked"),
    Rogue("old-id", "wrong_id", TURNS, "a second answer to the request before"),
    Rogue("two-answers", "wrong_id", ALWAYS, "a second answer"),
    Rogue("flood-answers", "wrong_id", ALWAYS, "a second answer, and thousands more"),
    Rogue("predict", "unasked", ALWAYS, "it comes in one write with the answer; its id was not given yet"),
    Rogue("unasked", "unasked", ALWAYS, "it comes in one write with the answer"),
)

RACES = (
    Rogue(
        "conflicting-keys",
        either(None, "malformed"),
        TURNS,
        "it is not defined which of them counts, and the first is no card",
    ),
    Rogue("before-deadline", either(None, "timeout"), TURNS, "the clocks decide a millisecond"),
    Rogue("after-deadline", either(None, "timeout"), TURNS, "a referee that is late itself still reads it"),
    Rogue(
        "fickle",
        either(None, "timeout", "malformed", "wrong_id", "illegal_pass", "illegal_play"),
        TURNS,
        "chosen by its seed; None without occasion",
    ),
    Rogue("ghost-writer", either("launch", "malformed"), ("start",), "the ghost may be heard first"),
    Rogue("ghost-writer", either("exit", "malformed"), TURNS, "the ghost may be heard first"),
    Rogue("ghost-writer", either("exit", "unasked", "malformed"), ("end",), "the ghost may be heard first"),
    Rogue("daemonize", either("launch", "exit"), ("start",), "the daemon may be ready first"),
    Rogue("daemonize", "exit", LATER, "the daemon may answer once or more before its parent is missed"),
    Rogue("flood-bytes", either("unasked", "too_long"), ("end",), "unasked as it begins, then too long"),
    Rogue("huge-line", either("unasked", "too_long"), ("end",), "unasked as it begins, then too long"),
)

UNREADY = (
    Rogue("silent", "timeout", LATER),
    Rogue("never-reads", "timeout", LATER, "from the second request on the pipe is full"),
    Rogue("stuffed-stdin", "timeout", LATER, "the pipe is full at once"),
    Rogue("stopped", "timeout", LATER),
    Rogue("unflushed", "timeout", LATER, "at its end of input it flushes, too late"),
    Rogue("exec-sleep", "timeout", LATER, "its command line is another's now"),
    Rogue("drip", "timeout", LATER, "what never ends is no line, and so not even unasked"),
    Rogue("no-newline", "timeout", TURNS),
    Rogue("carriage-return", "timeout", TURNS),
    Rogue("skips", "timeout", TURNS),
    Rogue("slow:60000", "timeout", TURNS),
    Rogue("close-stdout", "closed", LATER),
    Rogue("close-both", "closed", LATER),
    Rogue("exit", "exit", LATER, "after the last hand of a match it would be no fault"),
    Rogue("exit:3", "exit", TURNS),
    Rogue("exit-mid-line", "exit", TURNS),
    Rogue("exit-before-newline", "exit", TURNS, "a line without its newline is no line"),
    Rogue("traceback", "exit", LATER),
    Rogue("segfault", "exit", LATER),
    Rogue("killed", "exit", LATER),
    Rogue("fork-child", "exit", LATER, "the pipes stay open; a process remains to be swept"),
    Rogue("grandchild-keeps-pipe", "exit", LATER, "the pipes stay open; a process remains to be swept"),
    Rogue("allocate:1000", either("exit", "timeout"), LATER, "exit where memory is limited to less"),
)

ANSWERED_FIRST = (
    Rogue("close-stdin", "timeout", ALWAYS, "it lives, but cannot hear the next request"),
    Rogue("close-after-answer", "closed", ANSWERS),
    Rogue("exit-after-answer", "exit", ANSWERS),
    Rogue("after-deadline:400", "timeout", TURNS),
    Rogue("late-for-ever", "timeout", TURNS, "the late lines are dropped without charge"),
)

MOVES = (
    Rogue("pass-too-few", "illegal_pass", ("pass",)),
    Rogue("pass-too-many", "illegal_pass", ("pass",)),
    Rogue("pass-empty", "illegal_pass", ("pass",)),
    Rogue("pass-whole-hand", "illegal_pass", ("pass",)),
    Rogue("pass-duplicate-card", "illegal_pass", ("pass",)),
    Rogue("pass-not-held", "illegal_pass", ("pass",)),
    Rogue("pass-not-a-card", "malformed", ("pass",), "a word that is no card is of a wrong type"),
    Rogue("revoke", "illegal_play", ("play", "mid")),
    Rogue("play-not-held", "illegal_play", ("play", "mid")),
    Rogue("play-already-played", "illegal_play", ("play", "mid")),
    Rogue("play-not-a-card", "malformed", ("play", "mid"), "as above"),
    Rogue("play-ten-in-digits", "malformed", ("play", "mid"), "as above"),
    Rogue("play-lower-case", "malformed", ("play", "mid"), "as above"),
    Rogue(
        "not-the-opening-card",
        "illegal_play",
        ("play",),
        "the fifth hand is the median, for it passes its 2C",
    ),
    Rogue("point-on-first-trick", "illegal_play", ("play",), "the third hand is the median"),
    Rogue("heart-lead-unbroken", "illegal_play", ("play", "mid"), "soon"),
)

OUT_OF_TURN = (
    *("bom", "utf-16", "bad-utf8", "nul", "not-json", "single-quotes", "pretty", "array-line", "no-type"),
    *("unknown-type", "missing-field", "string-id", "chatter", "flood-lines"),
)
"""Modes that say at `end` what is no answer to anything."""


def _rows() -> Iterator[Rogue]:
    yield from HONEST
    yield from BAD_LINES
    yield from UNREADY
    for rogue in UNREADY:
        yield Rogue(rogue.mode, "launch", ("start",), "it is not ready")
    yield from ANSWERED_FIRST
    yield from MOVES
    yield from RACES
    for mode in OUT_OF_TURN:
        yield Rogue(mode, "unasked", ("end",), "it comes in one write with the last answer")


ROGUES = tuple(_rows())

NATIVE = (
    *("honest", "silent", "never-reads", "unflushed", "no-newline", "nul", "flood-bytes", "flood-lines"),
    *("flood-answers", "close-stdout", "exit-mid-line", "exit-after-answer", "segfault", "allocate"),
    *("fork-bomb", "burn-cpu"),
)
"""The modes that `rogue.c` has too, by name, with the same arguments and the same faults."""
