"""SWE-bench (Jimenez et al. 2024) and what shares its format: real issues of real repositories, graded by their tests.

Local checkouts by a mapping file (`--checkouts`), or else the official container image of each instance. What the loop
may use is a reproduction test that the agent wrote; the hidden tests are brought into the grading workspace alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial

from hardwon.errors import UsageError
from hardwon.evaluators.patches import paths_of
from hardwon.evaluators.reproduction import filled
from hardwon.sandbox.protocol import Sandbox
from hardwon.sandbox.workspaces.workspace import RepositorySource
from hardwon.suites.checkouts import Checkout, Checkouts, need_repository, read_checkouts
from hardwon.suites.images import IMAGE_ENV, IN_IMAGE, image_of
from hardwon.suites.parquet import read_parquet
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.read import Row, is_unicode, read_rows
from hardwon.suites.repositories import Instance, build_all
from hardwon.task import Task

_PYTEST = "python -m pytest -rA -p no:cacheprovider {files}"
_RUNNERS = {
    "django/django": "./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1 {modules}",
    "sympy/sympy": "bin/test -C --verbose {files}",
}
"""Repositories whose tests are not run with pytest."""


def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
    """Raises UsageError that names file and place for the first thing that is wrong."""
    rows = _rows(options)
    checkouts = None if options.checkouts is None else read_checkouts(options.checkouts)
    items = [(row, _instance(row, checkouts)) for row in rows]
    return build_all(items, options, sandbox, "generated", partial(_source, checkouts))


def solutions(options: SuiteOptions) -> dict[str, str]:
    """The gold patches by instance id, of those instances that have one."""
    return {row.need("instance_id"): row.need("patch") for row in _rows(options) if row.fields.get("patch")}


def _rows(options: SuiteOptions) -> Sequence[Row]:
    if options.data is None:
        raise UsageError(
            "the suite swebench has no data of its own; give --data PATH (JSON, JSONL or Parquet), or run starter-repos"
        )
    return read_parquet(options.data) if options.data.suffix == ".parquet" else read_rows(options.data)


def runner_of(row: Row, checkout: Checkout | None) -> str:
    """The command that runs test files of an instance, with `{files}` or `{modules}` where they go.

    That of the mapping file, else of the instance (`test_cmd`), else what the repository is known for.
    """
    named = row.text("test_cmd", required=False)
    command = (checkout and checkout.test) or named or _RUNNERS.get(row.need("repo"), _PYTEST)
    if "{files}" not in command and "{modules}" not in command:
        command += " {files}"
    return command


def _instance(row: Row, checkouts: Checkouts | None) -> Instance:
    repo, base = row.need("repo"), row.need("base_commit")
    version = row.text("version", required=False)
    checkout = None if checkouts is None else checkouts.find(row, repo, version)
    test_patch = row.need("test_patch")
    files = sorted(paths_of(test_patch))
    if not files:
        raise row.wrong("'test_patch' is no git diff; give one that starts with `diff --git`")
    to_pass, to_stay = _names(row, "FAIL_TO_PASS"), _names(row, "PASS_TO_PASS")
    if not to_pass:
        raise row.wrong("'FAIL_TO_PASS' names no test, so that nothing could be shown; name at least one")
    run = runner_of(row, checkout)
    return Instance(
        task_id=row.need("instance_id"),
        issue=row.need("problem_statement"),
        base=f"{repo}@{base}",
        tests=filled(run, files),
        fail_to_pass=to_pass,
        pass_to_pass=to_stay,
        test_patch=test_patch,
        own=run,
        env=IMAGE_ENV if checkouts is None else (),
    )


def _names(row: Row, name: str) -> tuple[str, ...]:
    """Test names: an array, or the text of one, as the published data has it."""
    value = row.fields.get(name)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise row.wrong(f'{name!r} is a text that is no JSON array; write it as ["test", …]') from None
        if not isinstance(value, list):
            raise row.wrong(f'{name!r} is a text that is no JSON array; write it as ["test", …]')
    else:
        value = row.array(name, required=True)
    if not all(isinstance(test, str) and test.strip() and is_unicode(test) for test in value):
        raise row.wrong(f"{name!r} holds something that is no name of a test; give texts")
    return tuple(value)


def _source(checkouts: Checkouts | None, row: Row, item: Instance) -> RepositorySource:
    base = row.need("base_commit")
    if checkouts is None:
        return RepositorySource(IN_IMAGE, base, image=image_of(row))
    checkout = checkouts.find(row, row.need("repo"), row.text("version", required=False))
    try:
        need_repository(checkout.path, base)
    except UsageError as error:
        raise row.wrong(str(error)) from None
    return RepositorySource(checkout.path, base, checkout.setup, mounts=checkout.mounts, tools=checkout.tools)
