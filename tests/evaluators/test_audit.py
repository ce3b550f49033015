"""The evaluators' exam, with real tests behind the real wall."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from hardwon.evaluators import FunctionCheck, GeneratedTests, StdioTests, UnitTests
from hardwon.evaluators.audit import Exam, TaskAudit, audit_all, audit_task, summarise_audit
from hardwon.evaluators.oracle_answer import OracleAnswer
from hardwon.sandbox.protocol import FunctionTests, Sandbox, StdioCase
from hardwon.suites import starter
from hardwon.suites.protocol import SuiteOptions
from hardwon.task import Evaluator, Problem, Task

SOLUTION = "def larger(a, b):\n    if a > b:\n        return a\n    return b\n"
HIDDEN = "assert larger(3, 1) == 3\nassert larger(1, 3) == 3\nassert larger(-4, -2) == -2\nassert larger(7, 7) == 7\n"

Audit = Callable[..., TaskAudit]


@pytest.fixture
def audit(run: Callable[..., Any], sandbox: Sandbox) -> Audit:
    """Audits a task of `larger` with the tests given as source, or with whole evaluators."""

    def audited(
        feedback: str | Evaluator | None = HIDDEN,
        grader: str | Evaluator | None = HIDDEN,
        solution: str | None = SOLUTION,
        shown: tuple[str, ...] = (),
        graded_on: Any = "hidden",
        **options: int,
    ) -> TaskAudit:
        def evaluator(tests: str | Evaluator | None) -> Evaluator | None:
            return UnitTests(FunctionTests("larger", tests), sandbox) if isinstance(tests, str) else tests

        problem = Problem("t", "Write larger(a, b).", "function", "larger", shown)
        task = Task(problem, evaluator(feedback), evaluator(grader), "d", graded_on)
        return run(audit_task(task, solution, **options))

    return audited


def feedback_of(found: TaskAudit) -> Exam:
    assert found.feedback is not None
    return found.feedback


def grader_of(found: TaskAudit) -> Exam:
    assert found.grader is not None
    return found.grader


def test_a_single_visible_test_lets_wrong_programs_through_and_the_report_names_them(audit: Audit) -> None:
    test = "assert larger(1, 0) == 1"
    weak = feedback_of(audit(test, shown=(test,)))
    assert {"trivial: returns 1", "trivial: returns True", "trivial: returns its first argument"} <= set(
        weak.false_accepts
    )
    assert "hard-coded: a table of the one example shown" in weak.false_accepts
    assert any(name.startswith("mutant: ") for name in weak.false_accepts)
    assert not any(name.startswith(("always-equal", "early-exit")) for name in weak.false_accepts)
    strong = audit()
    assert (grader_of(strong).false_accepts, strong.trust) == ((), 1.0)
    assert weak.trust is not None
    assert 0 < weak.trust < 0.8


def test_a_test_that_decides_by_chance_is_flaky_and_worth_no_trust(audit: Audit) -> None:
    chance = f"import random\n{HIDDEN}assert larger(0, 0) == random.randint(0, 1)"
    found = audit(chance, reruns=40)
    assert feedback_of(found).flaky == ("the known solution",)
    assert (found.trust, grader_of(found).flaky) == (0.0, ())


def test_an_evaluator_that_changes_its_mind_is_found_out_by_three_runs(audit: Audit) -> None:
    runs = count()
    found = audit(FunctionCheck(lambda program: next(runs) % 2 == 0), solution=None)
    assert feedback_of(found).flaky == ("returns None",)
    assert found.trust == 0.0


def test_an_evaluator_that_refuses_the_known_solution_is_not_trusted(audit: Audit) -> None:
    found = audit(f"{HIDDEN}assert larger(1, 2) == 1")
    assert feedback_of(found).false_rejects[0] == "the known solution"
    assert (found.trust, grader_of(found).false_rejects) == (0.0, ())


def test_a_check_that_asks_for_more_than_the_task_shows_false_rejects(audit: Audit, sandbox: Sandbox) -> None:
    """Programs that the grader passes are right, whatever a stricter feedback says of their text."""
    found = feedback_of(audit(FunctionCheck(lambda program: "a > b" in program)))
    assert [name for name in found.false_rejects if "a > b -> a >= b" in name]
    assert "the known solution" not in found.false_rejects


def test_a_grader_that_passes_what_visible_tests_refute_is_charged_with_it(audit: Audit) -> None:
    found = audit(HIDDEN, "assert larger(3, 1) == 3")
    assert any(name.startswith("mutant: ") for name in grader_of(found).false_accepts)
    assert feedback_of(found).false_rejects == ()


def test_where_one_evaluator_is_both_survivors_are_not_called_wrong(audit: Audit) -> None:
    found = audit(HIDDEN, HIDDEN, graded_on="visible")
    assert found.same_tests
    assert found.feedback is found.grader
    assert feedback_of(found).survivors == ("mutant: comparison, line 2: a > b -> a >= b",)
    assert feedback_of(found).false_accepts == ()
    weak = feedback_of(audit("assert larger(1, 0) == 1", None, graded_on="visible"))
    assert "trivial: returns 1" in weak.false_accepts
    assert any(name.startswith("mutant: ") for name in weak.survivors)


def test_a_trivial_answer_that_is_right_is_no_false_accept(audit: Audit) -> None:
    constant = "def larger(a, b):\n    return a == a\n"
    found = audit("assert larger(1, 2) is True", None, constant, graded_on="visible")
    assert feedback_of(found).false_accepts == ()
    assert "as right as the known solution: returns True" in found.remarks


def test_tests_that_show_nothing_are_worth_no_trust(audit: Audit) -> None:
    found = audit("larger(1, 2)")
    assert (feedback_of(found).evidence, found.trust) == (False, 0.0)
    assert audit(None).trust == 0.0


def test_the_trust_of_an_answer_that_decides_is_unknown_and_without_feedback_there_is_none(
    run: Callable[..., Any],
) -> None:
    gold = OracleAnswer(("5",), "number")
    for feedback, trust in ((gold, None), (None, 0.0)):
        task = Task(Problem("q/1", "What is 2 + 3?", "question"), feedback, gold, "d")
        found = run(audit_task(task))
        assert (found.trust, found.remarks) == (trust, ("its answer decides: there are no tests to attack",))


def test_the_trust_of_tests_that_a_model_would_write_is_unknown(audit: Audit, sandbox: Sandbox) -> None:
    problem = Problem("t", "Write larger(a, b).", "function", "larger")
    found = audit(GeneratedTests(problem, sandbox))
    assert found.trust is None
    assert "tests that a model would write are not examined" in found.remarks
    visible = UnitTests(FunctionTests("larger", HIDDEN), sandbox)
    assert audit(GeneratedTests(problem, sandbox, visible)).trust == 1.0


def test_without_a_known_solution_what_can_be_done_is_done_and_said(audit: Audit) -> None:
    found = audit("assert larger(1, 0) == 1", solution=None)
    assert feedback_of(found).wrong.keys() == {"trivial", "always-equal", "early-exit"}
    assert "trivial: returns 1" in feedback_of(found).false_accepts
    assert any("no known solution" in remark for remark in found.remarks)


def test_a_known_solution_that_fails_the_grader_is_told_and_not_built_on(audit: Audit) -> None:
    found = audit(solution="def larger(a, b):\n    return b\n")
    assert "mutant" not in feedback_of(found).wrong
    assert any("does not pass" in remark for remark in found.remarks)


def test_programs_that_print_are_attacked_as_well(run: Callable[..., Any], sandbox: Sandbox) -> None:
    cases = (StdioCase("1 2\n", "3"), StdioCase("2 2\n", "4"))
    shown = tuple(f"input:\n{case.stdin}output:\n{case.expected}" for case in cases)
    task = Task(Problem("p", "Add.", "stdio", None, shown), StdioTests(cases, sandbox), None, "d", "visible")
    found = run(audit_task(task, "print(sum(map(int, input().split())))"))
    assert feedback_of(found).false_accepts == ("hard-coded: a table of the 2 examples shown",)
    assert feedback_of(found).wrong["early-exit"] == 4
    same = StdioTests((StdioCase("a b\n", "a b"),), sandbox)
    echo = run(audit_task(Task(Problem("e", "Say it.", "stdio"), same, None, "d", "visible"), "print(input())"))
    assert feedback_of(echo).false_accepts == ()


def test_trouble_with_one_task_is_an_error_and_no_verdict(run: Callable[..., Any], sandbox: Sandbox) -> None:
    def broken(program: str) -> bool:
        raise OSError("no disk")

    fine = UnitTests(FunctionTests("larger", HIDDEN), sandbox)
    problem = Problem("bad", "Write larger.", "function", "larger")
    tasks = [Task(problem, FunctionCheck(broken), fine, "d"), Task(Problem("good", "", "text"), None, None, "d")]
    told: list[str] = []
    bad, good = run(audit_all(tasks, {}, done=lambda found: told.append(found.task_id)))
    assert bad.error is not None
    assert "no disk" in bad.error
    assert (bad.trust, good.error, sorted(told)) == (None, None, ["bad", "good"])
    assert summarise_audit([bad, good]).errors == 1


def test_each_kind_of_attack_weighs_the_same_in_the_trust() -> None:
    exam = Exam("grounded", wrong={"hard-coded": 2, "mutant": 20}, passed_wrong={"hard-coded": 1, "mutant": 5})
    assert exam.trust == pytest.approx((1 / 2 + 3 / 4) / 2)
    assert Exam("grounded").trust == 0.0


def test_the_trust_falls_with_each_trivial_answer_that_passes() -> None:
    def trust(passed: int) -> float | None:
        return Exam("grounded", wrong={"trivial": 10, "early-exit": 4}, passed_wrong={"trivial": passed}).trust

    assert [trust(passed) for passed in (0, 1, 10)] == pytest.approx([1.0, 0.9 * 0.95, 0.0])


NEVER_FAIL = "outcome = larger(1, 0)\nassert outcome is outcome"


@pytest.mark.parametrize("grader", [HIDDEN, None])
@pytest.mark.parametrize("solution", [SOLUTION, None])
def test_tests_that_never_fail_are_worth_no_trust(audit: Audit, grader: str | None, solution: str | None) -> None:
    """What the sandbox stops by itself, whatever the tests say, earns them nothing."""
    found = audit(NEVER_FAIL, grader, solution, graded_on="hidden" if grader else "visible")
    exam = feedback_of(found)
    assert exam.evidence
    assert exam.wrong["early-exit"] > exam.passed_wrong.get("early-exit", 0)
    assert found.trust == 0.0


def test_where_no_answer_is_known_those_that_differ_can_not_all_be_right(audit: Audit) -> None:
    found = audit(NEVER_FAIL, None, None, graded_on="visible")
    assert feedback_of(found).rivals == 7  # None, truth, nought, -1 and four empty ones, of which one may be right
    assert "constant answers that differ from each other pass alike" in found.remarks
    one = audit("assert larger(1, 0) == 1", None, None, graded_on="visible")
    assert (feedback_of(one).rivals, len(feedback_of(one).survivors)) == (0, 3)  # 1, True and the first argument


def test_no_hollow_program_passes_a_hidden_grader_of_the_bundled_suite(run: Callable[..., Any]) -> None:
    from hardwon.sandbox.choose import open_sandbox

    async def audited() -> list[TaskAudit]:
        opened = open_sandbox(workers=2)
        try:
            tasks = starter.load(SuiteOptions(), opened)
            return await audit_all(tasks, starter.solutions(SuiteOptions()), reruns=1, most_mutants=3)
        finally:
            await opened.close()

    total = summarise_audit(run(audited())).grader
    assert total.tasks == 30
    assert total.rejects.hits == 0
    hollow = ("trivial", "always-equal", "early-exit", "hard-coded")
    assert [total.by_kind[kind].hits for kind in hollow] == [0, 0, 0, 0]
    assert all(total.by_kind[kind].of >= 25 for kind in hollow)
