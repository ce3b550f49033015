"""A test of the agent's own: it counts where it fails without the agent's change and passes with it (law 2).

The patch is split into its new test files and the rest. Evidence of this kind is `generated`: a model wrote the test.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hardwon.evaluators.instance import Walls, refused
from hardwon.evaluators.outcomes import outcomes
from hardwon.evaluators.patches import FileChange, changes, looks_like_test, only
from hardwon.evaluators.runners import without_timings
from hardwon.evaluators.verdict import cut, no_output, steady
from hardwon.sandbox.protocol import CommandResult
from hardwon.sandbox.workspaces.workspace import RepositorySource
from hardwon.task import Ask
from hardwon.trial import NO_FEEDBACK, Check, Feedback, Source, Trajectory

_OUTPUT_SHOWN = 1500


@dataclass(frozen=True, slots=True)
class ReproductionTest:
    """Runs the new test files of a patch without the rest of it, and then with it.

    `command` runs the test files that stand where it says `{files}` (as dotted modules: `{modules}`), each time for at
    most `seconds`. A patch without a new test, or with one that passes before the change, shows nothing.
    """

    repository: RepositorySource
    command: str
    seconds: float = 300.0
    walls: Walls = field(default_factory=Walls)
    source: Source = "generated"

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        """Raises InfrastructureError."""
        if not trajectory.output:
            return no_output(self.source, "Nothing was changed, so there is no patch to test.")
        tests = sorted(path for change in changes(trajectory.output) if _is_test(change) for path in change.paths)
        if not tests:
            return _silent("The patch holds no new test that reproduces the issue: write one, and see it fail first.")
        before = await self._run(only(trajectory.output, _is_test), tests)
        if isinstance(before, str) or before.timed_out:
            return _silent("The new test does not run on the unchanged repository.")
        failed_before = {outcome.name for outcome in outcomes(before.output) if outcome.status == "fail"}
        if before.status == 0 or not failed_before:
            return _silent("No new test fails without the change, so none of them reproduces the issue.")
        after = await self._run(trajectory.output, tests)
        if isinstance(after, str):
            return no_output(self.source, f"The patch does not apply to the base: {after}")
        return self._outcome(failed_before, after)

    async def _run(self, patch: str, tests: list[str]) -> CommandResult | str:
        workspace = await self.walls.open(self.repository)
        try:
            flaw = await refused(workspace, patch)
            return flaw or await workspace.run(filled(self.command, tests), seconds=self.seconds)
        finally:
            await workspace.close()

    def _outcome(self, reproduced: set[str], after: CommandResult) -> Feedback:
        """The new tests with the change: what failed before may have failed to load then, and have another name now."""
        checks = tuple(
            Check(seen.name, seen.status, error=seen.error, source=self.source) for seen in outcomes(after.output)
        )
        passed = sum(check.status == "pass" for check in checks)
        if after.status == 0 and passed and all(check.status == "pass" for check in checks if check.name in reproduced):
            text = "The new test failed before the change and passes with it."
            return Feedback("pass", 1.0, text, checks, self.source)
        why = f"did not end within {self.seconds:g} seconds" if after.timed_out else "still fails with the change"
        text = f"The new test {why}.\n{cut(without_timings(steady(after.output)).strip(), _OUTPUT_SHOWN)}"
        failed = (Check("new test", "fail", error=why, source=self.source),)
        return Feedback("fail", min(passed / max(len(checks), 1), 0.9), text, checks or failed, self.source)


def filled(command: str, tests: list[str]) -> str:
    """A command with `{files}` and `{modules}` filled in; modules are dotted, without a leading `tests/`."""
    import shlex

    modules = [test.removeprefix("tests/").removesuffix(".py").replace("/", ".") for test in tests]
    return command.replace("{files}", shlex.join(tests)).replace("{modules}", shlex.join(dict.fromkeys(modules)))


def _is_test(change: FileChange) -> bool:
    return change.new and all(map(looks_like_test, change.paths))


def _silent(text: str) -> Feedback:
    return Feedback("no_evidence", 0.0, text, (), NO_FEEDBACK.source)
