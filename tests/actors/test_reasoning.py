"""The reasoner, what is reflected on of an attempt that is no program, and which actor works which task."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from tests.actors.acting import Asked, Corridor

from hardwon.actors.choose import actor_for
from hardwon.actors.program import ProgramActor
from hardwon.actors.react import ReActActor
from hardwon.actors.reasoning import ReasoningActor
from hardwon.environments.task import EpisodeTask
from hardwon.prompts import render
from hardwon.reflection.reflector import Form
from hardwon.session import Session
from hardwon.task import Problem, Task
from hardwon.trial import Feedback, Lesson, Step, Trajectory, Trial

QUESTION = Problem("q", "What is two and two?", "question")
WRONG = Feedback("fail", 0.0, "The answer '5' is wrong.")
LESSON = "Count on the fingers of one hand instead of guessing."


def test_the_answer_is_read_from_the_end_of_the_reasoning() -> None:
    model = Asked("Two and two\nAnswer: 4")
    done = asyncio.run(Session(QUESTION, model, ReasoningActor(), None).act())
    assert done == Trajectory("4", "Two and two\nAnswer: 4")
    assert "What is two and two?" in model.prompt(0)
    assert "Answer: " in model.requests[0].messages[0].content


def test_a_reply_without_an_answer_hands_in_none() -> None:
    done = asyncio.run(Session(QUESTION, Asked("Hm.\nHm."), ReasoningActor(), None).act())
    assert done == Trajectory(None, "Hm.\nHm.")


def test_lessons_and_the_last_reasoning_reach_the_next_attempt() -> None:
    model = Asked("Answer: 4")
    last = Trial(1, Trajectory("5", "I guess.\nAnswer: 5"), WRONG)
    asyncio.run(Session(QUESTION, model, ReasoningActor(), None).act([Lesson(LESSON)], last, approach="Count."))
    for part in ("I guess.\nAnswer: 5", WRONG.text, f"- {LESSON}", "Take this approach: Count."):
        assert part in model.prompt(0)
    asyncio.run(Session(QUESTION, model, ReasoningActor(), None).act((), last, feedback=False))
    assert "I guess." in model.prompt(1)
    assert WRONG.text not in model.prompt(1)


def reflected(problem: Problem, trajectory: Trajectory, form: Form) -> str:
    model = Asked("", reflect=(LESSON,))
    playing = Session(problem, model, ReasoningActor(), None)
    asyncio.run(playing.reflect(Trial(1, trajectory, WRONG), form=form))
    return model.prompt(0)


@pytest.mark.parametrize("form", ["lesson", "blind", "critique", "placebo"])
def test_what_is_reflected_on_is_the_way_and_not_only_the_answer(form: Form) -> None:
    asked = reflected(QUESTION, Trajectory("5", "I guess.\nAnswer: 5"), form)
    assert "I guess." in asked
    assert (WRONG.text in asked) == (form != "blind")
    assert "program" not in asked
    steps = (Step("left?", "go left", "A wall."),)
    asked = reflected(Problem("g", "Reach the end.", "game"), Trajectory(None, "last words", steps), form)
    assert "Action: go left\nObservation: A wall." in asked
    assert "in a world" in asked


@pytest.mark.parametrize("form", ["lesson", "blind", "critique"])
def test_programs_are_reflected_on_with_their_own_prompt(form: Form) -> None:
    problem = Problem("p", "Write f.", "function", "f")
    trajectory = Trajectory("def f(): ...", "reply")
    trial = Trial(1, trajectory, WRONG)
    wanted = render(f"reflection/{form}", problem=problem, trial=trial, earlier=(), rejected=None)
    assert reflected(problem, trajectory, form) == wanted


def test_the_actor_is_chosen_by_what_the_problem_asks_for() -> None:
    def task(kind: str) -> Task:
        return Task(Problem("t", "p", kind), None, None, "d")  # type: ignore[arg-type]

    assert isinstance(actor_for(task("question")), ReasoningActor)
    for kind in ("function", "stdio", "text"):
        assert isinstance(actor_for(task(kind)), ProgramActor)
    make: Callable[[], Corridor] = Corridor
    acting = actor_for(
        EpisodeTask(problem=QUESTION, feedback=None, grader=None, digest="d", environment=make, steps=5, tools="x")
    )
    assert acting == ReActActor(make, 5, "x")
