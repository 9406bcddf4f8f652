"""What a hand costs, when a match ends, who ranks where: pure functions over card sets and totals."""

from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

from protocol.cards import CardSet
from referee.game.rulebook import Rulebook


class Scored(NamedTuple):
    """A hand's points by seat, and the seat that shot the moon."""

    points: tuple[int, ...]
    moon: int | None


def score_hand(
    book: Rulebook,
    won: Sequence[CardSet],
    tricks_won: Sequence[int],
    totals: Sequence[int],
    retired: Collection[int] = (),
) -> Scored:
    """The points of a finished hand, from the cards and number of tricks that each seat won.  [rules 6, 7]

    `totals` are the scores before this hand; only the `safe` moon looks at them, and at who has retired.
    """
    moon = moon_shooter(book, won)
    if moon is None:
        return Scored(_with_extras(book, [book.penalty(cards) for cards in won], won, tricks_won, moon), None)
    swing = book.pack_points
    if book.rules.sun == "double" and tricks_won[moon] == sum(tricks_won):
        swing *= 2
    added = [0 if seat == moon else swing for seat in range(book.seats)]
    subtracted = [-swing if seat == moon else 0 for seat in range(book.seats)]
    points = _with_extras(book, subtracted if book.rules.moon == "subtract" else added, won, tricks_won, moon)
    if book.rules.moon == "safe":
        after = [total + more for total, more in zip(totals, points, strict=True)]
        if ends_by_target(book, after, retired) and winners(after, retired) != [moon]:
            points = _with_extras(book, subtracted, won, tricks_won, moon)
    return Scored(points, moon)


def moon_shooter(book: Rulebook, won: Sequence[CardSet]) -> int | None:
    """The seat that took every point card, and the bonus card where rules ask for it.  [rules 6.2, 7.2]"""
    if book.rules.moon == "off":
        return None
    needed = book.point_cards | (book.bonus_card if book.rules.moon_needs_jack else 0)
    return next((seat for seat, cards in enumerate(won) if not needed & ~cards), None)


def _with_extras(
    book: Rulebook, points: Sequence[int], won: Sequence[CardSet], tricks_won: Sequence[int], moon: int | None
) -> tuple[int, ...]:
    """Bonus card, then no-trick bonus, then the ten of clubs.  [rules 7.1, 7.3, 7.4]"""
    rules, scored = book.rules, list(points)
    for seat in range(book.seats):
        if won[seat] & book.bonus_card:
            scored[seat] += rules.jack_points
        if tricks_won[seat] == 0 and moon is None:
            scored[seat] += rules.no_trick_bonus
        if rules.ten_clubs_doubles and won[seat] & book.ten_of_clubs:
            scored[seat] *= 2
    return tuple(scored)


def end_of_match(
    book: Rulebook, totals: Sequence[int], hands_played: int, retired: Collection[int] = ()
) -> Literal["target", "max_hands"] | None:
    """Why the match is over after a hand, or None when it goes on.  At the cap a tie is shared.  [rules 8]"""
    if ends_by_target(book, totals, retired):
        return "target"
    cap = book.rules.max_hands
    return "max_hands" if cap is not None and hands_played >= cap else None


def ends_by_target(book: Rulebook, totals: Sequence[int], retired: Collection[int] = ()) -> bool:
    """Whether these totals end the match.  [rules 8.1, 8.2, 8.6]

    A retired seat's total may end it, but is no lowest.
    """
    target = book.rules.target
    if target is None or max(totals) < target:
        return False
    return book.rules.tie == "shared" or len(winners(totals, retired)) == 1


def winners(totals: Sequence[int], retired: Collection[int] = ()) -> list[int]:
    """The seats with the lowest total among those that have not retired.  [rules 8.3, 8.6]"""
    sound = [seat for seat in range(len(totals)) if seat not in retired]
    return [seat for seat in sound if totals[seat] == min(totals[other] for other in sound)]


def ranks(totals: Sequence[int], retired: Collection[int] = ()) -> tuple[int, ...]:
    """The rank of each seat, 1 the best; ties share the better one.  [rules 8.4, 8.6]

    Retired seats share the last, whatever their totals.
    """
    keys = [(seat in retired, 0 if seat in retired else total) for seat, total in enumerate(totals)]
    return tuple(1 + sum(other < key for other in keys) for key in keys)
