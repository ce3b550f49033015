"""One event loop and one real sandbox for each file of tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from hardwon.sandbox.choose import open_sandbox
from hardwon.sandbox.protocol import Sandbox

Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="module")
def sandbox(run: Run) -> Iterator[Sandbox]:
    opened = open_sandbox(workers=1)
    yield opened
    run(opened.close())
