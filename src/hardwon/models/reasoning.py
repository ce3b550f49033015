"""Keeps the reasoning that a model emits inside its answer apart from the answer."""

from __future__ import annotations

_OPEN, _CLOSE = "<think>", "</think>"


def split_reasoning(text: str) -> tuple[str, str | None]:
    """The answer, and the reasoning in a `<think>…</think>` block at the start of `text` (None for no block).

    A block that was never closed (the reply was cut off while the model was still thinking) leaves an empty
    answer. A block further on is part of the answer: it may be a program's own text.
    """
    head = text.lstrip()
    if not head.startswith(_OPEN):
        return text, None
    thought, closed, answer = head[len(_OPEN) :].partition(_CLOSE)
    return answer.lstrip() if closed else "", thought.strip() or None
