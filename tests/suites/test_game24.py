"""Game of 24: answers are checked exactly and never executed, and every instance has a solution."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon import ScriptedModel, Session
from hardwon.actors.choose import actor_for
from hardwon.errors import UsageError
from hardwon.evaluators.game24 import ExpressionBehaviour, TwentyFour, solve
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites import game24
from hardwon.suites.protocol import SuiteOptions
from hardwon.trial import Feedback, Trajectory

Write = Callable[..., Path]
FOUR = st.tuples(*[st.integers(1, 13)] * 4)


def check(numbers: tuple[int, ...], answer: str | None) -> Feedback:
    return asyncio.run(TwentyFour(numbers).check(Trajectory(answer)))


def brute(numbers: tuple[int, ...]) -> bool:
    """Whether there is a solution, by trying every order, every operator and all five shapes of brackets."""
    shapes = ("(({} {} {}) {} {}) {} {}", "({} {} ({} {} {})) {} {}", "({} {} {}) {} ({} {} {})",
              "{} {} (({} {} {}) {} {})", "{} {} ({} {} ({} {} {}))")  # fmt: skip
    for a, b, c, d in set(permutations(numbers)):
        for x, y, z in product("+-*/", repeat=3):
            for shape in shapes:
                text = shape.format(f"F({a})", x, f"F({b})", y, f"F({c})", z, f"F({d})")
                try:
                    if eval(text, {"F": Fraction}) == 24:
                        return True
                except ZeroDivisionError:
                    continue
    return False


@given(FOUR)
def test_what_the_solver_finds_passes_the_check(numbers: tuple[int, ...]) -> None:
    found = solve(numbers)
    if found is not None:
        assert check(numbers, found).verdict == "pass"


@pytest.mark.parametrize(
    "numbers", [(1, 1, 1, 1), (3, 3, 8, 8), (1, 5, 5, 5), (1, 1, 1, 13), (13, 13, 13, 13), (4, 4, 10, 10)]
)
def test_the_solver_finds_a_solution_exactly_where_there_is_one(numbers: tuple[int, ...]) -> None:
    assert (solve(numbers) is not None) == brute(numbers)


@pytest.mark.parametrize(
    "answer",
    [
        "(10 - 4) * (5 - 1)",
        "(10-4)*(5-1) = 24",
        "(10 − 4) × (5 − 1) = 24.",
        "`(10 - 4) * (5 - 1)`",
        "$(10 - 4) \\times (5 - 1)$",
        "[10 - 4] * {5 - 1}",
        "-(4 - 10) * (5 - 1)",
        "24 = (10 - 4) * (5 - 1)",
        "(10 - 4) * (5 - 1) = 6 * 4 = 24",
        "(10 - 4) x (5 - 1) = 24",
        "(10 - 4) * (5 - 1), which equals 24.",
        "(10 - 4) * (5 - 1) (= 24)",
        "\\[ (10 - 4) \\times (5 - 1) \\]",
    ],
)
def test_a_right_expression_passes_however_it_is_written(answer: str) -> None:
    feedback = check((1, 4, 5, 10), answer)
    assert (feedback.verdict, feedback.score, feedback.source) == ("pass", 1.0, "grounded")


def test_a_fraction_may_be_written_as_in_latex() -> None:
    assert check((3, 3, 8, 8), r"\frac{8}{3 - \frac{8}{3}} = 24").verdict == "pass"
    assert check((1, 4, 5, 6), r"\frac{4}{1 - 5 / 6}").verdict == "pass"


@pytest.mark.parametrize(
    ("answer", "score", "says"),
    [
        ("24", 0.5, "expected the numbers 1, 4, 5, 10, each once, got 24"),
        ("4 * 5 + 4", 0.5, "got 4, 4, 5"),
        ("10 + 4 + 5 + 1", 0.5, "expected the value 24, got 20"),
        ("1 * 4 * 5 / 10", 0.5, "got 2"),
        ("4 / (10 - 5 - 5) + 1", 0.0, "it divides by zero"),
        ("1 + 4", 0.0, "got 5"),
        ("1 + 4 + 5 + 10 + 4", 0.5, "got 1, 4, 4, 5, 10"),
        ("145 - 10 * 12.1", 0.0, "more than whole numbers"),
        ("4 ** 5 + 1 - 10", 0.0, "more than whole numbers"),
        ("True + 4 + 5 + 10", 0.0, "more than whole numbers"),
        ("__import__('os').getpid()", 0.0, "more than whole numbers"),
        ("(10 - 4) * (5 - 1", 0.0, "is not one expression"),
        ("first 10 - 4", 0.0, "is not one expression"),
        ("(" * 90 + "1" + ")" * 90, 0.0, "got 1"),
        ("10 + 4 + 5 + 1 = 24", 0.5, "expected the value 24, got 20"),
        ("10 + 4 + 5 + 1 = 20", 0.5, "expected the value 24, got 20"),
        ("10 + 4 = 14 + 5 = 19 + 5 = 24", 0.0, "got 4, 10"),
        ("10 + 4 + 5 + 1, which equals 24", 0.5, "expected the value 24, got 20"),
        ("1(4) + 5 + 10", 0.0, "more than whole numbers"),
        ("1; 4", 0.0, "is not one expression"),
        ("1" + "+1" * 500, 0.0, "too long"),
        ("", 0.0, "held no answer"),
        (None, 0.0, "held no answer"),
    ],
)
def test_a_wrong_answer_fails_and_hears_why(answer: str | None, score: float, says: str) -> None:
    feedback = check((1, 4, 5, 10), answer)
    assert feedback.verdict == "fail"
    assert feedback.score == score
    assert says in feedback.text


@given(st.text(max_size=60))
def test_any_text_is_judged(text: str) -> None:
    assert check((1, 4, 5, 10), text).verdict in ("pass", "fail")


def test_samples_agree_when_they_hold_the_same_expression() -> None:
    def observe(answer: str) -> tuple[str, ...]:
        return asyncio.run(ExpressionBehaviour().observe(Trajectory(answer)))

    assert observe("(10-4)*(5-1) = 24") == observe("(10 − 4) × (5 − 1)") == ("(10 - 4) * (5 - 1)",)
    assert observe("I do not know") == ()


def test_every_instance_is_solvable_and_known_by_its_numbers(sandbox: Sandbox) -> None:
    tasks = game24.load(SuiteOptions(), sandbox)
    solutions = game24.solutions(SuiteOptions())
    assert len(tasks) == len({task.id for task in tasks}) == 100
    for task in tasks:
        assert task.grader is not None
        assert asyncio.run(task.grader.check(Trajectory(solutions[task.id]))).verdict == "pass"
        used = [node.value for node in ast.walk(ast.parse(solutions[task.id])) if isinstance(node, ast.Constant)]
        assert task.id == f"game24/{'-'.join(map(str, sorted(used)))}"


def test_more_tasks_leave_the_first_ones_as_they_are(write: Write, sandbox: Sandbox) -> None:
    few = game24.load(SuiteOptions(write({"tasks": 5, "seed": 9})), sandbox)
    more = game24.load(SuiteOptions(write({"tasks": 20, "seed": 9}), limit=5), sandbox)
    other = game24.load(SuiteOptions(write({"tasks": 5, "seed": 8})), sandbox)
    assert [(task.id, task.digest) for task in few] == [(task.id, task.digest) for task in more]
    assert {task.id for task in few} != {task.id for task in other}


def test_a_models_answer_is_worked_through_the_reasoner(sandbox: Sandbox) -> None:
    (task,) = game24.load(SuiteOptions(limit=1), sandbox)
    solution = game24.solutions(SuiteOptions(limit=1))[task.id]
    reply = f"I try a few.\nAnswer: {solution} = 24"
    session = Session(task.problem, ScriptedModel.from_replies({"*": {"act": [reply]}}), actor_for(task), task.feedback)
    assert asyncio.run(session.attempt()).feedback.verdict == "pass"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"tasks": 0}', "'tasks' is 0; give a whole number from 1"),
        ('{"tasks": true}', "'tasks' is True"),
        ('{"task": 3}', "did you mean 'tasks'?"),
        ('{"tasks": 3}\n{"tasks": 4}', ":2: settings are one object"),
        ('{"tasks": ', "not JSON"),
        ('{"tasks": 500, "largest": 3}', "ask for fewer tasks, or larger numbers"),
    ],
)
def test_wrong_settings_are_named_with_their_file(write: Write, sandbox: Sandbox, content: str, says: str) -> None:
    path = write(content, name="settings.json")
    with pytest.raises(UsageError) as caught:
        game24.load(SuiteOptions(path), sandbox)
    assert str(path) in str(caught.value)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_settings_may_be_toml(tmp_path: Path, sandbox: Sandbox) -> None:
    path = tmp_path / "settings.toml"
    for mark in ("", "\ufeff"):
        path.write_text(f"{mark}tasks = 3\n")
        assert len(game24.load(SuiteOptions(path), sandbox)) == 3
    path.write_text("tasks = \n")
    with pytest.raises(UsageError, match=r"settings\.toml: .*line 1"):
        game24.load(SuiteOptions(path), sandbox)
    with pytest.raises(UsageError, match="no such file"):
        game24.load(SuiteOptions(tmp_path / "none.toml"), sandbox)


def test_feedback_is_grounded_and_oracle_only_by_name(sandbox: Sandbox) -> None:
    for asked, source in ((None, "grounded"), ("visible", "grounded"), ("oracle", "oracle")):
        (task,) = game24.load(SuiteOptions(limit=1, feedback=asked), sandbox)  # type: ignore[arg-type]
        assert task.feedback is not None
        assert task.feedback.source == source
    with pytest.raises(UsageError, match="--feedback generated"):
        game24.load(SuiteOptions(feedback="generated"), sandbox)
