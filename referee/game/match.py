"""The match machine: one input at a time, and the effects it causes, in the order to perform them.

It never waits, reads no clock and draws no lot: deals come in as inputs, and so do answers and faults.
Replay feeds it the log; there is no second implementation of the rules.  What a fault costs is in `_judge`
and in what stands below it.  [rules 3 to 8, protocol 6]
"""

from collections.abc import Iterable
from typing import Literal, assert_never

from msgspec.structs import replace

from protocol.cards import BIT, CARD, NAMES, Card, CardName, CardSet, names_of
from protocol.messages import (
    Notice,
    Pass,
    Passed,
    PassedNotice,
    Play,
    PlayedNotice,
    Ready,
    Request,
    StartRequest,
    Trick,
)
from referee.game import views
from referee.game.deal import caretaker_card, caretaker_pass
from referee.game.events import (
    RECOVERABLE,
    Answered,
    Ask,
    DealRecord,
    Dealt,
    Dismiss,
    Effect,
    Failed,
    FaultRecord,
    HandOverRecord,
    Input,
    MatchOverRecord,
    MatchRecord,
    PassRecord,
    PlayRecord,
    Reason,
    Record,
    Restart,
    Tell,
    Then,
    WantDeal,
)
from referee.game.hand import Hand
from referee.game.rulebook import rulebook
from referee.game.score import end_of_match, ranks, score_hand


class OutOfTurn(ValueError):
    """An input that the match does not wait for; the match is unchanged."""


