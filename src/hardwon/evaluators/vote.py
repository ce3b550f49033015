"""A vote of the model among candidates, for where no evidence exists (Yao et al. 2023, section 3: "vote").

It is no evaluator: a model that judges itself is not grounded, and whoever uses a vote says so (law 2).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hardwon.prompts import render
from hardwon.task import Ask, Problem
from hardwon.trial import Trajectory


async def vote(problem: Problem, candidates: Sequence[Trajectory], ask: Ask, *, key: str) -> int:
    """The position of the candidate that the model prefers; the first where its answer names none.

    Raises ValueError for no candidates, BudgetExhausted, ModelError.
    """
    if not candidates:
        raise ValueError("a vote needs at least one candidate")
    prompt = render("evaluators/vote", problem=problem, candidates=candidates)
    reply = await ask("judge", prompt, key=key, max_tokens=16)
    named = re.search(r"\d+", reply)
    number = int(named[0]) if named and len(named[0]) < 6 else 1
    return number - 1 if 1 <= number <= len(candidates) else 0
