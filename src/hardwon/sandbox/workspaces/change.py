"""What an agent changed: the git diff of a tree against its base, taken by us, and patches put onto a tree.

Nothing that the agent wrote is believed or run: its own `.git` folders are out of the way while our git looks at the
tree, and of the settings in it only `.gitignore` and `.gitattributes` count.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from hardwon.errors import HardwonError
from hardwon.sandbox.workspaces.git import Git, GitFailed

MOST_BYTES = 16 << 20
"""What the files of a change may come to."""

_DIFF = (
    "diff", "--cached", "--binary", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames",
    "--src-prefix=a/", "--dst-prefix=b/", "--unified=3", "--inter-hunk-context=0", "--diff-algorithm=myers",
)  # fmt: skip
_SECTION = b"diff --git "
_FULL = (errno.ENOSPC, errno.EDQUOT)


class UnfitChange(HardwonError):
    """What was left in the tree can not be handed in as a change: it is too large, or git can not read it."""


class PatchRefused(HardwonError):
    """A patch that does not apply."""


def difference(git: Git, base: str) -> str:
    """The diff from the tree `base` to the working tree: new and binary files in, ignored ones out, modes kept.

    Raises UnfitChange for a change of more than `MOST_BYTES` and for what git can not read; a full disk is trouble of
    the world: GitFailed, OSError.
    """
    scratch = replace(git, index=git.folder / "change-index")
    assert scratch.index is not None
    shutil.copy2(git.folder / "index", scratch.index)  # by its date git knows which files may have changed since
    try:
        with _put_aside(git.tree, git.folder / "aside"):
            _weigh(scratch)
            scratch("add", "--all")
        return _as_text(scratch, base)
    except GitFailed as error:
        if any(os.strerror(number) in str(error) for number in _FULL) or _full(git.folder):
            raise
        raise UnfitChange(f"git can not read the tree: {error}; put right or remove what it names") from error
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise UnfitChange("folders lie deeper in the tree than a path can be long; remove them") from error
    finally:
        scratch.index.unlink(missing_ok=True)


def _full(folder: Path) -> bool:
    """Whether its disk is; git does not always say that this was the matter."""
    return shutil.disk_usage(folder).free < 1 << 20


def snapshot(git: Git) -> str:
    """Takes the tree as it is for the new base: the name of its git tree. What is ignored does not count."""
    with _put_aside(git.tree, git.folder / "aside"):
        git("add", "--all")
    return git.text("write-tree")


def tracked(git: Git) -> tuple[str, ...]:
    """The paths in the index, in order."""
    return tuple(os.fsdecode(name) for name in git("ls-files", "-z").split(b"\0") if name)


def put_on(git: Git, patch: str) -> None:
    """Applies a patch to the tree, all of it or nothing. Raises PatchRefused."""
    if not patch.strip():
        return
    try:
        git("apply", "--whitespace=nowarn", "-", data=patch.encode("utf-8", "surrogateescape"))
    except GitFailed as error:
        raise PatchRefused(f"the patch does not apply: {str(error).removeprefix('git apply: ')}") from error


@contextlib.contextmanager
def _put_aside(tree: Path, aside: Path) -> Iterator[None]:
    """Without what git would follow or choke on: repositories in the tree, pipes, sockets, what can not be read."""
    moved: list[tuple[Path, Path]] = []
    aside.mkdir(exist_ok=True)
    try:
        for path in _out_of_place(tree):
            place = aside / str(len(moved))
            path.rename(place)
            moved.append((path, place))
        yield
    finally:
        for path, place in reversed(moved):
            place.rename(path)


def _out_of_place(tree: Path) -> Iterator[Path]:
    """Topmost first; a folder that is named is not looked into."""
    folders = [tree]
    while folders:
        folder = folders.pop()
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            _allow(folder, 0o700)
        with os.scandir(folder) as entries:
            for entry in list(entries):
                path = Path(entry.path)
                if entry.name.lower() == ".git" or not (entry.is_symlink() or entry.is_dir() or entry.is_file()):
                    yield path
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(path)
                elif entry.is_file(follow_symlinks=False) and not os.access(path, os.R_OK):
                    _allow(path, 0o400)


def _allow(path: Path, rights: int) -> None:
    path.chmod(stat.S_IMODE(path.stat().st_mode) | rights)


def _weigh(git: Git) -> None:
    sizes: dict[str, int] = {}
    for name in git("ls-files", "-z", "--others", "--modified", "--exclude-standard").split(b"\0"):
        with contextlib.suppress(OSError):
            path = git.tree / os.fsdecode(name)
            sizes[os.fsdecode(name)] = path.lstat().st_size if name else 0
    total = sum(sizes.values())
    if total > MOST_BYTES:
        largest = max(sizes, key=lambda name: sizes[name])
        raise UnfitChange(
            f"the change holds {total >> 20} MiB of new or changed files, {largest} alone {sizes[largest] >> 20} MiB; "
            f"{MOST_BYTES >> 20} MiB are the most: remove what does not belong to it"
        )


def _as_text(git: Git, base: str) -> str:
    """The diff as text; a file whose lines are not UTF-8 stands in it as a binary one."""
    whole = git(*_DIFF, base)
    with contextlib.suppress(UnicodeDecodeError):
        return whole.decode("utf-8")
    *others, last = (b"\n" + whole).removeprefix(b"\n" + _SECTION).split(b"\n" + _SECTION)
    sections = [*(section + b"\n" for section in others), last]
    names = git("diff", "--cached", "--name-only", "--no-renames", "-z", base).split(b"\0")[:-1]
    attributes = git.folder / "info" / "attributes"
    attributes.write_text("* -diff\n")
    try:
        for place, (name, section) in enumerate(zip(names, sections, strict=True)):
            try:
                section.decode("utf-8")
            except UnicodeDecodeError:
                path = f":(literal){os.fsdecode(name)}"
                sections[place] = git(*_DIFF, base, "--", path).removeprefix(_SECTION)
    finally:
        attributes.unlink()
    return "".join(f"{_SECTION.decode()}{section.decode()}" for section in sections)
