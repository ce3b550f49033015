"""The bundled repositories: twenty small broken ones written for this project, each with an issue and tests.

Five kinds of bug (logic, edge case, regression, API misuse, configuration), four repositories each; two are JavaScript
and need `node`. The repository's own tests are the visible feedback; hidden tests of the same issue join them to grade.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path

from hardwon.errors import InfrastructureError, UsageError
from hardwon.sandbox.protocol import Sandbox
from hardwon.sandbox.workspaces.git import run_git
from hardwon.sandbox.workspaces.workspace import RepositorySource
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.read import Row, read_rows
from hardwon.suites.repositories import Instance, build_all, cache_folder
from hardwon.task import Task

DATA = Path(__file__).parent / "data" / "starter_repos.jsonl"
_COMMIT = (
    ("init", "--quiet", "--initial-branch=main"),
    ("add", "--all"),
    ("commit", "--quiet", "--message=The state before the issue"),
)


def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
    """Raises UsageError for unknown ids, for data, which this suite brings along, and for a task without its node."""
    if options.data is not None:
        raise UsageError(
            f"--data {options.data}: starter-repos brings its own repositories; drop --data, or run the suite swebench"
        )
    return build_all([(row, _instance(row)) for row in read_rows(DATA)], options, sandbox, "visible", _source)


def solutions(options: SuiteOptions) -> dict[str, str]:
    """The right patches by task id."""
    return {row.need("task_id"): row.need("patch") for row in read_rows(DATA)}


def _instance(row: Row) -> Instance:
    check = row.need("check")
    own = check if row.fields.get("needs") == "node" else "python -m unittest -v {files}"
    return Instance(
        task_id=row.need("task_id"),
        issue=row.need("issue"),
        base=_content(row),
        tests=check,
        fail_to_pass=tuple(row.array("fail_to_pass")),
        pass_to_pass=tuple(row.array("pass_to_pass")),
        test_patch=row.need("test_patch"),
        own=own,
        check=check,
        keep_tests=True,
    )


def _content(row: Row) -> str:
    return hashlib.sha256(json.dumps(row.fields["files"], sort_keys=True).encode()).hexdigest()


def _source(row: Row, item: Instance) -> RepositorySource:
    needs = row.text("needs", required=False)
    if needs is not None and shutil.which(needs) is None:
        raise UsageError(f"{item.task_id}: needs {needs}, which is not installed; install it, or leave the task out")
    place = cache_folder() / "starter" / f"{item.task_id.rpartition('/')[2]}-{item.base[:12]}"
    if not place.is_dir():
        make_repository(place, row.fields["files"])
    return RepositorySource(place)


def make_repository(place: Path, files: dict[str, str]) -> None:
    """A git repository of `files` with one commit, there whole or not at all.

    Raises InfrastructureError where git is missing or the folder can not be written.
    """
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".making-") as folder:
            draft = Path(folder) / "repository"
            for name, text in files.items():
                path = draft / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            for arguments in _COMMIT:
                run_git(arguments, {}, where=draft)
            if not place.is_dir():
                draft.rename(place)
    except OSError as error:
        if not place.is_dir():  # another process may have made it meanwhile
            raise InfrastructureError(f"{place}: can not be made ({error}); set HARDWON_CACHE to a folder") from error
