"""What one task recalls from an index, as the journal keeps it; and what a row of results says of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hardwon.environments.repository import RepositoryTask
from hardwon.memory.bank.advice import block, withheld
from hardwon.memory.bank.item import problem_digest
from hardwon.memory.bank.retrieval import Found, Query
from hardwon.memory.bank.store import Use
from hardwon.record import Payload
from hardwon.runs.row import BankUse
from hardwon.sandbox.workspaces.git import theirs
from hardwon.task import Task

_OWNER_AND_NAME = re.compile(r"([^/:@\s]+/[^/:@\s]+?)(?:\.git)?/?\s*$")


def query_of(task: Task, name: str, suites: tuple[str, ...]) -> Query:
    """What a task asks the bank; `name` is what the bank knows it by."""
    problem = task.problem
    return Query(
        problem.prompt,
        kind=problem.kind,
        suites=suites,
        task=name,
        problem=problem_digest(problem.prompt),
        home=repository_of(task),
    )


def repository_of(task: Task) -> str:
    """The repository that a task is work in, `owner/name` as where it was cloned from; empty for other tasks.

    One that was cloned from nowhere is known by the name of its folder, or of the archive that it comes in; one that
    lies in a container's image has no name.
    """
    return _repository_at(task.source.path) if isinstance(task, RepositoryTask) else ""


@cache
def _repository_at(path: Path) -> str:
    if not path.is_dir():
        return path.name[:200] if path.is_file() else ""
    origin = theirs(path, "config", "--get", "remote.origin.url").stdout.decode("utf-8", "replace")
    found = _OWNER_AND_NAME.search(origin)
    return (found[1] if found else path.resolve().name)[:200]


def recalled(found: Sequence[Found], draw: str, task: str, share: float) -> Payload:
    """What was found for a task, each with why it was and whether it is held back; and the advice that is left."""
    held = [withheld(draw, task, f.item.id, share) for f in found]
    told = [
        {
            "item": f.item.id,
            "seq": f.seq,
            "title": f.item.title,
            "score": f.score,
            "meaning": f.meaning,
            "by_words": f.by_words,
            "words": f.words,
            "withheld": back,
        }
        for f, back in zip(found, held, strict=True)
    ]
    return {"found": told, "advice": block([f.item for f, back in zip(found, held, strict=True) if not back])}


def uses(payload: Payload | None) -> list[Use]:
    found = payload["found"] if payload else []
    return [Use(use["item"], not use["withheld"], rank, use["score"]) for rank, use in enumerate(found, 1)]


def used(payload: Payload | None, taught: Sequence[str]) -> BankUse:
    found = uses(payload)
    shown, held = (tuple(use.item_id for use in found if use.shown is which) for which in (True, False))
    return BankUse(shown, held, tuple(taught))
