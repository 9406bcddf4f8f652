"""1,100 hands that OpenSpiel 2.0.2 played at random: ours agrees with each, card by card."""

import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from protocol.cards import CARD, names_of, set_of
from referee.game.hand import Hand
from referee.game.rulebook import rulebook
from referee.game.score import score_hand
from tests.game.openspiel import after_pass, rules_of

FILE = Path(__file__).parents[1] / "data" / "openspiel_traces.jsonl.gz"

Trace = dict[str, Any]


def traces() -> dict[str, list[Trace]]:
    """The traces by the set of parameters they were played under, the first part of their id."""
    found = defaultdict(list)
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        for line in lines:
            trace = json.loads(line)
            found[trace["id"].split("/")[0]].append(trace)
    return found


TRACES = traces()


@pytest.mark.parametrize("group", TRACES)
def test_trace(group: str):
    assert len(TRACES[group]) == 100
    for trace in TRACES[group]:
        replay(trace)


def replay(trace: Trace) -> None:
    book = rulebook(rules_of(trace["params"]))
    passes = [set_of(cards) for cards in trace["passes"]] if trace["passes"] else None
    dealt = [set_of(cards) for cards in trace["dealt"]]
    assert (passes is None) == (trace["pass"] == "hold" or not book.rules.pass_count)
    hand = Hand(book, after_pass(book, dealt, passes, trace["pass"]))
    for step, played in enumerate(trace["plays"]):
        where = f"{trace['id']}, card {step}"
        assert hand.turn == played["seat"], where
        assert set(names_of(hand.legal)) == set(played["legal"]), where
        hand.play(CARD[played["card"]])
        assert hand.broken == played["broken"], where
    assert hand.over
    assert [winner for _, _, winner in hand.tricks] == trace["winners"], trace["id"]
    scored = score_hand(book, hand.won, hand.tricks_won, [0] * 4)
    assert list(scored.points) == trace["points"], trace["id"]
