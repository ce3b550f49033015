"""Solve one task from Python, in about five lines.

from hardwon import solve
solution = solve("Write `double(x)`, which doubles a number.", check="assert double(4) == 8")
print(solution.solved, solution.program)
"""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from hardwon.actors.program import ProgramActor
from hardwon.budget import Budget, Ledger
from hardwon.config import load_config
from hardwon.errors import UsageError
from hardwon.evaluators.function import FunctionCheck, Outcome
from hardwon.evaluators.unit import UnitTests
from hardwon.memory.bank.embedders import open_embedder
from hardwon.memory.bank.embedding import Embedder
from hardwon.memory.bank.place import open_bank
from hardwon.memory.bank.retrieval import Limits
from hardwon.models.open import open_model
from hardwon.models.protocol import Model
from hardwon.record import MemoryRecord
from hardwon.runs.bank import BankSettings, RunBank
from hardwon.runs.journal import Key
from hardwon.runs.row import BankUse
from hardwon.runs.runner import solve as spend
from hardwon.sandbox.choose import open_sandbox
from hardwon.sandbox.protocol import FunctionTests, Sandbox
from hardwon.session import Happening, Sampling, Session
from hardwon.strategies.protocol import Strategy
from hardwon.strategies.registry import make_strategy
from hardwon.task import Evaluator, Problem, Task
from hardwon.trial import Lesson, Stop, Trial

CheckLike = str | Callable[[str], Outcome | Awaitable[Outcome]] | Evaluator
"""Assertion lines, a function of the program's text, or any evaluator."""


@dataclass(frozen=True, slots=True)
class Solution:
    """What came of a task: the program handed in (None if there was none), every trial and lesson, and the ledger.

    `solved` is True when the submission passed its checks, None when they gave no evidence. `recalled` are the ids of
    the bank's items that the model was shown, `taught` of those that the task added to it.
    """

    solved: bool | None
    program: str | None
    stop: Stop
    trials: tuple[Trial, ...]
    lessons: tuple[Lesson, ...]
    ledger: Ledger
    recalled: tuple[str, ...] = ()
    taught: tuple[str, ...] = ()


def solve(
    prompt: str,
    *,
    check: CheckLike,
    model: str | Model | None = None,
    strategy: str | Strategy = "reflexion",
    entry_point: str | None = None,
    budget: Budget | None = None,
    sampling: Sampling | None = None,
    sandbox: Sandbox | None = None,
    watch: Callable[[Happening], None] | None = None,
    bank: str | Path | None = None,
    recall: int = 3,
    learn: bool = False,
    embedder: str | Embedder | None = None,
) -> Solution:
    """`asolve`, for code that is not async; not to be called in a running event loop."""
    return asyncio.run(
        asolve(
            prompt,
            check=check,
            model=model,
            strategy=strategy,
            entry_point=entry_point,
            budget=budget,
            sampling=sampling,
            sandbox=sandbox,
            watch=watch,
            bank=bank,
            recall=recall,
            learn=learn,
            embedder=embedder,
        )
    )


async def asolve(
    prompt: str,
    *,
    check: CheckLike,
    model: str | Model | None = None,
    strategy: str | Strategy = "reflexion",
    entry_point: str | None = None,
    budget: Budget | None = None,
    sampling: Sampling | None = None,
    sandbox: Sandbox | None = None,
    watch: Callable[[Happening], None] | None = None,
    bank: str | Path | None = None,
    recall: int = 3,
    learn: bool = False,
    embedder: str | Embedder | None = None,
) -> Solution:
    """Solves one task and returns its solution; nothing is written to disk, but what is learned to the bank.

    `check` decides: Python assertions that call the function (`entry_point` is read from them when it is not given), a
    function of the program's text that returns a bool, a score from 0 to 1 or one of these with a text, or an
    evaluator.
    `model` is a name, a model of your own, or None for the configured default. `watch` is told each trial and lesson.
    `bank` is the reasoning bank: a file's path, or `postgresql://…`. At most `recall` of its items are shown, each held
    back with a chance of one in ten so that its effect can be measured; 0 reads none. With `learn` the task adds what
    it teaches, which is paid from its budget. `embedder` is one's name (None is `auto`), or one of your own.

    Raises UsageError for bad input, ModelError and SandboxError for trouble that is not the program's.
    """
    async with AsyncExitStack() as stack:
        if sandbox is None:
            sandbox = open_sandbox(workers=1)
            stack.push_async_callback(sandbox.close)
        if model is None or isinstance(model, str):
            model = open_model(model or load_config().model, parallel=1)
            stack.push_async_callback(model.close)
        if isinstance(strategy, str):
            strategy = make_strategy(strategy)
        problem, evaluator = _problem(prompt, check, entry_point, sandbox)
        sampling = sampling or Sampling()
        task = Task(problem, evaluator, None, "", graded_on="visible")
        key, record = Key(problem.id, strategy.name, sampling.seed or 0), MemoryRecord()
        used = None if bank is None else _opened(bank, recall, learn, embedder)
        advice = ""
        if used is not None:
            stack.callback(used.close)
            used.begin(MemoryRecord())
            advice = await used.recall(task, key, 0, record)
        session = Session(
            problem,
            model,
            ProgramActor(),
            evaluator,
            budget=budget or Budget(),
            sampling=sampling,
            record=record,
            watch=watch,
            advice=advice,
        )
        submission = await spend(strategy, session)
        bank_use = BankUse() if used is None else await used.learn(task, key, submission, session, record)
    trial = submission.trial
    verdict = trial.feedback.verdict if trial else "fail"
    return Solution(
        {"pass": True, "fail": False, "no_evidence": None}[verdict],
        trial.trajectory.output if trial else None,
        submission.stop,
        tuple(session.trials),
        tuple(session.lessons),
        session.ledger,
        bank_use.recalled,
        bank_use.induced,
    )


def _opened(place: str | Path, recall: int, learn: bool, embedder: str | Embedder | None) -> RunBank:
    if recall < 0 or not (recall or learn):
        raise UsageError(f"bank={str(place)!r}: want recall of at least 1 to read it, learn=True to add to it, or both")
    chosen = open_embedder(embedder) if recall and (embedder is None or isinstance(embedder, str)) else embedder
    settings = BankSettings("solve", recall=recall > 0, learn=learn, limits=Limits(most=max(1, recall)), by_text=True)
    return RunBank(open_bank(str(place), make=learn), settings, None if isinstance(chosen, str) else chosen)


def _problem(prompt: str, check: CheckLike, entry_point: str | None, sandbox: Sandbox) -> tuple[Problem, Evaluator]:
    if isinstance(check, str):
        lines = tuple(line for line in check.splitlines() if line.strip())
        name = entry_point or _called(check)
        return Problem("task", prompt, "function", name, lines), UnitTests(FunctionTests(name, check), sandbox)
    kind = "function" if entry_point else "text"
    problem = Problem("task", prompt, "function" if kind == "function" else "text", entry_point)
    return problem, FunctionCheck(check) if callable(check) else check


def _called(source: str) -> str:
    """The function that assertions are about: the first that they call and Python does not bring."""
    import builtins

    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        raise UsageError(f"check, line {error.lineno}: {error.msg}; give Python assertions") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not hasattr(builtins, node.func.id):
            return node.func.id
    raise UsageError("check: the assertions call no function; give entry_point")
