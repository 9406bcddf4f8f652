"""What a tournament is told as: tables for people, JSON, CSV, and a page that needs nothing else."""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from html.parser import HTMLParser
from importlib.util import find_spec
from itertools import permutations
from pathlib import Path
from statistics import mean
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from protocol.presets import preset
from protocol.rules import Conditions
from referee.cli import cli
from referee.show import report as page
from referee.show.sentences import feeders, interval, of_feeding
from referee.show.standings import _crosstables, summary, table_of
from referee.tournament.feeding import Feeding
from referee.tournament.findings import Findings, gather
from referee.tournament.fit import Estimate
from referee.tournament.plan import Entrant, Plan
from referee.tournament.store import Store
from tests.tournament.stored import PLAN, played

DEALS = 30
NO_PLOTS = pytest.mark.skipif(find_spec("matplotlib") is None, reason="the extra `report` is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "t"
    plan = Plan(bots=PLAN.bots, seed="report", deals=DEALS)
    with Store.open(folder) as store:
        store.write_plan(plan)
        store.keep(played(plan, range(DEALS)))
    return folder


@pytest.fixture(scope="module")
def findings(folder: Path) -> Findings:
    with Store.read(folder) as store:
        plan = store.plan
        assert plan
        return gather(store, plan)


@pytest.mark.parametrize("width", [60, 80, 120, 500])
def test_tables_cut_no_number_however_narrow_the_screen(findings: Findings, width: int):
    faulty = [replace(bot, faults={"timeout": 123, "illegal_play": 45}) for bot in findings.bots]
    table = screen(table_of(replace(findings, bots=faulty), width), width)
    crosstables = [screen(part, width) for part in _crosstables(findings, width)]
    for part in (table, *crosstables):
        assert "…" not in part
        assert max(map(len, part.splitlines())) <= width
    for bot in findings.bots:
        assert f"{bot.payoff:+.3f}  {interval(bot.ci95)}" in table
    assert ("168" in table) is (width < 500)
    assert ("123 timeout, 45 illegal_play" in table) is (width == 500)
    won = findings.standings.won_from()
    numbers = [cell for part in crosstables for cell in re.findall(r"[+-][0-9.]+", part)]
    assert len(numbers) == sum(map(len, won.values()))


def screen(table: Table, width: int) -> str:
    console = Console(width=width, force_terminal=False)
    with console.capture() as capture:
        console.print(Padding(table, (0, 0, 0, 2), expand=False))
    return capture.get()


def standings(*words: object) -> str:
    done = CliRunner().invoke(cli, ["standings", *map(str, words)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_json_has_what_programs_look_for_best_first(folder: Path):
    answer = json.loads(standings(folder, "--json"))
    bots = answer["bots"]
    assert [bot["name"] for bot in sorted(bots, key=lambda bot: -bot["payoff"])] == [
        bot["name"] for bot in bots
    ]
    for bot in bots:
        assert {"name", "deals", "hands", "payoff", "ci95", "strength", "rating", "forfeits"} <= bot.keys()
        low, high = bot["ci95"]
        assert low < bot["payoff"] < high
        assert bot["rating"].keys() == {"mu", "sigma"}
        assert (bot["deals"], bot["hands"]) == (DEALS, 4 * DEALS)
    assert len(answer["adjacent"]) == 3
    assert answer["won_from"]["ann"]["bob"]["points"] == pytest.approx(
        -answer["won_from"]["bob"]["ann"]["points"]
    )
    assert answer["feeds"]["ann"].keys() == {"bob", "cyd", "dan"}
    assert "Plackett-Luce" in answer["rating_model"]


def test_payoffs_are_those_that_the_points_give(folder: Path):
    paid: defaultdict[str, list[float]] = defaultdict(list)
    with Store.read(folder) as store:
        for result in store.results("match.id"):
            (hand,) = result.hands
            for seat, bot in enumerate(result.seats):
                paid[bot].append((sum(hand.points) - hand.points[seat]) / 3 - hand.points[seat])
    for bot in json.loads(standings(folder, "--json"))["bots"]:
        assert bot["payoff"] == pytest.approx(mean(paid[bot["name"]]))


def test_csv_has_a_line_for_each_bot(folder: Path):
    rows = list(csv.DictReader(standings(folder, "--csv").splitlines()))
    answer = json.loads(standings(folder, "--json"))
    assert [row["name"] for row in rows] == [bot["name"] for bot in answer["bots"]]
    assert [float(row["payoff"]) for row in rows] == [bot["payoff"] for bot in answer["bots"]]


def test_people_are_told_in_tables(folder: Path):
    said = standings(folder)
    for words in (
        "payoff",
        "95% interval",
        "by chance",
        "won from the column's",
        "fed in the order of match ids",
    ):
        assert words in said or words == "by chance"
    assert re.search(r"ann above|above ann", said)


def test_a_log_is_printed_by_the_beginning_of_its_id(folder: Path, findings: Findings):
    with Store.read(folder) as store:
        match = next(store.results("match.id")).match
    assert standings(folder, "--log", match[:12]) == f"log of {match}, 0\n"


def test_logs_are_listed_by_id(folder: Path):
    lines = standings(folder, "--logs").splitlines()
    assert len(lines) == len(set(lines)) == json.loads(standings(folder, "--json"))["matches"]
    assert all(set(line.split()[2:]) == {"ann", "bob", "cyd", "dan"} for line in lines)
    match = lines[0].split()[0]
    assert standings(folder, "--log", match).startswith(f"log of {match},")
    shared = CliRunner().invoke(cli, ["standings", str(folder), "--log", ""])
    assert "There are several matches whose ids begin with ''" in str(shared.exception)


def test_logs_that_were_set_aside_are_listed_as_such(tmp_path: Path):
    changed = Plan(bots=(Entrant("ann", "ann", "new content"), *PLAN.bots[1:]), seed="store", deals=3)
    with Store.open(tmp_path / "t") as store:
        store.keep(played())
        store.write_plan(changed)
    lines = standings(tmp_path / "t", "--logs").splitlines()
    assert len(lines) == 12
    assert all(line.endswith(" (set aside)") for line in lines)


@pytest.mark.parametrize("words", ["--csv --json", "--log a --logs", "--logs --html x.html"])
def test_what_does_not_go_together_is_wrong_usage(folder: Path, words: str):
    done = CliRunner().invoke(cli, ["standings", str(folder), *words.split()])
    assert done.exit_code == 2
    assert "do not go together" in done.output


@NO_PLOTS
def test_the_page_needs_nothing_else(folder: Path, tmp_path: Path):
    path = tmp_path / "report.html"
    standings(folder, "--html", path)
    text = path.read_text()
    tags = _Tags(text)
    assert "default-src 'none'" in tags.policy
    assert not {"script", "link", "iframe", "object", "img", "image", "form", "a"} & tags.names
    assert not tags.addresses, "nothing is fetched"
    assert "@import" not in text
    assert set(re.findall(r"url\(([^)]*)\)", text)) <= set(re.findall(r"url\((#[^)]*)\)", text))
    drawings = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(drawings) == 4, "of four bots nothing is expected of who feeds whom"
    for drawing in drawings:
        ElementTree.fromstring(drawing)
    for name in PLAN.labels:
        assert text.count(name) > 5


@NO_PLOTS
def test_the_page_says_what_was_played_and_by_whom(findings: Findings):
    plan = replace(
        findings.plan,
        rules=preset("omnibus", {"moon": "subtract"}),
        conditions=Conditions(turn_ms=750, bank_ms=9000, on_fault="hand", strikes=2, anonymous=True),
        stop_when=0.25,
    )
    text = page.report(replace(findings, plan=plan))
    for words in (
        *("house rules: ", "10 points", "750 ms a turn", "9,000 ms to spare", "hand, 2 forgiven"),
        *("closer than 0.25 points", "not in the order in which they were played"),
        *(bot.fingerprint for bot in plan.bots),
    ):
        assert words in text
    gauntlet = replace(plan, format="gauntlet", hero="ann", rules=preset("spot"))
    told = page.report(replace(findings, plan=gauntlet))
    assert "<th>hero</th><td>ann</td>" in told
    assert "<td>spot: " in told
    assert "for a challenger that is against ann" in told


def feeding(findings: Findings, **more: object) -> Findings:
    one = Feeding(1.5, 1.0, Estimate(0.4, 0.05, 49), **more)  # type: ignore[arg-type]
    return replace(findings, feedings=dict.fromkeys(permutations(findings.labels, 2), one))


def test_who_feeds_whom_is_said_with_care(findings: Findings):
    assert "it takes 5 bots that all meet" in of_feeding(findings)
    assert feeders(findings) == []
    assert "no pair stands out" in of_feeding(feeding(findings))
    told = feeding(findings, stands_out=True)
    assert "so do honest bots" in of_feeding(told)
    assert "ann gives bob 1.50 a hand, more than the 1.00 that both give and take elsewhere" in feeders(told)
    fields = summary(told)["feeds"]["ann"]["bob"]
    assert fields["ratio"] == pytest.approx(1.49, abs=0.01)
    assert fields["ratio_ci95"][0] < fields["ratio"] < fields["ratio_ci95"][1]
    assert (fields["points"], fields["expected"], fields["stands_out"]) == (1.5, 1.0, True)


@NO_PLOTS
def test_labels_are_escaped_wherever_they_stand(findings: Findings):
    nasty = "<script>alert(1)</script>&$x$"
    bots = [replace(findings.bots[0], name=nasty), *findings.bots[1:]]
    adjacent = [replace(pair, better=nasty) for pair in findings.adjacent]
    shown = replace(
        findings, bots=bots, adjacent=adjacent, points=findings.points | {nasty: findings.points["ann"]}
    )
    shown.standings.won_from = lambda: {name: {} for name in shown.labels}  # type: ignore[method-assign]
    text = page.report(shown)
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "$x$" in text


@NO_PLOTS
def test_a_page_that_cannot_be_written_is_told(folder: Path):
    done = CliRunner().invoke(cli, ["standings", str(folder), "--html", "/proc/none.html"])
    assert "Cannot write /proc/none.html" in str(done.exception)


def test_a_tournament_of_nothing_yet_can_be_told(tmp_path: Path):
    with Store.open(tmp_path / "t") as store:
        store.write_plan(PLAN)
    assert "Nothing has been played yet" in standings(tmp_path / "t")
    assert json.loads(standings(tmp_path / "t", "--json"))["bots"] == []


class _Tags(HTMLParser):
    """The tags of a page, what they would fetch, and its policy."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.addresses: list[str] = []
        self.policy = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        given = dict(attrs)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""
        for name in ("src", "href", "xlink:href", "data", "action"):
            value = given.get(name)
            if value and not value.startswith("#"):
                self.addresses.append(value)
