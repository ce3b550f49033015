"""How numbers are written in tables and sentences. Unknown is `?`, nothing to say is `-`."""

from __future__ import annotations

from hardwon.runs.comparison.result import ArmResult, Unit

NAMES: dict[Unit, str] = {"tokens": "tokens", "calls": "calls", "usd": "cost"}
_BY_WEIGHT = ("oracle", "generated", "grounded")


def percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"


def percents(interval: tuple[float, float] | None) -> str:
    """An interval of shares, in percent or points, without the sign behind."""
    return "-" if interval is None else f"{tidy(100 * interval[0])} to {tidy(100 * interval[1])}"


def tidy(value: float) -> str:
    """One decimal, and no minus before a nought."""
    return f"{value:.1f}".replace("-0.0", "0.0") if abs(value) < 0.05 else f"{value:.1f}"


def points(difference: float | None) -> str:
    if difference is None:
        return "-"
    return f"{100 * difference:+.1f}" if abs(difference) >= 0.0005 else "0.0"


def probability(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def amount(value: float | None, unit: Unit = "tokens") -> str:
    """So many tokens, calls or dollars."""
    if value is None:
        return "-"
    if unit == "usd":
        return (
            "$0"
            if value == 0
            else f"${value:.5f}"
            if value < 0.01
            else f"${value:.4f}"
            if value < 1
            else f"${value:,.2f}"
        )
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"


def amounts(interval: tuple[float | None, float | None], unit: Unit = "tokens") -> str:
    low, high = interval
    if low is None:
        return "-"
    return f"{amount(low, unit)} or more" if high is None else f"{amount(low, unit)} to {amount(high, unit)}"


def times(ratio: float | None) -> str:
    if ratio is None:
        return "-"
    return f"{ratio:.1f}" if ratio >= 0.1 else f"{ratio:.2f}"


def rated(arm: ArmResult) -> str:
    """The arm's solve rate for a legend, with the label that it must not lose (laws 1 and 2)."""
    rate = "nothing graded" if arm.rate is None else percent(arm.rate)
    labels = [name for name, holds in (("oracle feedback", arm.oracle), ("votes", arm.votes)) if holds]
    return ", ".join([rate, *labels])


def evidence(arm: ArmResult) -> str:
    """What the loop's feedback rested on, the weightiest of all rows; a choice by model vote is named (law 2)."""
    heaviest = next((source for source in _BY_WEIGHT if arm.feedback.get(source)), "none")
    label = "oracle feedback" if heaviest == "oracle" else heaviest
    return f"{label}, votes" if arm.votes else label
