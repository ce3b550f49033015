"""What a test run says of its single tests: pytest, unittest, Jest, node, Go and Cargo."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hardwon.evaluators.runners import Tally, names_runner, tally
from hardwon.trial import Verdict

_OTHER_RUNNER = re.compile(
    r"\b(?:jest|vitest|node\s+(?:\S+\s+)*--test|go\s+test|cargo\s+(?:\S+\s+)?(?:test|nextest))\b"
)
# The name ends at " - " where a message follows, but not inside the brackets of a parametrised test.
_PYTEST = re.compile(
    r"^(PASSED|FAILED|ERROR|XFAIL|XPASS) ((?!\(\w+=\d+)\S+?(?:::(?:[^\[\n]*?|[^\[\n]*?\[.*?\]))?)(?: - (.*))?$"
)
_UNITTEST = re.compile(r"^(\w+) \(([\w.]+)\)(?:.* \.\.\. (.*))?$")
_UNITTEST_LATE = re.compile(r"^(FAIL|ERROR): (\w+) \(([\w.]+)\)")
_TAP = re.compile(r"^\s*(not ok|ok) \d+ - (.*?)(?: # (SKIP|TODO)\b.*)?$")
_MARKS = re.compile(r"^\s*([✓✔✕✖×○﹣]) (.+?)(?: \(\d[\d.]* ?m?s\))?(?: # (?:SKIP|TODO).*)?$")
_JEST_FILE = re.compile(r"^(?:PASS|FAIL) +(\S+\.[cm]?[jt]sx?)\b")
_GO = re.compile(r"^\s*--- (PASS|FAIL|SKIP): (\S+)")
_GO_PACKAGE = re.compile(
    r"^(ok|FAIL)\s+(\S+)\s+(?:\d[\d.]*s|\(cached\)|\[(?:build|setup) failed\])(?!.*\[no tests to run\])"
)
_CARGO = re.compile(r"^test (\S.*?) \.\.\. (ok|FAILED|ignored)")
_JEST_TOTAL = re.compile(r"^Tests:\s+(.*\d+ total)", re.MULTILINE)
_NODE_TOTAL = re.compile(r"^(?:#|ℹ) (pass|fail) (\d+)$", re.MULTILINE)
_CARGO_TOTAL = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed", re.MULTILINE)

_STATUS: dict[str, Verdict] = {
    **dict.fromkeys(("PASSED", "XFAIL", "XPASS", "ok", "expected failure", "PASS", "✓", "✔"), "pass"),
    **dict.fromkeys(("FAILED", "ERROR", "not ok", "FAIL", "unexpected success", "✕", "✖", "×"), "fail"),
    **dict.fromkeys(("ignored", "SKIP", "○", "﹣"), "no_evidence"),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One test: its name, its status (`no_evidence`: skipped), and what it said when it failed."""

    name: str
    status: Verdict
    error: str | None = None


def runs_tests(command: str) -> bool:
    """Whether a command means to run one of the test runners that are known here."""
    return names_runner(command) or _OTHER_RUNNER.search(command) is not None


def outcomes(output: str) -> tuple[Outcome, ...]:
    """The tests that `output` names, each once, in order; what failed once has failed."""
    found: dict[str, Outcome] = {}
    for outcome in _named(output):
        known = found.get(outcome.name)
        if known is None or (outcome.status == "fail" and (known.status != "fail" or known.error is None)):
            found[outcome.name] = outcome
    return tuple(found.values())


def counted(output: str) -> Tally:
    """How many tests passed and failed, by the last summary of whichever runner it was."""
    counts = tally(output)
    if counts.has_summary:
        return counts
    if totals := _JEST_TOTAL.findall(output):
        numbers = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|total)", totals[-1])}
        return _tally(numbers.get("passed", 0), numbers.get("failed", 0))
    if ended := _NODE_TOTAL.findall(output):
        numbers = {word: int(number) for word, number in ended}
        return _tally(numbers.get("pass", 0), numbers.get("fail", 0))
    if results := _CARGO_TOTAL.findall(output):
        return _tally(sum(int(passed) for passed, _ in results), sum(int(failed) for _, failed in results))
    packages = [match[1] for line in output.split("\n") if (match := _GO_PACKAGE.match(line))]
    if packages:
        named = [match[1] for line in output.split("\n") if (match := _GO.match(line))]
        return _tally(max(packages.count("ok"), named.count("PASS")), max(packages.count("FAIL"), named.count("FAIL")))
    return counts


def _tally(passed: int, failed: int) -> Tally:
    return Tally(passed, failed, has_summary=True, empty=not passed and not failed)


def _named(output: str) -> Iterator[Outcome]:
    file = ""
    waiting: str | None = None
    for line in output.split("\n"):
        if match := _PYTEST.match(line):
            yield Outcome(match[2], _STATUS[match[1]], match[3])
        elif match := _UNITTEST_LATE.match(line):
            yield Outcome(_dotted(match[2], match[3]), "fail")
        elif match := _UNITTEST.match(line):
            waiting = _dotted(match[1], match[2])
            if match[3] is not None and (outcome := _late(waiting, match[3])):
                waiting = None
                yield outcome
        elif waiting is not None and (outcome := _late(waiting, line.rpartition(" ... ")[2])):
            waiting = None  # what it printed, or its docstring, stood between its name and its status
            yield outcome
        elif match := _TAP.match(line):
            yield Outcome(match[2].strip(), "no_evidence" if match[3] else _STATUS[match[1]])
        elif match := _JEST_FILE.match(line):
            file = f"{match[1]} › "
        elif match := _MARKS.match(line):
            yield Outcome(f"{file}{match[2].strip()}", _STATUS[match[1]])
        elif match := _GO.match(line):
            yield Outcome(match[2], _STATUS[match[1]])
        elif match := _CARGO.match(line):
            yield Outcome(match[1], _STATUS[match[2]])


def _dotted(test: str, place: str) -> str:
    return f"{place.removesuffix(f'.{test}')}.{test}"


def _late(name: str, word: str) -> Outcome | None:
    word = word.strip()
    if word.startswith("skipped"):
        return Outcome(name, "no_evidence")
    return (
        Outcome(name, _STATUS[word])
        if word in ("ok", "FAIL", "ERROR", "expected failure", "unexpected success")
        else None
    )
