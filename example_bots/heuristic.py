"""A bot that weighs two numbers for each card: what playing it costs now, and what keeping it costs later.

Both come from one question: how likely is it that this card wins its trick?  The others duck when they can,
so a card wins unless somebody must go over it; the cards not seen yet may be anywhere.  What people call good
play follows from that: high cards go while they are safe, the spades above the queen go early, short suits
are passed away, and the last to play takes a trick without points with its highest card.

It looks at nothing but the request and its table's rules, so it can sit at any number of tables.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from protocol.bot import (
    STANDARD,
    CardName,
    MatchOverNotice,
    PassRequest,
    PlayRequest,
    Rules,
    StartRequest,
    points,
    rank,
    run,
    suit,
    unseen,
    winning_card,
)
from protocol.cards import NAMES, SUITS

# All in points; found by playing thousands of hands against the duck.
TRICK: Final = 1.25
"""An ordinary trick taken later."""
CATCH: Final = 0.25
"""The part of a point card not seen yet that a higher card of its suit may be made to take."""
HELD: Final = 0.2
"""The part of its own points that a card may be made to take home even if it need not win."""
COVER: Final = 0.5
"""How far one lower card of the suit protects a card in each round of the suit."""
SHORT: Final = 0.4
"""Each card by which clubs or diamonds are fewer than four when we pass: the suit may become void."""
SMOKE: Final = 0.5
"""A low spade led while another seat holds the queen."""
DUMP: Final = 1.0
"""What a void seat throws on the trick, besides its share of the worst card that is out."""

RULES: Final[dict[str, Rules]] = {}
"""The rules of each table we sit at."""


class View(NamedTuple):
    """What we know: our hand, the rules, what each card costs by them, and who may hold what."""

    hand: Sequence[CardName]
    rules: Rules
    worth: dict[CardName, int]
    out: dict[str, list[CardName]]
    """By suit, the cards that the others hold."""
    void: dict[str, set[int]]
    """By suit, the other seats that have none of it."""
    others: int

    def holders(self, of: str) -> int:
        """How many of the others may have cards of that suit."""
        return self.others - len(self.void[of]) if self.out[of] else 0


def choose_pass(request: PassRequest) -> list[CardName]:
    """One by one, the card that is most dangerous in what is left of the hand."""
    rules, hand = RULES.get(request.table, STANDARD), list(request.cards)
    out = {s: [c for c in NAMES if suit(c) == s and c not in hand] for s in SUITS}
    nobody: dict[str, set[int]] = {s: set() for s in SUITS}
    view = View(hand, rules, worths(rules), out, nobody, len(request.scores) - 1)

    def burden(card: CardName) -> float:
        length = sum(suit(c) == suit(card) for c in hand)
        return danger(card, view) + (SHORT * max(0, 4 - length) if suit(card) in "CD" else 0)

    passed = []
    for _ in range(request.count):
        passed.append(max(hand, key=burden))
        hand.remove(passed[-1])
    return passed


def choose_play(request: PlayRequest) -> CardName:
    """The card that costs least now, less what keeping it would cost."""
    view = view_of(request)
    queen_is_out = "QS" in view.out["S"]
    has_no_high_spade = "KS" not in request.cards and "AS" not in request.cards

    def loss(card: CardName) -> float:
        smokes = not request.trick and suit(card) == "S" and queen_is_out and has_no_high_spade
        return price(card, request, view) - danger(card, view) - (SMOKE if smokes else 0)

    return min(request.legal, key=loss)


def view_of(request: PlayRequest) -> View:
    """Count the cards and the voids from the tricks so far."""
    rules, seats = RULES.get(request.table, STANDARD), len(request.taken)
    cards = unseen(request, rules)
    out = {s: [c for c in cards if suit(c) == s] for s in SUITS}
    void: dict[str, set[int]] = {s: set() for s in SUITS}
    for lead, trick in [*((t.lead, t.cards) for t in request.tricks), (request.lead, request.trick)]:
        for i, card in enumerate(trick):
            seat = (lead + i) % seats
            if suit(card) != suit(trick[0]) and seat != request.seat:
                void[suit(trick[0])].add(seat)
    return View(request.cards, rules, worths(rules), out, void, seats - 1)


def price(card: CardName, request: PlayRequest, view: View) -> float:
    """What playing `card` now costs: the chance that it wins, times the points it would win."""
    led, seats = suit(card), len(request.taken)
    if request.trick:
        best = winning_card(request.trick)
        if led != suit(best) or rank(card) < rank(best):
            return 0
    lower, higher = split(card, view.out[led])
    holders, worth = view.holders(led), view.worth
    cost: float = worth[card] + sum(worth[c] for c in request.trick)
    if cost > 0:
        cost -= moon_threat(request, view)
    worst = max((worth[c] for s in SUITS if s != led for c in view.out[s]), default=0)
    may_dump = request.tricks or view.rules.first_trick == "free"
    wins = 1.0
    for behind in range(1, seats - len(request.trick)):
        is_void = 1.0
        if holders and (request.seat + behind) % seats not in view.void[led]:
            is_void = (1 - 1 / holders) ** len(view.out[led])
            wins *= 1 - goes_over(lower, higher, holders)
            cost += 1 - is_void if led == "H" else sum(worth[c] for c in lower) / holders
        if may_dump:
            cost += is_void * (DUMP + 1.2 * worst / view.others)
    return wins * cost


def danger(card: CardName, view: View) -> float:
    """What keeping `card` costs: the chance that it must win a later trick, times the points of that."""
    worth, holders = view.worth[card], view.holders(suit(card))
    if not holders:  # wins only if we lead it
        return 0.2 * TRICK + HELD * worth
    lower, higher = split(card, view.out[suit(card)])
    rounds = len(view.out[suit(card)]) / holders
    covers = sum(suit(c) == suit(card) and rank(c) < rank(card) for c in view.hand)
    bare = max(0.0, 1 - COVER * covers / (rounds + 1))
    wins = (1 - goes_over(lower, higher, holders)) ** holders
    caught = max((view.worth[c] for c in lower), key=abs, default=0)
    return wins * bare * (TRICK + CATCH * caught) + HELD * worth


def goes_over(lower: Sequence[CardName], higher: Sequence[CardName], holders: int) -> float:
    """The chance that one of the holders of a suit has something of it, but nothing lower."""
    not_here = 1 - 1 / holders
    chance: float = not_here ** len(lower) * (1 - not_here ** len(higher))
    return chance


def moon_threat(request: PlayRequest, view: View) -> float:
    """What a point card taken now saves, if one of the others has all points so far."""
    most, pack = max(request.taken), sum(worth for worth in view.worth.values() if worth > 0)
    if view.rules.moon == "off" or most < sum(request.taken) or request.taken[request.seat] == most:
        return 0
    chance: float = (most / pack) ** 6
    return chance * pack


def split(card: CardName, cards: Sequence[CardName]) -> tuple[list[CardName], list[CardName]]:
    """Those of `cards`, which are of one suit with `card`, that are lower and those that are higher."""
    return [c for c in cards if rank(c) < rank(card)], [c for c in cards if rank(c) > rank(card)]


@lru_cache
def worths(rules: Rules) -> dict[CardName, int]:
    return {card: points(card, rules) for card in NAMES}


def on_start(request: StartRequest) -> None:
    RULES[request.table] = request.rules


def on_match_over(notice: MatchOverNotice) -> None:
    RULES.pop(notice.table, None)


if __name__ == "__main__":
    run("heuristic", choose_pass, choose_play, on_start=on_start, on_match_over=on_match_over)
