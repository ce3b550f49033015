"""The comparison of arms: solve rates by budget, paired differences with exact tests, verdicts in words, and its faces.

Pure functions over rows; the command line and the Python API use it. Needs the extra `lab`: import it where it is used.
"""

from hardwon.runs.comparison.measure import compare
from hardwon.runs.comparison.page import as_html
from hardwon.runs.comparison.picture import draw
from hardwon.runs.comparison.power import PairedVariance, paired_variance, pilot_variance, tasks_needed
from hardwon.runs.comparison.result import ArmResult, Comparison, Curve, Difference, Spending
from hardwon.runs.comparison.text import as_json, as_markdown, as_table

__all__ = [
    "ArmResult",
    "Comparison",
    "Curve",
    "Difference",
    "PairedVariance",
    "Spending",
    "as_html",
    "as_json",
    "as_markdown",
    "as_table",
    "compare",
    "draw",
    "paired_variance",
    "pilot_variance",
    "tasks_needed",
]
