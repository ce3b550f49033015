"""The program writer: one prompt, one reply, one program."""

from __future__ import annotations

from dataclasses import dataclass

from hardwon.actors.extract import extract_program
from hardwon.actors.protocol import Generate, Hints
from hardwon.models.protocol import Message
from hardwon.prompts import render
from hardwon.task import Problem
from hardwon.trial import Trajectory


@dataclass(frozen=True, slots=True)
class ProgramActor:
    """Asks for a whole program; a reply without one is a trajectory whose output is None."""

    async def act(self, problem: Problem, hints: Hints, generate: Generate) -> Trajectory:
        completion = await generate(
            (
                Message("system", render("actors/system", problem=problem)),
                Message(
                    "user",
                    render(
                        "actors/program",
                        problem=problem,
                        lessons=hints.lessons,
                        previous=hints.previous,
                        feedback=hints.feedback,
                        approach=hints.approach,
                    ),
                ),
            )
        )
        return Trajectory(extract_program(completion.text, problem), completion.text)
