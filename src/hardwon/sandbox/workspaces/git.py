"""Git as the workspaces use it: apart from the user's settings, and never on the word of what lies in a tree."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hardwon.errors import InfrastructureError, UsageError

IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "hardwon"), ("EMAIL", "hardwon@localhost"), ("DATE", "@0 +0000"))
}
"""The same for every commit of ours, so that equal trees make equal commits."""

_SAFE = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false",
    "-c", "core.quotePath=true", "-c", "core.protectNTFS=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
)  # fmt: skip


class GitFailed(InfrastructureError):
    """A git command failed that should not have."""


@dataclass(frozen=True, slots=True)
class Git:
    """A git directory of ours and, apart from it, the working tree and the index that it speaks of."""

    folder: Path
    tree: Path
    index: Path | None = None

    def __call__(self, *arguments: str, data: bytes | None = None) -> bytes:
        """What the command prints. Raises GitFailed with what it complained of."""
        return run_git(arguments, self._environment(), data, self.tree)

    def text(self, *arguments: str, data: bytes | None = None) -> str:
        """The same as stripped text."""
        return self(*arguments, data=data).decode("utf-8", "replace").strip()

    def _environment(self) -> dict[str, str]:
        places = {"GIT_DIR": str(self.folder), "GIT_WORK_TREE": str(self.tree)}
        return places | ({} if self.index is None else {"GIT_INDEX_FILE": str(self.index)})


def run_git(
    arguments: tuple[str, ...], environment: Mapping[str, str], data: bytes | None = None, where: Path = Path("/")
) -> bytes:
    """Runs git without the system's, the user's or the tree's settings. Raises GitFailed, InfrastructureError."""
    bare = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
    }
    done = _run([*_SAFE, *arguments], bare | IDENTITY | dict(environment), data, where)
    if done.returncode != 0:
        raise GitFailed(f"git {arguments[0]}: {complaint(done)}")
    return done.stdout


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a user's repository.

    `root` is its working tree (its git directory where it is bare), `common` the git directory that holds its objects,
    `commit` the full name of the base commit, `form` how it names objects (`sha1` or `sha256`).
    """

    root: Path
    common: Path
    commit: str
    form: str


def facts(path: Path, base: str | None, objects: Path | None = None) -> Facts:
    """Reads a repository, with the user's own settings and without writing. Raises UsageError, InfrastructureError.

    `base` may be any name of a commit, None is HEAD; it may lie in the further folder of `objects`.
    """
    if not path.is_dir():
        raise UsageError(f"{path}: no such folder; give the folder of a git repository")
    more = {} if objects is None else {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects)}
    asked = ("rev-parse", "--path-format=absolute", "--git-common-dir", "--show-object-format", "--is-bare-repository")
    found = theirs(path, *asked)
    if found.returncode != 0:
        said = complaint(found)
        if "not a git repository" in said:
            raise UsageError(
                f"{path}: is not a git repository; give one, or make it one: git init, git add, git commit"
            )
        raise UsageError(f"{path}: {said}")
    common, form, bare = found.stdout.decode().splitlines()
    root = Path(common)
    if bare == "false":
        top = theirs(path, "rev-parse", "--show-toplevel")
        if top.returncode != 0:
            raise UsageError(f"{path}: {complaint(top)}; give the folder of the working tree")
        root = Path(os.fsdecode(top.stdout.rstrip(b"\n")))
    name = base or "HEAD"
    commit = theirs(
        path, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", environment=more
    )
    if commit.returncode != 0:
        if base is None:
            raise UsageError(f"{path}: has no commit yet; make one first: git add -A && git commit")
        raise UsageError(f"{path}: has no commit {base}; fetch it, or give another base")
    return Facts(root, Path(common), commit.stdout.decode().strip(), form)


def tame(folder: Path, *, bare: bool) -> None:
    """Takes from a git directory that came from elsewhere what could run commands here, or lead out of it.

    Its settings become ours; hooks and the names of other folders go. Raises UsageError for one that is made of links.
    """
    linked = [path for inner in (folder, folder / "objects", folder / "objects" / "info") for path in _links_in(inner)]
    if folder.is_symlink() or linked:
        raise UsageError(f"{(linked or [folder])[0]}: is a link, which a git directory from elsewhere may not hold")
    kept = ""
    for name in ("objectFormat", "refStorage"):
        with contextlib.suppress(GitFailed):
            asked = ("config", "--file", str(folder / "config"), "--get", f"extensions.{name}")
            value = run_git(asked, {}).decode("utf-8", "replace").strip()
            if value in ("sha256", "reftable"):
                kept += f"\t{name} = {value}\n"
    for stray in ("config", "config.worktree", "commondir", "gitdir", "objects/info/alternates"):
        (folder / stray).unlink(missing_ok=True)
    shutil.rmtree(folder / "hooks", ignore_errors=True)
    core = f"[core]\n\trepositoryformatversion = {int(bool(kept))}\n\tbare = {str(bare).lower()}\n"
    (folder / "config").write_text(core + (f"[extensions]\n{kept}" if kept else ""))


def _links_in(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_symlink()] if folder.is_dir() else []


def theirs(
    path: Path, *arguments: str, environment: Mapping[str, str] | None = None, data: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Runs git in a user's repository as the user would, but for variables that lead elsewhere and needless writes."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    own |= {"LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}
    own |= environment or {}
    return _run(list(arguments), own, data, path)


def _run(
    arguments: list[str], environment: Mapping[str, str], data: bytes | None, where: Path
) -> subprocess.CompletedProcess[bytes]:
    executable = shutil.which("git")
    if executable is None:
        raise InfrastructureError("git is not installed; install it: apt-get install git")
    try:
        return subprocess.run(
            [executable, *arguments], env=environment, cwd=where, input=data or b"", capture_output=True, check=False
        )
    except OSError as error:
        raise InfrastructureError(f"git could not be started: {error}") from error


def complaint(done: subprocess.CompletedProcess[bytes]) -> str:
    """What a failed git said was wrong, on one line."""
    lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    fatal = [
        line.removeprefix("fatal: ").removeprefix("error: ") for line in lines if line.startswith(("fatal", "error"))
    ]
    return "; ".join(fatal or lines)[:500] or f"left with status {done.returncode}"
