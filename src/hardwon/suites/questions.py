"""Questions with a short answer, made into tasks with a hidden grader; only if asked for is it the feedback too."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial

from hardwon.environments.paragraphs import TOOLS, Library, ParagraphWorld
from hardwon.environments.task import EpisodeTask
from hardwon.errors import UsageError
from hardwon.evaluators.answers import AnswerBehaviour, AnswerKind
from hardwon.evaluators.oracle_answer import OracleAnswer
from hardwon.suites.choice import choose, need_unique
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.read import Row
from hardwon.task import Problem, Task

STEPS = 8
"""Most actions of an episode; the agents of the original had 6 to 7."""


@dataclass(frozen=True, slots=True)
class Question:
    """A problem of kind `question`, and its gold answer.

    With a `library` the answer is looked for by acting in it. `beside` identifies what else the question rests on.
    """

    problem: Problem
    answer: str
    kind: AnswerKind
    library: Library | None = None
    beside: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the question, its answer and what it rests on."""
        text = json.dumps([asdict(self.problem), self.answer, self.kind, self.beside], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def build_all(items: Sequence[tuple[Row, Question]], options: SuiteOptions) -> tuple[Task, ...]:
    """The chosen questions as tasks, in file order.

    Raises UsageError for an id that is there twice or asked for and not there, and for `--feedback generated`.
    """
    if options.feedback == "generated":
        raise UsageError(
            "--feedback generated: self-written tests are for programs, and these tasks are questions; give --feedback "
            "oracle (the gold answer, labelled so everywhere) or leave it out"
        )
    need_unique((row, item.problem.id) for row, item in items)
    chosen = choose([item for _, item in items], lambda item: item.problem.id, options)
    return tuple(_task(item, oracle=options.feedback == "oracle") for item in chosen)


def solutions_of(items: Sequence[tuple[Row, Question]]) -> dict[str, str]:
    """The gold answers by task id."""
    return {item.problem.id: item.answer for _, item in items}


def short_id(text: str) -> str:
    """An id for a question that has none: by its content, never by its place (law 7)."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:12]


def _task(item: Question, *, oracle: bool) -> Task:
    feedback = OracleAnswer((item.answer,), item.kind) if oracle else None
    grader = OracleAnswer((item.answer,), item.kind, "grounded")
    behaviour = AnswerBehaviour(item.kind)
    if item.library is None:
        return Task(item.problem, feedback, grader, item.digest, behaviour=behaviour)
    return EpisodeTask(
        problem=item.problem,
        feedback=feedback,
        grader=grader,
        digest=item.digest,
        behaviour=behaviour,
        environment=partial(ParagraphWorld, item.library),
        steps=STEPS,
        tools=TOOLS,
    )
