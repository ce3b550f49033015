"""The status of named tests, under every name by which data sets in the format of SWE-bench know a test."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hardwon.evaluators.outcomes import outcomes
from hardwon.trial import Verdict

# The name ends at " - " where a message follows, but not inside the brackets of a parametrised test.
_PYTEST_SUMMARY = re.compile(
    r"^(PASSED|FAILED|ERROR|XFAIL|XPASS) (\S+?::(?:[^\[\n]*?|[^\[\n]*?\[.*?\]))(?: - .*)?$", re.MULTILINE
)
_PYTEST_VERBOSE = re.compile(
    r"^(\S+::.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?: \(.*\))?(?:\s+\[ *\d+%\])?$", re.MULTILINE
)
_TITLED = re.compile(r"^\w+ \([\w.]+\)\n(\S.*) \.\.\. (ok|FAIL|ERROR|skipped)", re.MULTILINE)
_SYMPY = re.compile(r"^(test_\w+) (ok|F|E|f|X)\b", re.MULTILINE)
_DOTTED = re.compile(r"([\w.]+)\.(\w+)")

_PASSED = ("PASSED", "XFAIL", "XPASS", "ok", "f")
_SKIPPED = ("SKIPPED", "skipped")


def statuses(output: str) -> dict[str, Verdict]:
    """Every test that `output` names, with what became of it; a test that failed once has failed.

    A test of unittest is known as `module.Class.test`, as `test (module.Class)`, as `test (module.Class.test)`, and by
    its docstring (as Django has it); one of pytest by its full name, and by it up to the first space; one of SymPy's
    runner by the name of its function. A skipped test is `no_evidence`.
    """
    found: dict[str, Verdict] = {}
    for name, status in _named(output):
        if found.get(name) != "fail":
            found[name] = status
    return found


def _named(output: str) -> Iterator[tuple[str, Verdict]]:
    for outcome in outcomes(output):
        yield outcome.name, outcome.status
        if dotted := _DOTTED.fullmatch(outcome.name):
            owner, test = dotted.groups()
            yield f"{test} ({owner})", outcome.status
            yield f"{test} ({owner}.{test})", outcome.status
    lines = [(name, word) for word, name in _PYTEST_SUMMARY.findall(output)] + _PYTEST_VERBOSE.findall(output)
    for name, word in (*lines, *_TITLED.findall(output), *_SYMPY.findall(output)):
        status: Verdict = "pass" if word in _PASSED else "no_evidence" if word in _SKIPPED else "fail"
        yield name, status
        if "::" in name:
            yield name.split(" ", 1)[0], status
