"""Input/output pairs: a program reads standard input, and what it prints is compared."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hardwon.evaluators.verdict import judge, no_program
from hardwon.sandbox.protocol import Limits, Sandbox, StdioCase
from hardwon.task import Ask
from hardwon.trial import Feedback, Source, Trajectory


@dataclass(frozen=True, slots=True)
class StdioTests:
    """Checks a program with input/output pairs; no pairs are `no_evidence` whatever the program is."""

    cases: tuple[StdioCase, ...]
    sandbox: Sandbox
    source: Source = "grounded"
    limits: Limits = field(default_factory=Limits)

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        """Raises SandboxError."""
        if not self.cases:
            return judge((), self.source)
        if trajectory.output is None:
            return no_program(self.source)
        checks = await self.sandbox.run_stdio(trajectory.output, self.cases, self.limits)
        return judge([replace(check, source=self.source) for check in checks], self.source)
