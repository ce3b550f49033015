"""A choice among means by what has paid: Thompson sampling, per token spent (Thompson 1933; Russo et al. 2018).

The state in which a means is used has its own tally, which leans on the means' tally over all states while it is
small. One draw for each means says how likely it is to win; the one with the most wins for each token is taken.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from hardwon.trial import Tally

_PRIOR = 4.0
"""How many tries the prior counts for."""

_LEANING = 16
"""How many tries in other states count for a state, at most, beside the prior."""


@dataclass(frozen=True, slots=True)
class Means:
    """What is believed of a means before the run has shown anything: its chance to win (0..1), and its tokens."""

    chance: float
    tokens: float


@dataclass(frozen=True, slots=True)
class Choice:
    """The means taken, and why, in words."""

    action: str
    reason: str


def tallied(action: str, state: str) -> tuple[str, str]:
    """The keys under which the use of a means is noted: over all states, and in this one."""
    return action, f"{action} @ {state}"


def choose(means: Mapping[str, Means], state: str, seen: Mapping[str, Tally], chance: random.Random) -> Choice:
    """Draws for each means and takes the one with the most wins for each token.

    Raises ValueError for no means.
    """
    if not means:
        raise ValueError("there is nothing to choose from")
    drawn = {action: _draw(action, believed, state, seen, chance) for action, believed in means.items()}
    taken = max(drawn, key=lambda action: drawn[action][0])
    said = "; ".join(f"{action} {rate:.0%} for {tokens:,.0f} tokens" for action, (_, rate, tokens) in drawn.items())
    return Choice(taken, f"state {state}; drawn: {said}")


def _draw(
    action: str, believed: Means, state: str, seen: Mapping[str, Tally], chance: random.Random
) -> tuple[float, float, float]:
    """Wins a token, the drawn chance to win, and the expected tokens."""
    everywhere, here = (seen.get(key, Tally()) for key in tallied(action, state))
    rate = (_PRIOR * believed.chance + everywhere.won) / (_PRIOR + everywhere.tried)
    weight = _PRIOR + min(_LEANING, everywhere.tried - here.tried)
    won = weight * rate + here.won
    lost = weight * (1 - rate) + here.tried - here.won
    drawn = chance.betavariate(max(won, 1e-3), max(lost, 1e-3))
    tokens = (_PRIOR * believed.tokens + everywhere.tokens) / (_PRIOR + everywhere.tried)
    return drawn / max(tokens, 1.0), drawn, tokens
