"""HotpotQA (Yang et al. 2018), as published (a JSON array) and one question a line: four settings.

`hotpotqa`: the acting agent searches the question's own paragraphs (the distractor setting). `hotpotqa-open`: those of
all questions in the file. `hotpotqa-cot`: the paragraphs are in the prompt. `hotpotqa-closed`: there are none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hardwon.environments.paragraphs import Library, Paragraph
from hardwon.errors import UsageError
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.questions import Question, build_all, solutions_of
from hardwon.suites.read import Row, is_unicode, kind, read_rows
from hardwon.task import Problem, Task


def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
    """Raises UsageError that names file and line for the first thing that is wrong; so do the others."""
    return build_all([_own(row) for row in _rows(options)], options)


def load_open(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
    """Every question may search the paragraphs of all."""
    rows = _rows(options)
    library = Library([paragraph for row in rows for paragraph in paragraphs_of(row)])
    beside = _beside(library.paragraphs)
    return build_all([(row, _question(row, library=library, beside=beside)) for row in rows], options)


def load_cot(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
    """The question and its paragraphs are the prompt."""
    return build_all([(row, _question(row, shown=paragraphs_of(row))) for row in _rows(options)], options)


def load_closed(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
    """The question alone is the prompt; paragraphs may be missing."""
    return build_all([(row, _question(row)) for row in _rows(options)], options)


def solutions(options: SuiteOptions) -> dict[str, str]:
    """The gold answers by task id. Raises UsageError."""
    return solutions_of([(row, _question(row)) for row in _rows(options)])


def read_questions(path: Path) -> list[tuple[Row, Question]]:
    """Every question of a file, each with its own paragraphs to search. Raises UsageError."""
    return [_own(row) for row in read_rows(path)]


def paragraphs_of(row: Row) -> tuple[Paragraph, ...]:
    """The field `context`: an array of [title, [sentence, …]], or {"title": […], "sentences": [[…], …]}.

    Paragraphs without text are left out. Raises UsageError for what is malformed, or where nothing is left.
    """
    context = row.fields.get("context")
    pairs = _columns(row, context) if isinstance(context, Mapping) else row.array("context", required=True)
    found = [paragraph for place, pair in enumerate(pairs, 1) if (paragraph := _paragraph(row, place, pair)).text]
    if not found:
        raise row.wrong("the question has no paragraphs; fill in 'context', or run the suite hotpotqa-closed")
    return tuple(found)


def _rows(options: SuiteOptions) -> list[Row]:
    if options.data is None:
        raise UsageError("the suites hotpotqa… have no data of their own; give --data PATH, or run the suite multi-hop")
    return read_rows(options.data)


def _own(row: Row) -> tuple[Row, Question]:
    paragraphs = paragraphs_of(row)
    return row, _question(row, library=Library(paragraphs), beside=_beside(paragraphs))


def _question(
    row: Row, *, shown: Sequence[Paragraph] = (), library: Library | None = None, beside: str = ""
) -> Question:
    task_id = row.need("_id" if "_id" in row.fields or "id" not in row.fields else "id")
    text, answer = row.need("question").strip(), row.need("answer").strip()
    if shown:
        told = "\n\n".join(f"{paragraph.title}: {paragraph.text}" for paragraph in shown)
        text = f"Paragraphs:\n\n{told}\n\nQuestion: {text}"
    return Question(Problem(task_id, text, "question"), answer, "text", library, beside)


def _columns(row: Row, context: Mapping[str, Any]) -> list[list[Any]]:
    titles, sentences = context.get("title"), context.get("sentences")
    if not isinstance(titles, list) or not isinstance(sentences, list) or len(titles) != len(sentences):
        raise row.wrong("'context' wants as many titles as lists of sentences; mend 'title' and 'sentences' in it")
    return [list(pair) for pair in zip(titles, sentences, strict=True)]


def _paragraph(row: Row, place: int, pair: object) -> Paragraph:
    if not isinstance(pair, list) or len(pair) != 2:
        what = f"an array of {len(pair)}" if isinstance(pair, list) else kind(pair)
        raise row.wrong(f"context, paragraph {place}: this is {what}; give [title, [sentence, …]]")
    title, sentences = pair
    if not isinstance(title, str) or not title.strip():
        raise row.wrong(f"context, paragraph {place}: its title is {kind(title)}, or blank; give a text")
    if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
        raise row.wrong(f"context, paragraph {place}: its sentences are no array of texts; give [sentence, …]")
    if not all(map(is_unicode, [title, *sentences])):
        raise row.wrong(f"context, paragraph {place}: holds half of a surrogate pair; give whole characters")
    return Paragraph(title.strip(), tuple(sentences))


def _beside(paragraphs: Sequence[Paragraph]) -> str:
    text = json.dumps([[paragraph.title, paragraph.sentences] for paragraph in paragraphs])
    return hashlib.sha256(text.encode()).hexdigest()
