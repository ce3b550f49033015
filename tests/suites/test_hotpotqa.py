"""HotpotQA: the published layouts, four settings, the bundled questions, and episodes that survive a kill."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.suites.command import hardwon, run

from hardwon.actors.choose import actor_for
from hardwon.environments.task import EpisodeTask
from hardwon.errors import UsageError
from hardwon.runs.trajectories import read_attempt
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites.multi_hop import DATA
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.registry import open_suite
from hardwon.task import Task
from hardwon.trial import Trajectory

Write = Callable[..., Path]
GOLD = "Zürich am Fjord"
FIRST: dict[str, Any] = {
    "_id": "q1",
    "question": "Where was Åse born?",
    "answer": GOLD,
    "type": "bridge",
    "supporting_facts": [["Åse Ødegård", 0]],
    "context": [["Åse Ødegård", ["Åse was born in a town.", " The town is Zürich am Fjord."]], ["Void", []]],
}
SECOND: dict[str, Any] = {**FIRST, "_id": "q2", "context": [["Bergen", ["Bergen is a city."]]], "answer": "Bergen"}
HEIGHT = "multi-hop/observatory-height"
KILLED = Path(__file__).with_name("killed_episode.py")


def load(suite: str, path: Path, sandbox: Sandbox, **options: Any) -> tuple[Task, ...]:
    return open_suite(suite).load(SuiteOptions(data=path, **options), sandbox)


def search(task: Task, words: str) -> str:
    async def episode() -> str:
        assert isinstance(task, EpisodeTask)
        world = task.environment()
        await world.reset(0)
        return (await world.step(f"Search[{words}]")).text

    return asyncio.run(episode())


def test_exported_episodes_tell_what_was_done_and_that_the_feedback_was_the_hidden_answer(tmp_path: Path) -> None:
    script = {HEIGHT: {"act": ["Thought: a\nAction: Search[x]", "Action: Finish[1]", "Action: Finish[2]"]}}
    run(tmp_path, "multi-hop", script, "--feedback", "oracle", "--strategy", "last_attempt", "--trials", 2)
    done = hardwon(tmp_path, "export", "out", "--format", "trajectories", "-o", "told")
    assert done.returncode == 0, done.stderr
    answers = hardwon(tmp_path, "export", "out", "--format", "answers")
    assert json.loads(answers.stdout) == {"answer": {HEIGHT: "1"}, "sp": {}}
    refused = hardwon(tmp_path, "export", "out")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"--format humaneval: {HEIGHT} is a task of kind question; choose answers" in refused.stderr
    name = HEIGHT.replace("/", "__")
    first, second = (tmp_path / "told" / name / f"{name}{n}.traj.json" for n in ("", ".trial-2"))
    told = json.loads(first.read_text())
    meant = told["info"]["hardwon"]
    assert (meant["feedback"], meant["submitted"], meant["solved"]) == ("oracle feedback", True, False)
    assert (meant["verdict"], meant["score"]) == ("fail", 0.0)
    assert "won" not in meant  # nobody wins a question
    other = json.loads(second.read_text())["info"]["hardwon"]
    assert (other["submitted"], other["solved"], other["verdict"]) == (False, None, "fail")
    assert told["info"]["config"]["agent_type"].endswith("ReActActor")
    assert (told["info"]["exit_status"], told["info"]["submission"]) == ("Submitted", "1")
    acted = [said["extra"]["actions"] for said in told["messages"] if said["role"] == "assistant"]
    assert acted == [[{"command": "Search[x]"}], [{"command": "Finish[1]"}]]
    assert read_attempt(second).trajectory.steps[0].action == "Finish[2]"


def test_an_episode_takes_as_many_steps_as_are_asked_for_and_the_run_is_known_by_it(tmp_path: Path) -> None:
    script = {HEIGHT: {"act": [f"Action: Search[{n}]" for n in range(9)]}}
    for asked, taken in ((("--steps", 2), 2), ((), 8)):
        (row,) = run(tmp_path, "multi-hop", script, "--feedback", "oracle", "--strategy", "single", "--fresh", *asked)
        settings = json.loads((tmp_path / "out" / "config.json").read_text())["settings"]
        assert (row["calls"], settings.get("steps")) == (taken, asked[1] if asked else None)
    refused = hardwon(tmp_path, "run", "word-problems", "--steps", 2, "--model", "script:script.json")
    assert (refused.returncode, "--steps 2: no agent acts in these tasks" in refused.stderr) == (2, True)


def test_the_published_array_its_lines_and_its_columns_are_the_same_tasks(tmp_path: Path, sandbox: Sandbox) -> None:
    columns = {
        **FIRST,
        "id": "q1",
        "context": {"title": ["Åse Ødegård", "Void"], "sentences": [p[1] for p in FIRST["context"]]},
    }
    del columns["_id"]
    rows = [FIRST, SECOND]
    (tmp_path / "a.json").write_text(json.dumps(rows, indent=1))
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in [columns, SECOND]))
    (tmp_path / "d.jsonl.gz").write_bytes(gzip.compress((tmp_path / "b.jsonl").read_bytes()))
    found = [load("hotpotqa", path, sandbox) for path in sorted(tmp_path.glob("?.json*"))]
    assert len(found) == 4
    assert len({tuple((task.id, task.digest) for task in tasks) for tasks in found}) == 1


def test_each_setting_gives_the_agent_what_it_says(write: Write, sandbox: Sandbox) -> None:
    path = write(FIRST, SECOND)
    own, opened, cot, closed = (
        load(f"hotpotqa{setting}", path, sandbox)[0] for setting in ("", "-open", "-cot", "-closed")
    )
    assert "Åse Ødegård: Åse was born in a town. The town is Zürich am Fjord." in search(own, "ase odegard")
    assert "Nothing is found" in search(own, "Bergen")
    assert "Bergen is a city" in search(opened, "Bergen")
    assert not isinstance(cot, EpisodeTask)
    assert "The town is Zürich am Fjord." in cot.problem.prompt
    assert cot.problem.prompt.endswith("Question: Where was Åse born?")
    assert closed.problem.prompt == "Where was Åse born?"
    assert {task.problem.kind for task in (own, opened, cot, closed)} == {"question"}
    assert len({task.digest for task in (own, opened, cot, closed)}) == 4


def test_no_setting_hands_the_gold_answer_to_the_agent_or_gives_feedback_unasked(
    write: Write, sandbox: Sandbox
) -> None:
    """Law 1: neither the problem nor the actor leads to the grader, or to the answer beside the paragraphs."""
    path = write({**FIRST, "answer": "a secret"}, SECOND)
    for setting in ("", "-open", "-cot", "-closed"):
        task = load(f"hotpotqa{setting}", path, sandbox)[0]
        assert task.feedback is None
        assert task.grader is not None
        assert task.grader.source == "grounded"
        assert "a secret" not in spelled_out([task.problem, actor_for(task)])
        assert "a secret" in spelled_out(task)
        (asked, _) = load(f"hotpotqa{setting}", path, sandbox, feedback="oracle")
        assert asked.feedback is not None
        assert asked.feedback.source == "oracle"
        assert asked.digest == task.digest


def spelled_out(thing: object, depth: int = 8) -> str:
    """Everything that can be reached from a thing by attributes, items and bound arguments."""
    if depth == 0 or isinstance(thing, str | int | float | bool | type(None)):
        return repr(thing)
    if isinstance(thing, dict):
        return " ".join(spelled_out(part, depth - 1) for pair in thing.items() for part in pair)
    if isinstance(thing, list | tuple | set | frozenset):
        return " ".join(spelled_out(part, depth - 1) for part in thing)
    names = {
        *getattr(thing, "__dict__", {}),
        *(n for kind in type(thing).__mro__ for n in getattr(kind, "__slots__", ())),
    }
    names |= {"args", "keywords", "__closure__", "cell_contents"}
    return " ".join(spelled_out(getattr(thing, name, None), depth - 1) for name in names if name != "__weakref__")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"context": None}, "'context' is null"),
        ({"context": []}, "the question has no paragraphs"),
        ({"context": [["Void", ["", " "]]]}, "the question has no paragraphs"),
        ({"context": "text"}, "'context' is a text; give an array"),
        ({"context": [["Title", "text"]]}, "context, paragraph 1: its sentences are no array"),
        ({"context": [["Title", ["a", 1]]]}, "context, paragraph 1: its sentences are no array"),
        ({"context": [["T", ["a"]], "Title"]}, "context, paragraph 2: this is a text"),
        ({"context": [[" ", ["a"]]]}, "its title is a text, or blank"),
        ({"context": [["\ud800", ["a"]]]}, "surrogate"),
        ({"context": {"title": ["a"], "sentences": []}}, "as many titles as lists"),
        ({"answer": ["a", "b"]}, "'answer' is an array; give a text"),
        ({"answer": " "}, "'answer' is empty"),
        ({"answer": 5}, "'answer' is a number"),
        ({"question": ""}, "'question' is empty"),
        ({"_id": 7}, "'_id' is a number"),
        ({"_id": "q2"}, "the task id 'q2' is on line 1 already"),
    ],
)
@pytest.mark.parametrize("suite", ["hotpotqa", "hotpotqa-open", "hotpotqa-cot"])
def test_what_is_wrong_with_a_question_is_said_with_file_and_line(
    write: Write, sandbox: Sandbox, change: dict[str, Any], says: str, suite: str
) -> None:
    path = write(SECOND, {**FIRST, **change})
    with pytest.raises(UsageError, match=re.escape(says)) as caught:
        load(suite, path, sandbox)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert "\n" not in str(caught.value)


def test_missing_fields_are_named_and_missing_paragraphs_only_where_they_are_needed(
    write: Write, sandbox: Sandbox
) -> None:
    bare = {name: FIRST[name] for name in ("_id", "question", "answer")}
    path = write(bare)
    with pytest.raises(UsageError, match=":1: the field 'context' is missing; add it"):
        load("hotpotqa", path, sandbox)
    assert len(load("hotpotqa-closed", path, sandbox)) == 1
    for name in bare:
        with pytest.raises(UsageError, match=f"the field '{name}' is missing"):
            load("hotpotqa-closed", write({k: v for k, v in bare.items() if k != name}), sandbox)
    with pytest.raises(UsageError, match="give --data"):
        open_suite("hotpotqa-cot").load(SuiteOptions(), sandbox)
    with pytest.raises(UsageError, match="brings its own"):
        load("multi-hop", path, sandbox)


def test_a_changed_paragraph_is_a_changed_task(write: Write, sandbox: Sandbox) -> None:
    changed = {**FIRST, "context": [["Åse Ødegård", ["Åse was born elsewhere."]]]}
    for suite in ("hotpotqa", "hotpotqa-open", "hotpotqa-cot"):
        (before,), (after,) = (load(suite, write(row), sandbox) for row in (FIRST, changed))
        assert before.digest != after.digest


def test_every_bundled_question_can_be_answered_from_its_paragraphs(sandbox: Sandbox) -> None:
    tasks = open_suite("multi-hop").load(SuiteOptions(), sandbox)
    known = open_suite("multi-hop").solutions(SuiteOptions())
    rows = {row["_id"]: row for row in map(json.loads, DATA.read_text(encoding="utf-8").splitlines())}
    assert len(tasks) == len(known) == 20
    for task in tasks:
        titles = [title for title, _ in rows[task.id]["context"]]
        told = " ".join(f"{title} {' '.join(sentences)}" for title, sentences in rows[task.id]["context"])
        assert len(set(titles)) == 5
        assert known[task.id] in ("yes", "no") or known[task.id].casefold() in told.casefold()
        assert known[task.id].casefold() not in task.problem.prompt.casefold() or "or" in task.problem.prompt
        assert isinstance(task, EpisodeTask)
        assert task.grader is not None
        assert asyncio.run(task.grader.check(Trajectory(known[task.id]))).verdict == "pass"
        assert all(search(task, title).startswith(f"{title}: ") for title in titles)


ACT = [
    "Thought: the place\nAction: Search[Orvane Observatory]",
    "Action: Finish[412]",
    "Thought: the mountain\nAction: Search[Mount Hale]\nObservation: I make this up\nAction: Finish[7]",
    "Action: Finish[2914]",
]
LESSON = "A guess from memory was handed in; read the paragraph of the mountain itself."


@pytest.mark.parametrize("strategy", ["reflexion", "last_attempt", "last_attempt_and_reflection"])
def test_the_retry_settings_of_the_original_act_through_the_command_line(tmp_path: Path, strategy: str) -> None:
    script = {HEIGHT: {"act": ACT, "reflect": [LESSON]}}
    (row,) = run(tmp_path, "multi-hop", script, "--feedback", "oracle", "--strategy", strategy)
    assert (row["solved"], row["submission"], row["trial_verdicts"]) == (True, "2914", ["fail", "pass"])
    assert (row["calls_by_role"]["act"], row["feedback"]) == (4, "oracle")
    assert row["lessons"] == (strategy != "last_attempt")


def test_self_consistency_takes_the_answer_that_most_episodes_hand_in(tmp_path: Path) -> None:
    answers = ["Action: Finish[412]", "Action: Finish[2,914]", "Action: Finish[The 2914]", "Action: Finish[2914.]"]
    script = {HEIGHT: {"act": answers}}
    (row,) = run(tmp_path, "multi-hop", script, "--strategy", "self_consistency", "--trials", 4)
    assert (row["solved"], row["submission"], row["feedback"]) == (True, "2,914", "none")


def results(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "results.jsonl").read_text().splitlines()
    return [{k: v for k, v in json.loads(line).items() if k != "wall_s"} for line in lines]


def start(folder: Path, paid: Path, kill_at: int) -> int:
    command = [sys.executable, str(KILLED), str(folder), str(paid), str(kill_at)]
    return subprocess.run(command, capture_output=True, timeout=60, check=False).returncode


def test_an_episode_killed_in_its_middle_goes_on_and_pays_no_call_twice(tmp_path: Path) -> None:
    assert start(tmp_path / "whole", tmp_path / "whole-paid", 0) == 0
    calls = (tmp_path / "whole-paid").read_text().splitlines()
    assert len(calls) == 7
    assert results(tmp_path / "whole")[0]["solved"]
    for kill_at in (2, 4, 6):
        folder, paid = tmp_path / f"run{kill_at}", tmp_path / f"paid{kill_at}"
        assert start(folder, paid, kill_at) == -signal.SIGKILL
        assert start(folder, paid, 0) == 0
        assert paid.read_text().splitlines() == calls
        assert results(folder) == results(tmp_path / "whole")
