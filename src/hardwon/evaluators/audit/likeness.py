"""Whether a known solution does no more than a trivial program: then the trivial program is right."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from hardwon.evaluators.audit.attack import FIRST_ARGUMENT, Attack
from hardwon.evaluators.stdio import StdioTests
from hardwon.evaluators.unit import UnitTests
from hardwon.evaluators.vetting import Claim, read_claims
from hardwon.sandbox.protocol import FunctionTests, StdioCase
from hardwon.task import Evaluator
from hardwon.trial import Trajectory

_MOST = 40
"""Inputs tried."""


async def alike(solution: str, attack: Attack, evaluator: Evaluator) -> bool:
    """Whether `solution` gives what `attack` gives on inputs made from those of the evaluator's tests.

    False where they differ, and where nothing can be tried. Raises SandboxError.
    """
    if attack.gives is None:
        return False
    if isinstance(evaluator, UnitTests):
        return await _alike_function(solution, attack.gives, evaluator)
    if isinstance(evaluator, StdioTests):
        return await _alike_script(solution, attack.gives, evaluator)
    return False


async def _alike_function(solution: str, gives: str, evaluator: UnitTests) -> bool:
    """A call that raises shows nothing: its input may be none that the task allows."""
    name = evaluator.tests.entry_point
    claims = [*read_claims(evaluator.tests.source, name)[0], *read_claims(evaluator.tests.source, "candidate")[0]]
    calls = list(islice(dict.fromkeys(call for claim in claims for call in _near(claim, name)), _MOST))
    lines = [f"assert {name}({', '.join(call)}) == {call[0] if gives == FIRST_ARGUMENT else gives}" for call in calls]
    if not lines:
        return False
    tests = FunctionTests(name, "\n".join(lines), evaluator.tests.prelude)
    checks = (await replace(evaluator, tests=tests).check(Trajectory(solution))).checks
    returned = [check for check in checks if check.status == "pass" or check.observed is not None]
    return bool(returned) and all(check.status == "pass" for check in returned)


def _near(claim: Claim, name: str) -> Iterator[tuple[str, ...]]:
    """The arguments of a test, and the same with one of them changed a little; only positional ones are read."""
    call = ast.parse(claim.call, mode="eval").body
    assert isinstance(call, ast.Call)
    if call.keywords or not call.args:
        return
    given = [ast.literal_eval(argument) for argument in call.args]
    yield tuple(map(repr, given))
    for place, value in enumerate(given):
        for other in _others(value):
            yield tuple(map(repr, [*given[:place], other, *given[place + 1 :]]))


def _others(value: object) -> tuple[object, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int | float):
        return value + 1, value - 1, -value, value * 3 + 2
    if isinstance(value, str):
        return value[::-1], f"{value}x", value[:-1]
    if isinstance(value, list):
        return value[::-1], value + value[:1], value[:-1]
    if isinstance(value, tuple):
        return (value[::-1],)
    return ()


async def _alike_script(solution: str, gives: str, evaluator: StdioTests) -> bool:
    inputs = list(islice(dict.fromkeys(text for case in evaluator.cases for text in _texts(case.stdin)), _MOST))
    cases = [StdioCase(text, text if gives == FIRST_ARGUMENT else gives) for text in inputs]
    cases = [case for case in cases if case.expected.strip()]
    checks = (await replace(evaluator, cases=tuple(cases)).check(Trajectory(solution))).checks
    ended = [check for check in checks if check.error is None]
    return bool(ended) and all(check.status == "pass" for check in ended)


def _texts(given: str) -> Sequence[str]:
    lines = given.splitlines()
    return given, "\n".join(lines[::-1]), "\n".join(line[::-1] for line in lines)
