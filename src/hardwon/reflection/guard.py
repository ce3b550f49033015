"""The guard on the quality of lessons: what is empty, an echo, a program or a repetition teaches nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hardwon.trial import Feedback, Lesson

_WORD = re.compile(r"[A-Za-z_]\w+")
# fmt: off
_PLAIN = frozenset({
    "the", "a", "an", "and", "or", "of", "to", "in", "on", "is", "are", "was", "were", "be", "been", "it", "its",
    "this", "that", "these", "those", "with", "for", "from", "as", "at", "by", "not", "no", "but", "if", "then",
    "when", "which", "what", "so", "do", "does", "did", "has", "have", "had", "should", "must", "can", "could",
    "would", "will", "test", "tests", "failed", "fails", "fail", "failing", "error", "errors", "function", "code",
    "program", "expected", "observed", "got", "returned", "returns", "return", "output", "input", "assertion",
    "assertionerror", "instead", "attempt", "next", "time", "lesson", "because"
})
# fmt: on
_NEW_WORDS = 3
"""A lesson must bring at least this many words of its own that the feedback does not hold."""

_SAME = 0.8
"""Two lessons whose words overlap by this share (Jaccard) say the same."""


def objection(text: str, feedback: Feedback, earlier: Sequence[Lesson], *, code: bool = False) -> str | None:
    """Why the lesson is not worth keeping, as the end of a sentence; None when it is.

    Rejects what is empty, only restates the error, contains a full program (unless `code` is welcome), or repeats an
    earlier lesson.
    """
    words = _words(text)
    if len(words) < _NEW_WORDS:
        return "is empty"
    if not code and holds_program(text):
        return "contains a program instead of advice"
    if len(words - _words(feedback.text) - _PLAIN) < _NEW_WORDS:
        return "only restates the error"
    for lesson in earlier:
        other = _words(lesson.text)
        if len(words & other) >= _SAME * len(words | other):
            return "repeats an earlier lesson"
    return None


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def holds_program(text: str) -> bool:
    """A function or class with a body, or a code block of three lines or more."""
    fenced = re.findall(r"```[^\n]*\n(.*?)(?:```|\Z)", text, re.DOTALL)
    if any(len([line for line in block.splitlines() if line.strip()]) >= 3 for block in fenced):
        return True
    return re.search(r"^[ \t]*(?:async\s+def|def|class)\s+\w+[^\n]*:[ \t]*\n[ \t]+\S", text, re.MULTILINE) is not None
