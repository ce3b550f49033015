"""The curves as a picture file, drawn by matplotlib; equal numbers give an equal file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hardwon.errors import UsageError
from hardwon.runs.comparison.cells import rated
from hardwon.runs.comparison.chart import AXIS, COLOURS, ceiling, dashes, ticks
from hardwon.runs.comparison.result import Comparison

_METADATA: dict[str, dict[str, None]] = {".svg": {"Date": None}, ".png": {"Software": None}}


def draw(comparison: Comparison, path: Path) -> None:
    """Writes the step curves, with each arm's interval at the full budget, to a PNG or SVG file by the path's suffix.

    Raises UsageError for another suffix, a folder that can not be written, or when the extra is missing.
    """
    suffix = path.suffix.lower()
    if suffix not in _METADATA:
        raise UsageError(f"{path}: pictures are PNG or SVG; end the name in .png or .svg")
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(f'{path}: drawing needs an extra; run: pip install "hardwon[lab]"') from None
    with mpl.rc_context({"svg.hashsalt": "hardwon", "text.parse_math": False}):
        figure = Figure(figsize=(8, 5), layout="constrained")
        _plot(figure, comparison)
        try:
            figure.savefig(path, dpi=150, metadata=_METADATA[suffix])
        except OSError as error:
            raise UsageError(f"{path}: can not be written ({error.strerror or error}); give another path") from error


def _plot(figure: Any, comparison: Comparison) -> None:
    axes = figure.add_subplot()
    end = max((arm.curve.at[-1] for arm in comparison.arms), default=0.0) or 1.0
    lines, names = [], []
    for i, arm in enumerate(comparison.arms):
        rates = [float("nan") if rate is None else rate for rate in arm.curve.rate]
        colour, style = COLOURS[i % len(COLOURS)], (0, dashes(i) or None)
        lines += axes.step(arm.curve.at, rates, where="post", color=colour, linestyle=style, linewidth=1.8)
        names.append(f"{arm.arm} ({rated(arm)})")
        beside = end * (1.02 + 0.02 * i)
        axes.plot([beside, beside], arm.interval, color=colour, alpha=0.55, linewidth=3.5, solid_capstyle="butt")
        if arm.rate is not None:
            axes.plot([beside], [arm.rate], "o", color=colour, markersize=4.5)
    axes.set_xlim(0, end * (1.04 + 0.02 * len(names)))
    axes.set_ylim(0, ceiling(comparison.arms))
    axes.set_xticks(ticks(end))
    axes.set_xlabel(AXIS[comparison.unit])
    axes.set_ylabel(f"solve rate (bars: {100 * comparison.confidence:g} % interval)")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.15g}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    axes.grid(axis="y", color="#dddddd")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if comparison.limit:
        axes.axvline(comparison.limit, color="#999999", linestyle=":", linewidth=1)
    # matplotlib leaves out names that begin with an underscore: they are put in afterwards.
    legend = figure.legend(
        lines, [" "] * len(names), frameon=False, loc="outside lower center", ncols=2, handlelength=3
    )
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(name)
