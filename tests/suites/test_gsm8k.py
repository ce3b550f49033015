"""Word problems: the layout of GSM8K, the bundled set, and the strategies that work it through the command line."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.suites.command import hardwon, run

from hardwon.errors import UsageError
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites.gsm8k import solutions
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.registry import open_suite
from hardwon.suites.word_problems import DATA
from hardwon.task import Task
from hardwon.trial import Trajectory

Write = Callable[..., Path]
ROW = {"question": "What is 2 + 3?", "answer": "2 + 3 = <<2+3=5>>5\n#### 5"}
BUS = "word-problems/late-bus"
LESSON = "A delay makes the way longer, so it must be added to the timetable."
FLAWED = {
    BUS: {
        "act": ["40 - 12 = 28\nAnswer: 28 minutes", "It is late.\nAnswer: 40 + 12 = 52 minutes"],
        "reflect": [LESSON],
    },
    "word-problems/egg-boxes": {"act": ["138 / 6\nAnswer: 23"]},
}


def load(path: Path, sandbox: Sandbox, **options: object) -> tuple[Task, ...]:
    return open_suite("gsm8k").load(SuiteOptions(data=path, **options), sandbox)  # type: ignore[arg-type]


def test_a_problem_is_a_question_whose_gold_number_only_the_grader_holds(write: Write, sandbox: Sandbox) -> None:
    (task,) = load(write(ROW), sandbox)
    assert (task.problem.kind, task.problem.prompt, task.feedback) == ("question", "What is 2 + 3?", None)
    assert task.grader is not None
    for output, verdict in (("5", "pass"), ("$5.00", "pass"), ("6", "fail"), (None, "fail")):
        assert asyncio.run(task.grader.check(Trajectory(output))).verdict == verdict
    assert "5" not in repr(task.problem).replace(task.id, "")


def test_what_follows_the_marked_line_is_no_part_of_the_answer(write: Write) -> None:
    (answer,) = solutions(SuiteOptions(write({"question": "Q?", "answer": "3 + 4\n#### 7\nAll."}))).values()
    assert answer == "7"


def test_a_problem_is_known_by_its_text_and_not_by_its_place(write: Write, sandbox: Sandbox) -> None:
    other = {"question": "What is 1 + 1?", "answer": "#### 2"}
    forward, backward = load(write(ROW, other), sandbox), load(write(other, ROW, name="b.jsonl"), sandbox)
    assert {task.id for task in forward} == {task.id for task in backward}
    assert forward[0].id == backward[1].id
    (named,) = load(write({"id": "mine/1", **ROW}, name="c.jsonl"), sandbox)
    assert named.id == "mine/1"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"question": "Q?"}, "the field 'answer' is missing"),
        ({"question": "Q?", "answer": ["#### 5"]}, "'answer' is an array; give a text"),
        ({"question": "Q?", "answer": "5"}, "'answer' has no '####'"),
        ({"question": "Q?", "answer": "#### many"}, "'many' after '####', which is no number"),
        ({"question": "Q?", "answer": "####"}, "which is no number"),
        ({"question": " ", "answer": "#### 5"}, "'question' is empty"),
        ({"question": "\ud800", "answer": "#### 5"}, "surrogate"),
        ('{"question": ', "not JSON"),
        ("[]x", "not JSON"),
    ],
)
def test_what_is_wrong_with_a_line_is_said_with_file_and_line(
    write: Write, sandbox: Sandbox, row: object, says: str
) -> None:
    path = write(ROW, row)
    with pytest.raises(UsageError, match=re.escape(says)) as caught:
        load(path, sandbox)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert "\n" not in str(caught.value)


def test_the_same_problem_twice_is_refused(write: Write, sandbox: Sandbox) -> None:
    with pytest.raises(UsageError, match=r":2: the task id .* is on line 1 already"):
        load(write(ROW, ROW), sandbox)


def test_options_that_make_no_sense_are_refused(write: Write, sandbox: Sandbox) -> None:
    path = write(ROW)
    for options, says in (
        ({"feedback": "generated"}, "self-written tests are for programs"),
        ({"ids": ("gsm8k/x",)}, "no such task"),
        ({"ids": ()}, "names no task"),
        ({"limit": 0}, "--limit 0"),
    ):
        with pytest.raises(UsageError, match=says):
            load(path, sandbox, **options)
    with pytest.raises(UsageError, match="give --data"):
        open_suite("gsm8k").load(SuiteOptions(), sandbox)
    with pytest.raises(UsageError, match="brings its own tasks"):
        open_suite("word-problems").load(SuiteOptions(data=path), sandbox)


def test_every_bundled_problem_shows_how_its_number_comes_about(sandbox: Sandbox) -> None:
    tasks = open_suite("word-problems").load(SuiteOptions(), sandbox)
    known = open_suite("word-problems").solutions(SuiteOptions())
    assert len(tasks) == len(known) == 40
    for line in DATA.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        worked, _, gold = row["answer"].partition("\n#### ")
        assert worked.rstrip().rpartition("\n")[2].replace(" ", "").find(gold.replace(",", "").rstrip("%")) >= 0, row
    for task in tasks:
        assert task.grader is not None
        assert asyncio.run(task.grader.check(Trajectory(known[task.id]))).verdict == "pass"


def test_reflexion_learns_from_an_oracle_and_every_row_says_so(tmp_path: Path) -> None:
    rows = {row["task_id"]: row for row in run(tmp_path, "word-problems", FLAWED, "--feedback", "oracle")}
    bus = rows[BUS]
    assert (bus["solved"], bus["trial_verdicts"], bus["lessons"]) == (True, ["fail", "pass"], 1)
    assert bus["submission"] == "40 + 12 = 52 minutes"
    assert {row["feedback"] for row in rows.values()} == {"oracle"}
    report = hardwon(tmp_path, "report", "out").stdout
    assert "oracle feedback" in report


@pytest.mark.parametrize("strategy", ["last_attempt", "last_attempt_and_reflection", "immediate_refinement"])
def test_the_other_retry_settings_of_the_original_work_questions(tmp_path: Path, strategy: str) -> None:
    script = {BUS: FLAWED[BUS]}
    (row,) = run(tmp_path, "word-problems", script, "--feedback", "oracle", "--strategy", strategy)
    assert (row["solved"], row["trials"], row["feedback"]) == (True, 2, "oracle")
    assert row["lessons"] == (strategy == "last_attempt_and_reflection")


def test_self_consistency_votes_over_values_without_any_feedback(tmp_path: Path) -> None:
    replies = ["Answer: 28", "Answer: 52 minutes", "28?\nHm.", "Answer: 52.0", "Answer: 104/2"]
    (row,) = run(tmp_path, "word-problems", {BUS: {"act": replies}}, "--strategy", "self_consistency")
    assert (row["solved"], row["feedback"], row["verdict"]) == (True, "none", "no_evidence")
    assert row["submission"] == "52 minutes"


def test_without_an_oracle_a_loop_refuses_or_falls_back_to_one_pass(tmp_path: Path) -> None:
    (tmp_path / "script.json").write_text(json.dumps(FLAWED))
    command = ("run", "word-problems", "--ids", BUS, "--model", "script:script.json", "--out", "out")
    refused = hardwon(tmp_path, *command)
    assert refused.returncode == 2
    assert not (tmp_path / "out").exists()
    (row,) = run(tmp_path, "word-problems", {BUS: FLAWED[BUS]}, "--fallback", "single")
    assert (row["trials"], row["feedback"], row["stop"], row["solved"]) == (1, "none", "gate", False)
