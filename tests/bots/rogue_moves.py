"""Rogue modes that break a rule of the game in a line that is otherwise right.

Each waits, playing honestly, for the first request from its moment on that lets it break that very rule.
"""

from misdeed import Catalogue, Turn

MOVES = Catalogue()

PACK = [rank + suit for suit in "CDSH" for rank in "23456789TJQKA"]


def strangers(turn: Turn) -> list[str]:
    """The cards that the bot does not hold."""
    return [card for card in PACK if card not in turn.request["cards"]]


def follows(card: str, trick: list[str]) -> bool:
    """Whether `card` is of the suit that was led."""
    return card[1] == trick[0][1]


def is_point(card: str) -> bool:
    """Whether the card costs points in the standard game."""
    return card[1] == "H" or card == "QS"


def barred(turn: Turn) -> list[str]:
    """The cards that the bot holds and may not play."""
    return [card for card in turn.request["cards"] if card not in turn.request["legal"]]


# -- passes -----------------------------------------------------------------------------------------------


@MOVES.passes
def pass_too_few(turn: Turn) -> list[str]:
    """Passes one card fewer than asked."""
    return turn.answer["cards"][:-1]


@MOVES.passes
def pass_too_many(turn: Turn) -> list[str]:
    """Passes one card more than asked."""
    return turn.request["cards"][: turn.request["count"] + 1]


@MOVES.passes
def pass_empty(_: Turn) -> list[str]:
    """Passes nothing."""
    return []


@MOVES.passes
def pass_whole_hand(turn: Turn) -> list[str]:
    """Passes every card it holds."""
    return turn.request["cards"]


@MOVES.passes
def pass_duplicate_card(turn: Turn) -> list[str]:
    """Passes the right number of cards, one of them twice."""
    first, *rest = turn.answer["cards"]
    return [first, first, *rest[1:]]


@MOVES.passes
def pass_not_held(turn: Turn) -> list[str]:
    """Passes a card it does not hold."""
    return [strangers(turn)[0], *turn.answer["cards"][1:]]


@MOVES.passes
def pass_not_a_card(turn: Turn) -> list[str]:
    """Passes "1X", which is no card."""
    return ["1X", *turn.answer["cards"][1:]]


# -- plays ------------------------------------------------------------------------------------------------


@MOVES.plays
def revoke(turn: Turn) -> str | None:
    """Holds the suit led and plays another."""
    trick, cards = turn.request["trick"], turn.request["cards"]
    if not trick or not any(follows(card, trick) for card in cards):
        return None
    others = [card for card in cards if not follows(card, trick)]
    # A card that costs nothing, if there is one, so that on trick 1 no other rule is broken.
    return min(others, key=is_point, default=None)


@MOVES.plays
def play_not_held(turn: Turn) -> str | None:
    """Plays a card that somebody else holds, of the suit led."""
    trick = turn.request["trick"]
    seen = {card for done in turn.request["tricks"] for card in done["cards"]} | set(trick)
    fresh = [card for card in strangers(turn) if card not in seen and (not trick or follows(card, trick))]
    return next(iter(fresh), None)


@MOVES.plays
def play_already_played(turn: Turn) -> str | None:
    """Plays a card that it has played before."""
    request = turn.request
    for done in request["tricks"]:
        seats = len(done["cards"])
        return done["cards"][(request["seat"] - done["lead"]) % seats]
    return None


@MOVES.plays
def play_not_a_card(_: Turn) -> str:
    """Plays "1X", which is no card."""
    return "1X"


@MOVES.plays
def play_ten_in_digits(turn: Turn) -> str | None:
    """Writes the ten it may play as "10C" and not "TC"."""
    return next((f"10{card[1]}" for card in turn.request["legal"] if card[0] == "T"), None)


@MOVES.plays
def play_lower_case(turn: Turn) -> str:
    """Writes its card in small letters."""
    return turn.answer["card"].lower()


@MOVES.plays
def not_the_opening_card(turn: Turn) -> str | None:
    """Has to open the hand with the two of clubs, and leads something else."""
    if turn.request["tricks"] or turn.request["trick"]:
        return None
    return next(iter(barred(turn)), None)


@MOVES.plays
def point_on_first_trick(turn: Turn) -> str | None:
    """Has no club on the first trick, and discards a point card though it holds others."""
    trick, cards = turn.request["trick"], turn.request["cards"]
    if turn.request["tricks"] or not trick or any(follows(card, trick) for card in cards):
        return None
    return next(filter(is_point, barred(turn)), None)


@MOVES.plays
def heart_lead_unbroken(turn: Turn) -> str | None:
    """Leads a heart before hearts are broken, though it holds other suits."""
    request = turn.request
    if request["trick"] or request["hearts_broken"] or not request["tricks"]:
        return None
    return next((card for card in barred(turn) if card[1] == "H"), None)
