"""The test vectors of `spec/vectors/`: the engine agrees with each, and together they leave no rule out."""

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from protocol.cards import CARD, SUIT_OF, names_of, set_of
from protocol.rules import Direction, Rules, rules_from
from referee.game.deal import caretaker_card, caretaker_pass, deal
from referee.game.play import breaks_hearts, legal_follow, legal_lead, trick_winner
from referee.game.rulebook import rulebook
from referee.game.score import end_of_match, ranks, score_hand, winners
from tests.game import plain

HERE = Path(__file__).parent
VECTORS = HERE.parents[1] / "spec" / "vectors"
NAMES = ("legal", "breaking", "tricks", "scoring", "end", "passing", "dealing")

Vector = dict[str, Any]


def load(name: str) -> list[Vector]:
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))["vectors"]


def every(name: str, kind: str | None = None) -> pytest.MarkDecorator:
    vectors = [vector for vector in load(name) if kind in (None, vector["kind"])]
    return pytest.mark.parametrize("vector", vectors, ids=[vector["id"] for vector in vectors])


@every("legal")
def test_legal(vector: Vector):
    rules = rules_from(vector["rules"])
    book, hand, first = rulebook(rules), set_of(vector["hand"]), vector["trick_number"] == 1
    if vector["trick"]:
        legal = legal_follow(book, hand, SUIT_OF[CARD[vector["trick"][0]]], first)
    else:
        legal = legal_lead(book, hand, vector["hearts_broken"], first)
    assert list(names_of(legal)) == vector["legal"]
    asked = (vector["hand"], vector["trick"], vector["trick_number"], vector["hearts_broken"])
    assert plain.legal(rules, *asked) == vector["legal"]


@every("breaking")
def test_breaking(vector: Vector):
    rules = rules_from(vector["rules"])
    broken = vector["before"]
    led = SUIT_OF[CARD[vector["trick"][0]]]
    for name in vector["trick"]:
        broken = broken or breaks_hearts(rulebook(rules), CARD[name], led)
    assert broken == vector["after"]
    assert plain.broken_after(rules, vector["before"], vector["trick"]) == vector["after"]


@every("tricks")
def test_trick(vector: Vector):
    trick = [CARD[name] for name in vector["trick"]]
    assert trick_winner(trick, set_of(vector["trick"]), vector["leader"]) == vector["winner"]
    assert plain.winner(rules_from(vector["rules"]), vector["trick"], vector["leader"]) == vector["winner"]


@every("scoring")
def test_scoring(vector: Vector):
    rules = rules_from(vector["rules"])
    totals = vector.get("totals", [0] * rules.players)
    retired = vector.get("retired", [])
    won = [set_of(taken) for taken in vector["taken"]]
    points, moon = score_hand(rulebook(rules), won, vector["tricks_won"], totals, retired)
    assert (list(points), moon) == (vector["scores"], vector["moon"])
    before = (totals, vector.get("hands_played", 0), retired)
    plainly = plain.score(rules, vector["taken"], vector["tricks_won"], *before)
    assert plainly == (vector["scores"], vector["moon"])


@every("end")
def test_end(vector: Vector):
    rules = rules_from(vector["rules"])
    totals, retired = vector["totals"], vector.get("retired", [])
    reason = end_of_match(rulebook(rules), totals, vector["hands_played"], retired)
    assert (reason is not None) == vector["over"]
    assert reason == vector["reason"] == plain.end(rules, totals, vector["hands_played"], retired)
    if vector["over"]:
        assert winners(totals, retired) == vector["winners"] == plain.best(totals, retired)
        assert list(ranks(totals, retired)) == vector["ranks"] == plain.ranks(totals, retired)


@every("passing", "pass_target")
def test_pass_target(vector: Vector):
    rules = rules_from(vector["rules"])
    book, seat, first = rulebook(rules), vector["from_seat"], vector.get("first_hand", 1)
    for hand, to in zip(vector["hands"], vector["to_seat"], strict=True):
        direction = book.direction(hand, first)
        assert (None if direction == "hold" else book.receiver(seat, direction)) == to
        assert plain.receiver(rules, seat, hand, first) == to
        if direction == "hold":
            assert book.receiver(seat, direction) == seat


