"""Unit tests of a function: each assertion's own result, run behind the sandbox's wall."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from hardwon.evaluators.literals import NOT_PYTHON, parse
from hardwon.evaluators.verdict import judge, no_program
from hardwon.sandbox.protocol import FunctionTests, Limits, Sandbox
from hardwon.task import Ask
from hardwon.trial import Check, Feedback, Source, Trajectory


@dataclass(frozen=True, slots=True)
class UnitTests:
    """Checks a program with `tests`; `source` says whose tests they are (the prompt's, hidden, a model's).

    Tests that assert nothing, or that are no Python, are `no_evidence` whatever the program is.
    """

    tests: FunctionTests
    sandbox: Sandbox
    source: Source = "grounded"
    limits: Limits = field(default_factory=Limits)

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        """Raises SandboxError."""
        flaw = _flaw(self.tests.source)
        if flaw is not None:
            return judge((Check("tests", "no_evidence", error=flaw, source=self.source),), self.source)
        if trajectory.output is None:
            return no_program(self.source)
        checks = await self.sandbox.run_function(trajectory.output, self.tests, self.limits)
        return judge([replace(check, source=self.source) for check in checks], self.source)


def _flaw(source: str) -> str | None:
    """Why `source` can not be evidence, seen without running it; None if it can."""
    try:
        tree = parse(source)
    except NOT_PYTHON as error:
        return f"the tests are no valid Python ({error})"
    if not any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
        return "the tests assert nothing"
    return None
