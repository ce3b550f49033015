"""The bundled questions over paragraphs, written for this project about a place that is not, in HotpotQA's layout."""

from __future__ import annotations

from pathlib import Path

from hardwon.errors import UsageError
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites import hotpotqa
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.questions import build_all, solutions_of
from hardwon.task import Task

DATA = Path(__file__).parent / "data" / "multi_hop.jsonl"


def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
    """Raises UsageError for unknown ids, and for data, which this suite brings along."""
    if options.data is not None:
        raise UsageError(f"--data {options.data}: multi-hop brings its own tasks; drop --data, or run hotpotqa")
    return build_all(hotpotqa.read_questions(DATA), options)


def solutions(options: SuiteOptions) -> dict[str, str]:
    """The gold answers by task id."""
    return solutions_of(hotpotqa.read_questions(DATA))
