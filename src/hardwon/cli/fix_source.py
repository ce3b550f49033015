"""What `hardwon fix` works on: a commit, or what is not committed yet, and the repository's own tools."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import typer

from hardwon.errors import UsageError
from hardwon.evaluators.patches import looks_like_test
from hardwon.evaluators.repository import RepositoryCheck
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
    shown += [name for name in (".venv", "venv", "node_modules") if name not in shown and _ignored(found, name)]
    tools = [found.root / name / "bin" for name in shown if (found.root / name / "bin" / "python").exists()]
    active = os.environ.get("VIRTUAL_ENV")
    if active and Path(active) / "bin" not in tools and (Path(active) / "bin").is_dir():
        shown += [] if Path(active).is_relative_to(found.root) else [active]
        tools.append(Path(active) / "bin")
    for python in [tool / "python" for tool in tools]:
        home = python.resolve().parent.parent  # the interpreter that the environment was made from
        if str(home) not in (*shown, "/usr", "/usr/local") and home.is_dir():
            shown.append(str(home))
    return RepositorySource(found.root, commit, setup, image, objects, tuple(shown), tuple(map(str, tools)))


def guarded(check: RepositoryCheck, failing: tuple[str, ...], found: Facts) -> RepositoryCheck:
    """The check with the tests that fail now required, and their files put back as they are."""
    tests = filter(looks_like_test, sorted(_tracked(found, check.repository)))
    files = (path for path in tests if any(_of(name, path) for name in failing))
    return replace(check, restore=(*check.restore, *files), required=failing)


def _ignored(found: Facts, name: str) -> bool:
    there = (found.root / name).is_dir() and not (found.root / name).is_symlink()
    return there and theirs(found.root, "check-ignore", "-q", f"{name}/x").returncode == 0


def _tracked(found: Facts, source: RepositorySource) -> frozenset[str]:
    more = {} if source.objects is None else {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(source.objects)}
    listed = theirs(found.root, "ls-tree", "-r", "--name-only", "-z", "--full-tree", str(source.base), environment=more)
    return frozenset(os.fsdecode(name) for name in listed.stdout.split(b"\0") if name)


def _of(test: str, path: str) -> bool:
    """Whether a test, by the name its runner gave it, lies in the file."""
    module = path.removesuffix(".py").replace("/", ".")
    return (
        test == path
        or test.startswith((f"{path}::", f"{path} › ", f"{module}."))
        or f".{module}.".endswith(f".{test.rpartition('.')[0].rpartition('.')[0]}.")
    )
