"""A repository that comes as a file: a tar or zip archive with its `.git`, or a git bundle."""

from __future__ import annotations

import os
import shutil
import tarfile
import zipfile
from pathlib import Path

from hardwon.errors import UsageError
from hardwon.sandbox.workspaces.git import GitFailed, run_git, tame


def unpack(file: Path, into: Path) -> Path:
    """Unpacks it; the folder of the repository. Raises UsageError for what is no such file."""
    with file.open("rb") as opened:
        bundle = opened.read(14).startswith(b"# v2 git bundl") or file.suffix == ".bundle"
    try:
        if bundle:
            run_git(("clone", "-q", "--bare", str(file.resolve()), str(into)), {})
            return into
        if zipfile.is_zipfile(file):
            shutil.unpack_archive(file, into, "zip")
        else:
            shutil.unpack_archive(file, into, filter="data")
    except (shutil.ReadError, tarfile.TarError, EOFError, ValueError, GitFailed) as error:
        raise UsageError(
            f"{file}: can not be unpacked ({error}); give a tar or zip archive, or a git bundle"
        ) from error
    inside = list(into.iterdir())
    root = inside[0] if len(inside) == 1 and inside[0].is_dir() and inside[0].name != ".git" else into
    bare = not os.path.lexists(root / ".git")
    folder = root if bare else root / ".git"
    if root.is_symlink() or folder.is_symlink() or not (folder / "HEAD").is_file():
        raise UsageError(f"{file}: holds no git repository; pack the folder with its .git, or make a git bundle")
    tame(folder, bare=bare)
    return root
