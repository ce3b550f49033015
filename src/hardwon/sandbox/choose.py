"""Opens the best sandbox that works here."""

from __future__ import annotations

import shutil
from typing import Literal

from hardwon.errors import SandboxError, UsageError
from hardwon.sandbox.pool import ForkServerSandbox
from hardwon.sandbox.protocol import Sandbox

Backend = Literal["auto", "bubblewrap", "process"]

_TRIES = 3
"""A loaded machine can let a probe wait too long; walls that do not stand at all fail every time."""
_works: dict[str, str] = {}


def open_sandbox(workers: int = 2, backend: Backend = "auto") -> Sandbox:
    """A sandbox with `workers` candidates at a time; workers start when they are first needed.

    `auto` takes bubblewrap where it is installed and really works (found by running a probe under it, once for each
    process, a fraction of a second), else bare processes, whose `isolation.missing` says what then lacks and how to
    mend it. Raises UsageError for a backend of another name, SandboxError when `bubblewrap` is asked for and does not
    work.
    """
    if backend not in ("auto", "bubblewrap", "process"):
        raise UsageError(f"no sandbox backend {backend!r}: auto, bubblewrap or process")
    if backend == "process":
        return ForkServerSandbox(workers, bubblewrap=False)
    trouble = bubblewrap_trouble()
    if trouble is None:
        return ForkServerSandbox(workers)
    if backend == "bubblewrap":
        raise SandboxError(f"bubblewrap does not work here: {trouble}")
    return ForkServerSandbox(workers, bubblewrap=False, trouble=trouble)


def bubblewrap_trouble() -> str | None:
    """Why bubblewrap can not be used, None when it can; found out once for each process."""
    if shutil.which("bwrap") is None:
        return "it is not installed; apt-get install bubblewrap"
    if "bwrap" not in _works:
        for _ in range(_TRIES):
            _works["bwrap"] = _trouble()
            if not _works["bwrap"]:
                break
    return _works["bwrap"] or None


def _trouble() -> str:
    """What a probe under bubblewrap fails on; empty where it does not."""
    from hardwon.sandbox.launch import WorkerLost
    from hardwon.sandbox.probe import facts
    from hardwon.sandbox.worker import Worker

    try:
        worker = Worker(bubblewrap=True)
        try:
            facts(worker)
        finally:
            worker.close()
    except (WorkerLost, SandboxError) as error:
        return str(error)
    return ""
