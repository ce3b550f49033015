"""Issues in repositories, made into tasks: the agent's tree, what its loop may use, and the hidden tests."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from hardwon.environments.repository import RepositoryTask
from hardwon.evaluators.instance import InstanceTests, Walls
from hardwon.evaluators.reproduction import ReproductionTest
from hardwon.prompts import render
from hardwon.sandbox.protocol import Sandbox
from hardwon.sandbox.workspaces.workspace import Backend, RepositorySource
from hardwon.suites.choice import choose, need_unique
from hardwon.suites.images import runtime
from hardwon.suites.protocol import FeedbackKind, SuiteOptions
from hardwon.suites.read import Row
from hardwon.task import Evaluator, Problem, Task


@dataclass(frozen=True, slots=True)
class Instance:
    """An issue, the tests that decide, and how they are run.

    `tests` is the command that runs all that decides, `check` one that the agent may see and run (None: none is given),
    `own` one that runs the agent's new test files, with `{files}` or `{modules}` in it. `test_patch` brings hidden
    tests. With `keep_tests` no test of the repository can be changed. `base` names the content that is worked on. `env`
    are variables, name and value, of all commands.
    """

    task_id: str
    issue: str
    base: str
    tests: str
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]
    test_patch: str
    own: str
    check: str | None = None
    keep_tests: bool = False
    hints: str = ""
    env: tuple[tuple[str, str], ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of the issue, the content it is about and its tests."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


def build_all(
    items: Sequence[tuple[Row, Instance]],
    options: SuiteOptions,
    sandbox: Sandbox,
    default: FeedbackKind,
    source_of: Callable[[Row, Instance], RepositorySource],
) -> tuple[Task, ...]:
    """The chosen instances as tasks, in file order; `source_of` prepares the repository of each that is chosen.

    Raises UsageError for an id that is there twice or asked for and not there, and as `source_of` does.
    """
    need_unique((row, item.task_id) for row, item in items)
    chosen = choose(items, lambda pair: pair[1].task_id, options)
    feedback = options.feedback or default
    return tuple(_task(item, source_of(row, item), feedback, sandbox) for row, item in chosen)


def _task(item: Instance, source: RepositorySource, feedback: FeedbackKind, sandbox: Sandbox) -> Task:
    walls = Walls(_backend(source, sandbox), env=item.env)
    grader = InstanceTests(
        source,
        item.tests,
        item.fail_to_pass,
        item.pass_to_pass,
        item.test_patch,
        item.keep_tests,
        walls=walls,
    )
    prompt = render(
        "evaluators/repository",
        issue=item.issue.strip(),
        reproduce=feedback == "generated",
        hints=item.hints.strip(),
    )
    return RepositoryTask(
        problem=Problem(item.task_id, prompt, "repository", examples=() if item.check is None else (item.check,)),
        feedback=_feedback(item, source, feedback, grader, walls),
        grader=grader,
        digest=item.digest,
        source=source,
        env=item.env,
        backend=walls.backend,
    )


def _feedback(
    item: Instance, source: RepositorySource, feedback: FeedbackKind, grader: InstanceTests, walls: Walls
) -> Evaluator | None:
    if feedback == "oracle":
        return replace(grader, source="oracle")
    if feedback == "generated":
        return ReproductionTest(source, item.own, walls=walls)
    if item.check is None:
        return None
    from hardwon.evaluators.repository import RepositoryCheck

    return RepositoryCheck(source, item.check, restore=("tests",) if item.keep_tests else (), walls=walls)


def _backend(source: RepositorySource, sandbox: Sandbox) -> Backend:
    """Containers for what has an image, else the walls of the sandbox in force. Raises UsageError without a runtime."""
    if source.image is None:
        return "process" if sandbox.isolation.backend == "process" else "bubblewrap"
    return runtime()


def cache_folder() -> Path:
    """Where repositories are kept that were made or fetched once."""
    chosen = os.environ.get("HARDWON_CACHE")
    if chosen:
        return Path(chosen).expanduser() / "repositories"
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("hardwon")) / "repositories"
