"""`arena check`: each step with a tick or a cross, what was sent, what came, what was wrong, what helps."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

from rich.console import Console
from rich.text import Text

from protocol.messages import PassRequest, PlayRequest, StartRequest
from protocol.rules import Conditions
from referee.show import interrupt, words
from referee.show.output import console
from referee.table.check.page import Exchange, Wrong
from referee.table.check.steps import Report, Step
from referee.table.check.steps import check as check_bot
from referee.table.confine import describe
from referee.table.roster import find_bot
from referee.table.settings import make_conditions, read_rules

_WIDTH: Final = 120
"""How much of a line is shown where nothing was wrong, on a wide screen."""
_WHOLE: Final = 4000
_KINDS: Final = 4
"""How many kinds of mistakes are shown of a step."""
_LINES: Final = 4
_STDERR_LINES: Final = {"wrong": 20, "fine": 3}
_MARGIN: Final = " " * 6
_MARKS: Final = {
    "fine": ("✓", "green"),
    "wrong": ("✗", "bold red"),
    "not reached": ("-", "dim"),
    "did not come": ("-", "dim"),
}


def check(
    word: str,
    rules_name: str,
    changes: Sequence[str],
    condition_fields: Mapping[str, Any],
    *,
    verbose: bool = False,
) -> bool:
    """Check one bot and tell of it.  True if nothing was wrong."""
    rules = read_rules(rules_name, changes)
    conditions = make_conditions(condition_fields)
    people = console()
    bot = find_bot(word, people.print, conditions.sandbox)
    screen = CheckScreen(people, conditions, verbose=verbose)
    turn = _duration(conditions.turn_ms * 1000)
    people.print(Text(f"Checking {bot.name}", style="bold"), words.harmless(" ".join(bot.command)))
    level = describe(conditions.sandbox)
    people.print(f"rules {rules_name} for {rules.players}, {turn} a turn, sandbox {level}\n")
    with screen:
        report = interrupt.run(lambda: check_bot(bot, rules, conditions, screen.watch))
    if report is None:
        people.print("Interrupted; the bot has been ended.")
        sys.exit(interrupt.INTERRUPTED)
    screen.conclude(report)
    return report.fine


class CheckScreen:
    """Tells of steps as they end, and at last of the whole.  On a terminal a line says what is going on."""

    def __init__(self, console: Console, conditions: Conditions, *, verbose: bool = False) -> None:
        self._console = console
        self._conditions = conditions
        self._verbose = verbose
        self._status = console.status("step 1")
        self._width = min(console.width, _WIDTH) if console.is_terminal else _WIDTH

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._status.stop()

    def watch(self, step: Step) -> None:
        """Show one step."""
        self._status.update(f"step {step.number + 1}")
        mark, style = _MARKS[step.state]
        title = Text.assemble((f"{mark} {step.number:>2}  ", style))
        title.append(step.title, style="bold" if step.state != "not reached" else "dim")
        took = [exchange.us for exchange in step.exchanges if exchange.us is not None]
        if step.state == "not reached":
            title.append("  (not reached)", style="dim")
        elif step.state == "did not come":
            title.append("  (did not come about)", style="dim")
        elif took:
            title.append(f"  {_duration(max(took))}", style="dim")
        self._print(title)
        self._exchanges(step)
        for note in step.notes:
            self._line("note", note)
        self._stderr(step)

    def _exchange(self, exchange: Exchange, *, whole: bool) -> None:
        self._line("sent", _visible(exchange.sent) if whole else _short(exchange, self._room))
        if exchange.batch > 1:
            self._line("", f"... and {exchange.batch - 1} more in the same write", style="dim")
        came, after = bytes(exchange.came), exchange.silence.after if exchange.silence else b""
        in_time = came.removesuffix(after) if after else came
        self._came("came", in_time, whole=whole)
        if after:
            self._came("later", after, whole=whole)
            self._line("", "(that came when its stdin was closed)", style="dim")
        if exchange.notices:
            told = _listed(list(dict.fromkeys(exchange.notices)))
            self._line("then", f"{told}, which no answer is due to", style="dim")

    def _came(self, label: str, data: bytes, *, whole: bool) -> None:
        if not data:
            self._line(label, "nothing", style="dim")
            return
        *lines, rest = data.split(b"\n")
        for line in lines[:_LINES]:
            self._raw(label, line, whole=whole)
        if rest and len(lines) < _LINES:
            self._raw(label, rest, whole=whole)
            self._line("", "(no newline)", style="dim")
        elif len(lines) > _LINES:
            self._line("", f"... and {len(lines) - _LINES:,} more lines", style="dim")

    def _exchanges(self, step: Step) -> None:
        """What was said that matters, in its order, and each kind of mistake where it was made first."""
        counts = Counter(map(_kind, step.wrongs))
        told: set[str] = set()
        at = {id(wrong.exchange): wrong for wrong in step.wrongs if wrong.exchange}
        for exchange in step.exchanges:
            wrong = at.pop(id(exchange), None)
            tells = wrong is not None and (self._verbose or (_kind(wrong) not in told and len(told) < _KINDS))
            if (self._verbose or tells or exchange in step.focus) and (not wrong or _was_started(wrong)):
                self._exchange(exchange, whole=self._verbose or wrong is not None)
            if wrong and tells:
                self._wrong(wrong, "" if exchange in step.focus[:1] else _where(exchange), told, counts)
        for wrong in step.wrongs:
            if not wrong.exchange or id(wrong.exchange) in at:
                self._wrong(wrong, "", told, counts)
        left = sum(kind not in told for kind in counts)
        if left:
            self._line("", f"... and {left} more kinds of mistakes; --verbose shows them.", style="red")

    def _wrong(self, wrong: Wrong, where: str, told: set[str], counts: Counter[str]) -> None:
        kind = _kind(wrong)
        what = wrong.diagnosis.what
        self._line("wrong", f"{what.removesuffix('.')}{where}." if where else what, style="red")
        if kind in told:
            return
        told.add(kind)
        for line in wrong.diagnosis.advice:
            self._line("", line)
        if counts[kind] > 1 and not self._verbose:
            self._line("", f"The same was wrong {counts[kind]} times in this step.", style="red")

    def _stderr(self, step: Step) -> None:
        lines = step.stderr.decode(errors="replace").splitlines()
        most = len(lines) if self._verbose else _STDERR_LINES.get(step.state, 0)
        label = "stderr"
        if len(lines) > most > 0:
            self._line(label, f"... {len(lines) - most:,} lines before these", style="dim")
            label = ""
        for line in lines[-most:] if most else []:
            text = words.harmless(line.replace("\t", "    "))
            self._line(label, _cut(text, _WHOLE if step.state == "wrong" else self._room), style="yellow")
            label = ""

    def conclude(self, report: Report) -> None:
        """Say how fast it was, and sum up in one sentence."""
        self._print(Text())
        for line in self._timing(report):
            self._print(Text(line))
        self._print(Text(summary(report), style="bold green" if report.fine else "bold red"))

    def _timing(self, report: Report) -> list[str]:
        """How long it took, against the time it has."""
        clock, lines = self._conditions, []
        if report.start_us is not None:
            lines.append(f"Ready after {_of(report.start_us, clock.start_ms)}.")
        slowest = report.slowest
        if slowest and slowest.us is not None:
            lines.append(f"Slowest answer: {_of(slowest.us, clock.turn_ms)}{_where(slowest)}.")
            if slowest.us > clock.turn_ms * 500:
                lines.append("That is close: on a busy machine it may be too slow.")
        if report.usage:
            memory_mb = report.usage.peak_kb / 1000
            lines.append(
                f"It used {report.usage.cpu_ms / 1000:.2f} s of processor, {memory_mb:,.0f} MB of memory."
            )
        return [" ".join(lines)] if lines else []

    # --- lines -------------------------------------------------------------------------------------------

    @property
    def _room(self) -> int:
        return self._width - len(_MARGIN) - 8

    def _raw(self, label: str, data: bytes, *, whole: bool) -> None:
        text = _visible(data)
        self._line(label, _cut(text, _WHOLE if whole else self._room))

    def _line(self, label: str, text: str, *, style: str = "") -> None:
        self._print(Text.assemble((f"{_MARGIN}{label:<8}", "dim"), (words.harmless(text), style)))

    def _print(self, line: Text) -> None:
        self._console.print(line, soft_wrap=True)


def summary(report: Report) -> str:
    """The whole in one sentence."""
    failed, count = report.failed, len(report.steps)
    if not failed:
        return f"{report.name} is ready to play."
    first = failed[0].number
    unreached = sum(step.state == "not reached" for step in report.steps)
    if len(failed) == 1:
        what = f"Step {first} of {count} failed"
        return f"{what}, and {unreached} could not be reached." if unreached else f"{what}."
    rest = f", and {unreached} could not be reached" if unreached else ""
    return f"{len(failed)} of {count} steps failed{rest}; start with step {first}."


def _kind(wrong: Wrong) -> str:
    """What faults that need the same correction have in common: the words without numbers and cards."""
    return re.sub(r"\d+(\.\d+)?|\b[2-9TJQKA][CDSH]\b", "#", wrong.diagnosis.what)


def _was_started(wrong: Wrong) -> bool:
    """Whether there was a process that could read what was sent."""
    silence = wrong.exchange and wrong.exchange.silence
    if silence or not wrong.fault or wrong.fault.kind != "launch":
        return True
    return wrong.status is not None or bool(wrong.exchange and wrong.exchange.came)


def _where(exchange: Exchange) -> str:
    """Where in the course a question stood."""
    request = exchange.request
    if isinstance(request, StartRequest):
        return f" (start at table {request.table})"
    trick = f", trick {len(request.tricks) + 1}" if isinstance(request, PlayRequest) else ", pass"
    return f" (table {request.table}, hand {request.hand}{trick})"


def _of(us: int, limit_ms: int) -> str:
    return f"{_duration(us)} of {_duration(limit_ms * 1000)}"


def _duration(us: int) -> str:
    if us < 10_000:
        return f"{us / 1000:.1f} ms"
    return f"{us / 1000:.0f} ms" if us < 1_000_000 else f"{us / 1e6:.3g} s"


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _visible(data: bytes) -> str:
    """Bytes as text in which everything unprintable is seen as an escape."""
    text = data.decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _short(exchange: Exchange, most: int) -> str:
    """A request by its head and what matters most in it."""
    text = _visible(exchange.sent)
    key = {PlayRequest: '"legal":', PassRequest: '"cards":'}.get(type(exchange.request), "{")
    head, at = text.find('"table":'), text.find(key)
    return _cut(text if at < head else f"{text[:head]}…{text[at:]}", most)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
