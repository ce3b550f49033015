"""Warm pools for the tests of this room; what needs bubblewrap is skipped where it does not work, and says why."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from hardwon.sandbox import FunctionTests, Limits, Sandbox, open_sandbox
from hardwon.sandbox.choose import bubblewrap_trouble
from hardwon.trial import Check

Run = Callable[..., tuple[Check, ...]]


@pytest.fixture(scope="session", params=["bubblewrap", "process"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """Each backend in turn."""
    if request.param == "bubblewrap" and (trouble := bubblewrap_trouble()):
        pytest.skip(f"bubblewrap does not work here: {trouble}")
    opened = open_sandbox(2, request.param)
    yield opened
    asyncio.run(opened.close())


@pytest.fixture(scope="session")
def walled() -> Iterator[Sandbox]:
    """Bubblewrap only."""
    if trouble := bubblewrap_trouble():
        pytest.skip(f"bubblewrap does not work here: {trouble}")
    opened = open_sandbox(2, "bubblewrap")
    yield opened
    asyncio.run(opened.close())


@pytest.fixture(scope="session")
def check(walled: Sandbox) -> Run:
    """Runs tests against a program: `check(program, tests, prelude="", entry="f", **limits)`."""

    def run(program: str, tests: str, prelude: str = "", entry: str = "f", **limits: float) -> tuple[Check, ...]:
        wanted = FunctionTests(entry, tests, prelude)
        return asyncio.run(walled.run_function(program, wanted, Limits(**limits)))  # type: ignore[arg-type]

    return run


def passes(checks: tuple[Check, ...]) -> bool:
    """The rule by which checks make a verdict: at least one, and all of them pass."""
    return bool(checks) and all(check.status == "pass" for check in checks)
