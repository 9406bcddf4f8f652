"""From what is asked for to the plan: what is not asked for stays, and a bot means the same from anywhere."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from referee.errors import ArenaError
from referee.tournament.entry import Wanted, anchored, enter
from referee.tournament.plan import Plan, plan_from_toml, plan_to_toml

TWO = ("duck", "random")


def test_a_new_plan_has_a_seed_that_nobody_can_guess():
    one, other = (enter(None, Wanted(words=TWO)).plan for _ in range(2))
    assert one.labels == TWO
    assert len(one.seed) == 32
    assert one.seed != other.seed
    assert one.conditions.anonymous
    assert all(bot.fingerprint for bot in one.bots)


def test_nothing_asked_for_is_all_as_it_was():
    plan = enter(None, Wanted(words=TWO, fields={"deals": 7}, conditions={"turn_ms": 9})).plan
    again = enter(plan_from_toml(plan_to_toml(plan)), Wanted())
    assert again.plan == plan
    assert again.news == ()


def test_those_that_are_named_again_stay_and_new_ones_join_at_the_end():
    plan = enter(None, Wanted(words=TWO)).plan
    entry = enter(plan, Wanted(words=("heuristic", "duck")))
    assert entry.plan.labels == ("duck", "random", "heuristic")
    assert [bot.name for bot in entry.bots] == ["duck", "random", "heuristic"]
    assert entry.news == ("New: heuristic.",)


def test_the_same_bot_twice_has_two_labels():
    plan = enter(None, Wanted(words=("duck", "duck"))).plan
    assert plan.labels == ("duck", "duck-2")
    assert enter(plan, Wanted(words=("duck", "duck"))).plan == plan


def test_the_same_label_twice_in_a_file_is_as_on_a_command_line(tmp_path: Path):
    file = tmp_path / "plan.toml"
    file.write_text('bots = ["duck", "duck"]\n')
    plan = enter(None, Wanted(file=file)).plan
    assert plan.labels == ("duck", "duck-2")
    assert enter(plan, Wanted(file=file)).plan == plan


@pytest.mark.parametrize(
    "words", [("duck", "random"), ("duck", "random", "{bot}"), ("{bot}", "duck", "random")]
)
@pytest.mark.parametrize("hero", ["{bot}", "heuristic", "brave=duck"])
def test_the_hero_joins_the_bots_if_it_is_not_among_them(tmp_path: Path, words: tuple[str, ...], hero: str):
    (tmp_path / "mine.py").write_text("input()\n")
    words, hero = (
        tuple(word.format(bot=tmp_path / "mine.py") for word in words),
        hero.format(bot=tmp_path / "mine.py"),
    )
    wanted = Wanted(words=words, fields={"format": "gauntlet", "hero": hero})
    plan = enter(None, wanted).plan
    label = {"heuristic": "heuristic", "brave=duck": "brave"}.get(hero, "mine")
    assert plan.hero == label
    assert set(plan.labels) == {"duck", "random", label} | ({"mine"} if len(words) == 3 else set())
    assert enter(plan, wanted).plan == plan


def test_a_hero_that_is_no_bot_is_told():
    with pytest.raises(ArenaError, match="did you mean heuristic"):
        enter(None, Wanted(words=TWO, fields={"format": "gauntlet", "hero": "heuristik"}))


def test_one_that_is_withdrawn_need_not_be_there(tmp_path: Path):
    program = tmp_path / "bot.py"
    program.write_text("input()\n")
    plan = enter(None, Wanted(words=(*TWO, str(program)))).plan
    program.unlink()
    with pytest.raises(ArenaError, match=r"The bot bot is no longer there.*--withdraw bot"):
        enter(plan, Wanted())
    entry = enter(plan, Wanted(withdraw=("bot",)))
    assert entry.plan.active == TWO
    assert enter(entry.plan, Wanted()).plan.withdrawn == ("bot",)


def test_a_bot_means_the_same_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "bot.py").write_text("input()\n")
    monkeypatch.chdir(tmp_path / "there")
    words = ("bot.py", f"other={sys.executable} -u bot.py --depth 3", "duck")
    plan = enter(None, Wanted(words=words)).plan
    monkeypatch.chdir(tmp_path)
    assert enter(plan, Wanted()).plan == plan


@pytest.mark.parametrize(
    ("word", "means"),
    [
        pytest.param("duck", "duck", id="bundled"),
        pytest.param("bot.py", "/here/bot.py", id="file"),
        pytest.param("a=bot.py", "a=/here/bot.py", id="label"),
        pytest.param("python3 bot.py -x", "python3 /here/bot.py -x", id="command"),
        pytest.param("./bot.py --book bot.py", "/here/bot.py --book /here/bot.py", id="argument"),
        pytest.param("a=python3 'no such' bot.py", "a=python3 'no such' /here/bot.py", id="quotes"),
        pytest.param("nothing", "nothing", id="nothing"),
    ],
)
def test_paths_are_made_absolute(tmp_path: Path, word: str, means: str):
    (tmp_path / "bot.py").write_text("")
    assert anchored(word, tmp_path) == means.replace("/here", str(tmp_path))


def test_a_plan_file_lists_its_bots_as_seen_from_itself(tmp_path: Path):
    (tmp_path / "bot.py").write_text("input()\n")
    file = tmp_path / "plan.toml"
    file.write_text('bots = ["duck", {name = "mine", run = "bot.py"}]\n[rules]\npreset = "standard"\n')
    plan = enter(None, Wanted(file=file, fields={"deals": 3})).plan
    assert plan.deals == 3
    assert {bot.name: bot.run for bot in plan.bots} == {"duck": "duck", "mine": str(tmp_path / "bot.py")}
    again = enter(plan, Wanted(file=file))
    assert again.plan == plan


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param("bots = [3]", "a bot is neither a label nor a table", id="bot"),
        pytest.param('bots = "duck"', 'bots is not a list; write it as in bots = \\["duck"', id="word"),
        pytest.param('bots = [{name = "a", speed = 3}]', "a bot is neither a label nor a table", id="value"),
        pytest.param('bots = [{name = "a", zonk = "3"}]', "a bot has no 'zonk'; there are: name", id="field"),
        pytest.param('bots = [{run = "duck"}]', "a bot has no name", id="nameless"),
        pytest.param('bots = ["a", {name = "a", run = "duck"}]', "two bots are called a", id="twice"),
        pytest.param(
            'bots = ["duck", "gone"]', "The plan's bot gone cannot be found. There is no", id="gone"
        ),
        pytest.param("conditions = 3", "conditions is not a table", id="conditions"),
        pytest.param('bots = ["duck", "random"]\ndeal = 3', "did you mean deals", id="name"),
        pytest.param("bots = [", "is not TOML", id="toml"),
    ],
)
def test_a_bad_plan_file_is_told_in_a_sentence(tmp_path: Path, text: str, sentence: str):
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(ArenaError, match=sentence):
        enter(None, Wanted(file=tmp_path / "plan.toml"))


def test_a_plan_of_old_results_is_not_changed_by_the_way():
    plan = enter(None, Wanted(words=TWO, fields={"seed": "old"})).plan
    with pytest.raises(ArenaError, match='The seed was "old" and is now "new"'):
        enter(plan, Wanted(fields={"seed": "new"}))
    entry = enter(plan, Wanted(fields={"seed": "new"}, accept_changes=True))
    assert isinstance(entry.plan, Plan)
    assert entry.plan.seed == "new"
    assert entry.news == ('The seed was "old" and is now "new".',)