@every("passing", "exchange")
def test_exchange(vector: Vector):
    book = rulebook(rules_from(vector["rules"]))
    got = [[] for _ in range(book.seats)]
    for seat, cards in enumerate(vector["gave"]):
        got[book.receiver(seat, book.direction(vector["hand"]))] += cards
    assert got == vector["got"]


@every("dealing", "deal")
def test_deal(vector: Vector):
    rules = rules_from(vector["rules"])
    assert list(rules.removed) == vector["removed"]
    dealt = deal(vector["seed"], vector["hand"], rulebook(rules))
    assert [list(names_of(cards)) for cards in dealt] == vector["dealt"]


@every("dealing", "caretaker_card")
def test_caretaker_card(vector: Vector):
    where = (vector["seed"], vector["hand"], vector["seat"], vector["trick"])
    assert caretaker_card(*where, set_of(vector["legal"])) == CARD[vector["card"]]


@every("dealing", "caretaker_pass")
def test_caretaker_pass(vector: Vector):
    where = (vector["seed"], vector["hand"], vector["seat"])
    passed = caretaker_pass(*where, set_of(vector["cards"]), vector["count"])
    assert list(names_of(passed)) == vector["passed"]


def test_dealing_in_another_language():
    """`dealing.mjs` knows `spec/dealing.md` and nothing of this program; it comes to the same deals."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    given = json.dumps({"vectors": load("dealing")})
    done = subprocess.run(
        [node, HERE / "dealing.mjs"], input=given, capture_output=True, text=True, check=True
    )
    answers = {"deal": "dealt", "caretaker_card": "card", "caretaker_pass": "passed"}
    assert json.loads(done.stdout) == [vector[answers[vector["kind"]]] for vector in load("dealing")]


@pytest.mark.parametrize("name", NAMES)
def test_vectors_are_well_formed(name: str):
    vectors = load(name)
    assert len({vector["id"] for vector in vectors}) == len(vectors)
    for vector in vectors:
        rules = rules_from(vector.get("rules", {}))
        assert vector["id"].startswith(vector["rule"].removeprefix("dealing ") + "-")
        assert vector.get("players", rules.players) == rules.players
        assert vector["why"]


MATTERS = {
    "legal": "players removed opening first_trick must_break queen_lead forced_lead king_points ace_points",
    "broken": "must_break breaks queen_breaks",
    "score": "players removed heart_points queen_points king_points ace_points jack_points jack_card"
    " ten_clubs_doubles moon moon_needs_jack sun no_trick_bonus",
    "end": "players target max_hands tie",
    "pass_target": "players pass_count pass_cycle",
    "exchange": "players pass_count pass_cycle",
    "deal": "players removed",
}
"""The fields that each kind of vector looks at."""


def test_every_value_of_every_rule_has_two_vectors():
    seen: Counter[tuple[str, object]] = Counter()
    for vector in (vector for name in NAMES for vector in load(name)):
        for field in MATTERS.get(vector["kind"], "").split():
            value = getattr(rules_from(vector["rules"]), field)
            for one in set(value) if isinstance(value, tuple) else [value]:
                seen[field, one] += 1
    wanted: set[tuple[str, object]] = {("queen_points", 0), ("king_points", 10), ("ace_points", 7)}
    wanted |= {("target", None), ("target", 50), ("max_hands", None), ("max_hands", 1)}
    wanted |= {("removed", "2C"), ("removed", "2H")} | {("pass_cycle", way) for way in get_args(Direction)}
    for field, kind in get_type_hints(Rules).items():
        literals = [value for value in get_args(kind) if isinstance(value, (int, str))]
        wanted |= {(field, value) for value in literals or ([True, False] if kind is bool else [])}
        if field not in ("removed", "pass_cycle"):
            wanted.add((field, getattr(Rules(), field)))
    assert {field for field, _ in wanted} == set(Rules.__struct_fields__)
    assert sorted(key for key in wanted if seen[key] < 2) == []
