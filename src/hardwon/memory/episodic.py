"""Episodic memory: the last Ω lessons of one task (Shinn et al. 2023, section 3)."""

from __future__ import annotations

from collections.abc import Sequence

from hardwon.trial import Lesson


def window(lessons: Sequence[Lesson], size: int | None = 3) -> tuple[Lesson, ...]:
    """The last `size` lessons (Ω), oldest first; None keeps all. Texts only, never whole trajectories.

    Raises ValueError for a window of less than one lesson.
    """
    if size is None:
        return tuple(lessons)
    if size < 1:
        raise ValueError(f"the memory window must hold at least 1 lesson, not {size}")
    return tuple(lessons[-size:])
