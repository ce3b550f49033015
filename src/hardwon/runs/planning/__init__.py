"""The plan of a comparison: what it will take before a call is paid for, and what it will be able to show.

Strategies are rehearsed over real sessions and prompts against a model and checks that are only assumed. The command
line uses it; nothing here opens a model or runs a program.
"""

from hardwon.runs.planning.assumed import Assumed, guessed, measured
from hardwon.runs.planning.estimate import ArmPlan, Plan, Range, make_plan
from hardwon.runs.planning.nowhere import NoSandbox
from hardwon.runs.planning.pilot import Pilot, read_pilot
from hardwon.runs.planning.price import Price, price_of
from hardwon.runs.planning.reach import Reach
from hardwon.runs.planning.rehearsal import Spent
from hardwon.runs.planning.text import as_json, as_table

__all__ = [
    "ArmPlan",
    "Assumed",
    "NoSandbox",
    "Pilot",
    "Plan",
    "Price",
    "Range",
    "Reach",
    "Spent",
    "as_json",
    "as_table",
    "guessed",
    "make_plan",
    "measured",
    "price_of",
    "read_pilot",
]
