"""What programs do on common inputs: the agreement of samples, by execution (Li et al. 2022, section 4.5: clustering).

The inputs are made of the literals in the examples that the prompt shows, changed a little, or else of the parameters'
annotations; no model is asked, so that looking costs nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hardwon.evaluators.examples import find_examples
from hardwon.evaluators.literals import NOT_PYTHON, parse
from hardwon.sandbox.protocol import FunctionTests, Limits, Sandbox, StdioCase
from hardwon.task import Problem
from hardwon.trial import Check, Trajectory

_MOST_INPUTS = 12
_NOTHING = "'\\x00 no value that a program gives'"
_SIMPLE: dict[str, tuple[object, ...]] = {
    "int": (0, 1, 2, 7, 12, -3),
    "float": (0.0, 1.5, 2.25, -3.5),
    "str": ("", "a", "Hello World", "abcba", "a1 b22"),
    "bool": (True, False),
    "list": ([], [1], [3, 1, 2], [5, 5, 4, -1]),
    "List": ([], [1], [3, 1, 2], [5, 5, 4, -1]),
}


@dataclass(frozen=True, slots=True)
class CallBehaviour:
    """What a function returns, or raises, on at most twelve calls; `Behaviour` of the task room."""

    problem: Problem
    sandbox: Sandbox
    prelude: str = ""
    limits: Limits = field(default_factory=Limits)

    async def observe(self, trajectory: Trajectory) -> tuple[str, ...]:
        """Raises SandboxError."""
        calls = common_calls(self.problem)
        if not calls or trajectory.output is None or self.problem.entry_point is None:
            return ()
        source = "\n".join(f"assert {call} == {_NOTHING}" for call in calls)
        tests = FunctionTests(self.problem.entry_point, source, self.prelude)
        return _seen(await self.sandbox.run_function(trajectory.output, tests, self.limits))


@dataclass(frozen=True, slots=True)
class OutputBehaviour:
    """What a program prints for the inputs that the task shows."""

    inputs: tuple[str, ...]
    sandbox: Sandbox
    limits: Limits = field(default_factory=Limits)

    async def observe(self, trajectory: Trajectory) -> tuple[str, ...]:
        """Raises SandboxError."""
        if not self.inputs or trajectory.output is None:
            return ()
        cases = [StdioCase(text, ast.literal_eval(_NOTHING)) for text in self.inputs[:_MOST_INPUTS]]
        return _seen(await self.sandbox.run_stdio(trajectory.output, cases, self.limits))


def common_calls(problem: Problem) -> tuple[str, ...]:
    """Calls of the problem's function with literal arguments: those it shows, and changed ones; the same every time."""
    name = problem.entry_point
    if name is None:
        return ()
    text = "\n".join((problem.prompt, *problem.examples))
    shown = [arguments for example in find_examples(text, name) if (arguments := _arguments(example.call, name))]
    sets = shown + [changed for arguments in shown for changed in _changed(arguments)]
    if not sets:
        sets = list(_annotated(problem.prompt, name))
    calls = dict.fromkeys(f"{name}({', '.join(map(repr, arguments))})" for arguments in sets)
    return tuple(calls)[:_MOST_INPUTS]


def _seen(checks: Sequence[Check]) -> tuple[str, ...]:
    """What was given; nothing where every input ended in an error, since broken programs do not agree."""
    if all(check.observed is None for check in checks):
        return ()
    return tuple(check.observed if check.observed is not None else f"! {check.error}" for check in checks)


def _arguments(call: str, name: str) -> tuple[object, ...]:
    """The literal arguments of the first call of `name` in an expression; empty where they are not plain literals."""
    for node in ast.walk(ast.parse(call)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            try:
                return () if node.keywords else tuple(ast.literal_eval(argument) for argument in node.args)
            except NOT_PYTHON:
                return ()
    return ()


def _changed(arguments: tuple[object, ...]) -> Iterator[tuple[object, ...]]:
    """The arguments with one of them changed a little."""
    for place, value in enumerate(arguments):
        for other in _near(value):
            yield (*arguments[:place], other, *arguments[place + 1 :])


def _near(value: object) -> tuple[object, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int | float):
        return (value + 1, -value)
    if isinstance(value, str | list | tuple):
        return (value[::-1], value[1:], value[:-1])
    return ()


def _annotated(prompt: str, name: str) -> Iterator[tuple[object, ...]]:
    """Argument tuples by the simple annotations of the function's header, the n-th value of each parameter together."""
    try:
        tree = parse(prompt)
    except NOT_PYTHON:
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            kinds = [ast.unparse(a.annotation).partition("[")[0] if a.annotation else "" for a in node.args.args]
            if kinds and all(kind in _SIMPLE for kind in kinds):
                rows = max(len(_SIMPLE[kind]) for kind in kinds)
                for row in range(rows):
                    yield tuple(_SIMPLE[kind][row % len(_SIMPLE[kind])] for kind in kinds)
