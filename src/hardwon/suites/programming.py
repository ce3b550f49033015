"""Programming tasks: the problem with its visible and hidden tests, made into a task with feedback and grader."""

from __future__ import annotations

import ast
import hashlib
import json
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches

from hardwon.errors import UsageError
from hardwon.sandbox.protocol import FunctionTests, Limits, Sandbox, StdioCase
from hardwon.suites.protocol import FeedbackKind, SuiteOptions
from hardwon.suites.read import Row
from hardwon.task import Evaluator, Problem, Task
from hardwon.trial import Source

Tests = FunctionTests | tuple[StdioCase, ...]


@dataclass(frozen=True, slots=True)
class ProgrammingTask:
    """A problem, the tests that may be seen, and those that may not; either is None if there are none of its kind.

    `prelude` is trusted code that self-written tests may use, as `FunctionTests.prelude` is for the given ones.
    `solution` is a reference that no task carries on: it serves to test the tests.
    """

    problem: Problem
    visible: Tests | None
    hidden: Tests | None
    prelude: str = ""
    solution: str | None = None

    @property
    def digest(self) -> str:
        """SHA-256 of problem and tests as canonical JSON; the reference solution does not count."""
        content = [asdict(self.problem), _plain(self.visible), _plain(self.hidden), self.prelude]
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def build(item: ProgrammingTask, feedback: FeedbackKind, sandbox: Sandbox, limits: Limits) -> Task:
    """The task, with a grader of its own that neither the problem nor the feedback leads to (law 1).

    Raises UsageError for `oracle` where there are no hidden tests to be the oracle.
    """
    from hardwon.evaluators.generated import GeneratedTests
    from hardwon.evaluators.stdio import StdioTests
    from hardwon.evaluators.unit import UnitTests

    def evaluator(tests: Tests | None, source: Source) -> UnitTests | StdioTests | None:
        if tests is None:
            return None
        if isinstance(tests, FunctionTests):
            return UnitTests(tests, sandbox, source, limits)
        return StdioTests(tests, sandbox, source, limits)

    allowed: Evaluator | None
    if feedback == "oracle":
        if item.hidden is None:
            raise UsageError(f"--feedback oracle: task {item.problem.id} has no hidden tests; use --feedback visible")
        allowed = evaluator(item.hidden, "oracle")
    elif feedback == "generated":
        visible = evaluator(item.visible, "grounded")
        allowed = GeneratedTests(item.problem, sandbox, visible, prelude=item.prelude, limits=limits)
    else:
        allowed = evaluator(item.visible, "grounded")
    graded = item.visible if item.hidden is None else item.hidden
    return Task(
        problem=item.problem,
        feedback=allowed,
        grader=evaluator(graded, "grounded"),
        digest=item.digest,
        graded_on="visible" if item.hidden is None else "hidden",
    )


def build_all(
    items: Sequence[tuple[Row, ProgrammingTask]],
    options: SuiteOptions,
    sandbox: Sandbox,
    default: FeedbackKind | None = None,
) -> tuple[Task, ...]:
    """The chosen tasks in file order; `default` None means `visible` if every item has visible tests.

    Raises UsageError for an id that is there twice, for one that is asked for and not there, and as `build` does.
    """
    _need_unique(items)
    if default is None:
        default = "visible" if all(item.visible is not None for _, item in items) else "generated"
    feedback = options.feedback or default
    chosen = _choose([item for _, item in items], options)
    return tuple(build(item, feedback, sandbox, options.limits) for item in chosen)


def flaw_in_tests(source: str, names: Iterable[str]) -> str | None:
    """Why `source` can not test anything, seen without running it (law 3); None if it can.

    `names` are those by which the tests may call what they test.
    """
    tree = parsed(source)
    if isinstance(tree, str):
        return f"is no valid Python ({tree}); mend it"
    if not any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
        return "asserts nothing; write it as `assert f(…) == …`"
    called = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if called.isdisjoint(names):
        return f"does not call {' or '.join(sorted(names))}; let it"
    return None


def parsed(source: str) -> ast.Module | str:
    """The syntax tree of Python source, or why it has none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in someone's data is not worth a warning of ours
            return ast.parse(source)
    except SyntaxError as error:
        return f"{error.msg}, its line {error.lineno}"
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or type(error).__name__


def _plain(tests: Tests | None) -> object:
    if tests is None:
        return None
    return asdict(tests) if isinstance(tests, FunctionTests) else [asdict(case) for case in tests]


def _need_unique(items: Sequence[tuple[Row, ProgrammingTask]]) -> None:
    first: dict[str, Row] = {}
    for row, item in items:
        earlier = first.setdefault(item.problem.id, row)
        if earlier is not row:
            line = earlier.place.rpartition(":")[2]
            raise row.wrong(f"the task id {item.problem.id!r} is on line {line} already; give each task its own")


def _choose(items: Sequence[ProgrammingTask], options: SuiteOptions) -> Sequence[ProgrammingTask]:
    if options.limit is not None and options.limit < 1:
        raise UsageError(f"--limit {options.limit}: want a number from 1")
    if options.ids is not None:
        known = [item.problem.id for item in items]
        if not options.ids:
            raise UsageError("--ids names no task; give ids with commas between them, or leave it out")
        for wanted in options.ids:
            if wanted not in known:
                raise UsageError(f"--ids {wanted}: no such task; {_hint(wanted, known)}")
        items = [item for item in items if item.problem.id in options.ids]
    return items[: options.limit]


def _hint(wanted: str, known: Sequence[str]) -> str:
    near = [name for name in known if name.rpartition("/")[2] == wanted] or get_close_matches(wanted, known, 1)
    if near:
        return f"did you mean {near[0]}?"
    return f"the {len(known)} ids here look like {known[0]}"
