"""A sandbox that runs the same program on the same tests once: what a comparison's arms have in common."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from hardwon.sandbox.protocol import CommandResult, FunctionTests, Isolation, Limits, Sandbox, StdioCase
from hardwon.trial import Check

_LIMITS = Limits()
_KEPT = 4096
"""Outcomes kept, the most recently used ones."""

Tests = FunctionTests | tuple[StdioCase, ...]


class RememberingSandbox:
    """Another sandbox, with a memory for programs and tests. Commands may depend on the world and are always run.

    What it remembers tells what was tested. A grader therefore has a memory of its own (`apart`), since nothing that
    a strategy holds may lead to hidden tests (law 1).
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._known: OrderedDict[bytes, asyncio.Future[tuple[Check, ...]]] = OrderedDict()

    @property
    def isolation(self) -> Isolation:
        return self._sandbox.isolation

    async def run_function(self, program: str, tests: FunctionTests, limits: Limits = _LIMITS) -> tuple[Check, ...]:
        """As `Sandbox.run_function`."""
        return await self._once(
            _digest(program, tests, limits), lambda: self._sandbox.run_function(program, tests, limits)
        )

    async def run_stdio(self, program: str, cases: Sequence[StdioCase], limits: Limits = _LIMITS) -> tuple[Check, ...]:
        """As `Sandbox.run_stdio`."""
        kept = tuple(cases)
        return await self._once(_digest(program, kept, limits), lambda: self._sandbox.run_stdio(program, kept, limits))

    async def run_command(
        self,
        command: str,
        *,
        workdir: Path | None = None,
        files: Mapping[str, str] | None = None,
        limits: Limits = _LIMITS,
        network: bool = False,
    ) -> CommandResult:
        """As `Sandbox.run_command`."""
        return await self._sandbox.run_command(command, workdir=workdir, files=files, limits=limits, network=network)

    async def close(self) -> None:
        await self._sandbox.close()

    async def _once(self, work: bytes, run: Callable[[], Awaitable[tuple[Check, ...]]]) -> tuple[Check, ...]:
        """The outcome of `work`; one that was interrupted or that trouble ended is forgotten, for the next to run."""
        while True:
            known = self._known.get(work)
            if known is None:
                break
            self._known.move_to_end(work)
            await asyncio.wait([known])
            if not known.cancelled():
                return known.result()
        future: asyncio.Future[tuple[Check, ...]] = asyncio.get_running_loop().create_future()
        self._known[work] = future
        try:
            checks = await run()
        except BaseException:
            del self._known[work]
            future.cancel()
            raise
        future.set_result(checks)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return checks


def apart(sandbox: Sandbox) -> Sandbox:
    """The same sandbox for a grader: with a memory of its own, if it has one."""
    return RememberingSandbox(sandbox._sandbox) if isinstance(sandbox, RememberingSandbox) else sandbox


def _digest(program: str, tests: Tests, limits: Limits) -> bytes:
    return hashlib.sha256(repr((program, tests, limits)).encode("utf-8", "surrogatepass")).digest()
