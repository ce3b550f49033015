"""Game of 24 (Yao et al. 2023): solvable instances from a seed.

`--data` may name settings: how many `tasks`, the `seed`, and the `largest` number. An answer is checked exactly and by
public rules, so that the loop's feedback is grounded and hides nothing.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from itertools import islice

from hardwon.errors import UsageError
from hardwon.evaluators.game24 import TARGET, ExpressionBehaviour, TwentyFour, solve
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites.choice import choose
from hardwon.suites.games import read_settings
from hardwon.suites.protocol import SuiteOptions
from hardwon.task import Problem, Task
from hardwon.trial import Source

SETTINGS = {"tasks": 100, "seed": 1, "largest": 13}
MOST = {"tasks": 1000, "largest": 100}

_NUMBERS = 4
_PATIENCE = 2000
"""So many draws in a row without a new solvable instance say that there are no more."""


def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
    """Raises UsageError for what is wrong with settings and ids."""
    if options.feedback == "generated":
        raise UsageError("--feedback generated: the rules check every answer, and no tests are needed; leave it out")
    source: Source = "oracle" if options.feedback == "oracle" else "grounded"
    return tuple(
        Task(
            problem=Problem(task_id, _prompt(numbers), "question"),
            feedback=TwentyFour(numbers, source),
            grader=TwentyFour(numbers),
            digest=hashlib.sha256(_prompt(numbers).encode()).hexdigest(),
            graded_on="visible",
            behaviour=ExpressionBehaviour(),
        )
        for task_id, numbers in _chosen(options)
    )


def solutions(options: SuiteOptions) -> dict[str, str]:
    """One expression for each instance. Raises UsageError."""
    found = {task_id: solve(numbers) for task_id, numbers in _chosen(options)}
    return {task_id: expression for task_id, expression in found.items() if expression is not None}


def _chosen(options: SuiteOptions) -> list[tuple[str, tuple[int, ...]]]:
    settings = read_settings(options.data, SETTINGS, MOST)
    wanted = settings["tasks"]
    instances = list(islice(_instances(settings["seed"], settings["largest"]), wanted))
    if len(instances) < wanted:
        raise UsageError(
            f"{options.data}: only {len(instances)} of {wanted} solvable instances were found with numbers up to "
            f"{settings['largest']}; ask for fewer tasks, or larger numbers"
        )
    named = [(f"game24/{'-'.join(map(str, numbers))}", numbers) for numbers in instances]
    return list(choose(named, lambda item: item[0], options))


def _instances(seed: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Different solvable instances in an order that the seed decides; the first ones do not depend on how many."""
    chance = random.Random(f"game24 {seed}")
    seen: set[tuple[int, ...]] = set()
    idle = 0
    while idle < _PATIENCE:
        numbers = tuple(sorted(chance.randint(1, largest) for _ in range(_NUMBERS)))
        idle += 1
        if numbers not in seen:
            seen.add(numbers)
            if solve(numbers) is not None:
                idle = 0
                yield numbers


def _prompt(numbers: tuple[int, ...]) -> str:
    first, last = ", ".join(map(str, numbers[:-1])), numbers[-1]
    return (
        f"Use the numbers {first} and {last}, each exactly once, with + - * / and brackets, to get {TARGET}. "
        "The answer is the expression itself, not its value, such as (1 + 2) * (9 - 1) for the numbers 1, 1, 2 and 9."
    )
