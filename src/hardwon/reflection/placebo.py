"""The placebo: a lesson of another task in place of the one that was earned, as long as that one.

It is a control: a strategy that gains as much from it as from its own lessons gains from the retry, not the lesson.
"""

from __future__ import annotations

import random
from functools import cache
from importlib import resources

from hardwon.trial import Lesson


def placebo(lesson: Lesson, task_id: str) -> Lesson:
    """Lessons of the bundled tasks, cut to the number of words that `lesson` has; the same for the same lesson."""
    chance = random.Random(f"{task_id} {lesson.text}")
    wanted = len(lesson.text.split())
    words: list[str] = []
    while len(words) < wanted:
        words += chance.choice(_others()).split()
    return Lesson(" ".join(words[:wanted]), (), "placebo", lesson.rejected)


@cache
def _others() -> tuple[str, ...]:
    text = resources.files("hardwon.reflection").joinpath("placebo.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line)
