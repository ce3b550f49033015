"""The shell agent by native calls, in real repositories: the same rules as in text, and nothing paid twice."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.actors.acting import call, calls, unanswered
from tests.actors.test_shell import Recording
from tests.sandbox.repositories import MEND, diff_after, make, state

from hardwon.actors.choose import actor_for
from hardwon.budget import Budget
from hardwon.environments.repository import RepositoryTask
from hardwon.models import Model, open_model
from hardwon.models.protocol import calls_tools
from hardwon.models.scripted import estimate_tokens
from hardwon.runs.folder import open_folder
from hardwon.runs.results import rows
from hardwon.runs.row import Row
from hardwon.runs.runner import Arm, Runner
from hardwon.runs.trajectories import attempts, read_attempt
from hardwon.sandbox.choose import bubblewrap_trouble
from hardwon.sandbox.workspaces.workspace import RepositorySource
from hardwon.session import Session
from hardwon.strategies.single import Single
from hardwon.task import Problem
from hardwon.trial import Trajectory

pytestmark = pytest.mark.skipif(bubblewrap_trouble() is not None, reason="bubblewrap does not work here")

SUBMIT = call("submit", "All done.")


def shell(command: str, text: str = "Next.") -> dict[str, Any]:
    return call("shell", text, command=command)


@pytest.fixture
def task(tmp_path: Path) -> RepositoryTask:
    return RepositoryTask(
        problem=Problem("mend", "`total` gives the largest number.", "repository", examples=("pytest -q",)),
        feedback=None,
        grader=None,
        digest="",
        source=RepositorySource(make(tmp_path / "repo")),
        command_seconds=10.0,
        tool_use="native",
    )


def acted(task: RepositoryTask, *replies: object, budget: str = "") -> tuple[Trajectory, Recording]:
    model = Recording(replies)
    session = Session(task.problem, model, actor_for(task), None, budget=Budget.parse(budget))
    trajectory = asyncio.run(session.act())
    assert all(unanswered(request.messages) == [] for request in model.requests)
    return trajectory, model


def test_the_expert_mends_a_repository_by_calls_and_its_diff_is_handed_in(task: RepositoryTask) -> None:
    before = state(task.source.path)
    trajectory, model = acted(task, shell("cat total.py", "I look at it."), shell(MEND), SUBMIT)
    assert trajectory.output == diff_after(task.source, MEND)
    assert trajectory.reply == "All done.\nsubmit({})"
    assert [step.action for step in trajectory.steps] == ["cat total.py", MEND, "submit"]
    assert trajectory.steps[0].thought == "I look at it."
    first, second, _ = model.requests
    assert [tool.name for tool in first.tools] == ["shell", "submit"]
    assert "```" not in first.messages[0].content
    assert [message.role for message in second.messages[2:]] == ["assistant", "tool"]
    assert second.messages[2].content == "I look at it."
    assert "Exit status 0.\ndef total" in second.messages[3].content
    assert state(task.source.path) == before


def test_replies_without_a_call_are_told_so_and_end_the_attempt_after_three(task: RepositoryTask) -> None:
    trajectory, model = acted(task, "```bash\nls\n```", "submit", "Hm.", SUBMIT)
    assert trajectory.output is None
    assert len(model.requests) == 3
    assert model.heard(1).endswith("Call one of the tools `shell`, `submit`.")
    assert model.requests[1].messages[-1].role == "user"
    assert acted(task, "Hm.", "Hm.", shell(MEND), "Hm.", SUBMIT)[0].output is not None


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (("shell", '{"command": "ls'), "`shell` takes command, `submit` takes nothing"),
        (("shell", {"cmd": "ls"}), "Give one JSON object"),
        (
            ("bash", {"command": "ls"}),
            "There is no such tool, so nothing has happened. The tools are `shell`, ",
        ),
        (("shell", {"command": "printf \0"}), "holds a null character"),
        (("shell", {"command": "x" * 70_000}), "The command is too long"),
        (("shell", {"command": "'" * 40_000}), "The command is too long"),
        (("shell", '{"command": "echo \\ud800"}'), "`shell` takes command, `submit` takes nothing"),
        (("submit", {}), "Nothing has been changed"),
    ],
)
def test_a_call_that_can_not_be_carried_out_is_answered_and_the_work_goes_on(
    task: RepositoryTask, made: tuple[str, object], told: str
) -> None:
    trajectory, model = acted(task, calls(made), shell(MEND), SUBMIT)
    assert told in model.heard(1)
    assert model.requests[1].messages[-1].role == "tool"
    assert trajectory.output == diff_after(task.source, MEND)


def test_of_several_calls_the_first_is_run_and_the_others_are_answered(task: RepositoryTask) -> None:
    several = calls(("shell", {"command": MEND}), ("submit", {}), ("shell", {"command": "git checkout ."}))
    trajectory, model = acted(task, several, SUBMIT)
    assert trajectory.output == diff_after(task.source, MEND)
    assert len(model.requests) == 2
    assert [message.content.startswith("Not run") for message in model.requests[1].messages[-3:]] == [False, True, True]


def test_a_repeated_command_and_the_steps_have_the_same_caps(task: RepositoryTask) -> None:
    trajectory, model = acted(task, shell("cat total.py"))
    assert len(model.requests) == 4
    assert "did the same just now" in trajectory.steps[-1].observation
    trajectory, model = acted(replace(task, steps=2), shell(MEND), shell("ls"), shell("rm -rf ."))
    assert trajectory.output == diff_after(task.source, MEND)
    assert "One command is left" in model.heard(1)


def test_the_history_is_cut_in_whole_pairs_and_says_so(task: RepositoryTask) -> None:
    replies = [*(shell(f"seq {n} {n + 900}") for n in range(6)), shell(MEND), SUBMIT]
    _, model = acted(replace(task, context=4000), *replies)
    last = model.requests[-1].messages
    assert "left out here" in last[1].content
    assert "gives the largest number" in last[1].content
    assert [message.role for message in last[2:]] == ["assistant", "tool"] * ((len(last) - 2) // 2)
    assert sum(map(estimate_tokens, (message.spelled for message in last))) < 4000


def test_when_the_budget_ends_the_change_so_far_is_handed_in(task: RepositoryTask) -> None:
    trajectory, _ = acted(task, shell(MEND), shell("ls"), budget="calls=1")
    assert trajectory.output == diff_after(task.source, MEND)


def test_an_attempt_goes_on_from_the_journal_in_its_middle_and_pays_no_call_twice(
    task: RepositoryTask, tmp_path: Path
) -> None:
    replies = [
        calls(("shell", {"command": "date +%N"}), ("submit", {})),
        shell(f"{MEND}; date +%N"),
        calls(("shell", "{oops")),
        SUBMIT,
    ]

    def sitting(folder: str, model: Recording) -> Row:
        with open_folder(tmp_path / folder, {"settings": {}}) as journal:
            asyncio.run(Runner(journal, model, workers=1).run([task], [Arm("single", Single())]))
            (row,) = rows(journal)
            return row

    whole = sitting("whole", Recording(replies))
    assert (whole.submission, whole.calls, whole.error) == (diff_after(task.source, MEND), 4, None)
    for broken in (2, 3, 4):
        first, again = Recording(replies, fails=(broken,)), Recording(replies)
        assert sitting(f"broken-{broken}", first).error is not None
        row = sitting(f"broken-{broken}", again)
        assert len(first.requests) + len(again.requests) == 4
        assert [request.index for request in again.requests] == list(range(broken - 1, 4))
        assert replace(row, wall_s=0.0) == replace(whole, wall_s=0.0)
        assert first.requests[-1].messages[:2] == again.requests[0].messages[:2]


@pytest.mark.parametrize(
    "replies", [(shell(MEND), SUBMIT), (f"```bash\n{MEND}\n```", 'submit\n"tools":["shell"]\nsubmit')]
)
def test_a_replayed_agent_is_asked_as_it_was(task: RepositoryTask, tmp_path: Path, replies: tuple[object, ...]) -> None:
    native = not isinstance(replies[0], str)
    task = replace(task, tool_use="native" if native else "text")

    def sitting(folder: str, task: RepositoryTask, model: Model) -> Row:
        with open_folder(tmp_path / folder, {"settings": {}}) as journal:
            asyncio.run(Runner(journal, model, workers=1).run([task], [Arm("single", Single())]))
            (row,) = rows(journal)
            return row

    recorded = sitting("run", task, Recording(replies))
    replayed = open_model(f"replay:{tmp_path / 'run'}")
    assert calls_tools(replayed) == native
    again = sitting("again", replace(task, tool_use="auto"), replayed)
    assert recorded.submission == again.submission == diff_after(task.source, MEND)


def test_a_trajectory_gives_each_call_its_answer_in_the_form_that_others_read(
    task: RepositoryTask, tmp_path: Path
) -> None:
    replies = [calls(("shell", {"command": "echo one"}), ("shell", {"command": "echo two"})), shell(MEND), SUBMIT]
    with open_folder(tmp_path / "run", {"settings": {}}) as journal:
        asyncio.run(Runner(journal, Recording(replies), workers=1).run([task], [Arm("single", Single())]))
        ((_, text), *_) = attempts(journal, list(rows(journal)), "recorded")
    (tmp_path / "mend.traj.json").write_text(text)
    said = json.loads(text)["messages"]
    first = next(place for place, message in enumerate(said) if message["role"] == "assistant")
    asked = [given["id"] for given in said[first]["tool_calls"]]
    answers = said[first + 1 : first + 3]
    assert said[first]["extra"]["actions"] == [{"command": "echo one"}]
    assert [(answer["role"], answer["tool_call_id"]) for answer in answers] == [("tool", name) for name in asked]
    assert answers[0]["content"].endswith("\none")
    assert [step.action for step in read_attempt(tmp_path / "mend.traj.json").trajectory.steps][:2] == [
        "echo one",
        MEND,
    ]


def test_fix_takes_the_choice_on_the_command_line_and_a_changed_one_is_a_new_run(tmp_path: Path) -> None:
    repo = make(tmp_path / "repo")
    (tmp_path / "s.json").write_text(json.dumps({"fix": {"act": [shell(MEND), SUBMIT]}}))
    settings = {"HARDWON_CONFIG": str(tmp_path / "no-config.toml")}

    def fix(*more: str) -> subprocess.CompletedProcess[str]:
        check = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -q"
        command = [sys.executable, "-m", "hardwon", "fix", str(repo), "--check", check, "--model", "script:s.json"]
        return subprocess.run(
            [*command, "--out", "out", *more],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **settings},
            timeout=100,
            check=False,
        )

    done = fix("--tools", "native")
    assert done.returncode == 0, done.stderr
    assert "+    return sum(numbers)" in done.stdout
    known = json.loads((tmp_path / "out" / "config.json").read_text())["settings"]
    assert known["tools"] == "native"
    assert "actors/native_shell_system" in known["tool_prompts"]
    other = fix()
    assert other.returncode == 2
    assert 'tools was "native", is null' in other.stderr
    assert "choose auto or text or native" in fix("--tools", "json").stderr
