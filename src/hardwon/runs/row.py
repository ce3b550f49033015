"""One row of results: a task in an arm, with what it took and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hardwon.errors import UsageError
from hardwon.session import Session
from hardwon.trial import NO_FEEDBACK, Feedback, Note, Source, Stop, Submission, Verdict

_BY_WEIGHT: tuple[Source, ...] = ("oracle", "generated", "grounded")
"""A row is labelled with the first of these that any of its trials rested on."""


@dataclass(frozen=True, slots=True)
class Point:
    """Having spent so much, the arm would hand in trial number `trial`, and the grader says `solved` of it.

    Spending is that of the whole arm on this task up to then, reflection and test generation included.
    """

    calls: int
    tokens: int
    cost_usd: float | None
    trial: int
    solved: bool | None


@dataclass(frozen=True, slots=True)
class BankUse:
    """The ids of the items that a task was shown, of those held back by chance, and of those that it taught."""

    recalled: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    induced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """`solved` is the grader's word (None: not graded), `verdict` and `score` the visible feedback on the submission.

    `feedback` is what the loop's feedback rested on; `graded_on` says whether the grader knew more than the loop.
    `trial_verdicts` and `trial_scores` list each trial's visible outcome. `cost_usd` is None where a price is unknown.
    `lessons_from_evidence` counts lessons that the guard replaced, `lessons_rejected` its objections.
    `calls_shared` and `tokens_shared` are the part of `calls` and of all tokens that another arm of the comparison had
    paid for. `curve` is what a smaller budget would have come to, in the order of spending (comparisons only).
    `votes` counts choices that rest on the model's own vote: ungrounded. `notes` is what a learning strategy tells
    later tasks; `trust` is the audit's word on the task's evaluator (None: not audited). `recalled` are the ids of the
    bank's items that the task was shown, `withheld` of those held back by chance, `induced` of those that it taught.
    """

    task_id: str
    arm: str
    seed: int
    solved: bool | None
    feedback: Source
    verdict: Verdict
    submission: str | None
    trials: int
    calls: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    cost_usd: float | None
    wall_s: float
    stop: Stop
    error: str | None
    score: float = 0.0
    graded_on: Literal["hidden", "visible", "nothing"] = "hidden"
    trial_verdicts: tuple[Verdict, ...] = ()
    trial_scores: tuple[float, ...] = ()
    lessons: int = 0
    lessons_from_evidence: int = 0
    lessons_rejected: int = 0
    generated_tests: int = 0
    tokens_by_role: dict[str, int] = field(default_factory=dict)
    calls_by_role: dict[str, int] = field(default_factory=dict)
    calls_shared: int = 0
    tokens_shared: int = 0
    curve: tuple[Point, ...] = ()
    votes: int = 0
    decisions: int = 0
    notes: tuple[Note, ...] = ()
    trust: float | None = None
    recalled: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    induced: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: object) -> Row:
        """Reads `as_json`; fields that it does not know are left out.

        Raises UsageError for a row that lacks a field or has another type in it: another version wrote it.
        """
        row = _known(cls, values)
        assert isinstance(values, Mapping)
        for name, types in _LISTS.items():
            row[name] = _listed(name, values.get(name, ()), types)
        for name in _COUNTS:
            counts = values.get(name, {})
            if not isinstance(counts, Mapping):
                raise _other(f"{name} holds {type(counts).__name__}")
            _listed(name, tuple(counts.values()), frozenset({int}))
            row[name] = dict(counts)
        row["curve"] = tuple(Point(**_known(Point, point)) for point in _items("curve", values.get("curve", ())))
        row["notes"] = tuple(Note(**_known(Note, note)) for note in _items("notes", values.get("notes", ())))
        return cls(**row)


_LISTS: dict[str, frozenset[type]] = {
    "trial_verdicts": frozenset({str}),
    "trial_scores": frozenset({int, float}),
    "recalled": frozenset({str}),
    "withheld": frozenset({str}),
    "induced": frozenset({str}),
}
_COUNTS = ("tokens_by_role", "calls_by_role")
_MOST = 1 << 63


def _known(cls: type, values: object) -> dict[str, Any]:
    """The values of a type's plain fields, each of the type that it is declared with. Raises UsageError."""
    if not isinstance(values, Mapping):
        raise _other(f"{type(values).__name__} is no object")
    found = {}
    for name, (types, needed) in _plain(cls).items():
        if name not in values:
            if needed:
                raise _other(f"{name} is missing")
            continue
        found[name] = value = values[name]
        if not _is_one(value, types):
            raise _other(f"{name} holds {type(value).__name__}")
    return found


