"""The rulebook and the code point at each other: every citation exists, every field and rule set is told."""

import re
from pathlib import Path

import pytest

from protocol.cards import names_of
from protocol.presets import PRESETS
from protocol.rules import PASS_CYCLE, REMOVED, Rules, rules_from
from referee.game.deal import _block, _number, deal
from referee.game.rulebook import rulebook

ROOT = Path(__file__).parents[2]
BOOKS = {"rules": ROOT / "spec" / "rules.md", "dealing": ROOT / "spec" / "dealing.md"}
SOURCES = [path for room in ("protocol", "referee", "example_bots") for path in (ROOT / room).rglob("*.py")]


def numbers(book: str) -> set[str]:
    """The numbers of a book's sections and paragraphs."""
    text = BOOKS[book].read_text(encoding="utf-8")
    return {
        *re.findall(r"^## (\d+)\.", text, re.MULTILINE),
        *re.findall(r"^\*\*(\d+\.\d+) ", text, re.MULTILINE),
    }


@pytest.mark.parametrize("book", BOOKS)
def test_every_citation_exists(book: str):
    cited = []
    for path in SOURCES:
        for citation in re.findall(r"\[([^\]\n]*)\]", path.read_text(encoding="utf-8")):
            for part in re.findall(rf"\b{book} ([\d., to]+)", citation):
                cited += [(path.name, number) for number in re.split(r", | to ", part.strip(", "))]
    assert cited
    assert [(name, number) for name, number in cited if number not in numbers(book)] == []


def test_vectors_and_tables_cite_what_exists():
    known = numbers("rules") | numbers("dealing")
    cited = set()
    for path in [*(ROOT / "spec" / "vectors").glob("*.json"), *(ROOT / "tests" / "game").glob("test_*.py")]:
        cited |= set(re.findall(r'\bid"?[=:] ?"(\d+(?:\.\d+)?)-', path.read_text(encoding="utf-8")))
    assert len(cited) > 20
    assert cited - known == set()


def test_every_field_has_its_paragraph():
    text = BOOKS["rules"].read_text(encoding="utf-8")
    told: list[str] = []
    for heading in re.findall(r"^\*\*\d+\.\d+ .*?\*\* (Fields? .*)$", text, re.MULTILINE):
        told += [field for field in re.findall(r"`(\w+)`", heading) if field in Rules.__struct_fields__]
    assert set(told) == set(Rules.__struct_fields__)


def test_the_table_of_rule_sets():
    text = BOOKS["rules"].read_text(encoding="utf-8").split("## 9.")[1].split("## 10.")[0]
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", text, re.MULTILINE))
    assert list(rows) == list(PRESETS)
    for name, fields in PRESETS.items():
        differs = [f"`{field}` {_written(value)}" for field, value in fields.items()]
        assert rows[name] == (", ".join(differs) or "nothing"), name


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(value)
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    return str(value).replace("-", "−")


def test_the_table_of_players():
    text = BOOKS["rules"].read_text(encoding="utf-8").split("## 10.")[1]
    for players, removed in REMOVED.items():
        book = rulebook(rules_from({"players": players}))
        cells = [players, " ".join(removed) or "none", book.hand_size, names_of(book.opening_card)[0]]
        row = " | ".join(map(str, [*cells, ", ".join(PASS_CYCLE[players])]))
        assert f"| {row} |" in text


def test_the_worked_deal():
    text = BOOKS["dealing"].read_text(encoding="utf-8")
    for block in range(2):
        assert f"block {block}   {_block('hearts', b'deal', 1, block).hex()}" in text
    assert f"{_number('hearts', 1, 2, 3):064x}" in text
    assert f"{_number('hearts', 1, 0, 0):064x}" in text
    rows = re.findall(r"^seat \d   (.*)$", text, re.MULTILINE)
    dealt = deal("hearts", 1, rulebook(Rules()))
    assert [row.split() for row in rows] == [list(names_of(cards)) for cards in dealt]
