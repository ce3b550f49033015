"""A share of what was counted, with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hardwon.statistics import wilson


@dataclass(frozen=True, slots=True)
class Rate:
    """`hits` of `of`. Raises ValueError unless 0 <= hits <= of."""

    hits: int
    of: int

    def __post_init__(self) -> None:
        if not 0 <= self.hits <= self.of:
            raise ValueError(f"{self.hits} hits of {self.of}")

    @property
    def share(self) -> float | None:
        """In 0..1; None where nothing was counted."""
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson score interval (Wilson 1927); (0, 1) where nothing was counted."""
        return wilson(self.hits, self.of)

    def as_json(self) -> dict[str, Any]:
        return {"count": self.hits, "of": self.of, "share": self.share, "interval": list(self.interval)}
