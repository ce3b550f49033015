"""A sandbox for where suites need one to load their tasks, and nothing is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hardwon.errors import SandboxError
from hardwon.sandbox.protocol import CommandResult, FunctionTests, Isolation, Limits, StdioCase
from hardwon.trial import Check

_LIMITS = Limits()


class NoSandbox:
    """Refuses whatever it is given to run."""

    @property
    def isolation(self) -> Isolation:
        return Isolation("none", (), ())

    async def run_function(self, program: str, tests: FunctionTests, limits: Limits = _LIMITS) -> tuple[Check, ...]:
        """Raises SandboxError."""
        raise SandboxError("a plan runs no program")

    async def run_stdio(self, program: str, cases: Sequence[StdioCase], limits: Limits = _LIMITS) -> tuple[Check, ...]:
        """Raises SandboxError."""
        raise SandboxError("a plan runs no program")

    async def run_command(
        self,
        command: str,
        *,
        workdir: Path | None = None,
        files: Mapping[str, str] | None = None,
        limits: Limits = _LIMITS,
        network: bool = False,
    ) -> CommandResult:
        """Raises SandboxError."""
        raise SandboxError("a plan runs no program")

    async def close(self) -> None:
        """Nothing to free."""
