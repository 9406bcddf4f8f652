"""Why no answer came, for the bot's author: it was silent, or it has ended.  Pure."""

from __future__ import annotations

import re
import signal
from typing import Final

from referee.game.events import FaultRecord
from referee.table.check.evidence import Diagnosis, Evidence, Silence, reply_of

FLUSH: Final = (
    "Flush after every answer:",
    "  Python  print(json.dumps(answer), flush=True)",
    "  C       fflush(stdout);",
    "  C++     std::cout << answer << std::endl;",
    "  Java    System.out.flush();",
    "  Perl    $| = 1;   once, at the start",
    "  awk     fflush()   and start mawk with -W interactive",
    "  others  look for: flush, autoflush, line buffering, unbuffered output",
)
STDERR: Final = (
    "Send everything but answers to stderr:",
    "  Python  print(..., file=sys.stderr)",
    "  C       fprintf(stderr, ...);",
    "  Java    System.err.println(...);",
    "  JS      console.error(...)",
    "  Perl    print STDERR ...",
    "  shell   echo ... >&2",
)
_LOOP: Final = "Read stdin line by line in a loop, and answer each request before you read the next line."
_MUCH_MB: Final = 500
_BY_SIGNAL: Final = 128
"""What a shell or a sandbox adds to the number of the signal that has ended its program."""
_SIGNALS: Final = {
    "SIGSEGV": "it crashed: it used memory that is not its own, as by a bad pointer or endless recursion",
    "SIGBUS": "it crashed: it used memory that is not its own",
    "SIGABRT": "it gave up by itself, as after a failed assertion or an exception that nobody caught",
    "SIGFPE": "it crashed on arithmetic, most often a division by zero",
    "SIGILL": "it crashed on an instruction that this machine does not have",
    "SIGKILL": "it killed itself, or wanted more memory than this machine has",
    "SIGXCPU": "it used more processor time than it may",
    "SIGXFSZ": "it wrote a larger file than it may",
    "SIGPIPE": "it wrote into a pipe that nobody reads",
    "SIGSYS": "it made a system call that is forbidden here",
}


def silent(evidence: Evidence, silence: Silence) -> Diagnosis:
    """Why no answer came in time."""
    within = f"within {silence.waited_s:g} s"
    holds = f" It holds {silence.memory_mb:,} MB of memory." if silence.memory_mb >= _MUCH_MB else ""
    lines = evidence.came.split(b"\n")
    if silence.late_s is not None:
        if evidence.fault.kind == "launch":
            return Diagnosis(
                f"It was ready too late: after {silence.late_s:.3f} s; it has {silence.waited_s:g} s.",
                ("Load less before you say ready, or give it more time with --start-time.",),
            )
        return Diagnosis(
            f"It was too slow: its answer came after {silence.late_s:.3f} s; it has {silence.waited_s:g} s.",
            ("Stop thinking some tens of milliseconds before the `ms` of the request are over.",),
        )
    if silence.answered and not silence.read_all:
        return Diagnosis(
            "Your output is not being flushed: the answer came only when stdin was closed.",
            (*FLUSH, *([] if silence.read_all is False else [f"Or it reads all of stdin first. {_LOOP}"])),
        )
    if silence.answered:
        return Diagnosis(
            "It reads all of its input before it answers: the answer came only when stdin was closed.",
            (_LOOP, "  Python  for line in sys.stdin: ...   and not sys.stdin.read() or readlines()"),
        )
    if lines[-1]:
        return _unfinished(lines[-1], within)
    if silence.stopped:
        return Diagnosis(
            f"It did not answer {within}: its process is stopped, as by SIGSTOP or Ctrl-Z.",
            ("Nothing but the program itself, or somebody at this machine, stops it: look for SIGSTOP.",),
        )
    if not silence.speaks:
        return closed(f"It did not answer {within}: it")
    if not silence.hears:
        return Diagnosis(
            f"It did not answer {within}: it has closed its stdin, and cannot hear the request.",
            ("Do not close stdin: it is there for the next request.",),
        )
    if silence.busy:
        return Diagnosis(
            f"It did not answer {within}, and computes on: an endless loop, or too much thought.{holds}",
            ("Look at the clock while you think: `ms` in the request is the time that you have.",),
        )
    if silence.after.strip():
        return Diagnosis(
            f"It did not answer {within}; only when stdin was closed it wrote something.",
            FLUSH,
        )
    if silence.unread:
        return Diagnosis(
            f"It did not answer {within}: it does not read its stdin, where the request still waits.{holds}",
            (_LOOP,),
        )
    if silence.left:
        return Diagnosis(
            f"It was silent: it has read the request, but wrote no answer {within}.{holds}",
            ("Every line with an `id` must be answered: is there a case that your program skips?",),
        )
    return Diagnosis(
        f"It hangs: it has read the request, but neither answered {within} nor reads on.{holds}",
        ("It does not compute, so it waits for something: a sleep, a lock, a file, the network, a child.",),
    )