class Match:
    """One match from the handshake to the final ranking.

    Make it with the header of its log, call `begin` once, then `advance` with one input at a time.
    `awaiting` holds the seats whose answer is due; `wants_deal` says that a `Dealt` is; `end` is the last
    record once the match is over.
    """

    def __init__(self, header: MatchRecord, table: str = "1") -> None:
        self.header = header
        self.table = table
        self.book = rulebook(header.rules)
        seats = self.book.seats
        if len(header.seats) != seats:
            raise ValueError(f"the rules seat {seats} players, but the header has {len(header.seats)} seats")
        if [seat.seat for seat in header.seats] != list(range(seats)):
            raise ValueError(f"its seats must be numbered from 0 to {seats - 1}, in this order")
        anonymous = header.conditions.anonymous
        self.players = tuple(f"seat-{seat.seat}" if anonymous else seat.name for seat in header.seats)
        self.scores = (0,) * seats
        self.retired: set[int] = set()
        self.end: MatchOverRecord | None = None

        self.hand_number = 0
        self.hands_over = 0
        self.dealer = 0
        self.direction = self.book.direction(1, header.first_hand)
        self.dealt: tuple[CardSet, ...] = ()
        self.passes: dict[int, CardSet] = {}
        self.passed: list[Passed | None] = [None] * seats
        self.hand: Hand
        self.trick: tuple[CardName, ...] = ()
        self.taken: tuple[int, ...] = (0,) * seats
        self.tricks: tuple[Trick, ...] = ()

        self.wants_deal = False
        self.awaiting: set[int] = set()
        self.stage: type[Ready | Pass | Play] = Ready
        """The reply that the seats are asked for now."""
        self._answers: dict[int, Answered | Failed] = {}
        self._strikes = [0] * seats
        self._watchers: list[int] = []
        self._dismissed: set[int] = set()

    # --- in and out --------------------------------------------------------------------------------------

    def begin(self) -> list[Effect]:
        """Ask every seat to sit down."""
        self.awaiting = set(range(self.book.seats))
        return [Ask(seat) for seat in range(self.book.seats)]

    def advance(self, what: Input) -> list[Effect]:
        """Take one input and return the effects it causes.  Raises OutOfTurn, and changes nothing, for one
        that is not awaited.
        """
        out: list[Effect] = []
        if isinstance(what, Dealt):
            self._deal(what.cards, out)
            return out
        seat, stage = what.seat, self.stage
        if seat not in self.awaiting:
            raise OutOfTurn(f"seat {seat} was not asked")
        if isinstance(what, Answered) and not isinstance(what.message, stage):
            raise OutOfTurn(f"seat {seat} was asked for a {stage.__name__}")
        self.awaiting.remove(seat)
        if stage is Play:
            self._judge_play(what, out)
            return out
        self._answers[seat] = what
        if not self.awaiting:
            answers = [self._answers[seat] for seat in sorted(self._answers)]
            self._answers.clear()
            if self.stage is Ready:
                self._sit_down(answers, out)
            else:
                self._judge_passes(answers, out)
        return out

    def request(self, seat: int, id: int, ms: int) -> Request:
        """The question that an `Ask` of this seat stands for, as of now.  `ms` is the time it has.

        Raises OutOfTurn for a seat whose answer is not awaited.
        """
        if seat not in self.awaiting:
            raise OutOfTurn(f"seat {seat} is not to be asked")
        if self.stage is Play:
            return views.play_request(self, seat, id, ms)
        if self.stage is Pass:
            return views.pass_request(self, seat, id, ms)
        return views.start_request(self, seat, id)

    def start_request(self, seat: int, id: int) -> StartRequest:
        """The invitation for a seat's process, the first or a new one in the middle of the match."""
        return views.start_request(self, seat, id)

    def rejoin(self, seat: int, ready: Ready) -> None:
        """A new process sits in this seat in the middle of the match; only whether it watches matters to the
        game.
        """
        self._watchers = sorted({*self._watchers, seat} if ready.watch else {*self._watchers} - {seat})

    @property
    def sound(self) -> list[int]:
        """The seats that have not retired."""
        return [seat for seat in range(self.book.seats) if seat not in self.retired]

    # --- start and deal ----------------------------------------------------------------------------------

    def _sit_down(self, answers: list[Answered | Failed], out: list[Effect]) -> None:
        seats = list(self.header.seats)
        failures: list[Failed] = []
        for answer in answers:
            if isinstance(answer, Failed):
                failures.append(answer)
                continue
            ready = answer.message
            assert isinstance(ready, Ready)
            if ready.protocol != views.PROTOCOL:
                detail = f"speaks protocol {ready.protocol}; this referee speaks {views.PROTOCOL}"
                failures.append(Failed(answer.seat, "launch", detail))
                continue
            seats[answer.seat] = replace(seats[answer.seat], says=f"{ready.name} {ready.version}")
            if ready.watch:
                self._watchers.append(answer.seat)
        self.header = replace(self.header, seats=tuple(seats))
        out.append(Record(self.header))
        if failures:
            for failure in failures:
                self._record_fault(failure, None, "void", out)
                self.retired.add(failure.seat)
            self._end_match("void", out)
        else:
            self._want_deal(out)

    def _want_deal(self, out: list[Effect]) -> None:
        self.hand_number += 1
        self.dealer = (self.hand_number - 1) % self.book.seats
        self.direction = self.book.direction(self.hand_number, self.header.first_hand)
        self.tricks = ()
        self.trick = ()
        self.taken = (0,) * self.book.seats
        self.passes = {}
        self.passed = [None] * self.book.seats
        self.wants_deal = True
        out.append(WantDeal(self.hand_number))

    def _deal(self, cards: tuple[CardSet, ...], out: list[Effect]) -> None:
        if not self.wants_deal:
            raise OutOfTurn("no deal is wanted now")
        sizes = {held.bit_count() for held in cards}
        if len(cards) != self.book.seats or sizes != {self.book.hand_size} or sum(cards) != self.book.deck:
            raise OutOfTurn(
                f"a deal gives each of {self.book.seats} seats {self.book.hand_size} cards of the deck"
            )
        self.wants_deal = False
        self.dealt = cards
        names = tuple(names_of(held) for held in cards)
        out.append(Record(DealRecord(self.hand_number, self.dealer, self.direction, names)))
        if self.direction == "hold":
            self._lead(cards, out)
        else:
            self.stage = Pass
            self.awaiting = set(self.sound)
            out.extend(Ask(seat) for seat in self.sound)

    # --- passing -----------------------------------------------------------------------------------------

    def _judge_passes(self, answers: list[Answered | Failed], out: list[Effect]) -> None:
        """All passes are judged before any policy acts; valid ones are recorded first, then faults, then what
        follows.
        """
        failures: list[tuple[Failed, tuple[str, ...] | None]] = []
        for answer in answers:
            if isinstance(answer, Failed):
                failures.append((answer, None))
                continue
            reply = answer.message
            assert isinstance(reply, Pass)
            wrong = self._why_illegal_pass(answer.seat, reply.cards)
            if wrong:
                failures.append((Failed(answer.seat, "illegal_pass", wrong, us=answer.us), reply.cards))
            else:
                cards = sum(BIT[name] for name in reply.cards)
                self._pass(answer.seat, cards, out, answer.us, reply.note)
        judged = [self._judge(failure, cards, out) for failure, cards in failures]
        if not self._go_on_after(
            [(failure, then) for (failure, _), then in zip(failures, judged, strict=True)], out
        ):
            return
        for seat in range(self.book.seats):
            if seat not in self.passes:
                count = self.book.rules.pass_count
                chosen = caretaker_pass(self.header.seed, self.hand_number, seat, self.dealt[seat], count)
                self._pass(seat, chosen, out, by="referee")
        held = list(self.dealt)
        for seat, cards in self.passes.items():
            held[seat] ^= cards
        for seat, cards in self.passes.items():
            held[self.book.receiver(seat, self.direction)] |= cards
        self.passed = [views.passed(self, seat) for seat in range(self.book.seats)]
        for seat in range(self.book.seats):
            self._tell(self._watchers, PassedNotice(self.table, seat), out)
        self._lead(held, out)

    def _why_illegal_pass(self, seat: int, cards: tuple[str, ...]) -> str | None:
        if len(cards) != self.book.rules.pass_count:
            return f"passed {len(cards)} cards; {self.book.rules.pass_count} are to be passed"
        for name in cards:
            if cards.count(name) > 1:
                return f"passed {name} twice"
            if not BIT[name] & self.dealt[seat]:
                return f"{name} is not in your hand"
        return None

    def _pass(
        self,
        seat: int,
        cards: CardSet,
        out: list[Effect],
        us: int | None = None,
        note: str | None = None,
        by: Literal["referee"] | None = None,
    ) -> None:
        self.passes[seat] = cards
        out.append(Record(PassRecord(self.hand_number, seat, names_of(cards), us, note, by)))

    # --- play --------------------------------------------------------------------------------------------

    def _lead(self, held: Iterable[CardSet], out: list[Effect]) -> None:
        self.hand = Hand(self.book, list(held), self.dealer)
        self.stage = Play
        self._ask_next(out)

    def _ask_next(self, out: list[Effect]) -> None:
        """Ask the seat whose turn it is; the caretaker plays at once for seats that have retired."""
        hand = self.hand
        while hand.legal:  # there is none once the hand is over
            if hand.turn not in self.retired:
                self.awaiting.add(hand.turn)
                out.append(Ask(hand.turn))
                return
            self._caretaker_plays(out)
        scored = score_hand(self.book, hand.won, hand.tricks_won, self.scores, self.retired)
        self._end_hand(scored.points, scored.moon, out)

    def _judge_play(self, what: Answered | Failed, out: list[Effect]) -> None:
        if isinstance(what, Answered):
            reply = what.message
            assert isinstance(reply, Play)
            card = CARD[reply.card]
            if 1 << card & self.hand.legal:
                self._play(card, out, what.us, reply.note)
                self._ask_next(out)
                return
            failure = Failed(what.seat, "illegal_play", self.hand.why_illegal(card), us=what.us)
            then = self._judge(failure, (reply.card,), out)
        else:
            failure = what
            then = self._judge(failure, None, out)
        if self._go_on_after([(failure, then)], out):
            self._caretaker_plays(out)
            self._ask_next(out)

    def _play(
        self,
        card: Card,
        out: list[Effect],
        us: int | None = None,
        note: str | None = None,
        by: Literal["referee"] | None = None,
    ) -> None:
        hand, seat, name = self.hand, self.hand.turn, NAMES[card]
        trick = len(self.tricks) + 1
        out.append(Record(PlayRecord(self.hand_number, trick, seat, name, us, note, by)))
        hand.play(card)
        self.trick = (*self.trick, name)
        if not hand.trick:
            lead, _, winner = hand.tricks[-1]
            self.tricks = (*self.tricks, Trick(lead, self.trick, winner))
            self.trick = ()
            self.taken = tuple(hand.taken)
        if self._watchers:
            self._tell(self._watchers, PlayedNotice(self.table, seat, name), out)

    def _caretaker_plays(self, out: list[Effect]) -> None:
        hand = self.hand
        trick = len(hand.tricks) + 1
        card = caretaker_card(self.header.seed, self.hand_number, hand.turn, trick, hand.legal)
        self._play(card, out, by="referee")

    # --- faults ------------------------------------------------------------------------------------------

    def _judge(self, failure: Failed, cards: tuple[str, ...] | None, out: list[Effect]) -> Then:
        """Record a fault and what it costs; the cost itself is exacted by `_go_on_after`.  [protocol 6.2]"""
        conditions, seat = self.header.conditions, failure.seat
        then: Then = conditions.on_fault
        if failure.kind in RECOVERABLE and self._strikes[seat] < conditions.strikes:
            self._strikes[seat] += 1
            then = "substitute"
        elif failure.kind == "launch" and then in ("substitute", "hand"):
            then = "retire"  # its process was started anew, and would not start
        self._record_fault(failure, cards, then, out)
        return then

    def _record_fault(
        self, failure: Failed, cards: tuple[str, ...] | None, then: Then, out: list[Effect]
    ) -> None:
        trick = len(self.hand.tricks) + 1 if self.stage is Play else 0
        record = FaultRecord(
            self.hand_number,
            trick,
            failure.seat,
            failure.kind,
            failure.detail,
            then,
            cards,  # type: ignore[arg-type]
            failure.reply,
            failure.us,
        )
        out.append(Record(record))

    def _go_on_after(self, judged: list[tuple[Failed, Then]], out: list[Effect]) -> bool:
        """Exact what these faults cost.  True if the hand goes on, with the caretaker to act for the
        offenders.
        """
        hand_offenders = [failure.seat for failure, then in judged if then == "hand"]
        for failure, then in judged:
            match then:
                case "substitute" | "hand":
                    if failure.kind not in RECOVERABLE:
                        out.append(Restart(failure.seat))
                case "retire" | "match" | "void":
                    self.retired.add(failure.seat)
                    if then == "retire":
                        retired = tuple(sorted(self.retired))
                        self._dismiss(failure.seat, MatchOverRecord("fault", (), self.scores, retired), out)
                case _:
                    assert_never(then)
        if not self.sound:
            self._end_match("void", out)
        elif any(then == "match" for _, then in judged):
            self._end_match("fault", out)
        elif hand_offenders:
            full = self.book.pack_points
            points = tuple(full if seat in hand_offenders else 0 for seat in range(self.book.seats))
            self._end_hand(points, None, out)
        else:
            return True
        return False

    # --- ends --------------------------------------------------------------------------------------------

    def _end_hand(self, points: tuple[int, ...], moon: int | None, out: list[Effect]) -> None:
        self.hands_over += 1
        self.scores = tuple(total + more for total, more in zip(self.scores, points, strict=True))
        out.append(Record(HandOverRecord(self.hand_number, points, self.scores, moon)))
        self._tell(self.sound, views.hand_over(self, points, moon), out)
        reason: Reason | None = end_of_match(self.book, self.scores, self.hand_number, self.retired)
        if reason is None and len(self.sound) == 1:
            reason = "one_left"
        if reason is None:
            self._want_deal(out)
        else:
            self._end_match(reason, out)

    def _end_match(self, reason: Reason, out: list[Effect]) -> None:
        """Rank the seats, unless nobody is left to have won, and send everyone away."""
        final = () if reason == "void" else ranks(self.scores, self.retired)
        self.end = MatchOverRecord(reason, final, self.scores, tuple(sorted(self.retired)))
        out.append(Record(self.end))
        for seat in range(self.book.seats):
            self._dismiss(seat, self.end, out)

    def _dismiss(self, seat: int, end: MatchOverRecord, out: list[Effect]) -> None:
        if seat not in self._dismissed:
            self._dismissed.add(seat)
            out.append(Tell(seat, views.match_over(self, end)))
            out.append(Dismiss(seat))

    def _tell(self, seats: Iterable[int], notice: Notice, out: list[Effect]) -> None:
        out.extend(Tell(seat, notice) for seat in seats if seat not in self.retired)
