"""Opens the sandbox for a command, and says so where its walls are lower than they could be."""

from __future__ import annotations

import sys

from hardwon.cli.plain import one_line
from hardwon.sandbox.choose import Backend, bubblewrap_trouble, open_sandbox
from hardwon.sandbox.protocol import Sandbox


def open_walls(workers: int, backend: Backend) -> Sandbox:
    """The sandbox; a line on standard error when `auto` had to fall back. Raises as `open_sandbox` does."""
    sandbox = open_sandbox(workers=workers, backend=backend)
    if backend == "auto" and (trouble := bubblewrap_trouble()) is not None:
        print(f"warning: programs run as bare processes, bubblewrap is not used: {one_line(trouble)}", file=sys.stderr)
    return sandbox
