"""The ranges of settings: a setting out of its range is refused when the strategy is made, not in mid-run."""

from __future__ import annotations


def counts(**settings: int | None) -> None:
    """Raises ValueError for a setting that is no whole number from 1; None is a setting that is not set."""
    for name, value in settings.items():
        if value is not None and value < 1:
            raise ValueError(f"{name}={value}: want a whole number from 1")


def temperatures(**settings: float) -> None:
    """Raises ValueError for a setting that is no sampling temperature, a number from 0 to 2."""
    _within(2, settings)


def shares(**settings: float) -> None:
    """Raises ValueError for a setting that is no share, a number from 0 to 1."""
    _within(1, settings)


def _within(most: int, settings: dict[str, float]) -> None:
    for name, value in settings.items():
        if not 0 <= value <= most:
            raise ValueError(f"{name}={value}: want a number from 0 to {most}")
