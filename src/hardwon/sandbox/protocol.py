"""The `Sandbox` protocol: how hostile programs are run, and what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hardwon.trial import Check


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one candidate: seconds for each test, for loading the program, and for all; MiB; processes; bytes."""

    test_seconds: float = 3.0
    load_seconds: float = 5.0
    total_seconds: float = 30.0
    memory_mib: int = 512
    processes: int = 32
    file_mib: int = 16
    output_bytes: int = 256 * 1024


@dataclass(frozen=True, slots=True)
class FunctionTests:
    """Tests of a Python function, as trusted Python source that runs on the checker's side of the wall.

    `source` holds assertion lines at top level, or a `def check(candidate)` (HumanEval, MultiPL-E), or both; it may
    call the function as `candidate` or by `entry_point`. `prelude` is trusted code that the tests may use (imports
    and helpers that the task's prompt defines).
    """

    entry_point: str
    source: str
    prelude: str = ""


@dataclass(frozen=True, slots=True)
class StdioCase:
    """One input/output pair of a program that reads standard input and prints."""

    stdin: str
    expected: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command did: exit status (None if it was killed at the time limit), combined output, seconds."""

    status: int | None
    output: str
    seconds: float
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Isolation:
    """Which walls are in force: the backend's name, one line for each wall, and what is missing and how to mend it."""

    backend: str
    walls: tuple[str, ...]
    missing: tuple[str, ...] = ()


class Sandbox(Protocol):
    """Runs candidates behind a wall; starts lazily on first use; any number of calls may be in flight.

    All methods raise SandboxError for trouble that is not the candidate's, never for what the candidate did.
    """

    @property
    def isolation(self) -> Isolation: ...

    async def run_function(self, program: str, tests: FunctionTests, limits: Limits = ...) -> tuple[Check, ...]:
        """One Check for each assertion that was reached, in order, and one for each reason none could be.

        A program that does not load, has no such function, or dies, gives failing checks; tests that assert nothing
        give an empty tuple; what cannot cross the wall gives `no_evidence` or `fail`, never `pass`.
        """
        ...

    async def run_stdio(self, program: str, cases: Sequence[StdioCase], limits: Limits = ...) -> tuple[Check, ...]:
        """One Check for each case: output compared token by token, numbers with a tolerance."""
        ...

    async def run_command(
        self,
        command: str,
        *,
        workdir: Path | None = None,
        files: Mapping[str, str] | None = None,
        limits: Limits = ...,
        network: bool = False,
    ) -> CommandResult:
        """Runs a shell command in a private copy of `workdir` with `files` (relative path to text) written into it."""
        ...

    async def close(self) -> None: ...
