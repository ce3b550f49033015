"""The mapping file that says where the repositories of a suite are checked out, and how their tests are run.

A JSON object, or TOML: the name of a repository (`owner/name`), or of one at a version (`owner/name@1.2`), to its
folder, or to an object of `path`, and as needed `test` (a command with `{files}` or `{modules}` in it), `setup` (a
command that prepares a fresh workspace), `mounts` (folders that commands may read, such as `.venv`) and `tools`
(folders that stand first on the PATH). Paths are relative to the mapping file, mounts to the repository.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from hardwon.errors import UsageError
from hardwon.sandbox.workspaces.git import facts
from hardwon.suites.read import Row

_TEXTS, _LISTS = ("path", "test", "setup"), ("mounts", "tools")
_FIELDS = (*_TEXTS, *_LISTS)


@dataclass(frozen=True, slots=True)
class Checkout:
    """A local repository; `test` is None where the suite's own holds. For the rest see `RepositorySource`."""

    path: Path
    test: str | None = None
    setup: str | None = None
    mounts: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Checkouts:
    """The checkouts of a mapping file."""

    file: Path
    known: Mapping[str, Checkout] = field(default_factory=dict)

    def find(self, row: Row, repo: str, version: str | None) -> Checkout:
        """The checkout of a repository, that of its version first. Raises UsageError where there is none."""
        for name in (f"{repo}@{version}", repo):
            if name in self.known:
                return self.known[name]
        raise row.wrong(f"the repository {repo} is not in {self.file}; add {json.dumps(repo)}: PATH to it")


def read_checkouts(path: Path) -> Checkouts:
    """Raises UsageError that names the file, the entry and the mend; also for a folder that is no git repository."""
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except FileNotFoundError:
        raise UsageError(f"--checkouts {path}: no such file; give a JSON or TOML file") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"--checkouts {path}: does not read ({error}); mend it") from error
    if not isinstance(data, dict) or not data:
        raise UsageError(f'--checkouts {path}: want an object such as {{"owner/name": "folder"}}')
    return Checkouts(path, {name: _checkout(path, name, entry) for name, entry in data.items()})


@cache
def need_repository(path: Path, commit: str | None = None) -> None:
    """Raises UsageError if a folder is no git repository with commits, or does not have the commit."""
    facts(path, commit)


def _checkout(file: Path, name: str, entry: Any) -> Checkout:
    place = f"--checkouts {file}: {name}"
    fields = {"path": entry} if isinstance(entry, str) else entry
    if not isinstance(fields, dict):
        raise UsageError(f"{place}: want a folder, or an object of {', '.join(_FIELDS)}")
    for key, value in fields.items():
        if key in _TEXTS and isinstance(value, str) and value.strip():
            continue
        if key in _LISTS and isinstance(value, list) and all(isinstance(item, str) for item in value):
            continue
        want = "a list of folders" if key in _LISTS else "a text" if key in _TEXTS else f"one of {', '.join(_FIELDS)}"
        raise UsageError(f"{place}: {key!r} is not understood; want {want}")
    if "path" not in fields:
        raise UsageError(f"{place}: the field 'path' is missing; add it")
    path = (file.parent / Path(fields["path"]).expanduser()).resolve()
    try:
        need_repository(path)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from None
    lists = {name: tuple(fields.get(name, ())) for name in _LISTS}
    return Checkout(path, fields.get("test"), fields.get("setup"), **lists)
