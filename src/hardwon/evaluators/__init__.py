"""Evaluators: what is not the model and decides whether a trajectory is good (`task.Evaluator`).

Here live unit and stdio tests, the prompt's own examples, generated tests and their vetting, commands, your own
function. Suites, the runner and users build them; strategies only ever meet the feedback they give.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hardwon.evaluators.command import CommandCheck as CommandCheck
    from hardwon.evaluators.examples import prompt_examples as prompt_examples
    from hardwon.evaluators.function import FunctionCheck as FunctionCheck
    from hardwon.evaluators.game24 import TwentyFour as TwentyFour
    from hardwon.evaluators.generated import GeneratedTests as GeneratedTests
    from hardwon.evaluators.model_judge import ModelJudge as ModelJudge
    from hardwon.evaluators.model_judge import calibrate as calibrate
    from hardwon.evaluators.oracle_answer import OracleAnswer as OracleAnswer
    from hardwon.evaluators.reward import EnvironmentReward as EnvironmentReward
    from hardwon.evaluators.stdio import StdioTests as StdioTests
    from hardwon.evaluators.unit import UnitTests as UnitTests
    from hardwon.evaluators.verdict import judge as judge

_HOMES = {
    "CommandCheck": "command",
    "EnvironmentReward": "reward",
    "FunctionCheck": "function",
    "GeneratedTests": "generated",
    "ModelJudge": "model_judge",
    "OracleAnswer": "oracle_answer",
    "StdioTests": "stdio",
    "TwentyFour": "game24",
    "UnitTests": "unit",
    "calibrate": "model_judge",
    "judge": "verdict",
    "prompt_examples": "examples",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