def _unfinished(rest: bytes, within: str) -> Diagnosis:
    """Bytes came, but no newline."""
    if rest.endswith(b"\r") and reply_of(rest):
        return Diagnosis(
            f"The newline is missing: its answer ends with a carriage return (\\r) alone, {within}.",
            ("End every answer with \\n, or \\r\\n.",),
        )
    if reply_of(rest):
        return Diagnosis(
            f"The newline is missing: its answer came, but not the end of the line {within}.",
            ('End every answer with \\n: Python print(...), C printf("...\\n"), JS console.log(...)',),
        )
    return Diagnosis(
        f"It wrote {len(rest):,} bytes but no newline {within}; an answer counts once its line has ended.",
        ("Write the answer as one whole line that ends with \\n.", *STDERR),
    )


def closed(who: str) -> Diagnosis:
    """It lives, but nothing more can be heard of it."""
    return Diagnosis(
        f"{who} has closed its stdout but goes on running, so that no answer can come any more.",
        ("Do not close stdout, nor point it elsewhere: the referee reads your answers there.",),
    )


# --- it ended --------------------------------------------------------------------------------------------


def not_launched(fault: FaultRecord) -> Diagnosis:
    """It could not be started, or did not sit down."""
    detail = fault.detail
    if detail.startswith("speaks protocol"):
        return Diagnosis(f"It {detail}.", ("Leave the field `protocol` out of your `ready`, or say 1.",))
    if detail.startswith("closed its output"):
        return closed("Before it said ready it")
    advice = "Try to start it yourself, in its own directory, from a terminal."
    if "Windows line ends" in detail:
        advice = "Save it with Unix line ends (\\n alone), as by: sed -i 's/\\r$//' FILE"
    elif "interpreter" in detail:
        advice = "Correct the first line of the script (#!...), or install what it names."
    elif 'nor a script that begins with "#!"' in detail:
        advice = (
            "Let the script begin with a line such as #!/usr/bin/env python3, or name it by its ending (.py)."
        )
    return Diagnosis(f"It cannot be started: {detail}.", (advice,))


def ended(evidence: Evidence, status: int) -> Diagnosis:
    """It has exited, or was ended by a signal."""
    if status > _BY_SIGNAL and _signal_name(status - _BY_SIGNAL) in _SIGNALS:
        status = _BY_SIGNAL - status
    error = last_error(evidence.stderr)
    rest = evidence.came.rpartition(b"\n")[2]
    before = "while an answer was due"
    if evidence.fault.kind == "launch":
        before = "before it said ready"
    elif evidence.answered:
        before = "after its answer, when the next request was due"
    if evidence.fault.detail.startswith("was ended: "):
        how = f"It was ended {before}: {evidence.fault.detail.removeprefix('was ended: ')}."
    elif status < 0:
        name = _signal_name(-status)
        how = (
            f"It was ended by {name} {before}: {_SIGNALS.get(name, 'a signal from itself or from outside')}."
        )
    elif error:
        how = f"It ended with an error {before} (status {status}): {error}"
    else:
        how = f"It ended {before}, with status {status}."
    advice: list[str] = []
    if rest and reply_of(rest):
        how += " Its last answer lacks the newline."
        advice.append("End every answer with \\n, and flush it, before you exit.")
    elif rest:
        how += " It ended in the middle of a line."
    if status == 0 and not error and not rest:
        advice.append("It must go on until stdin ends: is there a loop around the reading of a line?")
        if evidence.asked_before:
            advice.append(f"It answered {evidence.asked_before} before it ended.")
    elif status in (126, 127):
        advice.append(
            "Status 126 and 127 mean that a shell or env did not find a command, or may not run it."
        )
    elif status > 0 and not error and not evidence.stderr:
        advice.append("It said nothing on stderr: run it in a terminal, and send it the line above.")
    elif error and evidence.request:
        advice.append("Send it the line above on its stdin, in a terminal, to see the error again.")
    return Diagnosis(how, tuple(advice))


_ERROR_LINE: Final = re.compile(
    r"Exception in thread .*|[\w.]*(Error|Exception)\b.*|panic: .*|thread '.*' panicked.*"
    r"|terminate called .*|.* at .* line \d+.*|.*: Assertion .* failed\.?"
    r"|.*: (syntax error|command not found|not found|Permission denied|No such file or directory).*"
)


def last_error(stderr: bytes) -> str:
    """The line of an error report that says what happened; a traceback's last, with where it was."""
    lines = [line.rstrip() for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    starts = [at for at, line in enumerate(lines) if line.startswith("Traceback (most recent call last)")]
    if starts:
        place, last = "", ""
        for line in lines[starts[-1] + 1 :]:
            if line.lstrip().startswith("File "):
                place = line.strip()
            elif not line.startswith(" "):
                last = line
                break
        where = re.fullmatch(r'File "(.*)", line (\d+).*', place)
        return f"{last} ({where[1].rpartition('/')[2]}, line {where[2]})" if where else last
    said = [line.strip() for line in lines if _ERROR_LINE.fullmatch(line.strip())]
    return said[0] if said else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
