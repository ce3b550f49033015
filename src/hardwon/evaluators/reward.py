"""The world's own word: an episode passes if the world calls it won, and scores what the world gave."""

from __future__ import annotations

from dataclasses import dataclass

from hardwon.evaluators.verdict import cut
from hardwon.task import Ask
from hardwon.trial import Check, Feedback, Source, Trajectory

_BELOW_PASS = 0.99
"""The most that an episode scores which was not won: done, or full marks, is not won."""
_LAST_WORDS = 600


@dataclass(frozen=True, slots=True)
class EnvironmentReward:
    """Reads `won` and `reward` of an episode's trajectory.

    `source` is `grounded` where the world tells the player of its success, `oracle` where only a hidden goal knows it.
    A trajectory of no world shows nothing (law 3).
    """

    source: Source = "grounded"

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        """Never raises; `ask` is not used."""
        if trajectory.won is None:
            text = "No episode was played, so nothing is shown."
            return Feedback("no_evidence", 0.0, text, (Check("goal", "no_evidence", error=text),), "none")
        taken = sum(1 for step in trajectory.steps if step.action)
        actions = f"{taken} action{'' if taken == 1 else 's'}"
        if trajectory.won:
            check = Check("goal", "pass", observed=f"reached after {actions}", source=self.source)
            return Feedback("pass", 1.0, f"The goal was reached after {actions}.", (check,), self.source)
        score = min(max(trajectory.reward, 0.0), _BELOW_PASS)
        text = f"The episode ended after {actions}, and the goal was not reached."
        if score:
            text += f" The score is {score:.0%} of the whole."
        if trajectory.steps:
            text += f"\nThe last observation was: {cut(trajectory.steps[-1].observation.strip(), _LAST_WORDS)}"
        check = Check("goal", "fail", expected="reached", error="the goal was not reached", source=self.source)
        return Feedback("fail", score, text, (check,), self.source)
