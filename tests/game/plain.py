"""The rulebook a second time, slowly: lists of card names and no cleverness, for the tests to compare with.

It is written from `spec/rules.md` alone and shares nothing with `referee.game` but the `Rules` it reads.
"""

from collections.abc import Sequence

from protocol.rules import Rules

RANKS = "23456789TJQKA"
PACK = [rank + suit for suit in "CDSH" for rank in RANKS]


def deck(rules: Rules) -> list[str]:
    """[rules 2.2]"""
    return [card for card in PACK if card not in rules.removed]


def worth(rules: Rules, card: str) -> int:
    """[rules 6.1]"""
    if card[1] == "H":
        return 1 if rules.heart_points == "one" else RANKS.index(card[0]) + 2
    spades = {"QS": rules.queen_points, "KS": rules.king_points, "AS": rules.ace_points}
    return spades.get(card, 0)


def opener(rules: Rules, hands: Sequence[Sequence[str]], dealer: int) -> int:
    """Who leads to the first trick.  [rules 4.1]"""
    if rules.opening == "eldest":
        return (dealer + 1) % rules.players
    lowest = next(card for card in deck(rules) if card[1] == "C")
    return next(seat for seat, hand in enumerate(hands) if lowest in hand)


def legal(rules: Rules, hand: list[str], trick: list[str], trick_number: int, broken: bool) -> list[str]:
    """The table of [rules 5.6], line by line."""
    first = trick_number == 1
    if not trick and first and rules.opening == "lowest_club":
        lowest = next(card for card in deck(rules) if card[1] == "C")
        return [card for card in hand if card == lowest]
    if not trick and first and rules.opening == "any_club":
        return [card for card in hand if card[1] == "C"]
    if trick:
        follow = [card for card in hand if card[1] == trick[0][1]]
        if follow:
            return follow
        if first and rules.first_trick != "free":
            harmless = [card for card in hand if worth(rules, card) == 0]
            hearts = [card for card in hand if card[1] == "H"]
            if not harmless and rules.first_trick == "strict_heart" and hearts:
                return hearts
            return harmless or hand
        return hand
    if broken:
        return hand
    if rules.forced_lead == "points":
        free_to_lead = all(worth(rules, card) > 0 or card == "QS" for card in hand)
    else:
        free_to_lead = all(card[1] == "H" for card in hand)
    if free_to_lead:
        return hand
    lead = [card for card in hand if card[1] != "H"]
    if rules.queen_lead == "broken" and "QS" in lead:
        lead.remove("QS")
    return lead or hand


def broken_after(rules: Rules, before: bool, trick: Sequence[str]) -> bool:
    """Whether hearts are broken once these cards of a trick have been played.  [rules 5.1, 5.2, 5.3]"""
    if before or not rules.must_break:
        return True
    breakers = [card for card in trick if card[1] == "H" or (card == "QS" and rules.queen_breaks)]
    if rules.breaks == "discard":
        breakers = [card for card in breakers if card[1] != trick[0][1]]
    return bool(breakers)


def winner(rules: Rules, trick: Sequence[str], leader: int) -> int:
    """[rules 4.6]"""
    best = max((card for card in trick if card[1] == trick[0][1]), key=lambda card: RANKS.index(card[0]))
    return (leader + trick.index(best)) % rules.players


def score(
    rules: Rules,
    won: Sequence[Sequence[str]],
    tricks_won: Sequence[int],
    totals: Sequence[int],
    hands_played: int,
    retired: Sequence[int] = (),
) -> tuple[list[int], int | None]:
    """The points of a hand and the seat that shot the moon.  [rules 6, 7]"""
    seats = range(rules.players)
    must_have = [card for card in deck(rules) if worth(rules, card)]
    swing = sum(worth(rules, card) for card in must_have)
    if rules.moon_needs_jack:
        must_have.append(rules.jack_card)
    shooter = None
    if rules.moon != "off":
        for seat in seats:
            if all(card in won[seat] for card in must_have):
                shooter = seat

    def finished(points: list[int]) -> list[int]:
        for seat in seats:
            if rules.jack_card in won[seat]:
                points[seat] += rules.jack_points
            if tricks_won[seat] == 0 and shooter is None:
                points[seat] += rules.no_trick_bonus
            if rules.ten_clubs_doubles and "TC" in won[seat]:
                points[seat] *= 2
        return points

    if shooter is None:
        return finished([sum(worth(rules, card) for card in won[seat]) for seat in seats]), None
    if rules.sun == "double" and tricks_won[shooter] == sum(tricks_won):
        swing = 2 * swing
    added = finished([0 if seat == shooter else swing for seat in seats])
    subtracted = finished([-swing if seat == shooter else 0 for seat in seats])
    if rules.moon == "subtract":
        return subtracted, shooter
    if rules.moon == "safe":
        after = [totals[seat] + added[seat] for seat in seats]
        if end(rules, after, hands_played + 1, retired) == "target" and best(after, retired) != [shooter]:
            return subtracted, shooter
    return added, shooter


def best(totals: Sequence[int], retired: Sequence[int] = ()) -> list[int]:
    """Who has the lowest total.  [rules 8.3, 8.6]"""
    sound = [seat for seat in range(len(totals)) if seat not in retired]
    return [seat for seat in sound if all(totals[seat] <= totals[other] for other in sound)]


def end(rules: Rules, totals: Sequence[int], hands_played: int, retired: Sequence[int] = ()) -> str | None:
    """Why the match is over, if it is.  [rules 8.1, 8.2, 8.5]"""
    reached = rules.target is not None and any(total >= rules.target for total in totals)
    tied = len(best(totals, retired)) != 1
    if reached and not (tied and rules.tie == "extra_hands"):
        return "target"
    if rules.max_hands is not None and hands_played >= rules.max_hands:
        return "max_hands"
    return None


def ranks(totals: Sequence[int], retired: Sequence[int] = ()) -> list[int]:
    """[rules 8.4, 8.6]"""
    places = []
    for seat, total in enumerate(totals):
        if seat in retired:
            ahead = len(totals) - len(retired)
        else:
            ahead = sum(totals[other] < total for other in range(len(totals)) if other not in retired)
        places.append(1 + ahead)
    return places


def receiver(rules: Rules, seat: int, hand: int, first_hand: int = 1) -> int | None:
    """Whom a seat passes to in this hand, if anybody.  [rules 3.1, 3.2, 3.5]"""
    cycle = rules.pass_cycle
    direction = cycle[(hand - 1 + first_hand - 1) % len(cycle)]
    if rules.pass_count == 0 or direction == "hold":
        return None
    steps = {"left": 1, "left2": 2, "right": rules.players - 1, "right2": rules.players - 2}
    return (seat + steps.get(direction, rules.players // 2)) % rules.players
