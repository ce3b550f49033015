"""Runs hostile programs behind a wall and says which of their checks passed; every room above may use it.

`open_sandbox` is the way in, `Sandbox` the protocol; what runs behind the wall lives in `inside`, for this room alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hardwon.sandbox.protocol import CommandResult, FunctionTests, Isolation, Limits, Sandbox, StdioCase

if TYPE_CHECKING:
    from hardwon.sandbox.choose import open_sandbox
    from hardwon.sandbox.pool import ForkServerSandbox

__all__ = [
    "CommandResult",
    "ForkServerSandbox",
    "FunctionTests",
    "Isolation",
    "Limits",
    "Sandbox",
    "StdioCase",
    "open_sandbox",
]


def __getattr__(name: str) -> Any:
    if name == "open_sandbox":
        from hardwon.sandbox.choose import open_sandbox

        return open_sandbox
    if name == "ForkServerSandbox":
        from hardwon.sandbox.pool import ForkServerSandbox

        return ForkServerSandbox
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
