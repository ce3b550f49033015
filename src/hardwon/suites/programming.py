"""Programming tasks: the problem with its visible and hidden tests, made into a task with feedback and grader."""

from __future__ import annotations

import ast
import hashlib
import json
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from hardwon.errors import UsageError
from hardwon.sandbox.protocol import FunctionTests, Limits, Sandbox, StdioCase
from hardwon.sandbox.remembering import apart
from hardwon.suites.choice import choose, need_unique
from hardwon.suites.protocol import FeedbackKind, SuiteOptions
from hardwon.suites.read import Row
from hardwon.task import Behaviour, Evaluator, Problem, Task
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

    def evaluator(tests: Tests | None, source: Source, place: Sandbox = sandbox) -> UnitTests | StdioTests | None:
        if tests is None:
            return None
        if isinstance(tests, FunctionTests):
            return UnitTests(tests, place, source, limits)
        return StdioTests(tests, place, source, limits)

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
        grader=evaluator(graded, "grounded", apart(sandbox)),
        digest=item.digest,
        graded_on="visible" if item.hidden is None else "hidden",
        behaviour=_behaviour(item, sandbox, limits),
    )


def _behaviour(item: ProgrammingTask, sandbox: Sandbox, limits: Limits) -> Behaviour | None:
    """How samples of the task are compared: on calls that its text shows, or on the inputs of its visible pairs."""
    from hardwon.evaluators.behaviour import CallBehaviour, OutputBehaviour

    if item.problem.kind == "function":
        return CallBehaviour(item.problem, sandbox, item.prelude, limits)
    if isinstance(item.visible, tuple):
        return OutputBehaviour(tuple(case.stdin for case in item.visible), sandbox, limits)
    return None


def build_all(
    items: Sequence[tuple[Row, ProgrammingTask]],
    options: SuiteOptions,
    sandbox: Sandbox,
    default: FeedbackKind | None = None,
) -> tuple[Task, ...]:
    """The chosen tasks in file order; `default` None means `visible` if every item has visible tests.

    Raises UsageError for an id that is there twice, for one that is asked for and not there, and as `build` does.
    """
    need_unique((row, item.problem.id) for row, item in items)
    if default is None:
        default = "visible" if all(item.visible is not None for _, item in items) else "generated"
    feedback = options.feedback or default
    chosen = choose([item for _, item in items], lambda item: item.problem.id, options)
    return tuple(build(item, feedback, sandbox, options.limits) for item in chosen)


def solutions_of(items: Sequence[tuple[Row, ProgrammingTask]]) -> dict[str, str]:
    """The reference solutions by task id, of those tasks that have one."""
    return {item.problem.id: item.solution for _, item in items if item.solution is not None}


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
