"""Puts a change on a new branch of the user's repository; working tree, index and current branch stay as they are."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path, PurePosixPath

from hardwon.errors import InfrastructureError
from hardwon.sandbox.workspaces.change import PatchRefused
from hardwon.sandbox.workspaces.git import IDENTITY, Facts, complaint, theirs


def put_on_branch(found: Facts, base: str, patch: str, name: str, message: str, objects: Path | None = None) -> str:
    """Makes a branch with the change as one commit on top of `base`; its name, which is `name` or `name-2`, ….

    Where another branch stands in the way of the slashes in `name` they become dashes.

    `base` may lie in the further folder of `objects`; it is then brought in. Raises PatchRefused for a change that does
    not apply there (that of a submodule's files does not), InfrastructureError.
    """
    if objects is not None:
        _bring_in(found, base, objects)
    with tempfile.TemporaryDirectory(prefix="hardwon-branch-") as scratch:
        places = {"GIT_INDEX_FILE": f"{scratch}/index", **_identity(found)}
        _do(found, places, "read-tree", base)
        apply = ("apply", "--cached", "--whitespace=nowarn", "-")
        applied = theirs(found.root, *apply, environment=places, data=patch.encode("utf-8", "surrogateescape"))
        if applied.returncode != 0:
            raise PatchRefused(f"{found.root}: the change can not be put on a branch: {complaint(applied)}")
        tree = _do(found, places, "write-tree")
        commit = _do(found, places, "commit-tree", tree, "-p", base, "-m", message)
    free = _free_name(found, name)
    _do(found, {}, "update-ref", f"refs/heads/{free}", commit, "0" * len(commit))
    return free


def _free_name(found: Facts, name: str) -> str:
    above = [str(parent) for parent in PurePosixPath(name).parents if parent.name]
    taken = theirs(found.root, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").stdout.split(b"\n")
    if any(each.encode() in taken for each in above):
        name = name.replace("/", "-")
    free, number = name, 1
    while theirs(found.root, "for-each-ref", "--count=1", f"refs/heads/{free}").stdout:  # it, or any below it
        number += 1
        free = f"{name}-{number}"
    return free


def _identity(found: Facts) -> dict[str, str]:
    """Nothing where the user has said who they are, else our own name, but with the time of now."""
    if theirs(found.root, "var", "GIT_COMMITTER_IDENT").returncode == 0:
        return {}
    return {name: value for name, value in IDENTITY.items() if not name.endswith("DATE")}


def _bring_in(found: Facts, commit: str, objects: Path) -> None:
    places = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects)}
    wanted = f"{commit}\n^{found.commit}\n".encode()
    pack = theirs(found.root, "pack-objects", "--revs", "--stdout", "-q", environment=places, data=wanted)
    if pack.returncode == 0:
        pack = theirs(found.root, "unpack-objects", "-q", data=pack.stdout)
    if pack.returncode != 0:
        raise InfrastructureError(f"{found.root}: {complaint(pack)}")


def _do(found: Facts, places: dict[str, str], *arguments: str) -> str:
    done = theirs(found.root, *arguments, environment=places)
    if done.returncode != 0:
        raise InfrastructureError(f"{found.root}: git {arguments[0]}: {complaint(done)}")
    return os.fsdecode(done.stdout).strip()
