"""All that a Python bot needs: give `run` two functions, and it speaks the protocol for them.

    from protocol.bot import run

    def choose_pass(request):
        return request.cards[-request.count :]

    def choose_play(request):
        return request.legal[0]

    run("my-bot", choose_pass, choose_play)

The functions get a `PassRequest` and a `PlayRequest`, which hold all that a seat may know, and return the
names of cards: `"QS"`, or several of them for a pass.  A bot that thinks about many requests at once, such
as a neural net, uses `run_batched`.  `print` is safe: it goes to stderr, which the referee keeps for you.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic
from typing import Final, TypeAlias, assert_never

from msgspec import Struct

from protocol.cards import NAMES, CardName
from protocol.codec import BadLine, decode_from_referee, encode
from protocol.messages import (
    FromReferee,
    HandOverNotice,
    MatchOverNotice,
    Notice,
    Pass,
    PassedNotice,
    PassRequest,
    Play,
    PlayedNotice,
    PlayRequest,
    Ready,
    StartRequest,
    Trick,
)
from protocol.rules import Rules

__all__ = [
    "STANDARD",
    "CardName",
    "HandOverNotice",
    "MatchOverNotice",
    "Noted",
    "PassRequest",
    "PassedNotice",
    "PlayRequest",
    "PlayedNotice",
    "Rules",
    "StartRequest",
    "Trick",
    "points",
    "rank",
    "run",
    "run_batched",
    "suit",
    "unseen",
    "winning_card",
]


class Noted(Struct, frozen=True):
    """An answer and why: `return Noted("QS", "the king is on the table")`.

    The note is for the log and for people who watch.  It is cut after 500 characters.
    """

    answer: str | Iterable[str]
    note: str


PassAnswer: TypeAlias = Iterable[str] | Noted
PlayAnswer: TypeAlias = str | Noted
ChoosePass: TypeAlias = Callable[[PassRequest], PassAnswer]
ChoosePlay: TypeAlias = Callable[[PlayRequest], PlayAnswer]
ChooseMany: TypeAlias = Callable[[list[PassRequest | PlayRequest]], Sequence[PassAnswer | PlayAnswer]]


def run(
    name: str,
    choose_pass: ChoosePass,
    choose_play: ChoosePlay,
    *,
    version: str = "1",
    tables: int = 64,
    on_start: Callable[[StartRequest], object] | None = None,
    on_hand_over: Callable[[HandOverNotice], object] | None = None,
    on_match_over: Callable[[MatchOverNotice], object] | None = None,
    watch: Callable[[PassedNotice | PlayedNotice], object] | None = None,
) -> None:
    """Play until the referee closes the pipe.

    `tables` is how many matches this process plays at once.  64 suits functions that look at nothing but
    the request.  A bot that remembers anything between calls must keep it apart for each `request.table`,
    or say `tables=1`.

    `on_start` is called when the bot sits down at a table; the first has the long start time, so load models
    there.  `on_hand_over` and `on_match_over` are called at those ends.  `watch` is called when any seat has
    passed or played; asking for that brings a line for every card, and only a screen needs it.

    An exception in one of these functions is shown on stderr with the request that caused it, and ends the
    process with status 1.
    """
    desk = _Desk(name, version, tables, on_start, on_hand_over, on_match_over, watch)

    def replies(messages: list[FromReferee]) -> Iterator[bytes]:
        message = None
        try:
            for message in messages:
                if isinstance(message, PlayRequest):
                    yield _play(message, choose_play(message))
                elif isinstance(message, PassRequest):
                    yield _pass(message, choose_pass(message))
                else:
                    yield from desk.take(message)
        except Exception as error:
            raise _AuthorError([message]) from error

    _serve(name, replies)


def run_batched(
    name: str,
    choose_many: ChooseMany,
    *,
    version: str = "1",
    tables: int = 64,
    on_start: Callable[[StartRequest], object] | None = None,
    on_hand_over: Callable[[HandOverNotice], object] | None = None,
    on_match_over: Callable[[MatchOverNotice], object] | None = None,
    watch: Callable[[PassedNotice | PlayedNotice], object] | None = None,
) -> None:
    """Play like `run`, but choose for all requests that are due at once: a list comes, a list goes back.

    Passes and plays are mixed, each from another table.  Hooks are called first, for all that came with them.
    """
    desk = _Desk(name, version, tables, on_start, on_hand_over, on_match_over, watch)

    def replies(messages: list[FromReferee]) -> Iterator[bytes]:
        requests = [message for message in messages if isinstance(message, PassRequest | PlayRequest)]
        message = None
        try:
            for message in messages:
                if not isinstance(message, PassRequest | PlayRequest):
                    yield from desk.take(message)
        except Exception as error:
            raise _AuthorError([message]) from error
        if not requests:
            return
        try:
            yield from _many(requests, choose_many(requests))
        except Exception as error:
            raise _AuthorError(requests) from error

    _serve(name, replies, whole=True)


# --- help for authors ------------------------------------------------------------------------------------

STANDARD: Final = Rules()
"""The standard game for four."""

_RANK: Final = {rank: number for number, rank in enumerate("23456789TJQKA", start=2)}


def rank(card: str) -> int:
    """2 to 14, the ace being highest: `rank("QS") == 12`."""
    return _RANK[card[0]]


def suit(card: str) -> str:
    """C, D, S or H: `suit("QS") == "S"`."""
    return card[1]


def winning_card(trick: Sequence[CardName]) -> CardName:
    """The card that wins so far: the highest of the suit that was led."""
    led = trick[0][1]
    return max((card for card in trick if card[1] == led), key=rank)


def points(card: str, rules: Rules = STANDARD) -> int:
    """What this card costs the seat that takes it; the bonus jack has negative points."""
    if card[1] == "H":
        return rank(card) if rules.heart_points == "pips" else 1
    if card == rules.jack_card:
        return rules.jack_points
    costs = {"QS": rules.queen_points, "KS": rules.king_points, "AS": rules.ace_points}
    return costs.get(card, 0)


def unseen(request: PlayRequest, rules: Rules = STANDARD) -> list[CardName]:
    """The cards that the other seats hold between them."""
    seen = {*request.cards, *request.trick, *(rules.removed or ())}
    for trick in request.tricks:
        seen.update(trick.cards)
    return [card for card in NAMES if card not in seen]


# --- the desk: what is no choice of cards ----------------------------------------------------------------


class _AuthorError(Exception):
    """One of the author's functions raised (that is the cause) when it was given these messages."""

    def __init__(self, messages: Sequence[FromReferee | None]) -> None:
        self.messages = messages


