"""Run folders made by hand for the view's tests, with the real journal: what a run would have left behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hardwon.runs.folder import open_folder
from hardwon.runs.journal import Journal, Key

HOSTILE = (
    "<script>window.broken=1</script><img src=x onerror=window.broken=1>{{ 7*7 }} \x1b[31mred\x1b[0m "
    "\u202edrow\u202c \x00 </pre></details>"
)
LESSON = "An empty list raised inside max, hence guard against emptiness before calling it."


def config(arms: tuple[str, ...] = ("reflexion",), tasks: int = 2, **settings: Any) -> dict[str, Any]:
    return {
        "settings": {
            "suite": "own",
            "model": "script:x",
            "arms": {arm: {"strategy": arm} for arm in arms},
            "budget": {"calls": None, "tokens": 2000, "usd": None, "seconds": None},
            "seed": 0,
            **settings,
        },
        "about": {"tasks": tasks, "baseline": arms[0]},
        "versions": {"hardwon": "0"},
    }


def row(task: str, arm: str = "reflexion", **values: Any) -> dict[str, Any]:
    return {
        "task_id": task,
        "arm": arm,
        "seed": 0,
        "solved": True,
        "feedback": "grounded",
        "verdict": "pass",
        "submission": "x",
        "trials": 1,
        "calls": 1,
        "tokens_in": 60,
        "tokens_out": 40,
        "tokens_cached": 0,
        "cost_usd": 0.0,
        "wall_s": 1.0,
        "stop": "solved",
        "error": None,
        "trial_verdicts": ["pass"],
        "trial_scores": [1.0],
        "tokens_by_role": {"act": 100},
        **values,
    }


def call(text: str, prompt: str = "Write it.", temperature: float = 0.0) -> dict[str, Any]:
    usage = {"tokens_in": 60, "tokens_out": 40, "tokens_cached": 0, "cost_usd": 0.0, "attempts": 1}
    completion = {"text": text, "reasoning": None, "model": "script:x", "finish": "stop", "usage": usage}
    return {"completion": completion, "messages": [["user", prompt]], "temperature": temperature, "digest": "0"}


def checked(verdict: str, **check: Any) -> dict[str, Any]:
    one = {"name": "test 1", "status": verdict, "call": "f([]) is None", "expected": "None", "observed": "0", **check}
    return {"verdict": verdict, "score": float(verdict == "pass"), "text": "", "checks": [one], "source": "grounded"}


def problem(task: str, prompt: str = "def f(xs):\n    ...\n", kind: str = "function") -> dict[str, Any]:
    return {
        "digest": "0",
        "id": task,
        "prompt": prompt,
        "kind": kind,
        "entry_point": "f",
        "examples": ["f([]) is None"],
    }


def program(body: str) -> str:
    return f"```python\ndef f(xs):\n    return {body}\n```"


def learned(journal: Journal, task: str, arm: str = "reflexion", *, text: str = LESSON, finish: bool = True) -> None:
    """A task that fails, learns a lesson and is solved by the second trial."""
    key = Key(task, arm, 0)
    journal.append(key, "task", 0, problem(task))
    journal.append(key, "act", 0, call(program("max(xs)")), 1.0)
    journal.append(key, "check", 0, checked("fail", observed=text, error=text), 2.0)
    journal.append(key, "reflect", 0, call(text), 3.0)
    journal.append(key, "lesson", 0, {"text": text, "checks": ["test 1"], "origin": "model", "rejected": []}, 3.0)
    if finish:
        journal.append(key, "act", 1, call(program("max(xs) if xs else None"), f"Write it.\n- {text}", 0.7), 4.0)
        journal.append(key, "check", 1, checked("pass", observed="None"), 5.0)
        journal.append(key, "grade", 0, checked("pass"), 5.0)
        done = {"trials": 2, "trial_verdicts": ["fail", "pass"], "trial_scores": [0.0, 1.0], "lessons": 1}
        journal.append(key, "row", 0, row(task, arm, **done), 5.0)


@contextmanager
def written(folder: Path, **values: Any) -> Iterator[Journal]:
    """The journal of a folder that is being written as long as this lasts."""
    with open_folder(folder, config(**values)) as journal:
        yield journal


def make_run(folder: Path, *, text: str = LESSON) -> Path:
    """A finished run: one task solved after a lesson, one not solved."""
    with written(folder) as journal:
        learned(journal, "own/learned", text=text)
        key = Key("own/failed", "reflexion", 0)
        journal.append(key, "task", 0, problem("own/failed"))
        journal.append(key, "act", 0, call(text), 1.0)
        journal.append(key, "check", 0, checked("fail", observed=text), 2.0)
        lost = {"solved": False, "verdict": "fail", "stop": "trials", "trial_verdicts": ["fail"], "trial_scores": [0.0]}
        journal.append(key, "row", 0, row("own/failed", **lost), 2.0)
    return folder
