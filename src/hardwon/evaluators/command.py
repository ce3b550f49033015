"""A command decides: the program is written into a private copy of a folder, the command runs, status 0 passes."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from hardwon.errors import InfrastructureError
from hardwon.evaluators.runners import Tally, names_runner, tally, without_timings
from hardwon.evaluators.verdict import cut, no_output, steady
from hardwon.sandbox.protocol import CommandResult, Limits, Sandbox
from hardwon.task import Ask
from hardwon.trial import Check, Feedback, Source, Trajectory, Verdict

_OUTPUT_SHOWN = 2000
# What shells say (dash; bash, zsh; busybox) when a command does not exist or may not be run.
_MISSING = re.compile(r"(?:^|\s)([^\s:]+): (?:command )?(?:not found|Permission denied|No such file or directory)")
_COMMAND_WORD = re.compile(r"(?:^|[;&|(){}!\n]|\b(?:exec|env|time|nice)\s)\s*(?:\w+=\S*\s+)*([^\s;&|(){}]+)")
_NO_MODULE = re.compile(r"^\S*: No module named '?([\w.]+)'?", re.MULTILINE)
_MODULE_RUN = re.compile(r"(\S*python[\w.]*)\s+(?:-\w+\s+)*-m\s+([\w.]+)")


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
            await self._refuse_missing_tools(result)
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

    async def _refuse_missing_tools(self, result: CommandResult) -> None:
        """Raises InfrastructureError if what the command needs is not there without the program either.

        What the output claims is only a hint, since the program may have printed it: each is tried on its own.
        """
        tools = set(_COMMAND_WORD.findall(self.command)) - {self.filename, f"./{self.filename}"}
        if result.status in (126, 127):
            for tool in dict.fromkeys(_MISSING.findall(result.output)):
                if tool in tools and (await self._run(f"command -v {shlex.quote(tool)}")).status != 0:
                    raise InfrastructureError(
                        f"command {self.command!r}: {tool} is missing, or may not be run, where the check "
                        "runs; install it or change the command"
                    )
        claimed = set(_NO_MODULE.findall(result.output))
        for python, module in _MODULE_RUN.findall(self.command):
            if module.partition(".")[0] in claimed or module in claimed:
                probe = f"import importlib.util as u, sys; sys.exit(u.find_spec({module.partition('.')[0]!r}) is None)"
                if (await self._run(f"{python} -c {shlex.quote(probe)}")).status == 1:
                    raise InfrastructureError(
                        f"command {self.command!r}: {python} has no module {module}; install it or change the command"
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
