"""Which of a suite's tasks are worked, beyond their ids: by a pattern, in a chosen order, a slice of that."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hardwon.errors import UsageError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Picking:
    """Applied in this order: `pattern` is looked for in each id, `shuffle` is the seed of a new order, `part` a slice.

    The new order depends on seed and ids alone, so that further tasks in the data leave it as it is.
    """

    pattern: str | None = None
    shuffle: int | None = None
    part: str | None = None

    def __post_init__(self) -> None:
        """Raises UsageError for a pattern or a slice that does not read."""
        self._regex()
        self._slice()

    def __call__(self, items: Sequence[T], id_of: Callable[[T], str]) -> Sequence[T]:
        """The items that are asked for. Raises UsageError where none is left."""
        regex = self._regex()
        chosen = [item for item in items if regex is None or regex.search(id_of(item))]
        if items and not chosen:
            raise UsageError(
                f"--select {self.pattern}: matches none of the {len(items)} ids, which look like {id_of(items[0])}"
            )
        if self.shuffle is not None:
            chosen.sort(key=lambda item: hashlib.sha256(f"{self.shuffle} {id_of(item)}".encode()).digest())
        part = chosen[self._slice()]
        if chosen and not part:
            raise UsageError(f"--slice {self.part}: leaves none of {len(chosen)} tasks; positions count from 0")
        return part

    def _regex(self) -> re.Pattern[str] | None:
        try:
            return None if self.pattern is None else re.compile(self.pattern)
        except re.error as error:
            raise UsageError(f"--select {self.pattern}: no regular expression ({error}); mend it") from error

    def _slice(self) -> slice:
        if self.part is None:
            return slice(None)
        found = re.fullmatch(r"\s*(-?\d+)?\s*:\s*(-?\d+)?\s*", self.part)
        if found is None:
            raise UsageError(f"--slice {self.part}: want FIRST:END, such as 0:50, :10 or -5:")
        first, end = (None if text is None else int(text) for text in found.groups())
        return slice(first, end)
