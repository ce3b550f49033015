"""Suites: where tasks come from; the bundled `starter`, HumanEval, MBPP, and your own JSONL.

Lives here: one loader a format, their shared reader, and the registry that knows them by name. The command line and
the public functions open suites; no other room does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hardwon.suites.programming import ProgrammingTask as ProgrammingTask
    from hardwon.suites.protocol import Suite as Suite
    from hardwon.suites.protocol import SuiteOptions as SuiteOptions
    from hardwon.suites.registry import open_suite as open_suite
    from hardwon.suites.registry import suites as suites

_HOMES = {
    "ProgrammingTask": "programming",
    "Suite": "protocol",
    "SuiteOptions": "protocol",
    "open_suite": "registry",
    "suites": "registry",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
