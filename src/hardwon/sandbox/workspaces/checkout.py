"""Makes a working tree of a user's commit: with a git directory of ours outside of it, and one for the agent inside."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from hardwon.sandbox.workspaces.git import Facts, Git, run_git

BASE = "refs/heads/base"
_HISTORY = 20
"""Commits that the agent can look back on. Other branches, and what came after the base, are not there."""

_LEFT_BEHIND = ("__pycache__/", "*.py[co]", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/")
"""What tools leave in a tree: never part of a change, unless the base holds it."""

_AGENT_CONFIG = (
    "[user]\n\tname = agent\n\temail = agent@localhost\n[advice]\n\tdetachedHead = false\n[gc]\n\tauto = 0\n"
)


def check_out(facts: Facts, objects: Path | None, home: Path, before: str | None = None) -> tuple[Git, str]:
    """The base's files in `home/tree`, our git directory in `home/git`, and the commit that the tree is of.

    That is the base itself unless it has submodules: what the user has checked out of these lies in the tree as plain
    files. The user's repository is only read. `before` is the commit of a tree that is there already, with files of its
    own that stay. Raises GitFailed.
    """
    git = Git(home / "git", home / "tree")
    git.tree.mkdir(exist_ok=before is not None)
    git("init", "-q", "--template=", f"--object-format={facts.form}")
    stores = [facts.common / "objects", *([] if objects is None else [objects])]
    _borrow(git, stores)
    if (facts.common / "shallow").is_file():
        shutil.copyfile(facts.common / "shallow", git.folder / "shallow")
    if before is not None:
        git("read-tree", before)
        git("read-tree", "--reset", "-u", facts.commit)
    git("read-tree", facts.commit)
    commit = _with_submodules(git, facts, stores)
    git("update-ref", BASE, commit)
    (git.folder / "info").mkdir(exist_ok=True)
    (git.folder / "info" / "exclude").write_text(_excludes(facts))
    git("checkout-index", "--all", "--index", "--quiet", "--force")
    _for_the_agent(git, facts.form)
    return git, commit


def _borrow(git: Git, stores: list[Path]) -> None:
    info = git.folder / "objects" / "info"
    info.mkdir(exist_ok=True)
    (info / "alternates").write_text("".join(f"{store}\n" for store in stores))


def _with_submodules(git: Git, facts: Facts, stores: list[Path]) -> str:
    """Puts the files of submodules in place of their links; the commit that then stands for the base."""
    changed = False
    links = _links(git)
    while links:
        for path, commit in links:
            changed = True
            git("update-index", "--force-remove", "--", path)
            store = _store_of(facts, path)
            if store is None:
                continue  # not checked out by the user either
            stores.append(store)
            _borrow(git, stores)
            git("read-tree", f"--prefix={path}/", commit)
        links = _links(git)
    if not changed:
        return facts.commit
    return git.text("commit-tree", git.text("write-tree"), "-p", facts.commit, "-m", "With the files of its submodules")


def _links(git: Git) -> list[tuple[str, str]]:
    """The submodules in the index, as path and commit."""
    found = []
    for entry in git("ls-files", "--stage", "-z").split(b"\0"):
        if entry.startswith(b"160000 "):
            about, _, path = entry.partition(b"\t")
            found.append((os.fsdecode(path), about.split()[1].decode()))
    return found


def _store_of(facts: Facts, path: str) -> Path | None:
    place = facts.root / path / ".git"
    if place.is_file():
        told = place.read_text(errors="replace").partition("gitdir:")[2].strip()
        place = (facts.root / path / told).resolve()
    within = any(place.resolve().is_relative_to(own.resolve()) for own in (facts.root, facts.common))
    return place / "objects" if within and (place / "objects").is_dir() else None


def _excludes(facts: Facts) -> str:
    own = facts.common / "info" / "exclude"
    return "".join(f"{line}\n" for line in _LEFT_BEHIND) + (own.read_text(errors="replace") if own.is_file() else "")


def _for_the_agent(git: Git, form: str) -> None:
    """A repository of its own in the tree, with the last commits up to the base; what becomes of it does not matter."""
    inside = git.tree / ".git"
    run_git(("init", "-q", "--template=", "-b", "main", f"--object-format={form}", str(git.tree)), {})
    place = {"GIT_DIR": str(inside), "GIT_WORK_TREE": str(git.tree)}
    fetch = ("fetch", "-q", "--no-tags", "--no-write-fetch-head", "--update-head-ok", f"--depth={_HISTORY}")
    run_git((*fetch, f"file://{git.folder}", f"{BASE}:refs/heads/main"), place)
    shutil.copyfile(git.folder / "index", inside / "index")
    (inside / "info").mkdir(exist_ok=True)
    shutil.copyfile(git.folder / "info" / "exclude", inside / "info" / "exclude")
    with (inside / "config").open("a") as config:
        config.write(_AGENT_CONFIG)
