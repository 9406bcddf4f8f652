"""A match log told hand by hand in readable text, whole or as one seat or a spectator could see it.

What a seat saw is chosen by naming it: its own cards and passes, and what happened on the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from rich.text import Text

from protocol.cards import CARD, set_of
from referee.errors import ArenaError
from referee.game.events import (
    DealRecord,
    FaultRecord,
    HandOverRecord,
    MatchOverRecord,
    MatchRecord,
    PassRecord,
    PlayRecord,
)
from referee.game.hand import Hand
from referee.game.match import Match
from referee.game.rulebook import Rulebook, rulebook
from referee.record.match_log import LogFile, ResumeRecord, UsedRecord
from referee.show import words
from referee.show.terminal import fault_line

View: TypeAlias = int | Literal["all", "spectator"]


def view_of(header: MatchRecord, word: str | None) -> View:
    """The view that `--as` means: a seat's number, a seat's label, or `spectator`.  Raises ArenaError for
    none of them.
    """
    names = [seat.name for seat in header.seats]
    if word is None:
        return "all"
    if word == "spectator":
        return "spectator"
    if word in names:
        return names.index(word)
    if word.isdecimal() and int(word) < len(names):
        return int(word)
    raise ArenaError(
        f"There is no seat {word!r}; "
        f"--as takes a seat from 0 to {len(names) - 1}, spectator, or {', '.join(names)}."
    )


def tell(log: LogFile, view: View = "all", only_hand: int | None = None) -> Iterator[Text]:
    """The lines of the story, one by one.  The log must have been replayed: what does not follow is not told
    well.
    """
    teller = _Teller(log.header, view)
    found = False
    for line in log.lines:
        record = line.record
        hand = getattr(record, "hand", None)
        shown = only_hand is None or hand == only_hand
        found = found or hand == only_hand
        for text in teller.tell(record):
            if shown:
                yield text
    if only_hand is not None and not found:
        last = max((getattr(line.record, "hand", 0) for line in log.lines), default=0)
        raise ArenaError(f"There is no hand {only_hand} in {log.path}; it has hands 1 to {last}.")


class _Teller:
    def __init__(self, header: MatchRecord, view: View) -> None:
        self.header = header
        self.view = view
        self.book: Rulebook = rulebook(header.rules)
        self.names = [seat.name for seat in header.seats] if view == "all" else Match(header).players
        self.width = max(map(len, self.names))
        self.deal: DealRecord | None = None
        self.passes: dict[int, PassRecord] = {}
        self.hand: Hand | None = None
        self.notes: list[tuple[str, str]] = []
        self.by_referee: set[int] = set()

    def tell(self, record: object) -> Iterator[Text]:
        match record:
            case DealRecord():
                yield from self._deal(record)
            case PassRecord():
                yield from self._pass(record)
            case PlayRecord():
                yield from self._play(record)
            case FaultRecord() if self._hears_of(record.seat):
                yield self._fault(record)
            case FaultRecord():
                pass
            case HandOverRecord():
                yield from self._hand_over(record)
            case MatchOverRecord():
                yield from self._match_over(record)
            case UsedRecord():
                pass
            case ResumeRecord():
                yield Text(f"  (the match was interrupted here and went on at {record.at})", style="dim")

    def _sees(self, seat: int) -> bool:
        return self.view in ("all", seat)

    def _hears_of(self, seat: int) -> bool:
        """Whether this seat's faults are told, and that the caretaker acts for it: to none of its rivals."""
        return self.view in ("all", "spectator", seat)

    def _deal(self, record: DealRecord) -> Iterator[Text]:
        self.deal, self.passes, self.hand = record, {}, None
        yield Text()
        title = f"Hand {record.hand}, {words.direction(record.direction)}, {self.names[record.dealer]} deals"
        yield Text(title, style="bold underline")
        for seat, name in enumerate(self.names):
            if self._sees(seat):
                yield Text(f"  {name:<{self.width}}  {words.cards(record.cards[seat])}")
        if record.direction == "hold":
            self._begin()

    def _pass(self, record: PassRecord) -> Iterator[Text]:
        assert self.deal
        self.passes[record.seat] = record
        if self._sees(record.seat):
            to = self.names[self.book.receiver(record.seat, self.deal.direction)]
            passed = " ".join(map(words.card, record.cards))
            line = Text(f"  {self.names[record.seat]:<{self.width}}  passes {passed} to {to}")
            line.append(_by(record.by), style="dim")
            yield line + _note(record.note)
        if len(self.passes) == len(self.names):
            yield from self._received()
            self._begin()

    def _received(self) -> Iterator[Text]:
        """What came to the seat whose view it is; where all is told, the passes tell it."""
        if not isinstance(self.view, int) or not self.deal:
            return
        for giver, record in self.passes.items():
            if self.book.receiver(giver, self.deal.direction) == self.view:
                got = " ".join(map(words.card, record.cards))
                name = f"{self.names[self.view]:<{self.width}}"
                yield Text(f"  {name}  gets {got} from {self.names[giver]}")

    def _begin(self) -> None:
        assert self.deal
        held = [set_of(cards) for cards in self.deal.cards]
        for seat, record in self.passes.items():
            held[seat] &= ~set_of(record.cards)
        for seat, record in self.passes.items():
            held[self.book.receiver(seat, self.deal.direction)] |= set_of(record.cards)
        self.hand = Hand(self.book, held, self.deal.dealer)

    def _play(self, record: PlayRecord) -> Iterator[Text]:
        hand = self.hand
        assert hand
        before = list(hand.taken)
        hand.play(CARD[record.card])
        if record.by and self._hears_of(record.seat):
            self.by_referee.add(record.seat)
        if record.note and self._sees(record.seat):
            self.notes.append((self.names[record.seat], record.note))
        if hand.trick:
            return
        lead, cards, winner = hand.tricks[-1]
        line = Text(f"  {record.trick:>2}  ")
        for place, card in enumerate(cards):
            seat = (lead + place) % len(self.names)
            name = next(name for name, number in CARD.items() if number == card)
            style = "red" if self.book.points[card] else ""
            line.append(f"{self.names[seat]} ", style="dim")
            line.append(words.card(name), style=f"bold {style}" if seat == winner else style)
            line.append("*" if seat in self.by_referee else "", style="dim")
            line.append("  ")
        points = hand.taken[winner] - before[winner]
        line.pad_right(max(len("  13  ") + sum(len(f"{name} 10S  ") for name in self.names) - len(line), 0))
        line.append(f"-> {self.names[winner]}" + (f" {points:+d}" if points else ""), style="dim")
        yield line
        for name, note in self.notes:
            yield Text(f"      {name}: ", style="dim") + Text(words.harmless(note), style="italic dim")
        self.notes, self.by_referee = [], set()

    def _fault(self, record: FaultRecord) -> Text:
        if self._sees(record.seat):
            line = fault_line(record, self.names[record.seat])
            for card in record.cards or ():
                line.append(f" [{words.card(card)}]")
            if record.reply:
                line.append(f"  it wrote: {words.harmless(record.reply)}", style="dim")
            return line
        seen = FaultRecord(record.hand, record.trick, record.seat, record.kind, "", record.then)
        return fault_line(seen, self.names[record.seat])

    def _hand_over(self, record: HandOverRecord) -> Iterator[Text]:
        line = Text("  = ", style="bold")
        for seat, name in enumerate(self.names):
            line.append(f"{name} {record.points[seat]:+d} ")
            line.append(f"({record.scores[seat]})  ", style="dim")
        if record.moon is not None:
            line.append(f"{self.names[record.moon]} shot the moon", style="bold yellow")
        yield line

    def _match_over(self, record: MatchOverRecord) -> Iterator[Text]:
        yield Text()
        yield Text(f"The match is over: {words.reason(record, self.header.rules.target)}.", style="bold")
        if record.ranks:
            for seat in sorted(range(len(self.names)), key=lambda seat: record.ranks[seat]):
                forfeited = "  forfeited" if seat in record.retired else ""
                name = f"{self.names[seat]:<{self.width}}"
                yield Text(f"  {record.ranks[seat]}  {name}  {record.scores[seat]:>4}{forfeited}")


def _by(by: str | None) -> str:
    return "  (the caretaker)" if by else ""


def _note(note: str | None) -> Text:
    return Text(f"   {words.harmless(note)}", style="italic dim") if note else Text()
