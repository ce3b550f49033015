"""A run's report as text: the same facts as a table for reading, Markdown for pasting, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hardwon.runs.report_exits import Exits
from hardwon.runs.report_fold import fold, pairs
from hardwon.runs.summary import Summary

Facts = list[tuple[str, list[str]]]
"""Lines of a table: what is measured, then its value in each arm."""


def as_table(
    config: Mapping[str, Any], summaries: Sequence[Summary], exits: Sequence[Exits] = (), width: int | None = None
) -> str:
    """Plain text, one fact a line, in lines of at most `width` columns (None: as long as they are)."""
    found = facts(summaries, exits)
    lines = _beside(summaries, found)
    if width is not None and max(map(len, lines), default=0) > width:
        lines = _below_each_other(summaries, found, width)
    return "\n".join([*fold(title(config), width), "", *lines, *_below(summaries, width)])


def as_markdown(config: Mapping[str, Any], summaries: Sequence[Summary], exits: Sequence[Exits] = ()) -> str:
    """A Markdown table, one fact a row."""
    lines = [f"### {_cell(title(config))}", "", f"| | {' | '.join(_cell(s.arm) for s in summaries)} |"]
    lines.append(f"| --- |{' --- |' * len(summaries)}")
    lines += [f"| {label} | {' | '.join(map(_cell, values))} |" for label, values in facts(summaries, exits)]
    return "\n".join([*lines, *_below(summaries, None)])


def as_json(config: Mapping[str, Any], summaries: Sequence[Summary], exits: Sequence[Exits] = ()) -> str:
    """Everything the other forms show, and the settings."""
    ended = {each.arm: each.as_json() for each in exits}
    arms = [summary.as_json() | ended.get(summary.arm, {}) for summary in summaries]
    return json.dumps({"settings": config.get("settings", {}), "arms": arms}, indent=2, ensure_ascii=False)


def _beside(summaries: Sequence[Summary], found: Facts) -> list[str]:
    """The facts with a column for each arm."""
    if len(summaries) > 1:
        found = [("", [s.arm for s in summaries]), *found]
    label_width = max((len(label) for label, _ in found), default=0)
    widths = [max(len(values[i]) for _, values in found) for i in range(len(summaries))]
    lines = []
    for label, values in found:
        cells = "  ".join(value.ljust(width) for value, width in zip(values, widths, strict=True))
        lines.append(f"{label.ljust(label_width)}  {cells}".rstrip())
    return lines


def _below_each_other(summaries: Sequence[Summary], found: Facts, width: int) -> list[str]:
    """The facts of one arm after those of the other."""
    blocks = (pairs([(label, values[i]) for label, values in found], width) for i in range(len(summaries)))
    return [line for n, block in enumerate(blocks) for line in ([""] * (n > 0) + block)]


def title(config: Mapping[str, Any]) -> str:
    """The run in a few words."""
    settings = config.get("settings", {})
    told = f"{settings.get('suite', '?')} · {settings.get('model', '?')} · seed {settings.get('seed', '?')}"
    return " ".join(told.split())


def facts(summaries: Sequence[Summary], exits: Sequence[Exits] = ()) -> Facts:
    """What was measured, a line each; `exits` of the arms of a batch over repositories."""
    lines: Facts = [
        ("strategy", [s.arm + (" (oracle feedback)" if s.oracle else "") for s in summaries]),
        ("solved", [f"{s.solved} of {s.graded} = {s.rate:.1%}" for s in summaries]),
        ("95 % interval", [f"{s.interval[0]:.1%} to {s.interval[1]:.1%}" for s in summaries]),
        ("feedback", [_listed(s.feedback) for s in summaries]),
        ("trials a task", [f"{s.trials:.2f}" for s in summaries]),
        ("stopped by", [_listed(s.stops) for s in summaries]),
        ("tokens in, out", [f"{s.tokens_in:,} in, {s.tokens_out:,} out" for s in summaries]),
        ("tokens by role", [_listed(s.tokens_by_role) for s in summaries]),
        ("tokens per solved task", [_number(s.tokens_per_solved) for s in summaries]),
        ("cost", [_dollars(s.cost_usd) for s in summaries]),
        ("cost per solved task", [_dollars(s.cost_per_solved_usd) if s.solved else "-" for s in summaries]),
        ("time, all tasks", [f"{s.wall_s:,.1f} s" for s in summaries]),
    ]
    if any(s.retried for s in summaries):
        lines.append(("retried, recovered", [f"{s.retried}, {s.recovered} passed in the end" for s in summaries]))
    if any(s.lessons for s in summaries):
        lines.append(("lessons", [_lessons(s) for s in summaries]))
    if any(s.generated for s in summaries):
        lines.append(("generated tests", [_generated(s) for s in summaries]))
    if any(s.errors for s in summaries):
        lines.append(("errors", [str(s.errors) for s in summaries]))
    if exits:
        of = {each.arm: each for each in exits}
        lines.append(("stage reached", [of[s.arm].stages_said if s.arm in of else "-" for s in summaries]))
        lines.append(("ended by", [of[s.arm].ended_said if s.arm in of else "-" for s in summaries]))
    return lines


def _below(summaries: Sequence[Summary], width: int | None) -> list[str]:
    found = [line for remark in remarks(summaries) for line in fold(remark, width)]
    return ["", *found] if found else []


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def remarks(summaries: Sequence[Summary]) -> list[str]:
    """What a reader should know beside the numbers, one sentence each."""
    said = []
    if any(s.oracle for s in summaries):
        said.append("oracle feedback: a loop saw the hidden answer's verdict; not comparable with blind runs.")
    if any(s.graded_on.get("visible") for s in summaries):
        said.append("Some tasks hide nothing from the loop: what it saw grades them (tests, a game, rules).")
    if any(s.votes for s in summaries):
        said.append("Some choices rest on the model's own vote: ungrounded.")
    if any(s.errors for s in summaries):
        said.append("Errors are neither solved nor unsolved; the same command tries those tasks again.")
    for s in summaries:
        if s.retried and not s.recovered:
            said.append(f"{s.arm}: trying again did not pay: {s.retried} tasks retried, none recovered.")
    return said


def _lessons(s: Summary) -> str:
    return f"{s.lessons} ({s.lessons_from_evidence} made of the evidence, {s.lessons_rejected} texts rejected)"


def _generated(s: Summary) -> str:
    if s.generated is None:
        return "-"
    g = s.generated
    return f"passed {g.passed} submissions, {g.false_pass} wrongly; refused {g.failed}, {g.false_fail} wrongly"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "-"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _dollars(value: float | None) -> str:
    if value is None:
        return "?"
    return "$0" if value == 0 else f"${value:.4f}" if value < 1 else f"${value:,.2f}"
