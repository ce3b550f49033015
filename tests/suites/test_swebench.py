"""Instances in SWE-bench format: read in every form, worked in a local checkout, graded by their hidden tests."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.sandbox.repositories import git, state
from tests.suites.instances import ISSUE_TEST, PATCH, instance, make_checkout

from hardwon.environments.repository import RepositoryTask
from hardwon.errors import UsageError
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites import swebench
from hardwon.suites.images import image_of
from hardwon.suites.picking import Picking
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.read import Row
from hardwon.task import Task
from hardwon.trial import Feedback, Trajectory

Write = Callable[..., Path]


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    return make_checkout(tmp_path)


def load(data: Path, mapping: Path | None, sandbox: Sandbox, **options: Any) -> tuple[Task, ...]:
    return swebench.load(SuiteOptions(data=data, checkouts=mapping, **options), sandbox)


def judged(task: Task, diff: str) -> tuple[Feedback | None, Feedback]:
    async def both() -> tuple[Feedback | None, Feedback]:
        assert task.grader is not None
        feedback = None if task.feedback is None else await task.feedback.check(Trajectory(diff))
        return feedback, await task.grader.check(Trajectory(diff))

    return asyncio.run(both())


def test_the_gold_patch_is_graded_as_solved_and_the_checkout_stays_as_it_was(
    tmp_path: Path, mapping: Path, write: Write, sandbox: Sandbox
) -> None:
    data = write(instance(tmp_path))
    before = state(tmp_path / "totals")
    [task] = load(data, mapping, sandbox)
    assert isinstance(task, RepositoryTask)
    feedback, grade = judged(task, swebench.solutions(SuiteOptions(data=data))[task.id])
    assert (grade.verdict, [c.name for c in grade.checks]) == (
        "pass",
        ["test_more.More.test_many", "test_more.More.test_alone"],
    )
    assert feedback is not None
    assert (feedback.verdict, feedback.source) == ("no_evidence", "none"), "the patch brings no test of its own"
    assert state(tmp_path / "totals") == before


def test_a_reproduction_test_of_the_agents_own_is_the_visible_feedback(
    tmp_path: Path, mapping: Path, write: Write, sandbox: Sandbox
) -> None:
    [task] = load(write(instance(tmp_path)), mapping, sandbox)
    assert "write a test of your own" in task.problem.prompt
    feedback, grade = judged(task, ISSUE_TEST + PATCH)
    assert feedback is not None
    assert (feedback.verdict, feedback.source, grade.verdict) == ("pass", "generated", "pass")
    feedback, grade = judged(task, ISSUE_TEST + PATCH.replace("sum(", "min("))
    assert feedback is not None
    assert (feedback.verdict, grade.verdict) == ("fail", "fail")


def test_hidden_tests_reach_neither_the_problem_nor_the_feedback(
    tmp_path: Path, mapping: Path, write: Write, sandbox: Sandbox
) -> None:
    data = write(instance(tmp_path))
    for kind in ("generated", "visible"):
        [task] = load(data, mapping, sandbox, feedback=kind)
        assert "test_more" not in f"{task.problem} {task.feedback}"
        assert "sum(numbers)" not in f"{task.problem} {task.feedback}"
    [task] = load(data, mapping, sandbox, feedback="oracle")
    assert task.feedback is not None
    assert task.feedback.source == "oracle"


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.jsonl.gz", "a.parquet"])
def test_every_form_of_the_data_reads_alike(tmp_path: Path, mapping: Path, sandbox: Sandbox, name: str) -> None:
    import gzip

    rows = [instance(tmp_path, n) for n in (1, 2)]
    path = tmp_path / name
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    if name.endswith(".parquet"):
        arrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(arrow.Table.from_pylist(rows), path)
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        path.write_text(json.dumps(rows) if name.endswith(".json") else lines)
    reference = tmp_path / "reference.jsonl"
    reference.write_text(lines)
    assert [(t.id, t.digest) for t in load(path, mapping, sandbox)] == [
        (t.id, t.digest) for t in load(reference, mapping, sandbox)
    ]


def test_only_what_is_picked_needs_its_commit(tmp_path: Path, mapping: Path, write: Write, sandbox: Sandbox) -> None:
    data = write(instance(tmp_path, 1, base_commit="0" * 40), instance(tmp_path, 2), instance(tmp_path, 3))
    assert [t.id for t in load(data, mapping, sandbox, picking=Picking("[23]$", part="1:"))] == ["acme__totals-3"]


def test_a_mapping_may_be_toml_and_name_a_version(tmp_path: Path, write: Write, sandbox: Sandbox) -> None:
    make_checkout(tmp_path)
    mapping = tmp_path / "checkouts.toml"
    mapping.write_text(
        '"acme/totals" = "nowhere-else"\n"acme/totals@1.0" = {path = "totals", setup = "true", tools = ["/usr/bin"]}\n'
    )
    (tmp_path / "nowhere-else").mkdir()
    git(tmp_path / "nowhere-else", "init", "-q")
    git(tmp_path / "nowhere-else", "commit", "-q", "--allow-empty", "-m", "x")
    [task] = load(write(instance(tmp_path)), mapping, sandbox)
    assert isinstance(task, RepositoryTask)
    assert (task.source.path.name, task.source.setup, task.source.tools) == ("totals", "true", ("/usr/bin",))


def test_tests_are_run_by_the_habits_of_the_repository() -> None:
    row = Row("x:1", {"repo": "django/django"})
    assert swebench.runner_of(row, None).endswith("--parallel 1 {modules}")
    assert "pytest -rA" in swebench.runner_of(Row("x:1", {"repo": "a/b"}), None)
    assert swebench.runner_of(Row("x:1", {"repo": "a/b", "test_cmd": "tox --"}), None).endswith("tox -- {files}")


def test_images_are_the_official_ones_unless_the_instance_names_another() -> None:
    row = Row("x:1", {"instance_id": "Acme__totals-1"})
    assert image_of(row) == "docker.io/swebench/sweb.eval.x86_64.acme_1776_totals-1:latest"
    assert image_of(Row("x:1", {"instance_id": "a", "image_name": "mine:1"})) == "mine:1"


def test_without_a_mapping_the_repository_is_that_of_the_image(
    tmp_path: Path, write: Write, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_checkout(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "podman").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "podman").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    [task] = load(write(instance(tmp_path)), None, sandbox)
    assert isinstance(task, RepositoryTask)
    assert (task.backend, task.source.path, task.source.image) == (
        "podman",
        Path("/testbed"),
        "docker.io/swebench/sweb.eval.x86_64.acme_1776_totals-1:latest",
    )
    assert "/envs/testbed/bin:" in dict(task.env)["PATH"]


def test_without_a_mapping_and_without_a_runtime_it_is_said_what_to_do(
    tmp_path: Path, write: Write, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_checkout(tmp_path)
    data = write(instance(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="need podman or docker, and neither is installed; install one, or give local"):
        load(data, None, sandbox)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"instance_id": None}, "tasks.jsonl:1: the field 'instance_id' is missing"),
        ({"repo": None}, "tasks.jsonl:1: the field 'repo' is missing"),
        ({"base_commit": 5}, "tasks.jsonl:1: 'base_commit' is a number"),
        ({"base_commit": "f" * 40}, f"tasks.jsonl:1: {{totals}}: has no commit {'f' * 40}; fetch it"),
        ({"base_commit": "--help"}, "tasks.jsonl:1: {totals}: has no commit --help"),
        (
            {"repo": "acme/other"},
            'tasks.jsonl:1: the repository acme/other is not in {mapping}; add "acme/other": PATH',
        ),
        ({"problem_statement": " "}, "tasks.jsonl:1: 'problem_statement' is empty"),
        ({"test_patch": "no diff"}, "tasks.jsonl:1: 'test_patch' is no git diff"),
        ({"FAIL_TO_PASS": "[]"}, "tasks.jsonl:1: 'FAIL_TO_PASS' names no test"),
        ({"FAIL_TO_PASS": "test_x"}, "tasks.jsonl:1: 'FAIL_TO_PASS' is a text that is no JSON array"),
        ({"FAIL_TO_PASS": [5]}, "tasks.jsonl:1: 'FAIL_TO_PASS' holds something that is no name of a test"),
        ({"PASS_TO_PASS": None}, "tasks.jsonl:1: the field 'PASS_TO_PASS' is missing"),
    ],
)
def test_a_malformed_instance_is_named_with_its_place(
    tmp_path: Path, mapping: Path, write: Write, sandbox: Sandbox, changed: dict[str, Any], said: str
) -> None:
    data = write(instance(tmp_path, **changed))
    with pytest.raises(UsageError) as refused:
        load(data, mapping, sandbox)
    assert said.format(totals=tmp_path / "totals", mapping=mapping) in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "does not read"),
        ("[]", "want an object"),
        ('{"acme/totals": 5}', "acme/totals: want a folder, or an object"),
        ('{"acme/totals": {"paht": "totals"}}', "acme/totals: 'paht' is not understood; want one of path, test"),
        ('{"acme/totals": {"test": "x"}}', "acme/totals: the field 'path' is missing"),
        ('{"acme/totals": {"path": "totals", "tools": "x"}}', "'tools' is not understood; want a list of folders"),
        ('{"acme/totals": "gone"}', "acme/totals: {folder}/gone: no such folder"),
        ('{"acme/totals": "empty"}', "acme/totals: {folder}/empty: is not a git repository"),
    ],
)
def test_a_malformed_mapping_is_named_with_its_place(
    tmp_path: Path, mapping: Path, write: Write, sandbox: Sandbox, text: str, said: str
) -> None:
    (tmp_path / "empty").mkdir()
    mapping.write_text(text)
    with pytest.raises(UsageError) as refused:
        load(write(instance(tmp_path)), mapping, sandbox)
    assert said.format(folder=tmp_path) in str(refused.value)
    assert str(mapping) in str(refused.value)


def test_a_missing_mapping_or_data_file_is_said(tmp_path: Path, mapping: Path, write: Write, sandbox: Sandbox) -> None:
    with pytest.raises(UsageError, match=r"--checkouts .*gone\.json: no such file"):
        load(write(instance(tmp_path)), tmp_path / "gone.json", sandbox)
    with pytest.raises(UsageError, match="has no data of its own; give --data PATH"):
        swebench.load(SuiteOptions(), sandbox)
    with pytest.raises(UsageError, match=r"gone\.parquet: no such file"):
        load(tmp_path / "gone.parquet", mapping, sandbox)


def test_a_damaged_or_empty_parquet_file_is_said(tmp_path: Path, mapping: Path, sandbox: Sandbox) -> None:
    arrow = pytest.importorskip("pyarrow")
    damaged, empty = tmp_path / "damaged.parquet", tmp_path / "empty.parquet"
    damaged.write_bytes(b"PAR1 and then nothing that is Parquet")
    with pytest.raises(UsageError, match=r"damaged\.parquet: no readable Parquet"):
        load(damaged, mapping, sandbox)
    pytest.importorskip("pyarrow.parquet").write_table(
        arrow.table({"instance_id": arrow.array([], arrow.string())}), empty
    )
    with pytest.raises(UsageError, match=r"empty\.parquet: there is nothing in the file"):
        load(empty, mapping, sandbox)
