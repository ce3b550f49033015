"""The bundled word problems: small and arithmetic, written for this project, in the layout of `gsm8k`."""

from __future__ import annotations

from pathlib import Path

from hardwon.errors import UsageError
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites import gsm8k
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.questions import build_all, solutions_of
from hardwon.task import Task

DATA = Path(__file__).parent / "data" / "word_problems.jsonl"


def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
    """Raises UsageError for unknown ids, and for data, which this suite brings along."""
    if options.data is not None:
        raise UsageError(f"--data {options.data}: word-problems brings its own tasks; drop --data, or run gsm8k")
    return build_all(gsm8k.read_questions(DATA), options)


def solutions(options: SuiteOptions) -> dict[str, str]:
    """The gold numbers by task id."""
    return solutions_of(gsm8k.read_questions(DATA))
