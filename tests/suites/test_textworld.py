"""The textworld suite: games by size and seed, played through the agent, and errors that say what to mend."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.environments.experts import play

from hardwon.environments.task import EpisodeTask
from hardwon.errors import UsageError
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites import textworld
from hardwon.suites.protocol import SuiteOptions

pytestmark = pytest.mark.skipif(find_spec("textworld") is None, reason="the extra games is not installed")

Write = Callable[..., Path]
TINY = {"games": 2, "rooms": 2, "objects": 2, "quest": 2, "steps": 6}
FIRST, SECOND = "textworld/r2-o2-q2/1", "textworld/r2-o2-q2/2"


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def options(cache: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> SuiteOptions:
    """Two tiny games, made once for all of these tests."""
    monkeypatch.setenv("HARDWON_CACHE", str(cache))
    return SuiteOptions(write(TINY, name="settings.json"))


def test_games_are_known_by_size_and_seed_and_made_once(options: SuiteOptions, sandbox: Sandbox) -> None:
    tasks = textworld.load(options, sandbox)
    assert [task.id for task in tasks] == [FIRST, SECOND]
    assert len({task.digest for task in tasks}) == 2
    for task in tasks:
        assert isinstance(task, EpisodeTask)
        assert task.problem.kind == "game"
        assert task.graded_on == "visible"
        assert task.steps == 6
        assert task.feedback is not None
        assert task.feedback.source == "grounded"
    made = {path: path.stat().st_mtime_ns for path in textworld.games_folder().glob("*.json")}
    assert [task.digest for task in textworld.load(options, sandbox)] == [task.digest for task in tasks]
    assert {path: path.stat().st_mtime_ns for path in textworld.games_folder().glob("*.json")} == made


def test_the_walkthrough_wins_through_the_agent_and_looking_around_does_not(
    options: SuiteOptions, sandbox: Sandbox
) -> None:
    ways = textworld.walkthroughs(options)
    for task in textworld.load(options, sandbox):
        won = asyncio.run(play(task, ways[task.id]))
        assert won.feedback.verdict == "pass"
        assert won.trajectory.won
    lost = asyncio.run(play(task, ["look", "inventory"]))
    assert lost.feedback.verdict == "fail"
    assert lost.trajectory.won is False


def test_ids_and_limit_choose_games_and_only_those_are_made(options: SuiteOptions, sandbox: Sandbox) -> None:
    (second,) = textworld.load(SuiteOptions(options.data, ids=(SECOND,)), sandbox)
    (first,) = textworld.load(SuiteOptions(options.data, limit=1), sandbox)
    assert (first.id, second.id) == (FIRST, SECOND)
    with pytest.raises(UsageError, match="no such task; did you mean"):
        textworld.load(SuiteOptions(options.data, ids=("textworld/r2-o2-q2/3",)), sandbox)
    assert len(list(textworld.games_folder().glob("*.json"))) <= 2


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"game": 3}, "did you mean 'games'?"),
        ({"rooms": 51}, "'rooms' is 51; give a whole number from 1 to 50"),
        ({"seed": -1}, "give a whole number from 0"),
        ({"quest": "4"}, "'quest' is '4'"),
        ("[]", "nothing in the file"),
        ("rooms = 3", "not JSON"),
    ],
)
def test_wrong_settings_name_their_file(write: Write, sandbox: Sandbox, content: object, says: str) -> None:
    path = write(content, name="settings.json")
    with pytest.raises(UsageError) as caught:
        textworld.load(SuiteOptions(path), sandbox)
    assert str(path) in str(caught.value)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_extra_ends_in_the_line_that_installs_it(
    options: SuiteOptions, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "textworld", None)
    with pytest.raises(UsageError, match=r'pip install "hardwon\[games\]"'):
        textworld.load(options, sandbox)


def test_self_written_tests_are_refused_and_an_oracle_is_labelled(options: SuiteOptions, sandbox: Sandbox) -> None:
    with pytest.raises(UsageError, match="--feedback generated"):
        textworld.load(SuiteOptions(options.data, "generated"), sandbox)
    (task,) = textworld.load(SuiteOptions(options.data, "oracle", limit=1), sandbox)
    assert task.feedback is not None
    assert task.feedback.source == "oracle"


def test_an_episode_may_be_longer_than_the_suite_has_it(options: SuiteOptions, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    looks = [f"Action: {action}" for action in ("look", "inventory", "go nowhere", "take nothing") * 9]
    script.write_text(json.dumps({FIRST: {"act": looks}}))
    command = [sys.executable, "-m", "hardwon", "run", "textworld", "--data", str(options.data), "--limit", "1"]
    command += ["--steps", "20", "--strategy", "single", "--model", f"script:{script}", "--out", str(tmp_path / "run")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    (row,) = [json.loads(line) for line in (tmp_path / "run" / "results.jsonl").read_text().splitlines()]
    assert row["calls"] == 20


def test_a_run_loses_learns_and_wins_from_the_command_line(options: SuiteOptions, tmp_path: Path) -> None:
    way = textworld.walkthroughs(options)[FIRST]
    lost = ["Action: look", "Action: inventory"] * 3  # six steps: the episode's end
    script = tmp_path / "script.json"
    won = [f"Action: {action}" for action in way]
    script.write_text(json.dumps({FIRST: {"act": [*lost, *won], "reflect": ["I only looked. I will go and act."]}}))
    command = [sys.executable, "-m", "hardwon", "run", "textworld", "--data", str(options.data), "--limit", "1"]
    command += ["--model", f"script:{script}", "--out", str(tmp_path / "run")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    (row,) = [json.loads(line) for line in (tmp_path / "run" / "results.jsonl").read_text().splitlines()]
    assert row["solved"] is True
    assert row["feedback"] == "grounded"
    assert row["trial_verdicts"] == ["fail", "pass"]
    assert row["stop"] == "solved"
    assert row["calls_by_role"]["act"] == len(lost) + len(won)
