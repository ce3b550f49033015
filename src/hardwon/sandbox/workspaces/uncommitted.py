"""A user's working tree as a commit that their repository does not hold: to work on what is not committed yet."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from hardwon.errors import InfrastructureError
from hardwon.sandbox.workspaces.git import IDENTITY, Facts, complaint, theirs
from hardwon.sandbox.workspaces.homes import Home


def uncommitted(found: Facts) -> tuple[str, ...]:
    """The paths that differ from HEAD or are new and not ignored. Raises InfrastructureError."""
    status = theirs(found.root, "status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty")
    if status.returncode != 0:
        raise InfrastructureError(f"{found.root}: {complaint(status)}")
    return tuple(os.fsdecode(entry[3:]) for entry in status.stdout.split(b"\0") if entry)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`commit`, on top of HEAD, holds the working tree; it lies in the folder `objects`, which `close` removes.

    The same tree on the same HEAD has the same commit.
    """

    home: Home
    commit: str

    @property
    def objects(self) -> Path:
        return self.home.path / "objects"

    def close(self) -> None:
        self.home.remove()


def take(found: Facts) -> Snapshot:
    """A snapshot of the working tree without what is ignored; the repository is only read.

    Raises InfrastructureError.
    """
    home = Home()
    try:
        objects, index = home.path / "objects", home.path / "index"
        objects.mkdir()
        own = Path(_told(found, {}, "rev-parse", "--path-format=absolute", "--git-path", "index"))
        if own.is_file():
            shutil.copyfile(own, index)
        places = {
            "GIT_INDEX_FILE": str(index),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(found.common / "objects"),
            **IDENTITY,
        }
        _told(found, places, "add", "--all")
        tree = _told(found, places, "write-tree")
        commit = _told(found, places, "commit-tree", tree, "-p", found.commit, "-m", "What was not committed yet")
        return Snapshot(home, commit)
    except BaseException:
        home.remove()
        raise


def _told(found: Facts, places: dict[str, str], *arguments: str) -> str:
    done = theirs(found.root, *arguments, environment=places)
    if done.returncode != 0:
        raise InfrastructureError(f"{found.root}: git {arguments[0]}: {complaint(done)}")
    return os.fsdecode(done.stdout).strip()
