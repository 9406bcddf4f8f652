"""A bot that thinks in batches, as one with a neural net would: all requests of one read go through the model
together.

The referee writes everything that is due at a process's tables (64 here) at once, and the answers go back in
one write.  The model is a stand-in: a fixed linear layer over one-hot cards.  Put a real one in its place.
"""

from protocol.bot import (
    PassAnswer,
    PassRequest,
    PlayAnswer,
    PlayRequest,
    rank,
    run_batched,
    suit,
    winning_card,
)
from protocol.cards import CARD, NAMES

Features = list[float]


def model(batch: list[Features]) -> list[list[float]]:
    """A score for each of the 52 cards, for each row: dangerous cards score high where they are safe to
    throw.
    """
    danger = [rank(name) + (40 if name == "QS" else 10 if suit(name) == "H" else 0) for name in NAMES]
    return [[row[card] * danger[card] for card in range(52)] for row in batch]


def features(request: PassRequest | PlayRequest) -> Features:
    """1 for a card that may go and is safe to throw, -1 for one that would win the trick, 0 for one
    not held.
    """
    if isinstance(request, PassRequest):
        return [1.0 if name in request.cards else 0.0 for name in NAMES]
    best = winning_card(request.trick) if request.trick else None
    row = [0.0] * 52
    for name in request.legal:
        wins = best is None or (suit(name) == suit(best) and rank(name) > rank(best))
        row[CARD[name]] = -1.0 if wins else 1.0
    return row


def choose_many(requests: list[PassRequest | PlayRequest]) -> list[PassAnswer | PlayAnswer]:
    """One answer a request, from one pass of the model over all of them."""
    answers: list[PassAnswer | PlayAnswer] = []
    for request, scores in zip(requests, model([features(request) for request in requests]), strict=True):
        may = request.legal if isinstance(request, PlayRequest) else request.cards
        best_first = sorted(may, key=lambda name: -scores[CARD[name]])
        answers.append(best_first[: request.count] if isinstance(request, PassRequest) else best_first[0])
    return answers


if __name__ == "__main__":
    run_batched("batched", choose_many)
