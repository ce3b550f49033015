"""Proposals: several ways to go on, asked for in one call (the "propose" of Yao et al. 2023, section 3)."""

from __future__ import annotations

import re

from hardwon.actors.protocol import Generate
from hardwon.models.protocol import Message
from hardwon.prompts import render
from hardwon.task import Problem
from hardwon.trial import Trial

_ITEM = re.compile(r"^\s*(?:\d+[.):]|[-*])\s+(.+)$", re.MULTILINE)
_LONGEST = 300
"""Characters of one approach that are kept."""


async def propose(problem: Problem, count: int, trial: Trial | None, generate: Generate) -> list[str]:
    """At most `count` different approaches, in the model's order; none where the reply lists none.

    `trial` is the failed one to go on from; None to begin with. Raises ValueError for a count below 1.
    """
    if count < 1:
        raise ValueError(f"want at least 1 approach, not {count}")
    prompt = render("reflection/approaches", problem=problem, count=count, trial=trial)
    completion = await generate((Message("user", prompt),))
    found = (" ".join(item.split())[:_LONGEST] for item in _ITEM.findall(completion.text))
    return list(dict.fromkeys(filter(None, found)))[:count]