class _Desk(Struct):
    """Who the bot says it is, and whom it wants told."""

    name: str
    version: str
    tables: int
    on_start: Callable[[StartRequest], object] | None
    on_hand_over: Callable[[HandOverNotice], object] | None
    on_match_over: Callable[[MatchOverNotice], object] | None
    watch: Callable[[PassedNotice | PlayedNotice], object] | None

    def take(self, message: StartRequest | Notice) -> Iterator[bytes]:
        match message:
            case StartRequest():
                if self.on_start:
                    self.on_start(message)
                watches = self.watch is not None
                yield encode(Ready(message.id, self.name, self.version, self.tables, watches))
            case HandOverNotice():
                if self.on_hand_over:
                    self.on_hand_over(message)
            case MatchOverNotice():
                if self.on_match_over:
                    self.on_match_over(message)
            case PassedNotice() | PlayedNotice():
                if self.watch:
                    self.watch(message)
            case _:
                assert_never(message)


def _many(
    requests: Sequence[PassRequest | PlayRequest], answers: Sequence[PassAnswer | PlayAnswer]
) -> Iterator[bytes]:
    if len(answers) != len(requests):
        raise ValueError(f"{len(answers)} answers to {len(requests)} requests")
    for request, answer in zip(requests, answers, strict=True):
        yield _play(request, answer) if isinstance(request, PlayRequest) else _pass(request, answer)


def _play(request: PlayRequest, answer: object) -> bytes:
    """The reply that an author's answer means.  Whether the card is legal is for the referee to say."""
    card, note = _opened(answer)
    if not isinstance(card, str):
        raise TypeError(f"a play is answered with the name of a card, such as 'QS', not with {card!r}")
    return encode(Play(request.id, _plain(card), note))


