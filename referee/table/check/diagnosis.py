"""What a bot did wrong, in words that its author can act on: evidence goes in, sentences come out.

What a rule or a line's format asks is said by the match machine and the codec; here stands what beginners
most often did to get there.  Pure.
"""

from __future__ import annotations

import re
import signal
from typing import Final

import msgspec
from msgspec import Struct

from protocol.codec import MAX_LINE, BadLine, decode_reply
from protocol.messages import Pass, PassRequest, Play, PlayRequest, Ready, Reply, StartRequest
from referee.game.events import FaultRecord

Question = StartRequest | PassRequest | PlayRequest


class Diagnosis(Struct, frozen=True):
    """What was wrong, and what may help."""

    what: str
    advice: tuple[str, ...] = ()


class Silence(Struct):
    """What was found out about a bot that did not answer in time.

    `late_s` is how long after the request an answer came after all.  If none came, its stdin was closed:
    `after` is what it wrote then, `answered` whether that answers, `left` whether it left by itself.
    `read_all` is whether a second process of it was seen to read all of its input before it answers; None
    if that could not be told.
    """

    waited_s: float
    late_s: float | None = None
    unread: int = 0
    hears: bool = True
    speaks: bool = True
    stopped: bool = False
    busy: bool = False
    memory_mb: int = 0
    after: bytes = b""
    answered: bool = False
    left: bool = False
    read_all: bool | None = False


class Evidence(Struct):
    """All that is known of one fault: the question, every byte that came after it, the bot's stderr."""

    fault: FaultRecord
    request: Question | None
    sent: bytes
    came: bytes
    notices: tuple[str, ...]
    stderr: bytes
    asked_before: int
    answered: bool = False
    """Whether the question had been answered before the fault."""
    tables: int = 1
    status: int | None = None
    silence: Silence | None = None


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


def diagnose(evidence: Evidence) -> Diagnosis:
    """What was wrong, for the bot's author."""
    fault = evidence.fault
    if evidence.silence:
        return _silent(evidence, evidence.silence)
    match fault.kind:
        case "launch" if evidence.status is not None:
            return _ended(evidence, evidence.status)
        case "exit":
            return _ended(evidence, evidence.status or 0)
        case "launch":
            return _not_launched(fault)
        case "closed":
            return _closed("It")
        case "too_long":
            return Diagnosis(
                f"It wrote too long a line: {fault.detail}.",
                (
                    "End every answer with a newline (\\n), and write what is not an answer to stderr.",
                    f"A line may have {MAX_LINE:,} bytes.",
                ),
            )
        case "malformed":
            return _malformed(evidence)
        case "wrong_id" | "unasked":
            return _stray(evidence)
        case "illegal_pass" | "illegal_play":
            return _illegal(evidence)
        case "timeout":
            return Diagnosis(f"It did not answer in time: {fault.detail}.")


def answer_in(data: bytes, id: int) -> Reply | None:
    """The first good answer to request `id` among the complete lines."""
    for line in data.split(b"\n")[:-1]:
        reply = _reply(line)
        if reply and reply.id == id:
            return reply
    return None


def _reply(line: bytes) -> Reply | None:
    try:
        return decode_reply(line.strip(b" \t\r"))
    except BadLine:
        return None


def example(request: Question) -> str:
    """An answer to this request as it should look."""
    if isinstance(request, StartRequest):
        answer: Reply = Ready(request.id, "my-bot", "1")
    elif isinstance(request, PassRequest):
        answer = Pass(request.id, request.cards[: request.count])
    else:
        answer = Play(request.id, request.legal[0])
    shown: dict[str, object] = msgspec.to_builtins(answer)
    defaults = {"tables": 1, "watch": False, "protocol": 1, "note": None}
    kept = {name: value for name, value in shown.items() if name not in defaults}
    return msgspec.json.encode(kept).decode()


def _like(evidence: Evidence) -> tuple[str, ...]:
    return (f"A good answer here: {example(evidence.request)}",) if evidence.request else ()


# --- nothing came ----------------------------------------------------------------------------------------


def _silent(evidence: Evidence, silence: Silence) -> Diagnosis:
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
        return _closed(f"It did not answer {within}: it")
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
    if rest.endswith(b"\r") and _reply(rest):
        return Diagnosis(
            f"The newline is missing: its answer ends with a carriage return (\\r) alone, {within}.",
            ("End every answer with \\n, or \\r\\n.",),
        )
    if _reply(rest):
        return Diagnosis(
            f"The newline is missing: its answer came, but not the end of the line {within}.",
            ('End every answer with \\n: Python print(...), C printf("...\\n"), JS console.log(...)',),
        )
    return Diagnosis(
        f"It wrote {len(rest):,} bytes but no newline {within}; an answer counts once its line has ended.",
        ("Write the answer as one whole line that ends with \\n.", *STDERR),
    )


def _closed(who: str) -> Diagnosis:
    return Diagnosis(
        f"{who} has closed its stdout but goes on running, so that no answer can come any more.",
        ("Do not close stdout, nor point it elsewhere: the referee reads your answers there.",),
    )


# --- it ended --------------------------------------------------------------------------------------------


def _not_launched(fault: FaultRecord) -> Diagnosis:
    detail = fault.detail
    if detail.startswith("speaks protocol"):
        return Diagnosis(f"It {detail}.", ("Leave the field `protocol` out of your `ready`, or say 1.",))
    if detail.startswith("closed its output"):
        return _closed("Before it said ready it")
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


def _ended(evidence: Evidence, status: int) -> Diagnosis:
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
    if rest and _reply(rest):
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


# --- a bad line ------------------------------------------------------------------------------------------


