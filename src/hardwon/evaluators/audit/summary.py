"""Many tasks audited at once, and what it comes to in all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hardwon.errors import InfrastructureError
from hardwon.evaluators.audit.attack import KINDS
from hardwon.evaluators.audit.exam import audit_task
from hardwon.evaluators.audit.finding import Exam, TaskAudit
from hardwon.rates import Rate
from hardwon.task import Task


async def audit_all(
    tasks: Sequence[Task],
    solutions: Mapping[str, str],
    *,
    at_once: int = 4,
    reruns: int = 3,
    most_mutants: int = 20,
    done: Callable[[TaskAudit], None] = lambda _: None,
) -> list[TaskAudit]:
    """Each task's audit, in the order of `tasks`; `solutions` holds known ones by task id.

    `done` is told of each as it ends. Infrastructure trouble is that task's `error`, and no verdict.
    """
    free = asyncio.Semaphore(at_once)

    async def one(task: Task) -> TaskAudit:
        async with free:
            try:
                found = await audit_task(task, solutions.get(task.id), reruns=reruns, most_mutants=most_mutants)
            except InfrastructureError as error:
                found = TaskAudit(task.id, solution=task.id in solutions, error=str(error))
        done(found)
        return found

    working = [asyncio.create_task(one(task)) for task in tasks]
    try:
        return await asyncio.gather(*working)
    finally:
        for each in working:
            each.cancel()
        await asyncio.gather(*working, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class Total:
    """One kind of evaluator over all tasks that have it.

    `accepts` and `rejects` are false ones among wrong and among right programs, `flaky` counts tasks. `by_kind` holds
    the false accepts of each kind of attack.
    """

    tasks: int
    accepts: Rate
    rejects: Rate
    flaky: Rate
    survivors: int
    no_evidence: int
    by_kind: dict[str, Rate]

    def as_json(self) -> dict[str, Any]:
        return {
            "tasks": self.tasks,
            "false_accepts": self.accepts.as_json(),
            "false_rejects": self.rejects.as_json(),
            "flaky": self.flaky.as_json(),
            "survivors": self.survivors,
            "no_evidence": self.no_evidence,
            "false_accepts_by_kind": {kind: rate.as_json() for kind, rate in self.by_kind.items()},
        }


@dataclass(frozen=True, slots=True)
class AuditSummary:
    """All tasks, the totals of feedback and graders, and the mean trust (None where no task's is known)."""

    tasks: tuple[TaskAudit, ...]
    feedback: Total
    grader: Total
    trust: float | None

    @property
    def errors(self) -> int:
        """Tasks of which trouble kept everything back."""
        return sum(task.error is not None for task in self.tasks)

    def as_json(self) -> dict[str, Any]:
        return {
            "trust": self.trust,
            "feedback": self.feedback.as_json(),
            "grader": self.grader.as_json(),
            "errors": self.errors,
            "tasks": [task.as_json() for task in self.tasks],
        }


def summarise_audit(audits: Sequence[TaskAudit]) -> AuditSummary:
    """The totals of what was found out."""
    trusts = [audit.trust for audit in audits if audit.trust is not None]
    return AuditSummary(
        tuple(audits),
        _total([audit.feedback for audit in audits if audit.feedback is not None]),
        _total([audit.grader for audit in audits if audit.grader is not None]),
        sum(trusts) / len(trusts) if trusts else None,
    )


def _total(exams: Sequence[Exam]) -> Total:
    by_kind = {
        kind: Rate(sum(e.passed_wrong.get(kind, 0) for e in exams), sum(e.wrong.get(kind, 0) for e in exams))
        for kind in KINDS
    }
    return Total(
        len(exams),
        Rate(sum(e.accepts.hits for e in exams), sum(e.accepts.of for e in exams)),
        Rate(sum(e.rejects.hits for e in exams), sum(e.rejects.of for e in exams)),
        Rate(sum(bool(e.flaky) for e in exams), len(exams)),
        sum(len(e.survivors) for e in exams),
        sum(not e.evidence for e in exams),
        {kind: rate for kind, rate in by_kind.items() if rate.of},
    )
