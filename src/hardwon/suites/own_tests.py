"""Tests as one writes them in one's own JSONL: assertions, calls with an expected value, input/output pairs."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from hardwon.errors import UsageError
from hardwon.sandbox.protocol import StdioCase
from hardwon.suites.programming import flaw_in_tests, parsed
from hardwon.suites.read import Row, is_unicode, kind

_FORMS = (
    'a test is a text ("assert f(1) == 2"), {"call", "expected"}, {"args", "kwargs", "expected"} or {"stdin", "stdout"}'
)


def speaks_stdio(test: object) -> bool:
    """Whether a test is meant as an input/output pair."""
    return isinstance(test, Mapping) and ("stdin" in test or "stdout" in test)


def read_cases(row: Row, field: str, tests: Sequence[Any]) -> tuple[StdioCase, ...]:
    """The input/output pairs of one field. Raises UsageError."""
    cases = []
    for number, test in enumerate(tests, 1):
        if set(test) != {"stdin", "stdout"}:
            raise _wrong(row, field, number, f'give it "stdin" and "stdout" and nothing else; {_FORMS}')
        for name in ("stdin", "stdout"):
            if not isinstance(test[name], str) or not is_unicode(test[name]):
                raise _wrong(row, field, number, f"{name!r} is {kind(test[name])}; give a whole text in quotes")
        cases.append(StdioCase(test["stdin"], test["stdout"], f"{field} {number}"))
    if cases and not any(case.expected.strip() for case in cases):
        raise row.wrong(f"{field!r} expects no output at all, so any silent program passes; add a test that does")
    return tuple(cases)


def read_source(row: Row, field: str, tests: Sequence[Any], entry_point: str) -> tuple[str, ...]:
    """The tests of one field as Python assertions, one text for each. Raises UsageError."""
    sources = []
    for number, test in enumerate(tests, 1):
        try:
            source = _assertion(test, entry_point)
        except ValueError as error:
            raise _wrong(row, field, number, str(error)) from None
        if not is_unicode(source):
            raise _wrong(row, field, number, "it holds half of a surrogate pair; give whole characters")
        if flaw := flaw_in_tests(source, {entry_point, "candidate"}):
            raise _wrong(row, field, number, flaw)
        sources.append(source)
    if sum(map(_defines_check, sources)) > 1:
        raise row.wrong(f"{field!r} defines `check` twice, so one would never run; put all into one `check`")
    return tuple(sources)


def _assertion(test: object, entry_point: str) -> str:
    """One test as source. Raises ValueError that says what is wrong with it."""
    if isinstance(test, str):
        return test.strip()
    if not isinstance(test, Mapping):
        raise ValueError(f"this is {kind(test)}; {_FORMS}")
    fields = set(test)
    if "expected" not in fields:
        raise ValueError(f"'expected' is missing; {_FORMS}")
    if fields == {"call", "expected"}:
        call = test["call"]
        if not isinstance(call, str) or not _is_expression(call):
            raise ValueError(f"'call' is no Python expression; write it as \"{entry_point}(…)\"")
        call = call.strip()
    elif "call" not in fields and fields <= {"args", "kwargs", "expected"} and len(fields) > 1:
        args, kwargs = test.get("args", []), test.get("kwargs", {})
        if not isinstance(args, list) or not isinstance(kwargs, dict):
            raise ValueError("'args' must be an array and 'kwargs' an object; mend it")
        if bad := next((name for name in kwargs if not name.isidentifier()), None):
            raise ValueError(f"'kwargs' holds {bad!r}, which is no name of an argument; mend it")
        given = [_literal(value) for value in args] + [f"{name}={_literal(v)}" for name, v in kwargs.items()]
        call = f"{entry_point}({', '.join(given)})"
    else:
        raise ValueError(_FORMS)
    return f"assert {call} == {_literal(test['expected'])}"


def _literal(value: object) -> str:
    """A JSON value as Python source. Raises ValueError for NaN and infinity, which are no JSON and equal nothing."""
    for number in _numbers(value):
        if not math.isfinite(number):
            raise ValueError(f"{json.dumps(number)} is no number that JSON knows; write the test as an assertion")
    return repr(value)


def _numbers(value: object) -> list[float]:
    if isinstance(value, dict):
        return [number for inner in value.values() for number in _numbers(inner)]
    if isinstance(value, list):
        return [number for inner in value for number in _numbers(inner)]
    return [value] if isinstance(value, float) else []


def _is_expression(source: str) -> bool:
    tree = parsed(source.strip())
    return isinstance(tree, ast.Module) and len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr)


def _defines_check(source: str) -> bool:
    tree = ast.parse(source)
    return any(isinstance(node, ast.FunctionDef) and node.name == "check" for node in tree.body)


def _wrong(row: Row, field: str, number: int, message: str) -> UsageError:
    return row.wrong(f"{field}, test {number}: {message}")
