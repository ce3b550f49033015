"""Whether a process is writing in a run folder, found out without touching the lock that it holds."""

from __future__ import annotations

import os
import time
from functools import lru_cache
from pathlib import Path

from hardwon.runs.journal import FILE

_LOCKS = Path("/proc/locks")
_MOUNTS = Path("/proc/self/mountinfo")
_SHARES = ("nfs", "cifs", "smb", "fuse.sshfs", "ceph", "fuse.glusterfs", "lustre", "beegfs", "afs")
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
    if _is_share(folder):  # whose locks of other machines are not listed here
        return _changed_lately(folder)
    return any(f":{inode} " in line and "FLOCK" in line for line in held.splitlines())


def stamp(folder: Path) -> object:
    """Another one for a journal in which something was written."""
    found = []
    for name in (FILE, f"{FILE}-wal"):
        try:
            state = (folder / name).stat()
        except OSError:
            found.append((0, 0, 0))
            continue
        found.append((state.st_ino, state.st_size, state.st_mtime_ns))
    return found


def _is_share(folder: Path, mounts: Path = _MOUNTS) -> bool:
    """Whether the folder lies on a file system that other machines write in too."""
    try:
        return _shared(folder.stat().st_dev, mounts)
    except OSError:
        return False


@lru_cache(maxsize=64)
def _shared(device: int, mounts: Path) -> bool:
    name = f"{os.major(device)}:{os.minor(device)}"
    lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    kinds = [line.rpartition(" - ")[2].split(" ")[0] for line in lines if line.split(" ")[2:3] == [name]]
    return any(kind.startswith(_SHARES) for kind in kinds)


def _changed_lately(folder: Path) -> bool:
    times = []
    for name in (FILE, f"{FILE}-wal"):
        try:
            times.append((folder / name).stat().st_mtime)
        except OSError:
            continue
    return bool(times) and time.time() - max(times) < _FRESH_S
