"""Server-sent events: tells an open page that its run has gone on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import anyio
from anyio import to_thread
from starlette.requests import Request

from hardwon.errors import UsageError

_KEEP_S = 15.0
"""A page is told something at least so often, so that a browser that has gone is noticed."""


async def changes(request: Request, mark: Callable[[], str], every_s: float) -> AsyncIterator[str]:
    """An event with what `mark` gives, at once and whenever that changes, until the browser goes.

    `every_s` is how many seconds lie between two looks.
    """
    last: str | None = None
    silent = 0.0
    while not await request.is_disconnected():
        try:
            now = await to_thread.run_sync(mark)
        except UsageError:
            now = "gone"
        if now != last:
            yield f"retry: 1000\ndata: {now}\n\n"
            last, silent = now, 0.0
        elif silent >= _KEEP_S:
            yield ": still here\n\n"
            silent = 0.0
        await anyio.sleep(every_s)
        silent += every_s
