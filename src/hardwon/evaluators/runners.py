"""What the summaries of test runners say: pytest's last line, unittest's last lines."""

from __future__ import annotations

import re
from dataclasses import dataclass

_RUNNER = re.compile(r"\b(?:pytest|py\.test|unittest)\b")
_SECONDS = re.compile(r"\bin \d+(?:\.\d+)?s\b(?: \(\d+:\d\d:\d\d\))?")
_PYTEST_NO_STATUS_LINE = re.compile(r"^=* ?no tests (?:ran|collected)\b.*$", re.MULTILINE)
_PYTEST_SUMMARY = re.compile(
    r"^=* ?((?:\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun|subtests passed)"
    r"(?:, )?)+) in \d[^\n]*$",
    re.MULTILINE,
)
_PYTEST_COUNT = re.compile(r"(\d+) (passed|failed|errors?|skipped)\b")
_PYTEST_PROGRESS = re.compile(r"^.*\[100%\]\s*$", re.MULTILINE)
_UNITTEST_RAN = re.compile(
    r"^Ran (\d+) tests? in \d[^\n]*\n\s*\n?(OK|FAILED|NO TESTS RAN)(?: \(([^)\n]*)\))?", re.MULTILINE
)
_UNITTEST_COUNT = re.compile(r"(failures|errors|skipped)=(\d+)")


@dataclass(frozen=True, slots=True)
class Tally:
    """How many tests of a run passed and failed (errors included); `has_summary` if the runner said so at all."""

    passed: int = 0
    failed: int = 0
    has_summary: bool = False
    summary_hidden: bool = False
    empty: bool = False

    def ran_none(self, status: int) -> bool:
        """Whether the runner says that there was no test; pytest leaves with status 5 then."""
        return self.empty or (status == 5 and not self.passed and not self.failed)


def names_runner(command: str) -> bool:
    """Whether a command means to run pytest or unittest."""
    return _RUNNER.search(command) is not None


def tally(output: str) -> Tally:
    """Reads the last summary in `output`; the last one, since a program may print what looks like one before it."""
    ran = list(_UNITTEST_RAN.finditer(output))
    summaries = list(_PYTEST_SUMMARY.finditer(output))
    if ran and (not summaries or ran[-1].start() > summaries[-1].start()):
        total = int(ran[-1][1])
        counts = {name: int(number) for name, number in _UNITTEST_COUNT.findall(ran[-1][3] or "")}
        failed = counts.get("failures", 0) + counts.get("errors", 0)
        passed = max(total - failed - counts.get("skipped", 0), 0)
        return Tally(passed, failed, has_summary=True, empty=total == 0)
    if summaries:
        found: dict[str, int] = {}
        for number, kind in _PYTEST_COUNT.findall(summaries[-1][1]):
            found[kind.rstrip("s")] = int(number)
        return Tally(found.get("passed", 0), found.get("failed", 0) + found.get("error", 0), has_summary=True)
    if _PYTEST_NO_STATUS_LINE.search(output):
        return Tally(has_summary=True, empty=True)
    return Tally(summary_hidden=_PYTEST_PROGRESS.search(output) is not None)


def without_timings(output: str) -> str:
    """`output` without the seconds that test runners print."""
    return _SECONDS.sub("in …s", output)