def _pass(request: PassRequest, answer: object) -> bytes:
    answer, note = _opened(answer)
    cards = (answer,) if isinstance(answer, str) else tuple(answer) if isinstance(answer, Iterable) else None
    if cards is None or not all(isinstance(card, str) for card in cards):
        raise TypeError(f"a pass is answered with a list of cards, such as ['QS'], not with {answer!r}")
    return encode(Pass(request.id, tuple(map(_plain, cards)), note))


def _plain(card: str) -> CardName:
    """The same text, if it was one of numpy's or an enum's."""
    return str.__str__(card)  # type: ignore[return-value]


def _opened(answer: object) -> tuple[object, str | None]:
    return (answer.answer, answer.note[:500]) if isinstance(answer, Noted) else (answer, None)


# --- the pipe --------------------------------------------------------------------------------------------

_READ: Final = 1 << 18
_MAX_WAIT_S: Final = 0.05
"""No answer waits longer than this for those to the other requests of its batch."""

_Replies: TypeAlias = Callable[[list[FromReferee]], Iterator[bytes]]


def _serve(name: str, replies: _Replies, whole: bool = False) -> None:
    if os.isatty(0):
        print(f"{name}: this is a bot; `arena check` tries it and `arena run` plays it", file=sys.stderr)
    lines_in, lines_out = _take_pipes()
    try:
        for lines in _batches(lines_in, whole):
            _answer(lines_out, replies(_messages(lines)))
    except BrokenPipeError:
        return  # the referee is gone, and there is nobody left to tell
    except _AuthorError as failure:
        _report(name, failure)
    else:
        return
    sys.exit(1)


def _take_pipes() -> tuple[int, int]:
    """Keep stdin and stdout for the protocol: no library and no child process can speak or listen there.

    All else that is printed goes to stderr, even from C, and even what was printed earlier but is still in
    Python's buffer.
    """
    pipes = os.dup(0), os.dup(1)
    nothing, end = os.pipe()  # not /dev/null, which a sandbox may refuse
    os.close(end)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout.flush()
    sys.stdout = sys.stderr
    return pipes


def _batches(pipe: int, whole: bool) -> Iterator[list[bytes]]:
    """The complete lines of each read, until the referee closes the pipe.

    The pipe holds 64 KiB, and a batch can be more.  With `whole`, a line that is cut says that the rest is on
    its way, and it is waited for.
    """
    rest = b""
    while chunk := os.read(pipe, _READ):
        rest += chunk
        if chunk.endswith(b"\n") or (b"\n" in chunk and not whole):
            *lines, rest = rest.split(b"\n")
            yield lines


def _messages(lines: list[bytes]) -> list[FromReferee]:
    """What the lines say, without the notices of a later protocol and without what is no message at all."""
    messages = []
    for line in lines:
        try:
            message = decode_from_referee(line)
        except BadLine as why:
            if line.strip():
                print(f"ignored a line from the referee: {why}: {line[:200]!r}", file=sys.stderr)
        else:
            if message is not None:
                messages.append(message)
    return messages


def _answer(pipe: int, replies: Iterator[bytes]) -> None:
    """Write the replies together; if the bot thinks for long, those that are ready go ahead."""
    ready: list[bytes] = []
    written_at = monotonic()
    try:
        for reply in replies:
            ready.append(reply)
            if monotonic() - written_at > _MAX_WAIT_S:
                _write(pipe, b"".join(ready))
                ready.clear()
                written_at = monotonic()
    finally:
        _write(pipe, b"".join(ready))  # also when the next one failed: an answer that was given counts


def _write(pipe: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(pipe, view) :]


def _report(name: str, failure: _AuthorError) -> None:
    """Show the author what failed, and on what."""
    import traceback  # costs a start more than everything else here

    error = failure.__cause__
    assert error is not None
    trace = error.__traceback__
    while trace and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next  # our own frames would only hide the author's
    print(f"{name} failed on this:", file=sys.stderr)
    for message in failure.messages:
        if message is not None:
            print(encode(message).decode(), end="", file=sys.stderr)
    traceback.print_exception(type(error), error, trace)
