"""A match without processes: it deals, asks, listens, and writes down what the machine does."""

from collections.abc import Callable, Collection, Sequence
from random import Random
from typing import assert_never

from protocol.cards import CardSet, names_of
from protocol.codec import encode
from protocol.messages import (
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
    Request,
    StartRequest,
)
from protocol.rules import Conditions, Rules
from referee.game.deal import deal
from referee.game.events import (
    Answered,
    Ask,
    DealRecord,
    Dealt,
    Dismiss,
    Effect,
    Event,
    Failed,
    FaultRecord,
    HandOverRecord,
    Input,
    MatchOverRecord,
    MatchRecord,
    PassRecord,
    PlayRecord,
    Record,
    Restart,
    SeatRecord,
    Tell,
    WantDeal,
)
from referee.game.match import Match

Choose = Callable[[int, Request], Answered | Failed]


def header(
    rules: Rules, conditions: Conditions | None = None, seed: str = "seed", first_hand: int = 1
) -> MatchRecord:
    """The header of a match between seats named a, b, c and so on."""
    return MatchRecord(
        arena="test",
        id="match",
        started="",
        seed=seed,
        first_hand=first_hand,
        rules=rules,
        conditions=conditions or Conditions(),
        seats=tuple(SeatRecord(seat=seat, name="abcdef"[seat]) for seat in range(rules.players)),
    )


class Driver:
    """One match and all that it has done so far.

    `asked` holds the seats whose answers are due, in the order they were asked.  Deals are put in by
    themselves, from `deals` or from the seed.
    """

    def __init__(
        self,
        head: MatchRecord,
        deals: Callable[[int], Sequence[CardSet]] | None = None,
        watch: Collection[int] = (),
    ) -> None:
        self.match = Match(head)
        self.deals = deals or (lambda hand: deal(head.seed, hand, self.match.book))
        self.watch = watch
        self.inputs: list[Input] = []
        self.effects: list[Effect] = []
        self.asked: list[int] = []
        self.requests: list[list[bytes]] = [[] for _ in range(head.rules.players)]

    def begin(self) -> None:
        self._take(self.match.begin())

    def sit(self) -> None:
        """Begin, and answer for everybody that they sit."""
        self.begin()
        for seat in list(self.asked):
            self.request(seat)
            self.put(ready(seat, watch=seat in self.watch))

    def put(self, what: Input) -> list[Effect]:
        """Put one input in, and a deal after it when one is wanted; the effects of both."""
        effects = self.match.advance(what)
        self.inputs.append(what)
        self._take(effects)
        if not isinstance(what, Dealt) and what.seat in self.asked:
            self.asked.remove(what.seat)
        if self.match.wants_deal:
            effects = effects + self.put(Dealt(tuple(self.deals(self.match.hand_number))))
        return effects

    def request(self, seat: int) -> Request:
        """What the seat is asked now."""
        request = self.match.request(seat, id=7, ms=1000)
        self.requests[seat].append(encode(request))
        return request

    def play(self, choose: Choose, lot: Random | None = None) -> None:
        """Answer with `choose` until the match is over; those who are due together in any order."""
        while self.asked:
            seat = lot.choice(self.asked) if lot else self.asked[0]
            self.put(choose(seat, self.request(seat)))

    def records(self, kind: type[Event] | None = None) -> list:
        """The records so far, all or of one kind."""
        events = [effect.event for effect in self.effects if isinstance(effect, Record)]
        return [event for event in events if kind is None or isinstance(event, kind)]

    def told(self, seat: int) -> list[Notice]:
        """The notices that a seat has been sent."""
        return [effect.notice for effect in self.effects if isinstance(effect, Tell) and effect.seat == seat]

    def _take(self, effects: list[Effect]) -> None:
        self.effects += effects
        self.asked += [effect.seat for effect in effects if isinstance(effect, Ask)]


