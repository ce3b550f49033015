"""A command decides about a change to a repository: in a fresh tree, with the tests as they were."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from hardwon.errors import InfrastructureError
from hardwon.evaluators.instance import Walls
from hardwon.evaluators.missing import need_tools
from hardwon.evaluators.outcomes import Outcome, counted, outcomes, runs_tests
from hardwon.evaluators.patches import changes, looks_like_test, only, paths_of
from hardwon.evaluators.runners import Tally, without_timings
from hardwon.evaluators.verdict import cut, no_output, steady
from hardwon.sandbox.protocol import CommandResult
from hardwon.sandbox.workspaces.workspace import PatchRefused, RepositorySource, Workspace
from hardwon.task import Ask
from hardwon.trial import Check, Feedback, Source, Trajectory, Verdict

_OUTPUT_SHOWN = 2500
_TESTS_SHOWN = 8
_MOST_CHECKS = 2000
_CONFIGURATION = re.compile(
    r"(?:^|/)(?:conftest\.py|pytest\.ini|\.?tox\.ini|setup\.cfg|pyproject\.toml|noxfile\.py|sitecustomize\.py|"
    r"usercustomize\.py|[^/]+\.pth|package\.json|(?:jest|vitest|babel)\.config\.\w+|\.mocharc\.\w+|go\.mod|Cargo\.toml|"
    r"build\.rs|Makefile)$"
)
_PASSED_LINE = re.compile(r"^PASSED .*\n?", re.MULTILINE)
_ADDOPTS = "PYTEST_ADDOPTS"
_TELL_EACH_TEST = "-rap --color=no"
_UNITTEST = re.compile(r"(-m\s*unittest(?:\s+discover)?)(?=[\s;&|)'\"]|$)")
_NAMES_WHAT_PASSES = re.compile(r"\b(?:pytest|py\.test)\b|\bunittest\b.*\s(?:-\w*v\w*|--verbose)\b")
_SAYS_HOW_MUCH = re.compile(r"\s(?:-\w*[vq]|--verbose|--quiet)\b")


@dataclass(frozen=True, slots=True)
class RepositoryCheck:
    """Runs `command` in a fresh workspace of `repository` with the change in it; status 0 passes.

    Files that match a pattern in `restore` are as in the base, whatever the change does to them (a pattern is a path, a
    folder, or has `*` in it); `tests` is a patch with tests of one's own, which are put in afterwards. The tests named
    in `required` must have run and passed. A test run that ran nothing is `no_evidence`, and one that leaves with
    status 0 without its summary has not passed. A run that fails is tried again up to `reruns` times: if it then
    passes it has passed, and what is not the same each time is marked as flaky. The text says which tests, and which
    files that say how tests are run, the change edits. `seconds` bounds one run.

    Tests share their process with the code under test, so a change that means to can still forge what they print.
    """

    repository: RepositorySource
    command: str
    restore: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    tests: str = ""
    seconds: float = 300.0
    reruns: int = 1
    walls: Walls = field(default_factory=Walls)
    source: Source = "grounded"

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        """Raises InfrastructureError, also where the command is missing or `tests` do not apply to the base."""
        if not trajectory.output:
            return no_output(self.source, "Nothing was changed in the repository, so there is nothing to check.")
        given = paths_of(self.tests)
        patch = only(trajectory.output, lambda change: not any(self._restored(path, given) for path in change.paths))
        workspace = await self._open()
        try:
            try:
                await workspace.apply(patch)
            except PatchRefused as error:
                return no_output(self.source, f"{cut(str(error), 500)}; nothing was checked.")
            runs = await self._runs(workspace)
        finally:
            await workspace.close()
        if runs[0].status not in (0, None):
            await self._need_tools(runs[0])
        return self._feedback(runs, self._edits(trajectory.output, given))

    async def before(self) -> Feedback:
        """What the command says of the repository as it is. Raises InfrastructureError."""
        workspace = await self._open()
        try:
            runs = await self._runs(workspace)
        finally:
            await workspace.close()
        if runs[0].status not in (0, None):
            await self._need_tools(runs[0])
        return replace(self, required=())._feedback(runs, "")

    async def _open(self) -> Workspace:
        env = dict(self.walls.env)
        env[_ADDOPTS] = f"{env.get(_ADDOPTS, '')} {_TELL_EACH_TEST}".strip()
        return await replace(self.walls, env=tuple(env.items())).open(self.repository)

    async def _runs(self, workspace: Workspace) -> list[CommandResult]:
        """The last one counts; the others failed."""
        if self.tests:
            try:
                await workspace.apply(self.tests)
            except PatchRefused as error:
                raise InfrastructureError(f"the tests of {self.repository.path} can not be put in: {error}") from error
        command = telling(self.command)
        runs = [await workspace.run(command, seconds=self.seconds)]
        while runs[-1].status not in (0, None) and len(runs) <= self.reruns:
            runs.append(await workspace.run(command, seconds=self.seconds))
        return runs

    async def _need_tools(self, result: CommandResult) -> None:
        async def probe(command: str) -> CommandResult:
            workspace = await self._open()
            try:
                return await workspace.run(command, seconds=60.0)
            finally:
                await workspace.close()

        await need_tools(self.command, result, probe)

    def _feedback(self, runs: Sequence[CommandResult], edits: str) -> Feedback:
        last, seen = runs[-1], outcomes(runs[-1].output)
        flaky = _flaky(runs)
        verdict, text = self._verdict(last, counted(last.output) if runs_tests(self.command) else None)
        named = {outcome.name: outcome for outcome in seen}
        lacking = [name for name in self.required if name not in named or named[name].status != "pass"]
        if verdict == "pass" and lacking:
            verdict, text = "fail", f"The command left with status 0, but not all that has to pass did: {lacking[0]}."
        tests = [self._check(outcome, flaky) for outcome in seen]
        tests += [self._check(Outcome(name, "fail", "did not run"), flaky) for name in lacking if name not in named]
        decided = [check.status for check in tests if check.status != "no_evidence"]
        score = 1.0 if verdict == "pass" else 0.0
        if verdict == "fail" and decided:
            score = min(decided.count("pass") / len(decided), 0.99)
        whole = self._whole(last, verdict, text)
        return Feedback(
            verdict,
            score,
            self._text(text, verdict, last, tests, flaky, edits),
            (whole, *tests[:_MOST_CHECKS]),
            "none" if verdict == "no_evidence" else self.source,
        )

    def _verdict(self, result: CommandResult, counts: Tally | None) -> tuple[Verdict, str]:
        if result.timed_out:
            return "fail", f"The command did not end within {self.seconds:g} seconds."
        if result.status is None:
            return "fail", "The command was ended."
        if counts is not None and counts.ran_none(result.status):
            return "no_evidence", "The test run held no test."
        if result.status != 0:
            return "fail", f"The command left with status {result.status}{_of(counts)}."
        if counts is None:
            return "pass", "The command left with status 0."
        if counts.summary_hidden:
            return "no_evidence", "The test run hid its summary, so nothing is shown: run it less quietly."
        if not counts.has_summary or counts.failed:
            return "fail", "The test run left with status 0 before it had reported its tests: the program ended it."
        if not counts.passed:
            return "no_evidence", "The test run skipped every test."
        return "pass", f"The command left with status 0{_of(counts)}."

    def _check(self, outcome: Outcome, flaky: Sequence[str]) -> Check:
        if outcome.name in flaky:
            error = "flaky: not the same each time it was run"
            return Check(outcome.name, "no_evidence", error=error, source=self.source)
        said = None if outcome.status != "fail" else outcome.error or "failed"
        return Check(outcome.name, outcome.status, error=said, source=self.source)

    def _whole(self, result: CommandResult, verdict: Verdict, text: str) -> Check:
        return Check(
            self.command,
            verdict,
            call=self.command,
            expected="status 0",
            observed=None if result.status is None else f"status {result.status}",
            error=None if verdict == "pass" else text,
            seconds=result.seconds,
            source=self.source,
        )

    def _text(
        self,
        text: str,
        verdict: Verdict,
        result: CommandResult,
        tests: Sequence[Check],
        flaky: Sequence[str],
        edits: str,
    ) -> str:
        parts = [text]
        if verdict != "pass":
            failing = [check for check in tests if check.status == "fail"]
            parts += [f"- {check.name}: {cut(steady(check.error or ''), 220)}" for check in failing[:_TESTS_SHOWN]]
            if len(failing) > _TESTS_SHOWN:
                parts.append(f"- and {len(failing) - _TESTS_SHOWN} more")
            output = _PASSED_LINE.sub("", without_timings(steady(result.output))).strip()
            parts += [cut(output, _OUTPUT_SHOWN)] if output else []
        if flaky:
            parts.append(f"Flaky, not the same each time: {', '.join(flaky[:_TESTS_SHOWN])}.")
        return "\n".join([*parts, edits] if edits else parts)

    def _restored(self, path: str, given: frozenset[str]) -> bool:
        return path in given or any(
            fnmatchcase(path, pattern) or path.startswith(f"{pattern.rstrip('/')}/") for pattern in self.restore
        )

    def _edits(self, patch: str, given: frozenset[str]) -> str:
        """What the change does to tests, and to what says how they are run."""
        paths = sorted({path for change in changes(patch) for path in change.paths})
        aside = [path for path in paths if self._restored(path, given)]
        others = [p for p in paths if p not in aside and (looks_like_test(p) or _CONFIGURATION.search(p))]
        lines = []
        if aside:
            lines.append(f"The change edits files that were put back as they were: {', '.join(aside)}.")
        if others:
            lines.append(f"The change edits tests, or how they are run: {', '.join(others)}.")
        return "\n".join(lines)


def telling(command: str) -> str:
    """The command, with unittest told to name the tests that pass; pytest is told by a variable."""
    return command if _SAYS_HOW_MUCH.search(command) else _UNITTEST.sub(r"\1 -v", command)


def names_what_passes(command: str) -> bool:
    """Whether the run of a command is known to name the tests that pass, and not only those that fail."""
    return _NAMES_WHAT_PASSES.search(telling(command)) is not None


def _flaky(runs: Sequence[CommandResult]) -> list[str]:
    """The tests that did not come to the same in every run."""
    told = [{outcome.name: outcome.status for outcome in outcomes(result.output)} for result in runs]
    names = list(dict.fromkeys(name for each in told for name in each))
    return [name for name in names if len({each[name] for each in told if name in each}) > 1]


def _of(counts: Tally | None) -> str:
    if counts is None or not counts.has_summary:
        return ""
    return f": {counts.passed} of {counts.passed + counts.failed} tests passed"
