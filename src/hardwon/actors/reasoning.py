"""The reasoner: chain of thought to a short answer (Wei et al. 2022)."""

from __future__ import annotations

from dataclasses import dataclass

from hardwon.actors.history import transcript
from hardwon.actors.protocol import Generate, Hints
from hardwon.evaluators.answers import final_answer
from hardwon.models.protocol import Message
from hardwon.prompts import render
from hardwon.task import Problem
from hardwon.trial import Trajectory


@dataclass(frozen=True, slots=True)
class ReasoningActor:
    """Asks for the steps and then the answer; a reply without an answer is a trajectory whose output is None."""

    async def act(self, problem: Problem, hints: Hints, generate: Generate) -> Trajectory:
        previous = hints.previous
        prompt = render(
            "actors/reasoning",
            problem=problem,
            lessons=hints.lessons,
            previous=previous and transcript(previous.trajectory),
            said=previous.feedback.text if previous and hints.feedback else "",
            approach=hints.approach,
        )
        completion = await generate((Message("system", render("actors/reasoning_system")), Message("user", prompt)))
        return Trajectory(final_answer(completion.text), completion.text)
