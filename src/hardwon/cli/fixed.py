"""Shows what `hardwon fix` came to, and puts it on a branch where that was asked for."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import typer

from hardwon.cli.plain import one_line, printable
from hardwon.errors import HardwonError, InfrastructureError, UsageError
from hardwon.record import feedback_from
from hardwon.runs.folder import json_line, write_text
from hardwon.runs.journal import FILE, Journal
from hardwon.runs.row import Row
from hardwon.sandbox.workspaces.branch import put_on_branch
from hardwon.sandbox.workspaces.change import PatchRefused
from hardwon.sandbox.workspaces.git import Facts
from hardwon.trial import Feedback

PATCH = "fix.patch"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished run: the repository, the commit that was worked on and where it lies, and what was said of it."""

    found: Facts
    base: str
    objects: Path | None
    check: str
    before: Feedback
    out: Path
    row: Row
    branch: str


def hand_over(outcome: Outcome, *, apply: bool, as_json: bool) -> int:
    """Prints the change, the checks before and after and the cost; the exit code.

    Where no branch can be made all that is shown first: then it raises UsageError, InfrastructureError.
    """
    row = outcome.row
    after = _after(outcome)
    patch = branch = trouble = None
    if row.submission is not None:
        patch = outcome.out / PATCH
        write_text(patch, row.submission)
        if apply and row.solved:
            branch, trouble = _branch(outcome, row.submission, patch)
    if as_json:
        beside = {"base": outcome.base, "before": asdict(outcome.before), "after": after and asdict(after)}
        places = {"patch": None if patch is None else str(patch), "branch": branch}
        typer.echo(json_line({**row.as_json(), **beside, **places}), nl=False)
    elif row.error is not None:
        typer.echo(f"error: {one_line(row.error, 400)}")
    else:
        for line in _told(outcome, after, patch, branch, apply):
            typer.echo(line)
    if trouble is not None:
        sys.stdout.flush()
        raise trouble
    return 3 if row.error is not None else 0 if row.solved else 1


def _told(outcome: Outcome, after: Feedback | None, patch: Path | None, branch: str | None, apply: bool) -> list[str]:
    row = outcome.row
    lines = [printable(row.submission.rstrip("\n")), ""] if row.submission is not None else []
    lines.append(f"before: {_state(outcome.before)}")
    lines.append(f"after:  {'nothing was handed in' if after is None else _state(after)}")
    if after is not None:
        lines += [
            f"        {one_line(line, 400)}"
            for line in after.text.split("\n")
            if line.startswith(("The change edits", "Flaky"))
        ]
    cost = "?" if row.cost_usd is None else f"{row.cost_usd:.2f}"
    solved = "solved" if row.solved else "not solved"
    spent = f"{row.calls} calls, {row.tokens_in + row.tokens_out:,} tokens, ${cost}"
    lines.append(f"{solved} ({row.stop}) after {row.trials} trials, {spent}")
    if patch is not None:
        lines.append(f"patch in {patch}")
    if branch is not None:
        lines.append(f"on branch {branch} of {outcome.found.root}; your tree is as it was")
    elif apply and not row.solved:
        lines.append("no branch was made, since it is not solved")
    return lines


def _state(feedback: Feedback) -> str:
    tests = [check for check in feedback.checks[1:] if check.status != "no_evidence"]
    passed = sum(check.status == "pass" for check in tests)
    counted = f"{passed} of {len(tests)} tests pass" if tests else feedback.text.split("\n")[0]
    return f"{feedback.verdict.replace('_', ' ')} ({one_line(counted)})"


def _after(outcome: Outcome) -> Feedback | None:
    """What the check said of the trial that was handed in: the first of its verdict and score (law 5)."""
    row = outcome.row
    if row.submission is None:
        return None
    journal = Journal(outcome.out / FILE, read_only=True)
    try:
        said = [feedback_from(payload) for _, _, payload in journal.payloads("check")]
    finally:
        journal.close()
    return next((each for each in said if (each.verdict, each.score) == (row.verdict, row.score)), None)


def _branch(outcome: Outcome, change: str, patch: Path) -> tuple[str | None, HardwonError | None]:
    """The name of the branch, or why there is none."""
    message = f"Make {one_line(outcome.check, 60)} succeed\n\nBy hardwon, model and lessons in {outcome.out}.\n"
    try:
        return put_on_branch(outcome.found, outcome.base, change, outcome.branch, message, outcome.objects), None
    except PatchRefused as error:
        return None, UsageError(f"--apply: {error}; it is in {patch}, apply it by hand")
    except InfrastructureError as error:
        return None, InfrastructureError(f"--apply: no branch was made: {error}; git apply {patch} by hand")
