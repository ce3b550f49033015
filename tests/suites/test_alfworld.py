"""The alfworld suite: six games of its own, or a user's folder; errors name folder and file."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from hardwon.environments.household import logic_folder
from hardwon.environments.task import EpisodeTask
from hardwon.errors import UsageError
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites import alfworld
from hardwon.suites.protocol import SuiteOptions

pytestmark = pytest.mark.skipif(find_spec("textworld") is None, reason="the extra games is not installed")


def write_game(folder: Path, **changes: object) -> Path:
    """A game as `alfworld-download` leaves it: one folder for each, with its text in game.tw-pddl."""
    logic = logic_folder()
    assert logic is not None
    problem = next(iter(alfworld.houses().values()))[1]
    grammar = (logic / "alfred.twl2").read_text().replace("UNKNOWN GOAL", "put an apple on the diningtable")
    game = {"pddl_domain": "(define)", "pddl_problem": problem, "grammar": grammar, "solvable": True, **changes}
    folder.mkdir(parents=True)
    path = folder / "game.tw-pddl"
    path.write_text(json.dumps(game))
    return path


def test_the_bundled_games_are_six_and_keep_their_goal_hidden(sandbox: Sandbox) -> None:
    tasks = alfworld.load(SuiteOptions(), sandbox)
    assert len({task.id for task in tasks}) == len({task.digest for task in tasks}) == 6
    for task in tasks:
        assert isinstance(task, EpisodeTask)
        assert task.problem.prompt.startswith("Your task is to: ")
        assert task.graded_on == "hidden"
        assert task.steps == 50


def test_the_loop_has_an_oracle_that_is_labelled_or_nothing(sandbox: Sandbox) -> None:
    for asked in (None, "oracle"):
        (task,) = alfworld.load(SuiteOptions(limit=1, feedback=asked), sandbox)  # type: ignore[arg-type]
        assert task.feedback is not None
        assert task.feedback.source == "oracle"
    (task,) = alfworld.load(SuiteOptions(limit=1, feedback="visible"), sandbox)
    assert task.feedback is None
    assert task.grader is not None
    with pytest.raises(UsageError, match="--feedback generated"):
        alfworld.load(SuiteOptions(feedback="generated"), sandbox)


def test_games_of_a_folder_are_known_by_their_path_and_left_out_as_alfworld_does(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    write_game(tmp_path / "valid" / "pick-Apple" / "trial_2")
    write_game(tmp_path / "valid" / "pick-Apple" / "trial_1")
    write_game(tmp_path / "valid" / "pick-AppleSliced" / "trial_3")
    write_game(tmp_path / "valid" / "movable-Apple" / "trial_4")
    write_game(tmp_path / "valid" / "pick-Mug" / "trial_5", solvable=False)
    tasks = alfworld.load(SuiteOptions(tmp_path), sandbox)
    assert [task.id for task in tasks] == [f"alfworld/valid/pick-Apple/trial_{n}" for n in (1, 2)]
    assert tasks[0].problem.prompt == "Your task is to: put an apple on the diningtable."
    (second,) = alfworld.load(SuiteOptions(tmp_path, ids=(tasks[1].id,)), sandbox)
    assert second.digest == tasks[1].digest


def test_a_game_is_the_same_task_whichever_part_of_the_data_is_given(tmp_path: Path, sandbox: Sandbox) -> None:
    game = write_game(tmp_path / "json_2.1.1" / "valid_seen" / "pick-Apple" / "trial_1").parent
    own = write_game(tmp_path / "mine" / "first").parent
    for part in (tmp_path / "json_2.1.1", *game.parents[:2], game):
        (task,) = alfworld.load(SuiteOptions(part), sandbox)
        assert task.id == "alfworld/valid_seen/pick-Apple/trial_1"
    for part in (own, own.parent):
        (task,) = alfworld.load(SuiteOptions(part), sandbox)
        assert task.id == "alfworld/first"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "not a game of ALFWorld"),
        ("[]", "pddl_domain, pddl_problem, grammar are needed"),
        ('{"pddl_domain": "", "pddl_problem": "", "grammar": 1}', "are needed"),
        ('{"pddl_domain": "", "pddl_problem": "", "grammar": ""}', "names no task"),
    ],
)
def test_a_broken_game_file_is_named(tmp_path: Path, sandbox: Sandbox, content: str, says: str) -> None:
    path = write_game(tmp_path / "a")
    path.write_text(content)
    with pytest.raises(UsageError) as caught:
        alfworld.load(SuiteOptions(tmp_path), sandbox)
    assert str(path) in str(caught.value)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_that_is_missing_or_empty_is_named(tmp_path: Path, sandbox: Sandbox) -> None:
    with pytest.raises(UsageError, match="no such folder") as caught:
        alfworld.load(SuiteOptions(tmp_path / "none"), sandbox)
    assert str(tmp_path / "none") in str(caught.value)
    with pytest.raises(UsageError, match=r"holds no game\.tw-pddl"):
        alfworld.load(SuiteOptions(tmp_path), sandbox)
    write_game(tmp_path / "a", solvable=False)
    with pytest.raises(UsageError, match="none of its games can be solved"):
        alfworld.load(SuiteOptions(tmp_path), sandbox)


@pytest.mark.parametrize("package", ["textworld", "alfworld", "fast_downward"])
def test_a_missing_extra_ends_in_the_line_that_installs_it(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=rf'{package}: pip install "hardwon\[games\]"'):
        alfworld.load(SuiteOptions(), sandbox)