def _listed(name: str, values: object, types: frozenset[type]) -> tuple[Any, ...]:
    found = _items(name, values)
    if not all(_is_one(value, types) for value in found):
        raise _other(f"{name} holds something else than {' or '.join(sorted(t.__name__ for t in types))}")
    return found


def _items(name: str, values: object) -> tuple[Any, ...]:
    if not isinstance(values, list | tuple):
        raise _other(f"{name} holds {type(values).__name__}")
    return tuple(values)


def _is_one(value: object, types: frozenset[type]) -> bool:
    """Whether a value is of one of the types itself, and a number that can be reckoned with."""
    if type(value) not in types:
        return False
    return isfinite(value) if type(value) is float else type(value) is not int or -_MOST < value < _MOST


@cache
def _plain(cls: type) -> dict[str, tuple[frozenset[type], bool]]:
    """Of each field that holds one plain value: the types it may have in JSON, and whether it must be there."""
    hints = get_type_hints(cls)
    return {
        one.name: (types, one.default is MISSING and one.default_factory is MISSING)
        for one in fields(cls)
        if (types := _types(hints[one.name])) <= {bool, int, float, str, NoneType}
    }


def _types(hint: Any) -> frozenset[type]:
    if get_origin(hint) is Literal:
        return frozenset({str})
    if get_origin(hint) is UnionType:
        return frozenset().union(*map(_types, get_args(hint)))
    return frozenset({int, float}) if hint is float else frozenset({hint})


def _other(fault: str) -> UsageError:
    return UsageError(f"a row of another version: {fault}; read it with the version that wrote it, or run it afresh")


def make_row(
    session: Session,
    arm: str,
    seed: int,
    *,
    submission: Submission | None,
    grade: Feedback | None,
    graded_on: Literal["hidden", "visible", "nothing"],
    error: str | None = None,
    curve: tuple[Point, ...] = (),
    trust: float | None = None,
    bank: BankUse = BankUse(),
) -> Row:
    """The row of a finished session, or of one that an error ended (then without submission or grade)."""
    trial = submission.trial if submission else None
    feedback = trial.feedback if trial else NO_FEEDBACK
    ledger = session.ledger
    sources = {t.feedback.source for t in session.trials}
    return Row(
        task_id=session.problem.id,
        arm=arm,
        seed=seed,
        solved=None if error is not None else solved(grade, submission),
        feedback=next((source for source in _BY_WEIGHT if source in sources), "none"),
        verdict=feedback.verdict,
        submission=trial.trajectory.output if trial else None,
        trials=len(session.trials),
        calls=ledger.calls,
        tokens_in=ledger.tokens_in,
        tokens_out=ledger.tokens_out,
        tokens_cached=ledger.tokens_cached,
        cost_usd=ledger.cost_usd,
        wall_s=round(ledger.seconds, 3),
        stop=submission.stop if submission else "error",
        error=error,
        score=feedback.score,
        graded_on=graded_on,
        trial_verdicts=tuple(t.feedback.verdict for t in session.trials),
        trial_scores=tuple(round(t.feedback.score, 4) for t in session.trials),
        lessons=len(session.lessons),
        lessons_from_evidence=sum(lesson.origin == "evidence" for lesson in session.lessons),
        lessons_rejected=sum(len(lesson.rejected) for lesson in session.lessons),
        generated_tests=sum(check.source == "generated" for check in feedback.checks),
        tokens_by_role=dict(ledger.tokens_by_role),
        calls_by_role=dict(ledger.calls_by_role),
        calls_shared=session.calls.shared,
        tokens_shared=session.calls.shared_tokens,
        curve=curve,
        votes=session.votes,
        decisions=session.decisions,
        notes=tuple(session.notes),
        trust=trust,
        recalled=bank.recalled,
        withheld=bank.withheld,
        induced=bank.induced,
    )


def solved(grade: Feedback | None, submission: Submission | None = None) -> bool | None:
    """The grader's word; nothing handed in is not solved; no grade, or a grade without evidence, is unknown."""
    if submission is not None and submission.trial is None:
        return False
    if grade is None or grade.verdict == "no_evidence":
        return None
    return grade.verdict == "pass"
