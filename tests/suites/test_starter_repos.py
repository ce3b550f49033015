"""The bundled repositories keep their word: broken as they are, whole with their patch, solved by an expert."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter
from pathlib import Path

import pytest

from hardwon.errors import UsageError
from hardwon.evaluators.patches import changes
from hardwon.models.scripted import ScriptedModel
from hardwon.runs.folder import open_folder
from hardwon.runs.results import rows
from hardwon.runs.row import Row
from hardwon.runs.runner import Arm, Runner
from hardwon.sandbox.choose import open_sandbox
from hardwon.sandbox.protocol import Sandbox
from hardwon.strategies.reflexion import Reflexion
from hardwon.suites import starter_repos
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.read import read_rows
from hardwon.task import Task
from hardwon.trial import Feedback, Trajectory

ROWS = {row.need("task_id"): row for row in read_rows(starter_repos.DATA)}
HERE = tuple(name for name, row in ROWS.items() if shutil.which(row.fields.get("needs", "git")))
"""The tasks that can be worked on this machine."""
PATCHES = starter_repos.solutions(SuiteOptions())
NOTHING = "diff --git a/NOTES b/NOTES\nnew file mode 100644\n--- /dev/null\n+++ b/NOTES\n@@ -0,0 +1 @@\n+nothing\n"


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDWON_CACHE", str(cache))


def check_all(patches: dict[str, str]) -> dict[str, tuple[Feedback, Feedback]]:
    """Feedback and grade of one patch for each task."""

    async def one(few: asyncio.Semaphore, task: Task) -> tuple[Feedback, Feedback]:
        assert task.feedback is not None
        assert task.grader is not None
        trajectory = Trajectory(patches[task.id])
        async with few:
            return await task.feedback.check(trajectory), await task.grader.check(trajectory)

    async def every() -> dict[str, tuple[Feedback, Feedback]]:
        sandbox = open_sandbox(workers=1)
        try:
            tasks = starter_repos.load(SuiteOptions(ids=HERE), sandbox)
            few = asyncio.Semaphore(4)
            return dict(
                zip([task.id for task in tasks], await asyncio.gather(*(one(few, t) for t in tasks)), strict=True)
            )
        finally:
            await sandbox.close()

    return asyncio.run(every())


def test_there_are_twenty_of_five_kinds_and_two_languages() -> None:
    assert len(ROWS) == 20
    assert set(Counter(row.fields["kind"] for row in ROWS.values()).values()) == {4}
    assert len({row.fields["kind"] for row in ROWS.values()}) == 5
    assert Counter(row.fields.get("needs") for row in ROWS.values()) == {None: 18, "node": 2}


def test_every_right_patch_passes_the_visible_and_the_hidden_tests() -> None:
    outcomes = check_all(PATCHES)
    bad = {name: seen for name, seen in outcomes.items() if [f.verdict for f in seen] != ["pass", "pass"]}
    assert bad == {}
    for name, (_, grade) in outcomes.items():
        fields = ROWS[name].fields
        assert [check.name for check in grade.checks] == [*fields["fail_to_pass"], *fields["pass_to_pass"]]


def test_every_broken_state_fails_exactly_what_the_patch_mends() -> None:
    for name, (visible, grade) in check_all(dict.fromkeys(ROWS, NOTHING)).items():
        assert (visible.verdict, grade.verdict) == ("fail", "fail"), name
        assert [check.name for check in grade.failing] == ROWS[name].fields["fail_to_pass"]


def test_hidden_tests_ask_for_more_than_the_visible_ones() -> None:
    for name, row in ROWS.items():
        files, hidden = row.fields["files"], changes(row.fields["test_patch"])
        assert all(change.new and not change.paths & files.keys() for change in hidden), name
        known = "".join(text for path, text in files.items() if path.startswith("tests/"))
        asked = [
            test for test in row.fields["fail_to_pass"] if test.rpartition(".")[2] not in known and test not in known
        ]
        assert asked, name


def test_the_problem_shows_neither_hidden_tests_nor_the_patch(sandbox: Sandbox) -> None:
    for task in starter_repos.load(SuiteOptions(ids=HERE), sandbox):
        shown = f"{task.problem.prompt}\n{task.problem.examples}"
        assert "diff --git" not in shown
        assert not any(name.rpartition(".")[2] in shown for name in ROWS[task.id].fields["fail_to_pass"])


def test_a_repository_is_the_same_commit_wherever_it_is_made(tmp_path: Path) -> None:
    files = ROWS["starter-repos/club-ledger"].fields["files"]
    heads = []
    for place in (tmp_path / "a", tmp_path / "b"):
        starter_repos.make_repository(place, files)
        heads.append((place / ".git" / "refs" / "heads" / "main").read_text())
    assert heads[0] == heads[1]
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def expert() -> ScriptedModel:
    """Looks around, writes the right patch, runs the tests, submits."""
    script = {}
    for name, patch in PATCHES.items():
        mend = f"git apply <<'END_OF_PATCH'\n{patch}END_OF_PATCH"
        commands = ["ls", mend, ROWS[name].need("check"), "submit"]
        script[name] = {"act": [f"Next step.\n\n```bash\n{command}\n```" for command in commands]}
    return ScriptedModel.from_replies(script)


async def work(folder: Path, model: ScriptedModel) -> list[Row]:
    sandbox = open_sandbox(workers=1)
    try:
        tasks = starter_repos.load(SuiteOptions(ids=HERE), sandbox)
        with open_folder(folder, {"settings": {}}) as journal:
            await Runner(journal, model, workers=2).run(tasks, [Arm("reflexion", Reflexion())])
            return list(rows(journal))
    finally:
        await sandbox.close()


def test_the_scripted_expert_solves_every_repository_through_the_real_path(tmp_path: Path) -> None:
    done = asyncio.run(work(tmp_path / "run", expert()))
    assert [row.task_id for row in done if row.solved is not True] == []
    assert len(done) == len(HERE)
    assert {(row.trials, row.verdict, row.feedback, row.stop) for row in done} == {(1, "pass", "grounded", "solved")}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (SuiteOptions(data=Path("x.jsonl")), "--data x.jsonl: starter-repos brings its own repositories"),
        (SuiteOptions(ids=("club-ledgers",)), "--ids club-ledgers: no such task"),
    ],
)
def test_bad_input_is_refused(options: SuiteOptions, said: str, sandbox: Sandbox) -> None:
    with pytest.raises(UsageError) as refused:
        starter_repos.load(options, sandbox)
    assert said in str(refused.value)
