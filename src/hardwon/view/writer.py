"""Whether a process is writing in a run folder, found out without touching the lock that it holds."""

from __future__ import annotations

import time
from pathlib import Path

from hardwon.runs.journal import FILE

_LOCKS = Path("/proc/locks")
_FRESH_S = 120.0
"""Where the system does not tell, a journal that changed so recently counts as being written."""


def is_written(folder: Path) -> bool:
    """Whether a run is going on in `folder`.

    The lock itself is never tried: for that moment a run that starts would find the folder taken.
    """
    try:
        inode = (folder / "lock").stat().st_ino
        held = _LOCKS.read_text(encoding="ascii", errors="replace")
    except OSError:
        return _changed_lately(folder)
    return any(f":{inode} " in line and "FLOCK" in line for line in held.splitlines())


def _changed_lately(folder: Path) -> bool:
    times = []
    for name in (FILE, f"{FILE}-wal"):
        try:
            times.append((folder / name).stat().st_mtime)
        except OSError:
            continue
    return bool(times) and time.time() - max(times) < _FRESH_S
