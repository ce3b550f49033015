"""What `hardwon suites` tells of each suite, and how it is laid out."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardwon.cli.plain import one_line
from hardwon.errors import UsageError
from hardwon.runs.report_fold import fold, pairs
from hardwon.suites.about import About, Need
from hardwon.suites.registry import Suite, open_suite, suites

_UNKNOWN = "?"
_HEADER = ("suite", "worked by", "data", "feedback", "needs", "holds")
_BY_DATA = "by the data"
_FEEDBACK = {
    "none": "none; --feedback oracle takes the hidden answer's verdict, and rows say so",
    _BY_DATA: "visible where every task has visible tests, else generated",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """A suite, and what it says of itself beside that (None: nothing, as a plug-in may)."""

    suite: Suite
    about: About | None

    @property
    def worker(self) -> str:
        return self.about.worker if self.about else _UNKNOWN

    @property
    def data(self) -> str:
        """Whether `--data` is `needed`, `optional`, or of no use since the suite brings `its own`."""
        if self.suite.needs_data:
            return "needed"
        if self.about is None:
            return _UNKNOWN
        return "optional" if self.about.takes_data else "its own"

    @property
    def feedback(self) -> str:
        """What the loop uses where nothing is chosen."""
        if self.about and not self.about.evidence:
            return "none"
        return self.suite.default_feedback or _BY_DATA

    @property
    def command(self) -> str:
        """A command that works three of its tasks."""
        data = " --data FILE" if self.suite.needs_data else ""
        oracle = " --feedback oracle" if self.feedback == "none" else ""
        return f"hardwon run {shlex.quote(self.suite.name)}{data}{oracle} --limit 3"

    def as_json(self) -> dict[str, Any]:
        about, need = self.about, self.about.need if self.about else None
        return {
            "name": self.suite.name,
            "summary": self.suite.summary,
            "worked_by": about.worker if about else None,
            "data": None if self.data == _UNKNOWN else self.data,
            "data_format": about.layout if about else None,
            "default_feedback": None if self.feedback == _BY_DATA else self.feedback,
            "needs": need and {"install": need.install, "case": need.case or None, "installed": not need.missing},
            "steps": about.steps if about else None,
            "settings": {
                name: {"default": default, "most": about.most.get(name)} for name, default in about.settings.items()
            }
            if about
            else {},
            "command": self.command,
        }


def all_facts() -> list[Facts]:
    """Of every suite that can be named. Raises UsageError for a plug-in that does not load."""
    return [Facts(suite, suite.about()) for suite in suites().values()]


def facts_named(name: str) -> Facts:
    """Of one suite, or of a file of your own. Raises UsageError for an unknown name, or a file that is not there."""
    suite = open_suite(name)
    if suite.name not in suites() and not Path(suite.name).is_file():
        raise UsageError(f"{name}: no such file; give JSON, JSONL or a .gz of one, or the name of a suite")
    return Facts(suite, suite.about())


def list_lines(found: list[Facts], width: int | None) -> list[str]:
    """A table, or where it is wider than `width` a short paragraph for each suite."""
    rows = [_HEADER, *(_cells(each) for each in found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    lines = ["  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip() for row in rows]
    if width is None or max(map(len, lines)) <= width:
        return lines
    return [line for row in rows[1:] for line in _paragraph(row, width)]


def one_lines(facts: Facts, width: int | None) -> list[str]:
    """All that is known of one suite, then a command to copy."""
    suite, about = facts.suite, facts.about
    found = [("worked by", facts.worker)]
    if about and about.steps is not None:
        found.append(("steps", f"at most {about.steps} in an attempt; --steps sets another number"))
    data = f"{facts.data}: {about.layout}" if about else facts.data
    found += [("data", data), ("feedback", _FEEDBACK.get(facts.feedback, facts.feedback))]
    if about and about.settings:
        found.append(("settings", ", ".join(_setting(name, about) for name in about.settings)))
    if about and about.need:
        need = about.need
        mend = f', pip install "{need.install}"' if need.missing else ""
        found.append(("needs", f"{_need(need)}{mend}"))
    head = fold(f"{one_line(suite.name)}: {one_line(suite.summary)}", width)
    return [*head, "", *pairs(found, width), "", *_command_lines(facts.command, width)]


def _cells(facts: Facts) -> tuple[str, ...]:
    need = facts.about and facts.about.need
    needs = _need(need) if need else "-"
    name, summary = one_line(facts.suite.name), one_line(facts.suite.summary)
    return name, facts.worker, facts.data, facts.feedback, needs, summary


def _paragraph(row: tuple[str, ...], width: int) -> list[str]:
    name, worker, data, feedback, needs, summary = row
    told = f"{worker}; data: {data}; feedback: {feedback}" + (f"; needs {needs}" if needs != "-" else "")
    return [*fold(f"{name}: {summary}", width, "    "), *(f"  {line}" for line in fold(told, width - 2))]


def _need(need: Need) -> str:
    case = f" {need.case}" if need.case else ""
    return f"{need.install}{case}: {'missing' if need.missing else 'installed'}"


def _setting(name: str, about: About) -> str:
    most = about.most.get(name)
    return f"{name} {about.settings[name]}" + (f" (at most {most:,})" if most is not None else "")


def _command_lines(command: str, width: int | None) -> list[str]:
    """The command; where it is folded, each line but the last ends so that a shell takes them as one."""
    if width is None or len(command) <= width:
        return [command]
    *lines, last = fold(command, width - 2)
    return [*(f"{line} \\" for line in lines), last]
