"""A command decides: the program is written into a private copy of a folder, the command runs, status 0 passes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hardwon.evaluators.missing import need_tools
from hardwon.evaluators.runners import Tally, names_runner, tally, without_timings
from hardwon.evaluators.verdict import cut, no_output, steady
from hardwon.sandbox.protocol import CommandResult, Limits, Sandbox
from hardwon.task import Ask
from hardwon.trial import Check, Feedback, Source, Trajectory, Verdict

_OUTPUT_SHOWN = 2000


@dataclass(frozen=True, slots=True)
class CommandCheck:
    """Runs `command` with the program written as `filename` into a private copy of `workdir`.

    Status 0 passes, anything else fails, with three exceptions: a command that is missing is an error; a test runner
    (pytest, unittest) that ran no test is `no_evidence`; and one that left with status 0 but without its summary did
    not pass, since the program ended the process. A failed test run scores the share of its tests that passed.

    Test runners load the program into their own process, so a program that means to can still forge what they print.
    `UnitTests` keep the two apart.
    """

    command: str
    sandbox: Sandbox
    workdir: Path | None = None
    filename: str = "solution.py"
    limits: Limits = field(default_factory=Limits)
    network: bool = False
    source: Source = "grounded"

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        """Raises SandboxError, and InfrastructureError if the command, or the module it runs, is not installed."""
        if trajectory.output is None:
            return no_output(self.source, f"The reply held no text for {self.filename}. Give the whole file.")
        result = await self._run(self.command, {self.filename: trajectory.output})
        if result.timed_out or result.status is None:
            return self._feedback("fail", 0.0, f"The command did not end within {self._seconds}.", result)
        if result.status != 0:
            await need_tools(self.command, result, self._run, (self.filename, f"./{self.filename}"))
        counts = tally(result.output) if names_runner(self.command) else None
        if counts is not None and counts.ran_none(result.status):
            return self._feedback("no_evidence", 0.0, "The test run held no test.", result)
        if result.status != 0:
            return self._feedback("fail", _share(counts), f"The command left with status {result.status}.", result)
        if counts is None:
            return self._feedback("pass", 1.0, "The command left with status 0.", result)
        if counts.summary_hidden:
            text = "The test run hid its summary, so nothing is shown: run it less quietly."
            return self._feedback("no_evidence", 0.0, text, result)
        if not counts.has_summary or counts.failed:
            text = "The test run left with status 0 before it had reported its tests: the program ended the process."
            return self._feedback("fail", 0.0, text, result)
        if not counts.passed:
            return self._feedback("no_evidence", 0.0, "The test run skipped every test.", result)
        return self._feedback("pass", 1.0, f"The command left with status 0: {counts.passed} tests passed.", result)

    @property
    def _seconds(self) -> str:
        return f"{self.limits.total_seconds:g} seconds"

    async def _run(self, command: str, files: dict[str, str] | None = None) -> CommandResult:
        return await self.sandbox.run_command(
            command, workdir=self.workdir, files=files, limits=self.limits, network=self.network
        )

    def _feedback(self, verdict: Verdict, score: float, text: str, result: CommandResult) -> Feedback:
        output = cut(without_timings(steady(result.output)).strip(), _OUTPUT_SHOWN)
        shown = f"{text}\n{output}" if output and verdict != "pass" else text
        check = Check(
            self.command,
            verdict,
            call=self.command,
            expected="status 0",
            observed=None if result.status is None else f"status {result.status}",
            error=None if verdict == "pass" else text,
            seconds=result.seconds,
            source=self.source,
        )
        return Feedback(verdict, score, shown, (check,), "none" if verdict == "no_evidence" else self.source)


def _share(counts: Tally | None) -> float:
    """The share of tests that passed in a failed run, always below 1."""
    if counts is None or not counts.failed:
        return 0.0
    return counts.passed / (counts.passed + counts.failed)
