"""What each seat may see, built by naming it: its own cards, what it gave and got, and what everybody has
seen.

Nothing here reads another seat's cards.  Two matches that agree in a seat's cards and in the public history
give that seat the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from protocol.cards import names_of
from protocol.messages import (
    HandOverNotice,
    MatchOverNotice,
    Passed,
    PassRequest,
    PlayRequest,
    StartRequest,
)

if TYPE_CHECKING:
    from referee.game.events import MatchOverRecord
    from referee.game.match import Match

PROTOCOL = 1


def start_request(match: Match, seat: int, id: int) -> StartRequest:
    """The invitation to a table.  [protocol 4.1]"""
    header = match.header
    return StartRequest(
        id=id,
        table=match.table,
        protocol=PROTOCOL,
        seat=seat,
        players=match.players,
        rules=header.rules,
        conditions=header.conditions.clock(),
    )


def pass_request(match: Match, seat: int, id: int, ms: int) -> PassRequest:
    """What a seat sees when it must pass: its cards as dealt.  [protocol 4.2]"""
    return PassRequest(
        id=id,
        table=match.table,
        hand=match.hand_number,
        seat=seat,
        dealer=match.dealer,
        count=match.book.rules.pass_count,
        to=match.book.receiver(seat, match.direction),
        ms=ms,
        cards=names_of(match.dealt[seat]),
        scores=match.scores,
    )


def play_request(match: Match, seat: int, id: int, ms: int) -> PlayRequest:
    """What a seat sees when it must play a card.  [protocol 4.3]"""
    hand = match.hand
    return PlayRequest(
        id=id,
        table=match.table,
        hand=match.hand_number,
        seat=seat,
        dealer=match.dealer,
        hearts_broken=hand.broken,
        lead=hand.lead,
        ms=ms,
        cards=names_of(hand.cards[seat]),
        legal=names_of(hand.legal),
        trick=match.trick,
        taken=match.taken,
        scores=match.scores,
        tricks=match.tricks,
        passed=match.passed[seat],
    )


def passed(match: Match, seat: int) -> Passed:
    """What a seat gave and got, once all passes are in.  [protocol 4.3]"""
    to = match.book.receiver(seat, match.direction)
    source = next(
        other for other in range(match.book.seats) if match.book.receiver(other, match.direction) == seat
    )
    return Passed(to=to, gave=names_of(match.passes[seat]), from_=source, got=names_of(match.passes[source]))


def hand_over(match: Match, points: tuple[int, ...], moon: int | None) -> HandOverNotice:
    """The end of a hand, the same for every seat.  [protocol 4.4]"""
    return HandOverNotice(
        table=match.table,
        hand=match.hand_number,
        moon=moon,
        points=points,
        scores=match.scores,
        tricks=match.tricks,
    )


def match_over(match: Match, end: MatchOverRecord) -> MatchOverNotice:
    """The end of a match, or of a seat's part in it.  [protocol 4.5]"""
    return MatchOverNotice(
        table=match.table, reason=end.reason, ranks=end.ranks, scores=end.scores, retired=end.retired
    )
