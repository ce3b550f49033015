"""Hardwon: language-model agents that learn from verified failure.

Every public name is here; each is imported on first use, so that `import hardwon` stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from hardwon.api import Solution, asolve, solve
    from hardwon.budget import Budget, BudgetExhausted, Ledger
    from hardwon.errors import (
        HardwonError,
        InfrastructureError,
        ModelError,
        ModelRefused,
        SandboxError,
        UsageError,
    )
    from hardwon.evaluators.command import CommandCheck
    from hardwon.evaluators.function import FunctionCheck
    from hardwon.evaluators.generated import GeneratedTests
    from hardwon.evaluators.stdio import StdioTests
    from hardwon.evaluators.unit import UnitTests
    from hardwon.models.open import open_model
    from hardwon.models.protocol import Completion, Message, Model, Request, Usage
    from hardwon.models.scripted import ScriptedModel
    from hardwon.sandbox.choose import open_sandbox
    from hardwon.sandbox.protocol import FunctionTests, Limits, Sandbox, StdioCase
    from hardwon.session import Sampling, Session
    from hardwon.strategies.protocol import Strategy
    from hardwon.strategies.reflexion import Reflexion
    from hardwon.strategies.single import Single
    from hardwon.task import Evaluator, Problem, Task
    from hardwon.trial import Check, Feedback, Lesson, Submission, Trajectory, Trial

_HOMES = {
    "api": ("Solution", "asolve", "solve"),
    "budget": ("Budget", "BudgetExhausted", "Ledger"),
    "errors": (
        "HardwonError",
        "InfrastructureError",
        "ModelError",
        "ModelRefused",
        "SandboxError",
        "UsageError",
    ),
    "evaluators.command": ("CommandCheck",),
    "evaluators.function": ("FunctionCheck",),
    "evaluators.generated": ("GeneratedTests",),
    "evaluators.stdio": ("StdioTests",),
    "evaluators.unit": ("UnitTests",),
    "models.open": ("open_model",),
    "models.protocol": ("Completion", "Message", "Model", "Request", "Usage"),
    "models.scripted": ("ScriptedModel",),
    "sandbox.choose": ("open_sandbox",),
    "sandbox.protocol": ("FunctionTests", "Limits", "Sandbox", "StdioCase"),
    "session": ("Sampling", "Session"),
    "strategies.protocol": ("Strategy",),
    "strategies.reflexion": ("Reflexion",),
    "strategies.single": ("Single",),
    "task": ("Evaluator", "Problem", "Task"),
    "trial": ("Check", "Feedback", "Lesson", "Submission", "Trajectory", "Trial"),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Budget",
    "BudgetExhausted",
    "Check",
    "CommandCheck",
    "Completion",
    "Evaluator",
    "Feedback",
    "FunctionCheck",
    "FunctionTests",
    "GeneratedTests",
    "HardwonError",
    "InfrastructureError",
    "Ledger",
    "Lesson",
    "Limits",
    "Message",
    "Model",
    "ModelError",
    "ModelRefused",
    "Problem",
    "Reflexion",
    "Request",
    "Sampling",
    "Sandbox",
    "SandboxError",
    "ScriptedModel",
    "Session",
    "Single",
    "Solution",
    "StdioCase",
    "StdioTests",
    "Strategy",
    "Submission",
    "Task",
    "Trajectory",
    "Trial",
    "UnitTests",
    "Usage",
    "UsageError",
    "asolve",
    "open_model",
    "open_sandbox",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'hardwon' has no attribute {name!r}")
    return getattr(import_module(f"hardwon.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
