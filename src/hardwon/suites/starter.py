"""The bundled suite: small tasks written for this project, from easy to tricky, in the layout of `jsonl`."""

from __future__ import annotations

from pathlib import Path

from hardwon.errors import UsageError
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites import jsonl
from hardwon.suites.programming import build_all, solutions_of
from hardwon.suites.protocol import SuiteOptions
from hardwon.task import Task

DATA = Path(__file__).parent / "data" / "starter.jsonl"


def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
    """Raises UsageError for unknown ids, and for data, which this suite brings along."""
    if options.data is not None:
        raise UsageError(f"--data {options.data}: starter brings its own tasks; drop --data, or run the suite jsonl")
    return build_all(jsonl.read_tasks(DATA), options, sandbox)


def solutions(options: SuiteOptions) -> dict[str, str]:
    """The reference solutions by task id."""
    return solutions_of(jsonl.read_tasks(DATA))