def _malformed(evidence: Evidence) -> Diagnosis:
    """A line came that is no answer: say what most often makes such a line."""
    detail = evidence.fault.detail
    line = _first_bad_line(evidence.came)
    if evidence.request and line.strip() and line.strip() == evidence.sent.strip():
        return Diagnosis(
            "It sends back what it was sent.",
            ("Read the request, and write an answer of your own.", *_like(evidence)),
        )
    if line.startswith((b"\xff\xfe", b"\xfe\xff")) or line[1::2].count(0) > len(line) // 3:
        return Diagnosis(
            "It writes UTF-16, in which every letter takes two bytes; the referee reads UTF-8.",
            ("PowerShell and some editors do that: set the encoding of your output to UTF-8 without BOM.",),
        )
    if _is_other_talk(line):
        answered = evidence.request and answer_in(evidence.came, evidence.request.id)
        good = "; its answer came behind it" if answered or _reply(line[line.find(b"{") :]) else ""
        return Diagnosis(
            f"Your program prints other things on stdout, which is for answers only{good}.",
            STDERR,
        )
    return Diagnosis(
        f"This line is no answer: {detail}.", (*_advice_on(line, evidence.came), *_like(evidence))
    )


def _first_bad_line(came: bytes) -> bytes:
    lines = came.split(b"\n")
    return next((line for line in lines[:-1] or lines if _reply(line) is None), lines[0])


def _is_other_talk(line: bytes) -> bool:
    """Whether the line does not even try to be JSON: a prompt, a banner, words for people."""
    text = line.strip()
    return (
        bool(text)
        and text[:1] not in b'{["\xef\x00'
        and not text[:1].isdigit()
        and text.isascii()
        and b"\0" not in text
    )


def _advice_on(line: bytes, came: bytes) -> list[str]:
    """What makes such a line, most often; nothing where what is wrong says it all."""
    advice = []
    text = line.strip()
    if not text:
        advice.append("Look for a print or println too many, or a \\n at the end of what println is given.")
    if b"\0" in text:
        advice.append("A NUL byte (\\0) is in the line: in C, write strlen(text) bytes and not sizeof(text).")
    if text.startswith(b"\xef\xbb\xbf"):
        advice.append("Choose UTF-8 without BOM: Python encoding='utf-8', C# new UTF8Encoding(false).")
    elif not _is_utf8(text):
        advice.append(
            "Write UTF-8: Python sys.stdout.reconfigure(encoding='utf-8'), Java -Dstdout.encoding=UTF-8."
        )
    if re.match(rb"\{\s*'", text):
        advice.append(
            "JSON wants double quotes. Python: print(json.dumps(answer), flush=True), not print(answer)"
        )
    elif re.search(rb"\b(NaN|Infinity|None|True|False)\b", text):
        advice.append(
            "NaN, Infinity, None, True and False are not JSON; write a number, null, true or false."
        )
    if re.search(rb",\s*[}\]]", text):
        advice.append("There is a comma before a closing bracket.")
    if text.startswith(b"{") and not text.endswith(b"}") and came.count(b"\n") > 1:
        advice.append(
            "A message is one line. Python json.dumps(answer) without indent, JS JSON.stringify(answer)"
        )
    if re.search(rb'"10[CDSH]"', text):
        advice.append("A card has two characters; the ten is T: TC, TD, TS, TH.")
    if re.search(rb'"(card|cards)"\s*:\s*\[?\s*"[2-9tjqka][cdsh]"', text) and re.search(rb'"\w[cdsh]"', text):
        advice.append("Cards are written in capital letters: QS, not qs.")
    return advice


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


# --- a line too many, or of the wrong request --------------------------------------------------------------


def _stray(evidence: Evidence) -> Diagnosis:
    fault = evidence.fault
    if fault.detail.startswith("a second answer"):
        return Diagnosis(
            f"It answered twice: this is {fault.detail}.",
            ("Write exactly one line for each request, with the id of that request.",),
        )
    if fault.kind == "wrong_id":
        asked = f"; request {evidence.request.id} waits" if evidence.request else ""
        return Diagnosis(
            f"The id is wrong: this is {fault.detail}{asked}.",
            ("Copy the `id` of the request into your answer, as a number.", *_like(evidence)),
        )
    after = f" after the notice {evidence.notices[-1]}, which gets no answer" if evidence.notices else ""
    if fault.detail.startswith("answered"):
        after = f"{after}: it answered a request that has not been made"
    return Diagnosis(
        f"It wrote when nothing was asked{after}.",
        ("Write only when a request (a line with an `id`) has come, and then one line.", *STDERR),
    )


# --- a bad move --------------------------------------------------------------------------------------------


def _illegal(evidence: Evidence) -> Diagnosis:
    fault, request = evidence.fault, evidence.request
    offered = " ".join(fault.cards or ())
    advice: list[str] = []
    if isinstance(request, PassRequest):
        what = f"It passed {offered or 'nothing'}: {fault.detail}."
        advice.append(f"Pass exactly {request.count} different cards out of `cards`.")
    else:
        what = f"It played {offered}: {_sentence(fault.detail)}."
        if isinstance(request, PlayRequest):
            advice.append(f"Play one of `legal`: {' '.join(request.legal)}.")
            if "not in your hand" in fault.detail:
                advice.append(
                    "What you passed or played is gone: `cards` of each request is what you hold now."
                )
    if evidence.tables > 1:
        advice.append(
            "Requests of several tables come together: keep what you remember apart for each `table`, "
            "or say tables 1 in your `ready`."
        )
    return Diagnosis(what, (*advice, *_like(evidence)))


def _sentence(detail: str) -> str:
    """The rule in words as the rest of a sentence about a card."""
    if detail.startswith("must"):
        return f"it {detail}"
    return f"it is {detail}" if detail.startswith("not ") else detail
