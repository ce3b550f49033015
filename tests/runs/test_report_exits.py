"""How the instances of a batch ended, as the report counts it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.runs.compared import arm_rows
from tests.suites.instances import PATCH, instance, make_checkout

from hardwon.environments.repository import RepositoryTask
from hardwon.errors import InfrastructureError
from hardwon.models.scripted import ScriptedModel
from hardwon.runs import report
from hardwon.runs.comparison import as_html as comparison_page
from hardwon.runs.comparison import compare
from hardwon.runs.folder import open_folder
from hardwon.runs.journal import Key
from hardwon.runs.page import as_html
from hardwon.runs.report_exits import Exits, exit_items, exit_lines, json_with_exits, read_exits
from hardwon.runs.results import read_rows
from hardwon.runs.runner import Arm, Runner
from hardwon.runs.stages import queue
from hardwon.runs.summary import summarise
from hardwon.sandbox.choose import open_sandbox
from hardwon.strategies.single import Single
from hardwon.suites import swebench
from hardwon.suites.protocol import SuiteOptions
from hardwon.task import Ask, Task
from hardwon.trial import Feedback, Trajectory

MEND = f"```bash\ngit apply <<'END'\n{PATCH}END\n```"
SUBMITS, LIMITED, EMPTY, NO_SETUP, NO_GRADE, LEFT = (f"acme__totals-{n}" for n in range(6))
SCRIPT = {
    SUBMITS: {"act": [MEND, "```bash\nsubmit\n```"]},
    LIMITED: {"act": [MEND, "```bash\nls\n```"]},
    EMPTY: {"act": ["```bash\nls\n```"]},
    NO_GRADE: {"act": [MEND, "```bash\nsubmit\n```"]},
}


class Down:
    """A grader whose machine is down."""

    source = "grounded"

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        raise InfrastructureError("the grading machine is down")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("batch")
    mapping = make_checkout(folder)
    data = folder / "instances.jsonl"
    data.write_text("".join(json.dumps(instance(folder, n)) + "\n" for n in range(6)))

    async def work() -> None:
        sandbox = open_sandbox(workers=1)
        loaded = swebench.load(SuiteOptions(data=data, checkouts=mapping, feedback="oracle"), sandbox)
        await sandbox.close()
        tasks = {task.id: task for task in loaded}
        with open_folder(folder / "run", {"settings": {"suite": "swebench", "model": "script:"}}) as journal:
            runner = Runner(journal, ScriptedModel.from_replies(SCRIPT), workers=2)
            arm = Arm("single", Single())
            await runner.run([_in_trouble(task) for name, task in tasks.items() if name != LEFT], [arm])
            queue(journal, [(tasks[LEFT], Key(LEFT, "single", 0))])

    asyncio.run(work())
    return folder / "run"


def _in_trouble(task: Task) -> Task:
    assert isinstance(task, RepositoryTask)
    if task.id == NO_SETUP:
        return replace(task, source=replace(task.source, setup="exit 3"))
    if task.id == LIMITED:
        return replace(task, steps=2)
    return replace(task, grader=Down()) if task.id == NO_GRADE else task


CONFIG = {
    "settings": {"suite": "repositories", "model": "script:a.json", "feedback": "visible", "budget": {"tokens": 100}}
}

STAGES = {"queued": 2, "delivered": 1, "graded": 3}
ENDED = {"submit": 1, "limits": 1, "empty": 1, "set-up failure": 1, "grading failure": 1, "unfinished": 1}


def test_every_exit_and_stage_is_counted(run: Path) -> None:
    assert read_exits(run, read_rows(run)) == [Exits("single", STAGES, ENDED)]


def test_each_form_of_the_report_tells_them(run: Path) -> None:
    rows = read_rows(run)
    summaries, exits = summarise(rows), read_exits(run, rows)
    told = "submit 1, limits 1, empty 1, set-up failure 1, grading failure 1, unfinished 1"
    assert f"ended by                {told}" in report.as_table({}, summaries, exits)
    assert f"| ended by | {told} |" in report.as_markdown({}, summaries, exits)
    assert told in as_html({}, rows, exits)
    [arm] = json.loads(report.as_json({}, summaries, exits))["arms"]
    assert (arm["stages"], arm["ended_by"]) == (STAGES, ENDED)
    assert "ended by" not in report.as_table({}, summaries)


def test_a_comparison_tells_them_by_arm() -> None:
    exits = [Exits("single", {"graded": 2}, {"submit": 2}), Exits("reflexion", {"queued": 1}, {"unfinished": 1})]
    assert exit_lines(exits)[:4] == ["", "single", "  stage reached  graded 2", "  ended by       submit 2"]
    assert max(map(len, exit_lines(exits, 20))) <= 20
    assert exit_items(exits)[2] == "- reflexion: stage reached: queued 1; ended by: unfinished 1"
    rows = [*arm_rows("single", [True, False]), *arm_rows("reflexion", [True, True])]
    page = comparison_page(CONFIG, compare(rows, "single", {"tokens": 100}, resamples=20), exits)
    assert "<li>reflexion: stage reached: queued 1; ended by: unfinished 1</li>" in page
    assert json.loads(json_with_exits('{"arms": []}', exits))["instances"]["single"]["ended_by"] == {"submit": 2}


def test_a_run_without_a_journal_has_no_exits(tmp_path: Path) -> None:
    assert read_exits(tmp_path, arm_rows("single", [True])) == []
