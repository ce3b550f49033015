"""Runs a command's coroutine so that Ctrl-C and a polite kill end it cleanly."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine

import typer


def run_to_end(work: Coroutine[object, object, int]) -> None:
    """Runs `work`; leaves with the exit code it returns, or with 130 (SIGINT) or 143 (SIGTERM) when interrupted.

    The interruption cancels the work, which closes its journal, writes its results and ends what it started.
    """
    caught: list[int] = []

    async def guarded() -> int:
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()

        def interrupt(number: int) -> None:
            caught.append(number)
            task.cancel()

        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, interrupt, number)
        return await task

    try:
        code = asyncio.run(guarded())
    except asyncio.CancelledError:
        if not caught:
            raise
        code = 128 + caught[0]
    if code:
        raise typer.Exit(code)
