"""Named tests decide: those that a right patch turns from failing to passing, and those that it has to leave passing.

This is the rule of SWE-bench (Jimenez et al. 2024), carried out by us: the tests are brought into a fresh workspace
that only the check sees, after the patch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from hardwon.errors import InfrastructureError
from hardwon.evaluators.patches import FileChange, looks_like_test, only, paths_of
from hardwon.evaluators.runners import without_timings
from hardwon.evaluators.statuses import statuses
from hardwon.evaluators.verdict import cut, judge, no_output, steady
from hardwon.sandbox.protocol import CommandResult
from hardwon.sandbox.workspaces.workspace import Backend, PatchRefused, RepositorySource, Workspace, open_workspace
from hardwon.task import Ask
from hardwon.trial import Check, Feedback, Source, Trajectory, Verdict

_OUTPUT_SHOWN = 1500
_BLOCK = re.compile(r"^(?=={20,}$|_{5,} .* _{5,}$|not ok )", re.MULTILINE)
_ERROR = re.compile(
    r"^E +(\S.*)$|^((?:\w+\.)*\w*(?:Error|Exception|Failure)\b.*)$|^ +error: (?:\|-\n +)?(.+)$", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Walls:
    """How the workspaces of a check are closed off: by what, with network or not, with which variables."""

    backend: Backend = "bubblewrap"
    network: bool = False
    env: tuple[tuple[str, str], ...] = ()

    async def open(self, source: RepositorySource) -> Workspace:
        """A fresh workspace. Raises InfrastructureError, UsageError."""
        return await open_workspace(source, network=self.network, env=self.env, backend=self.backend)


@dataclass(frozen=True, slots=True)
class InstanceTests:
    """Passes where every test of `fail_to_pass` and `pass_to_pass` passes with the patch.

    `test_patch` brings the tests; what the patch itself does to those files is left out, and with `keep_tests` what it
    does to any file that looks like a test: they are as they were. A test that did not run has failed. `command` is run
    once, for at most `seconds`.
    """

    repository: RepositorySource
    command: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...] = ()
    test_patch: str = ""
    keep_tests: bool = False
    source: Source = "grounded"
    seconds: float = 900.0
    walls: Walls = field(default_factory=Walls)

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        """Raises InfrastructureError, also where the tests say nothing even of the unchanged repository."""
        if not trajectory.output:
            return no_output(self.source, "Nothing was changed, so there is no patch to test.")
        given = paths_of(self.test_patch)
        patch = only(trajectory.output, lambda change: not self._belongs_to_tests(change, given))
        workspace = await self.walls.open(self.repository)
        try:
            if patch and (flaw := await refused(workspace, patch)) is not None:
                return no_output(self.source, f"The patch does not apply to the base: {flaw}")
            result = await self._run(workspace)
        finally:
            await workspace.close()
        seen = statuses(result.output)
        if not result.timed_out and not seen.keys() & {*self.fail_to_pass, *self.pass_to_pass}:
            await self._need_results()
        return judge(self._checks(seen, result), self.source)

    def _belongs_to_tests(self, change: FileChange, given: frozenset[str]) -> bool:
        return bool(change.paths & given) or (self.keep_tests and any(map(looks_like_test, change.paths)))

    async def _run(self, workspace: Workspace) -> CommandResult:
        if self.test_patch and (flaw := await refused(workspace, self.test_patch)) is not None:
            raise InfrastructureError(f"the tests do not apply to {self.repository.path}: {flaw}; mend test_patch")
        return await workspace.run(self.command, seconds=self.seconds)

    async def _need_results(self) -> None:
        """Raises InfrastructureError if the command names no test of the unchanged repository either."""
        workspace = await self.walls.open(self.repository)
        try:
            result = await self._run(workspace)
        finally:
            await workspace.close()
        if not statuses(result.output):
            said = cut(" ".join(result.output.split()), 300)
            raise InfrastructureError(
                f"command {self.command!r} names no test that it ran, even without a patch ({said or 'no output'}); "
                "install what it needs, or change it"
            )

    def _checks(self, seen: Mapping[str, Verdict], result: CommandResult) -> list[Check]:
        tail = cut(without_timings(steady(result.output)).strip(), _OUTPUT_SHOWN)
        late = f"the tests did not end within {self.seconds:g} seconds"
        missing = late if result.timed_out else f"did not run: {tail}" if not seen else "did not run"
        checks = []
        for name in dict.fromkeys((*self.fail_to_pass, *self.pass_to_pass)):
            status = seen.get(name, "fail")
            error = missing if name not in seen else None if status == "pass" else _why(name, result.output)
            # a test that is skipped shows nothing of the patch, and a right one would not skip it
            checks.append(Check(name, "pass" if status == "pass" else "fail", error=error, source=self.source))
        return checks


async def refused(workspace: Workspace, patch: str) -> str | None:
    """Applies a patch; why it does not apply, None where it did."""
    try:
        await workspace.apply(patch)
    except PatchRefused as error:
        return cut(steady(" ".join(str(error).split())), 300)
    return None


def _why(name: str, output: str) -> str:
    """The error that unittest, pytest or node printed of a test, as far as it can be told."""
    short = re.split(r"::|\.", name)[-1].partition("[")[0].partition(" (")[0]
    for block in reversed(_BLOCK.split(output)):
        if short and short in block[:400] and (found := _ERROR.search(block)):
            return next(text for text in found.groups() if text).strip(" '")
    return "failed"
