"""Which words of a lesson the next prompt carried."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

_LONGEST = 1000
_RUN = 4
"""Fewer words in a row than this are found in any two texts, and say nothing."""

Parts = list[tuple[str, bool]]


def carried(lesson: str, prompt: str) -> Parts:
    """The lesson in parts, each with whether `prompt` holds it. Spacing does not count."""
    if not lesson.strip():
        return []
    if " ".join(lesson.split()) in " ".join(prompt.split()):
        return [(lesson, True)]
    words = re.findall(r"\s*\S+", lesson)[:_LONGEST]
    said = [word.strip() for word in words]
    beside = prompt.split()[-20 * _LONGEST :]
    present = set(beside)
    held = [False] * len(words)
    start = 0
    while start < len(words):
        end = start
        while end < len(words) and said[end] in present:
            end += 1
        if end - start >= _RUN:
            matcher = SequenceMatcher(None, beside, said[start:end], autojunk=False)
            for _, at, size in matcher.get_matching_blocks():
                if size >= _RUN:
                    held[start + at : start + at + size] = [True] * size
        start = end + 1
    parts: Parts = []
    for word, is_held in zip(words, held, strict=True):
        if parts and parts[-1][1] == is_held:
            parts[-1] = (parts[-1][0] + word, is_held)
        else:
            parts.append((word, is_held))
    return parts
