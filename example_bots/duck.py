"""A bot that ducks: it tries to lose every trick, and throws its worst cards while it does.

It looks at nothing but the request, so it can sit at any number of tables.
"""

from protocol.bot import CardName, PassRequest, PlayRequest, rank, run, suit, winning_card


def choose_pass(request: PassRequest) -> list[CardName]:
    """The queen of spades and the spades above her, then the highest cards."""
    return sorted(request.cards, key=pass_danger, reverse=True)[: request.count]


def choose_play(request: PlayRequest) -> CardName:
    """Lead the lowest card; follow with the most dangerous card that loses, or with the least one."""
    if not request.trick:
        return min(request.legal, key=rank)
    best = winning_card(request.trick)
    losers = [card for card in request.legal if suit(card) != suit(best) or rank(card) < rank(best)]
    return max(losers, key=danger) if losers else min(request.legal, key=danger)


def danger(card: str) -> int:
    """How gladly a card is thrown away: the queen of spades, then hearts from the top, then high cards."""
    if card == "QS":
        return 200
    return 100 + rank(card) if suit(card) == "H" else rank(card)


def pass_danger(card: str) -> int:
    """How gladly a card is passed: the queen of spades, the spades above her, then high cards."""
    if card == "QS":
        return 200
    return 100 + rank(card) if card in ("KS", "AS") else rank(card)


if __name__ == "__main__":
    run("duck", choose_pass, choose_play)
