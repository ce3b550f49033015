"""The evaluators of one task, ready to be examined: which there are, how fast, how steady."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hardwon.evaluators.generated import GeneratedTests
from hardwon.evaluators.stdio import StdioTests
from hardwon.evaluators.unit import UnitTests
from hardwon.sandbox.protocol import Limits
from hardwon.task import Evaluator, Task
from hardwon.trial import Feedback, Trajectory, Verdict

_LEAST_SECONDS, _LEAST_TOTAL, _SLOWER = 1.0, 3.0, 20.0


@dataclass(frozen=True, slots=True)
class Panel:
    """`feedback` is what the loop may use, `judge` what decides: the grader, or the feedback where it is the same."""

    feedback: Evaluator | None
    judge: Evaluator | None
    same: bool

    @property
    def evaluators(self) -> tuple[Evaluator, ...]:
        """Each once, the judge last."""
        pair = (None if self.same else self.feedback, self.judge)
        return tuple(evaluator for evaluator in pair if evaluator is not None)


def panel_of(task: Task) -> Panel:
    """The evaluators of a task; those that use the same tests are one."""
    feedback, grader = task.feedback, task.grader
    if feedback is not None and (feedback.source == "oracle" or task.graded_on == "visible" or grader is None):
        return Panel(feedback, feedback, True)
    return Panel(feedback, grader, False)


async def rerun(evaluator: Evaluator, program: str, times: int) -> list[Feedback]:
    """What the evaluator says of one program, several times. Raises InfrastructureError."""
    return [await evaluator.check(Trajectory(program)) for _ in range(times)]


def verdicts(feedback: Sequence[Feedback]) -> set[Verdict]:
    """The different verdicts; more than one of the same program is flaky."""
    return {each.verdict for each in feedback}


def given_tests(evaluator: Evaluator) -> UnitTests | StdioTests | None:
    """The fixed tests behind an evaluator, if that is how it judges without a model."""
    if isinstance(evaluator, GeneratedTests):
        return None if evaluator.visible is None else given_tests(evaluator.visible)
    return evaluator if isinstance(evaluator, UnitTests | StdioTests) else None


def hurried(evaluator: Evaluator, known: Sequence[Feedback]) -> Evaluator:
    """The same evaluator with limits of time that leave a known solution 20 times what it took, one second at least.

    Many mutants never end. One that is so much slower is as wrong to the exam as to the usual limits.
    """
    seconds = [check.seconds for feedback in known for check in feedback.checks]
    if isinstance(evaluator, GeneratedTests):
        visible = None if evaluator.visible is None else hurried(evaluator.visible, known)
        return replace(evaluator, visible=visible)
    if not seconds or not isinstance(evaluator, UnitTests | StdioTests):
        return evaluator
    each, total = max(_LEAST_SECONDS, _SLOWER * max(seconds)), max(_LEAST_TOTAL, _SLOWER * sum(seconds) / len(known))
    return replace(evaluator, limits=_at_most(evaluator.limits, each, total))


def _at_most(limits: Limits, each: float, total: float) -> Limits:
    return replace(limits, test_seconds=min(limits.test_seconds, each), total_seconds=min(limits.total_seconds, total))


def timed_out(evaluator: Evaluator, feedback: Feedback) -> bool:
    """Whether a program failed because it took longer than the evaluator's limit."""
    tests = given_tests(evaluator)
    return tests is not None and any(check.seconds >= tests.limits.test_seconds for check in feedback.failing)