def ready(seat: int, **fields: object) -> Answered:
    """A seat sits down."""
    return Answered(seat, Ready(id=7, name="bot", version=str(seat), **fields))  # type: ignore[arg-type]


def play(seat: int, card: str) -> Answered:
    return Answered(seat, Play(7, card))  # type: ignore[arg-type]


def give(seat: int, cards: str) -> Answered:
    """A seat passes these cards."""
    return Answered(seat, Pass(7, tuple(cards.split())))  # type: ignore[arg-type]


def at_random(lot: Random) -> Choose:
    """Legal answers, drawn from `lot`."""

    def choose(seat: int, request: Request) -> Answered:
        match request:
            case StartRequest():
                return ready(seat)
            case PassRequest():
                return Answered(seat, Pass(7, tuple(lot.sample(request.cards, request.count))))
            case PlayRequest():
                return Answered(seat, Play(7, lot.choice(request.legal)))
            case _:
                assert_never(request)

    return choose


# --- transcripts -----------------------------------------------------------------------------------------


def transcript(effects: Sequence[Effect]) -> list[str]:
    """What the machine did, one short line each, as in `record 2 passes QS` or `ask 3`."""
    return [_line(effect) for effect in effects]


def _line(effect: Effect) -> str:
    match effect:
        case Record():
            return _event(effect.event)
        case Tell():
            return f"tell {effect.seat} {_notice(effect.notice)}"
        case Ask():
            return f"ask {effect.seat}"
        case WantDeal():
            return f"want deal {effect.hand}"
        case Restart():
            return f"restart {effect.seat}"
        case Dismiss():
            return f"dismiss {effect.seat}"
        case _:
            assert_never(effect)


def _event(event: Event) -> str:
    match event:
        case MatchRecord():
            return "match: " + ", ".join(seat.says or "-" for seat in event.seats)
        case DealRecord():
            hands = ", ".join(" ".join(cards) for cards in event.cards)
            return f"deal {event.hand} by {event.dealer}, {event.direction}: {hands}"
        case PassRecord():
            return f"{event.seat} passes {' '.join(event.cards)}" + _by(event)
        case PlayRecord():
            return f"{event.seat} plays {event.card}" + _by(event)
        case FaultRecord():
            where = f"hand {event.hand} trick {event.trick}"
            return f"fault of {event.seat}, {where}: {event.kind}, {event.detail}; {event.then}"
        case HandOverRecord():
            moon = "" if event.moon is None else f", moon {event.moon}"
            return f"hand over: {_numbers(event.points)} makes {_numbers(event.scores)}{moon}"
        case MatchOverRecord():
            return f"match over: {_end(event)}"
        case _:
            assert_never(event)


def _by(event: PassRecord | PlayRecord) -> str:
    return f" by {event.by}" if event.by else ""


def _notice(notice: Notice) -> str:
    match notice:
        case HandOverNotice():
            return f"hand over {_numbers(notice.points)} makes {_numbers(notice.scores)}"
        case MatchOverNotice():
            return f"match over {_end(notice)}"
        case PassedNotice():
            return f"{notice.seat} passed"
        case PlayedNotice():
            return f"{notice.seat} played {notice.card}"
        case _:
            assert_never(notice)


def _end(end: MatchOverRecord | MatchOverNotice) -> str:
    retired = f", retired {_numbers(end.retired)}" if end.retired else ""
    return f"{end.reason}, ranks {_numbers(end.ranks)}, scores {_numbers(end.scores)}{retired}"


def _numbers(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers)) or "none"


def hands(text: str) -> list[CardSet]:
    """The cards of each seat, from `"2C 3H | 3C 4H | ..."`."""
    from tests.game.notation import cards

    return [cards(part) for part in text.split("|")]


def seen_cards(line: bytes) -> set[str]:
    """Every card that a line of JSON names."""
    return {name for name in names_of((1 << 52) - 1) if f'"{name}"'.encode() in line}
