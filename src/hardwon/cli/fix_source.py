"""What `hardwon fix` works on: a commit, or what is not committed yet, and the repository's own tools."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

from hardwon.errors import UsageError
from hardwon.sandbox.workspaces.git import Facts, theirs
from hardwon.sandbox.workspaces.uncommitted import Snapshot, take, uncommitted
from hardwon.sandbox.workspaces.workspace import RepositorySource


def snapshot_of(found: Facts, include_dirty: bool | None) -> Snapshot | None:
    """What is not committed yet, if there is any and it is wanted; asks where `include_dirty` does not say.

    Raises UsageError where nobody can be asked, InfrastructureError.
    """
    if found.root == found.common:
        return None
    changed = uncommitted(found)
    if not changed:
        return None
    said = f"{found.root} has changes that are not committed ({', '.join(changed[:3])}{', …' * (len(changed) > 3)})"
    wanted = include_dirty
    if wanted is None:
        if not sys.stdin.isatty():
            raise UsageError(
                f"{said}; commit them, or give --include-dirty, or --leave-dirty for the last commit alone"
            )
        wanted = typer.confirm(f"{said}. Work on them too?", err=True)
    return take(found) if wanted else None


def source_of(
    found: Facts, snapshot: Snapshot | None, *, setup: str | None, image: str | None, mounts: tuple[str, ...]
) -> RepositorySource:
    """The repository and its tools: a virtual environment in it or in use, `node_modules`; an image has its own."""
    commit, objects = (found.commit, None) if snapshot is None else (snapshot.commit, snapshot.objects)
    shown = list(mounts)
    if image is not None:
        return RepositorySource(found.root, commit, setup, image, objects, mounts)
    shown += [name for name in (".venv", "venv", "node_modules") if name not in shown and _own(found, name)]
    tools = [found.root / name / "bin" for name in shown if (found.root / name / "bin" / "python").exists()]
    active = os.environ.get("VIRTUAL_ENV")
    if active and Path(active) / "bin" not in tools and (Path(active) / "bin").is_dir():
        shown += [] if Path(active).is_relative_to(found.root) else [active]
        tools.append(Path(active) / "bin")
    for python in [tool / "python" for tool in tools]:
        home = _home_of(python, found)
        if home is not None and str(home) not in (*shown, "/usr", "/usr/local"):
            shown.append(str(home))
    return RepositorySource(found.root, commit, setup, image, objects, tuple(shown), tuple(map(str, tools)))


def _own(found: Facts, name: str) -> bool:
    """Whether the user has made this folder: git ignores it, and holds nothing of it."""
    if not (found.root / name).is_dir() or (found.root / name).is_symlink():
        return False
    held = theirs(found.root, "ls-files", "-z", "--", name)
    ignored = theirs(found.root, "check-ignore", "-q", f"{name}/x")
    return (held.returncode, held.stdout, ignored.returncode) == (0, b"", 0)


def _home_of(python: Path, found: Facts) -> Path | None:
    """The folder of the interpreter that an environment was made from; None for what does not look like one."""
    real = python.resolve()
    home = real.parent.parent
    if not (real.name.startswith("python") and real.parent.name == "bin"):
        return None
    if not (real.is_file() and os.access(real, os.X_OK)):
        return None
    private = (Path.home().resolve(), found.root.resolve())
    return None if any(folder.is_relative_to(home) for folder in private) else home
