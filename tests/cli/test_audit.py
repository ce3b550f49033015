"""`hardwon audit`, and `hardwon run --require-trust`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.own_suite import SCRIPT, TASKS, rows

Hardwon = Callable[..., subprocess.CompletedProcess[str]]

SOLUTIONS = {
    "own/double": "def double(x):\n    return 2 * x\n",
    "own/largest": "def largest(xs):\n    return max(xs) if xs else None\n",
}


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.jsonl"
    lines = [json.dumps({**task, "solution": SOLUTIONS[task["task_id"]]}) + "\n" for task in TASKS]
    path.write_text("".join(lines))
    return path


def test_the_table_names_each_task_what_it_lets_through_and_fits_80_columns(hardwon: Hardwon, tasks: Path) -> None:
    done = hardwon("audit", tasks)
    assert done.returncode == 0, done.stderr
    assert "own/double" in done.stdout
    assert "passes hard-coded: a table of the one example shown" in done.stdout
    assert "wrong, let through" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "[2/2]" in done.stderr


def test_the_json_holds_every_task_and_the_totals_and_can_be_written_to_a_file(
    hardwon: Hardwon, tasks: Path, tmp_path: Path
) -> None:
    done = hardwon("audit", tasks, "--json", "--out", "found.json")
    found = json.loads(done.stdout)
    assert json.loads((tmp_path / "found.json").read_text()) == found
    double, largest = found["tasks"]
    assert (double["task_id"], largest["task_id"]) == ("own/double", "own/largest")
    assert 0 < double["trust"] < 1
    for side in ("feedback", "grader"):
        exams = [task[side] for task in found["tasks"]]
        total = found[side]["false_accepts"]
        assert total["count"] == sum(len(exam["false_accepts"]) for exam in exams)
        assert total["of"] == sum(exam["wrong"] for exam in exams)
        low, high = total["interval"]
        assert low <= total["share"] <= high


def test_the_tasks_and_what_is_examined_can_be_chosen(hardwon: Hardwon, tasks: Path) -> None:
    found = json.loads(hardwon("audit", tasks, "--ids", "own/largest", "--feedback", "oracle", "--json").stdout)
    (task,) = found["tasks"]
    assert (task["task_id"], task["same_tests"], task["feedback"]["source"]) == ("own/largest", True, "oracle")
    assert found["feedback"] == found["grader"]


def test_one_program_that_prints_the_same_finding_each_time(hardwon: Hardwon, tasks: Path) -> None:
    assert hardwon("audit", tasks, "--json").stdout == hardwon("audit", tasks, "--json").stdout


def test_published_suites_are_audited_with_their_published_solutions(hardwon: Hardwon, tmp_path: Path) -> None:
    first = {
        "task_id": 1,
        "text": "Add two numbers.",
        "code": "def add(a, b):\n    return a + b",
        "test_list": ["assert add(1, 2) == 3", "assert add(5, -5) == 0"],
    }
    (tmp_path / "mbpp.jsonl").write_text(json.dumps(first) + "\n")
    for arguments in (("humaneval", "--ids", "HumanEval/2"), ("mbpp", "--data", "mbpp.jsonl")):
        (task,) = json.loads(hardwon("audit", *arguments, "--json").stdout)["tasks"]
        assert (task["solution"], task["grader"]["false_rejects"], task["error"]) == (True, [], None)
        assert task["grader"]["wrong_by_kind"]["mutant"]["wrong"] > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("startr",), "did you mean starter?"),
        (("starter", "--ids", "starter/none"), "no such task"),
        (("starter", "--feedback", "generated"), "--feedback generated: unknown"),
        (("starter", "--out", "no/such/folder/f.json"), "--out no/such/folder/f.json"),
        (("missing.jsonl",), "no such file"),
        (("mbpp",), "give --data PATH"),
        (("starter", "--reruns", "0"), "reruns"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(hardwon: Hardwon, arguments: tuple[str, ...], said: str) -> None:
    done = hardwon("audit", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("share", ["0", "1.5", "-0.1", "nan"])
def test_a_trust_out_of_range_is_refused_and_nothing_is_written(
    hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path, share: str
) -> None:
    done = hardwon("run", tasks, "--model", script, "--out", "out", "--require-trust", share)
    assert done.returncode == 2
    assert "--require-trust" in done.stderr
    assert "above 0, and 1 at most" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_task_below_the_required_trust_gets_one_pass_and_the_run_says_so(
    hardwon: Hardwon, tasks: Path, tmp_path: Path
) -> None:
    (tmp_path / "wrong.json").write_text(json.dumps({**SCRIPT, "own/double": {"act": ["def double(x): return 4"]}}))
    model = "script:wrong.json"
    trust = {t["task_id"]: t["trust"] for t in json.loads(hardwon("audit", tasks, "--json").stdout)["tasks"]}
    assert trust["own/double"] < trust["own/largest"]
    least = (trust["own/double"] + trust["own/largest"]) / 2
    done = hardwon("run", tasks, "--model", model, "--out", "out", "--require-trust", least)
    assert done.returncode == 0, done.stderr
    assert "auditing the feedback of 2 tasks first" in done.stderr
    assert "1 of 2 tasks are below and get one pass, without a loop" in done.stderr
    double, largest = rows(tmp_path / "out")
    assert (double["stop"], double["trials"], double["feedback"]) == ("gate", 1, "none")
    assert (largest["stop"], largest["trials"], largest["feedback"]) == ("solved", 2, "grounded")
    settings = json.loads((tmp_path / "out" / "config.json").read_text())["settings"]
    assert settings["require_trust"] == least
    other = hardwon("run", tasks, "--model", model, "--out", "out")
    assert (other.returncode, "require_trust was" in other.stderr) == (2, True)


def test_tests_that_a_model_writes_are_not_refused_for_a_trust_that_nobody_knows(
    hardwon: Hardwon, tmp_path: Path
) -> None:
    hidden_only = {name: value for name, value in TASKS[0].items() if name != "tests"}
    (tmp_path / "hidden.jsonl").write_text(json.dumps(hidden_only) + "\n")
    (tmp_path / "s.json").write_text(json.dumps(SCRIPT))
    done = hardwon("run", "hidden.jsonl", "--model", "script:s.json", "--out", "out", "--require-trust", "0.5")
    assert done.returncode == 0, done.stderr
    assert "0 of 1 tasks are below" in done.stderr
    assert "1 have only tests that a model would write: not known, and not refused" in done.stderr
