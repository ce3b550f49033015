"""The placebo: a lesson of another task in place of the one that was earned, as long as that one.

It is a control: a strategy that gains as much from it as from its own lessons gains from the retry, not the lesson.
"""

from __future__ import annotations

import random
from functools import cache
from importlib import resources

from hardwon.trial import Lesson


def placebo(lesson: Lesson, task_id: str) -> Lesson:
    """Lessons of other, bundled tasks, cut at the word that brings them nearest to the length of `lesson`.

    Length is counted in characters, which tokens follow closer than words. The same for the same lesson.
    """
    chance = random.Random(f"{task_id} {lesson.text}")
    others = [text for owner, text in _bundled() if owner != task_id]
    words: list[str] = []
    while len(" ".join(words)) < len(lesson.text):
        words += chance.choice(others).split()
    while words and _distance(words[:-1], lesson) <= _distance(words, lesson):
        words.pop()
    return Lesson(" ".join(words), (), "placebo", lesson.rejected)


def _distance(words: list[str], lesson: Lesson) -> int:
    return abs(len(" ".join(words)) - len(lesson.text))


@cache
def _bundled() -> tuple[tuple[str, str], ...]:
    """Whose lesson, and its text; one a line, with a tab between."""
    text = resources.files("hardwon.reflection").joinpath("placebo.txt").read_text(encoding="utf-8")
    pairs = (line.partition("\t") for line in text.splitlines() if line)
    return tuple((owner, said) for owner, _, said in pairs)
