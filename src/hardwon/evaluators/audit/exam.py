"""The exam of one task's evaluators: attacked, compared with each other, and marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hardwon.evaluators.audit.attack import Attack, answers
from hardwon.evaluators.audit.finding import Exam, TaskAudit
from hardwon.evaluators.audit.hardcoded import hard_coded
from hardwon.evaluators.audit.hollow import hollow_attacks
from hardwon.evaluators.audit.likeness import alike
from hardwon.evaluators.audit.mutants import mutants
from hardwon.evaluators.audit.panel import Panel, given_tests, hurried, panel_of, rerun, timed_out, verdicts
from hardwon.task import Evaluator, Task
from hardwon.trial import Feedback, Trajectory, Verdict

KNOWN = "the known solution"


@dataclass(frozen=True, slots=True)
class _Mark:
    """One attack: what each evaluator of the panel said (None: not asked), and whether it is wrong (None: unknown)."""

    attack: Attack
    said: tuple[Verdict | None, ...]
    wrong: bool | None


async def audit_task(task: Task, solution: str | None = None, *, reruns: int = 3, most_mutants: int = 20) -> TaskAudit:
    """Attacks the task's feedback evaluator and its grader, without a model, and says what they let through.

    An attack is wrong if the grader fails it. One that does not try to solve the task is wrong as well if the grader
    passes it, unless `solution`, a known one, does no more than it does. A mutant is wrong as well if visible tests
    that pass `solution` fail it; one that nobody fails is a survivor and may be a harmless change. `solution` and one
    attack are checked `reruns` times: an evaluator that changes its mind is flaky. Raises InfrastructureError.
    """
    if task.problem.kind not in ("function", "stdio"):
        told = ("its answer decides: there are no tests to attack",)
        return TaskAudit(task.id, remarks=told, beyond=task.feedback is not None)
    panel = panel_of(task)
    evaluators = panel.evaluators
    if not evaluators:
        return TaskAudit(task.id, remarks=("there is no evaluator",))
    known = [await rerun(each, solution, reruns) if solution is not None else [] for each in evaluators]
    accepted = [verdicts(each) == {"pass"} for each in known]
    hollow = hollow_attacks(task.problem)
    again = [await rerun(each, hollow[0].program, reruns) for each in evaluators]
    made = mutants(solution, most_mutants) if solution is not None and accepted[-1] else ()
    quick = [hurried(each, runs) for each, runs in zip(evaluators, known, strict=True)]
    marks = [
        await _mark(attack, quick, accepted, solution if accepted[-1] else None)
        for attack in (*hollow, *hard_coded(task.problem), *made)
    ]
    exams = []
    for place, evaluator in enumerate(evaluators):
        flaky = [name for name, runs in ((KNOWN, known), (hollow[0].name, again)) if len(verdicts(runs[place])) > 1]
        exams.append(_exam(evaluator, place, marks, known, flaky))
    return TaskAudit(
        task.id,
        feedback=exams[0] if panel.feedback is not None else None,
        grader=exams[-1] if panel.judge is not None else None,
        same_tests=panel.same,
        solution=solution is not None,
        remarks=_remarks(panel, solution, accepted[-1], bool(made), marks, exams[-1].rivals),
    )


async def _mark(
    attack: Attack, evaluators: Sequence[Evaluator], accepted: Sequence[bool], solution: str | None
) -> _Mark:
    """Asks the evaluators in turn. A program that took too long already is wrong, and not waited for again."""
    said: list[Verdict | None] = [None] * len(evaluators)
    wrong: bool | None = None
    for place, evaluator in enumerate(evaluators):
        feedback = await evaluator.check(Trajectory(attack.program))
        said[place] = feedback.verdict
        judge = place == len(evaluators) - 1
        refuted = accepted[place] and given_tests(evaluator) is not None
        if feedback.verdict == "fail" and (judge or (attack.kind == "mutant" and refuted)):
            wrong = True
        if solution is not None and not judge and accepted[place] and timed_out(evaluator, feedback):
            return _Mark(attack, tuple(said), True)
    if wrong is None and attack.kind != "mutant":
        wrong = await _is_wrong(attack, said[-1], evaluators[-1], solution)
    return _Mark(attack, tuple(said), wrong)


async def _is_wrong(attack: Attack, verdict: Verdict | None, judge: Evaluator, solution: str | None) -> bool | None:
    """Whether an attack that the judge did not fail is wrong all the same; None if that can not be known."""
    if verdict != "pass":
        return None
    if attack.gives is None:
        return True
    tests = given_tests(judge)
    if solution is None or tests is None:
        return None
    return not await alike(solution, attack, tests)


def _exam(
    evaluator: Evaluator,
    place: int,
    marks: Sequence[_Mark],
    known: Sequence[Sequence[Feedback]],
    flaky: Sequence[str],
) -> Exam:
    """The marks of the evaluator at `place` of the panel; the last place is the judge's."""
    asked = [mark for mark in marks if mark.said[place] is not None]
    wrong = [mark for mark in asked if mark.wrong]
    passed = [mark for mark in wrong if mark.said[place] == "pass"]
    survived = [mark for mark in asked if mark.wrong is None and mark.said[place] == "pass"]
    judge = place == len(known) - 1
    right: list[tuple[str, bool]] = []
    if known[place] and (judge or verdicts(known[-1]) == {"pass"}):
        right.append((KNOWN, "fail" in verdicts(known[place])))
    if not judge:
        right += [
            (mark.attack.name, mark.said[place] == "fail")
            for mark in asked
            if mark.said[-1] == "pass" and (mark.wrong is False or (mark.attack.kind == "mutant" and not mark.wrong))
        ]
    said = {mark.said[place] for mark in asked} | verdicts(known[place])
    evidence = said != {"no_evidence"}
    return Exam(
        source=evaluator.source,
        attacks=len(asked),
        wrong=dict(Counter(mark.attack.kind for mark in wrong)),
        passed_wrong=dict(Counter(mark.attack.kind for mark in passed)),
        right=len(right),
        false_accepts=tuple(f"{mark.attack.kind}: {mark.attack.name}" for mark in passed),
        false_rejects=tuple(name for name, failed in right if failed),
        survivors=tuple(f"{mark.attack.kind}: {mark.attack.name}" for mark in survived),
        rivals=max(0, answers([mark.attack for mark in survived]) - 1),
        flaky=tuple(flaky),
        accepts_solution=not known[place] or verdicts(known[place]) == {"pass"},
        evidence=evidence,
        model_only=not evidence and evaluator.source == "generated",
    )


def _remarks(
    panel: Panel, solution: str | None, accepted: bool, mutated: bool, marks: Sequence[_Mark], rivals: int
) -> tuple[str, ...]:
    remarks = []
    if panel.feedback is None:
        remarks.append("no feedback evaluator: there is nothing that a loop could check with")
    elif panel.feedback.source == "generated":
        remarks.append("tests that a model would write are not examined")
    if panel.same:
        remarks.append("feedback and grader use the same tests")
    if solution is None:
        remarks.append("no known solution: no mutants, and false rejects can not be seen")
    elif not accepted:
        remarks.append("the known solution does not pass: it or the tests are wrong; no mutants of it")
    elif not mutated:
        remarks.append("no mutants could be made of the known solution")
    if rivals:
        remarks.append("constant answers that differ from each other pass alike")
    remarks += [f"as right as the known solution: {mark.attack.name}" for mark in marks if mark.wrong is False]
    return tuple(remarks)
