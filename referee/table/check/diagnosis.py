"""What a bot did wrong, in words that its author can act on: evidence goes in, sentences come out.

What a rule or a line's format asks is said by the match machine and the codec; here stands what beginners
most often did to get there.  Pure.
"""

from __future__ import annotations

import re

from protocol.codec import MAX_LINE
from protocol.messages import PassRequest, PlayRequest
from referee.table.check.absence import STDERR, closed, ended, not_launched, silent
from referee.table.check.evidence import Diagnosis, Evidence, answer_in, example, reply_of


def diagnose(evidence: Evidence) -> Diagnosis:
    """What was wrong, for the bot's author."""
    fault = evidence.fault
    if evidence.silence:
        return silent(evidence, evidence.silence)
    match fault.kind:
        case "launch" if evidence.status is not None:
            return ended(evidence, evidence.status)
        case "exit":
            return ended(evidence, evidence.status or 0)
        case "launch":
            return not_launched(fault)
        case "closed":
            return closed("It")
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


def _like(evidence: Evidence) -> tuple[str, ...]:
    return (f"A good answer here: {example(evidence.request)}",) if evidence.request else ()


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
        good = "; its answer came behind it" if answered or reply_of(line[line.find(b"{") :]) else ""
        return Diagnosis(
            f"Your program prints other things on stdout, which is for answers only{good}.",
            STDERR,
        )
    return Diagnosis(
        f"This line is no answer: {detail}.", (*_advice_on(line, evidence.came), *_like(evidence))
    )


def _first_bad_line(came: bytes) -> bytes:
    lines = came.split(b"\n")
    return next((line for line in lines[:-1] or lines if reply_of(line) is None), lines[0])


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
