"""What an audit found out about one evaluator, and about one task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hardwon.evaluators.audit.attack import KINDS, Kind
from hardwon.rates import Rate
from hardwon.trial import Source


@dataclass(frozen=True, slots=True)
class Exam:
    """How one evaluator did.

    `attacks` counts those it was asked about; `wrong` and `passed_wrong` count, for each kind, the attacks that are
    known to be wrong and those of them that it passed (`false_accepts` names them); `right` counts the programs that
    are held for right and `false_rejects` names those of them that it failed. `survivors` are attacks that it passed
    and nobody refutes: mutants that may be harmless, or programs that may be right. `rivals` counts the trivial ones of
    those that must be wrong all the same, though it is not known which: they answer differently, so one at most is
    right. `flaky` names the programs of which it said different things in different runs. `accepts_solution` is False
    if it did not pass the known solution. `evidence` tells whether it ever decided anything, `model_only` whether it
    would need a model to.
    """

    source: Source
    attacks: int = 0
    wrong: dict[Kind, int] = field(default_factory=dict)
    passed_wrong: dict[Kind, int] = field(default_factory=dict)
    right: int = 0
    false_accepts: tuple[str, ...] = ()
    false_rejects: tuple[str, ...] = ()
    survivors: tuple[str, ...] = ()
    rivals: int = 0
    flaky: tuple[str, ...] = ()
    accepts_solution: bool = True
    evidence: bool = True
    model_only: bool = False

    @property
    def trust(self) -> float | None:
        """How far a pass of this evaluator can be believed, in 0..1; None where only a model could give evidence.

        0 if it gives no evidence, rejects the known solution, is flaky, or met nothing that is known to be wrong. Else

            trust = t · (s_1 + … + s_k) / k

        where s_i is the share of wrong programs that it does not pass, taken for each of the k kinds of attack by
        itself, so that the many mutants do not outweigh the few others, and t is that share for the trivial answers
        alone (`rivals` are wrong ones that passed). Early exits and objects that equal everything are stopped by the
        sandbox, whatever the tests say, and many mutants break down by themselves: they earn nothing for tests that
        pass any answer at all. An evaluator all of whose tests are shown is always passed by a table of the answers
        shown, and so stays below 1.
        """
        if self.model_only:
            return None
        kinds = [kind for kind in KINDS if self._wrong(kind)]
        if not self.evidence or not self.accepts_solution or self.flaky or not kinds:
            return 0.0
        refused = {kind: 1 - self._passed(kind) / self._wrong(kind) for kind in kinds}
        return refused.get("trivial", 1.0) * sum(refused.values()) / len(kinds)

    def _wrong(self, kind: Kind) -> int:
        return self.wrong.get(kind, 0) + (self.rivals if kind == "trivial" else 0)

    def _passed(self, kind: Kind) -> int:
        return self.passed_wrong.get(kind, 0) + (self.rivals if kind == "trivial" else 0)

    @property
    def accepts(self) -> Rate:
        """False accepts among the wrong attacks."""
        return Rate(sum(self.passed_wrong.values()), sum(self.wrong.values()))

    @property
    def rejects(self) -> Rate:
        """False rejects among the programs held for right."""
        return Rate(len(self.false_rejects), self.right)

    def as_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "trust": self.trust,
            "attacks": self.attacks,
            "wrong": self.accepts.of,
            "wrong_by_kind": {
                kind: {"wrong": self.wrong[kind], "passed": self.passed_wrong.get(kind, 0)}
                for kind in KINDS
                if self.wrong.get(kind)
            },
            "false_accepts": list(self.false_accepts),
            "right": self.right,
            "false_rejects": list(self.false_rejects),
            "survivors": list(self.survivors),
            "rivals": self.rivals,
            "flaky": list(self.flaky),
            "evidence": self.evidence,
        }


@dataclass(frozen=True, slots=True)
class TaskAudit:
    """What was found out about one task.

    `feedback` and `grader` are None where the task has none; they are the same object where both use the same tests
    (`same_tests`). `solution` says whether there was a known solution to make mutants of; `remarks` say what could not
    be done, or what is odd. `error` is the infrastructure's trouble, with which nothing was found out (law 8). `beyond`
    says that there is feedback, and that it has no tests which could be attacked: an answer's, a game's.
    """

    task_id: str
    feedback: Exam | None = None
    grader: Exam | None = None
    same_tests: bool = False
    solution: bool = False
    remarks: tuple[str, ...] = ()
    error: str | None = None
    beyond: bool = False

    @property
    def trust(self) -> float | None:
        """That of the feedback evaluator; 0 where there is none; None where it can not be known without a model."""
        if self.error is not None or self.beyond:
            return None
        return 0.0 if self.feedback is None else self.feedback.trust

    def as_json(self) -> dict[str, Any]:
        return {
            "task_id": self.task_id,
            "trust": self.trust,
            "solution": self.solution,
            "same_tests": self.same_tests,
            "feedback": self.feedback and self.feedback.as_json(),
            "grader": self.grader and self.grader.as_json(),
            "remarks": list(self.remarks),
            "error": self.error,
        }
