"""The private folders that workspaces live in, and the reaper of those that a killed run left behind."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import IO, Any

from hardwon.sandbox.workspaces.stragglers import end_stragglers

_PREFIX = "hardwon-workspace-"
_REMOVED = "hardwon-removed-"
_LOCK = "lock"
CONTAINER = "container"
"""The file in a home that names the runtime of its container; the container has the name of the home."""
_swept: set[str] = set()
_sweeping = threading.Lock()


class Home:
    """A new folder that is ours for as long as this process lives, or until `remove`."""

    def __init__(self) -> None:
        sweep_once()
        self.path, self._lock = _made()

    def remove(self) -> None:
        """Deletes it with all that lies in it. Safe to call twice."""
        _discard(self.path)
        self._lock.close()


def _made() -> tuple[Path, IO[Any]]:
    """A new folder and its lock, held; another one where a reaper of another process came before the lock."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX)).resolve()
        with contextlib.suppress(FileNotFoundError):
            lock = (path / _LOCK).open("w")
            fcntl.flock(lock, fcntl.LOCK_EX)
            if (path / _LOCK).exists():
                return path, lock
            lock.close()


def sweep_once() -> None:
    """Clears what killed runs left, at the first workspace of this process."""
    root = tempfile.gettempdir()
    with _sweeping:
        if root not in _swept:
            _swept.add(root)
            sweep(Path(root))


def sweep(root: Path) -> list[Path]:
    """Removes the homes under `root` whose owner is gone (nobody holds their lock), with all that still runs there."""
    gone = []
    for home in root.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):  # it has a lock, as all but those whose owner was killed at once
            home.rmdir()
            gone.append(home)
            continue
        # no leftover may keep the rest from being swept, nor a new workspace from being made
        with contextlib.suppress(Exception), (home / _LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if (home / CONTAINER).is_file():
                remove_container((home / CONTAINER).read_text(), home.name)
            end_stragglers(home)
            _discard(home)
            gone.append(home)
    for home in root.glob(f"{_REMOVED}*"):  # whoever was deleting it was killed
        with contextlib.suppress(Exception):
            delete(home)
    return gone


def _discard(home: Path) -> None:
    """Deletes a home; killed in the middle, what is left of it is known by its name."""
    removed = home.with_name(_REMOVED + home.name)
    try:
        home.rename(removed)
    except OSError:
        removed = home
    delete(removed)


def remove_container(runtime: str, name: str) -> None:
    """Ends and removes a container, if there is one of this name."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        options = ("-t", "0") if runtime == "podman" else ()
        subprocess.run([runtime, "rm", "-f", *options, name], capture_output=True, timeout=120, check=False)


def delete(folder: Path) -> None:
    """Deletes a folder, also where what ran in it took away the rights to do so, and however deep it made it.

    What can not be deleted stays. By commands, since Python's own ways recurse, and end at the longest path.
    """
    for command in (("rm", "-rf"), ("chmod", "-R", "u+rwx"), ("rm", "-rf")):
        if not os.path.lexists(folder):
            return
        try:
            subprocess.run([*command, "--", str(folder)], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        except FileNotFoundError:  # no such command on this PATH
            with contextlib.suppress(RecursionError):
                shutil.rmtree(folder, ignore_errors=True)
