"""What an audit found, as a table for reading and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from hardwon.cli.plain import one_line, printable
from hardwon.evaluators.audit import AuditSummary, Exam, TaskAudit
from hardwon.rates import Rate

_WORST, _NAMED = 5, 3
_WIDTH = 80
_NAME = 31


def as_json(title: Mapping[str, str], summary: AuditSummary) -> str:
    """Everything that was found."""
    return json.dumps({**title, **summary.as_json()}, indent=2, ensure_ascii=False)


def as_table(title: Mapping[str, str], summary: AuditSummary) -> str:
    """At most 80 columns: a line for each task, the totals, and what passed on the worst tasks."""
    return "\n".join(
        [
            one_line(f"{title['suite']} · {title['feedback']} feedback", _WIDTH),
            "",
            *_tasks(summary.tasks),
            "",
            *_totals(summary),
            *_by_kind(summary),
            *_worst(summary.tasks),
            *_notes(summary.tasks),
        ]
    )


def _tasks(audits: Sequence[TaskAudit]) -> list[str]:
    head = f"{'':{_NAME}}  {'':5}  {'feedback':^26}  {'grader':^9}"
    names = f"{'task':{_NAME}}  trust  {'let through':>11} {'refused':>8} {'flaky':>5}  {'let thr.':>9}"
    return [head.rstrip(), names, *map(_task, audits)]


def _task(audit: TaskAudit) -> str:
    name = one_line(audit.task_id, _NAME)
    if audit.error is not None:
        return f"{name:{_NAME}}  {one_line('error: ' + audit.error, _WIDTH - _NAME - 2)}"
    feedback = audit.feedback
    if feedback is None:
        seen = f"{'none':>11} {'':>8} {'':>5}"
    elif not feedback.evidence:
        seen = f"{'no evidence':>11} {'':>8} {'':>5}"
    else:
        flaky = "yes" if feedback.flaky else "no"
        seen = f"{_of(feedback.accepts):>11} {_of(feedback.rejects):>8} {flaky:>5}"
    grader = "same" if audit.same_tests else "none" if audit.grader is None else _of(audit.grader.accepts)
    return f"{name:{_NAME}}  {_share(audit.trust):>5}  {seen}  {grader:>9}"


def _totals(summary: AuditSummary) -> list[str]:
    feedback, grader = summary.feedback, summary.grader
    rows = [
        ("", "feedback", "grader"),
        ("tasks", str(feedback.tasks), str(grader.tasks)),
        ("wrong, let through", _rate(feedback.accepts), _rate(grader.accepts)),
        ("right, refused", _rate(feedback.rejects), _rate(grader.rejects)),
        ("flaky tasks", _rate(feedback.flaky), _rate(grader.flaky)),
        ("survivors", str(feedback.survivors), str(grader.survivors)),
        ("without evidence", str(feedback.no_evidence), str(grader.no_evidence)),
        ("mean trust", _share(summary.trust), ""),
    ]
    return [f"{label:18}  {left:30}{right}".rstrip() for label, left, right in rows]


def _by_kind(summary: AuditSummary) -> list[str]:
    kinds = dict.fromkeys([*summary.feedback.by_kind, *summary.grader.by_kind])
    none = Rate(0, 0)
    return [
        f"  {kind:16}  {_of(summary.feedback.by_kind.get(kind, none)):30}{_of(summary.grader.by_kind.get(kind, none))}"
        for kind in kinds
    ]


def _worst(audits: Sequence[TaskAudit]) -> list[str]:
    """What passed, or was wrongly refused, on the tasks of the least trust and on those whose grader is fooled."""
    known = [a for a in audits if a.feedback is not None and a.trust is not None and a.trust < 1]
    known.sort(key=lambda audit: audit.trust or 0.0)
    lines = ["", "least trusted"] if known else []
    for audit in known[:_WORST]:
        assert audit.feedback is not None
        lines += [f"{_share(audit.trust):>5}  {one_line(audit.task_id, 70)}", *_why(audit.feedback)]
    fooled = [a for a in audits if a.grader is not None and not a.same_tests and a.grader.accepts.hits]
    lines += ["", "graders that let wrong programs through"] if fooled else []
    for audit in sorted(fooled, key=lambda a: -(a.grader.accepts.share or 0.0) if a.grader else 0.0)[:_WORST]:
        assert audit.grader is not None
        lines += [f"{'':5}  {one_line(audit.task_id, 70)}", *_why(audit.grader)]
    return lines


def _why(exam: Exam) -> list[str]:
    said = ["gives no evidence"] if not exam.evidence else []
    said += [f"flaky on {name}" for name in exam.flaky]
    said += [f"refuses {name}" for name in exam.false_rejects[:_NAMED]]
    said += [f"passes {name}" for name in exam.false_accepts[:_NAMED]]
    more = max(len(exam.false_rejects) - _NAMED, 0) + max(len(exam.false_accepts) - _NAMED, 0)
    return [f"       {printable(text, _WIDTH - 7)}" for text in said] + ([f"       and {more} more"] if more else [])


def _notes(audits: Sequence[TaskAudit]) -> list[str]:
    """Each remark with the number of tasks that it is about."""
    counted: dict[str, int] = {}
    for audit in audits:
        for remark in audit.remarks:
            counted[remark] = counted.get(remark, 0) + 1
    return ["", *(f"{count} of {len(audits)}: {one_line(text)}" for text, count in counted.items())] if counted else []


def _rate(rate: Rate) -> str:
    if rate.share is None:
        return "-"
    low, high = rate.interval
    return f"{_of(rate)} = {rate.share:.1%} ({100 * low:.1f}-{100 * high:.1f})"


def _of(rate: Rate) -> str:
    return f"{rate.hits} of {rate.of}" if rate.of else "-"


def _share(share: float | None) -> str:
    return "?" if share is None else f"{share:.2f}"
