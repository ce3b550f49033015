"""GSM8K (Cobbe et al. 2021): word problems, one a line with `question` and an `answer` that ends in `#### NUMBER`."""

from __future__ import annotations

from pathlib import Path

from hardwon.errors import UsageError
from hardwon.evaluators.numeric import number_in
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.questions import Question, build_all, short_id, solutions_of
from hardwon.suites.read import Row, read_rows
from hardwon.task import Problem, Task


def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
    """Raises UsageError that names file and line for the first thing that is wrong."""
    return build_all(_read(options), options)


def solutions(options: SuiteOptions) -> dict[str, str]:
    """The gold numbers by task id. Raises UsageError."""
    return solutions_of(_read(options))


def _read(options: SuiteOptions) -> list[tuple[Row, Question]]:
    if options.data is None:
        raise UsageError("the suite gsm8k has no data of its own; give --data PATH, or run the suite word-problems")
    return read_questions(options.data)


def read_questions(path: Path) -> list[tuple[Row, Question]]:
    """Every problem of a file in this layout. Raises UsageError."""
    return [(row, _question(row)) for row in read_rows(path)]


def _question(row: Row) -> Question:
    """The published data has no ids: a question without `id` or `task_id` is known by its text."""
    text, answer = row.need("question").strip(), row.need("answer")
    name = next((row.need(field) for field in ("task_id", "id") if field in row.fields), None)
    _, marked, gold = answer.rpartition("####")
    if not marked:
        raise row.wrong("'answer' has no '####'; end it with a line `#### NUMBER`")
    gold = gold.strip().partition("\n")[0].strip()
    if number_in(gold) is None:
        raise row.wrong(f"'answer' has {gold[:40]!r} after '####', which is no number; give one number there")
    return Question(Problem(name or f"gsm8k/{short_id(text)}", text, "question"), gold, "number")
