"""Small git repositories for the tests of workspaces and of all that works in them."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from hardwon.sandbox.workspaces.workspace import RepositorySource, Workspace, open_workspace

T = TypeVar("T")

BROKEN = {
    "total.py": "def total(numbers):\n    return max(numbers)\n",
    "test_total.py": (
        "from total import total\n\n\ndef test_sum():\n    assert total([1, 2]) == 3\n\n\n"
        "def test_one():\n    assert total([4]) == 4\n"
    ),
    ".gitignore": "build/\n*.log\n",
}
"""Adds up by taking the maximum: one test fails, one passes."""

MEND = "sed -i 's/max/sum/' total.py"


def git(folder: Path, *arguments: str) -> str:
    identity = {f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "protocol.file.allow=always", "-C", str(folder), *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()


def make(folder: Path, files: Mapping[str, str] = BROKEN) -> Path:
    """A repository with one commit."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    add(folder, files)
    return folder


def add(folder: Path, files: Mapping[str, str]) -> str:
    """One more commit; its name."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "a commit")
    return git(folder, "rev-parse", "HEAD")


def within(source: Path | RepositorySource, work: Callable[[Workspace], Awaitable[T]], **options: Any) -> T:
    """What `work` gives in a new workspace, which is closed again."""
    wanted = RepositorySource(source) if isinstance(source, Path) else source

    async def inside() -> T:
        workspace = await open_workspace(wanted, **options)
        try:
            return await work(workspace)
        finally:
            await workspace.close()

    return asyncio.run(inside())


def diff_after(source: Path | RepositorySource, *commands: str, seconds: float = 20.0, **options: Any) -> str:
    """The change that `commands` make, one after the other."""

    async def work(workspace: Workspace) -> str:
        for command in commands:
            await workspace.run(command, seconds=seconds)
        return await workspace.diff()

    return within(source, work, **options)


def state(folder: Path) -> dict[str, bytes]:
    """Every file of a repository with its content, those of its git directory too: to see that nothing changed."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
