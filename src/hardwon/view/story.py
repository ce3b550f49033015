"""What happened on one task in one arm, put together from its events: attempts, checks, lessons, decisions, grade."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hardwon.actors.extract import defined, extract_program
from hardwon.evaluators.answers import final_answer
from hardwon.models.protocol import Role
from hardwon.models.tools import ToolCall, spelled
from hardwon.record import feedback_from, lesson_from, trajectory_from
from hardwon.runs.row import Row
from hardwon.task import Problem
from hardwon.trial import Feedback, Lesson, Step
from hardwon.view.carried import Parts, carried
from hardwon.view.colours import Language
from hardwon.view.events import Event

_ROLES: tuple[Role, ...] = ("act", "reflect", "tests", "judge", "induce")


@dataclass(frozen=True, slots=True)
class Call:
    """One model call: what it was for, its exact prompt and reply, and what it took."""

    role: str
    index: int
    messages: tuple[tuple[str, str], ...]
    reply: str
    reasoning: str | None
    temperature: float | None
    finish: str
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    cost_usd: float | None
    tries: int
    shared: bool
    elapsed: float


@dataclass(slots=True)
class Attempt:
    """One trial as far as it has come; `lesson_parts` say which words of its lesson the next prompt carried.

    `seconds` is from the end of the attempt before it to its last event, the lesson included.
    """

    number: int
    calls: list[Call] = field(default_factory=list)
    output: str | None = None
    steps: tuple[Step, ...] = ()
    won: bool | None = None
    feedback: Feedback | None = None
    observed: tuple[str, ...] = ()
    lesson: Lesson | None = None
    lesson_parts: Parts = field(default_factory=list)
    hidden: Feedback | None = None
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        return sum(call.tokens_in + call.tokens_out for call in self.calls)


@dataclass(frozen=True, slots=True)
class Story:
    """A task in an arm. `grade` is the hidden grader's word on what was handed in; `beside` holds other events."""

    problem: Problem | None
    prompt_language: Language
    language: Language
    attempts: tuple[Attempt, ...]
    calls: tuple[Call, ...]
    decisions: tuple[dict[str, Any], ...]
    recalled: tuple[dict[str, Any], ...]
    stages: tuple[tuple[str, float], ...]
    errors: tuple[dict[str, Any], ...]
    grade: Feedback | None
    row: Row | None

    @property
    def oracle(self) -> bool:
        """Whether the loop was fed by the hidden answer (law 1)."""
        sources = [attempt.feedback.source for attempt in self.attempts if attempt.feedback]
        return "oracle" in (*sources, self.row and self.row.feedback)


def told(events: Sequence[Event]) -> Story:
    """Puts a task's events together. Events of kinds that it does not know do no harm."""
    kinds: defaultdict[str, dict[int, Event]] = defaultdict(dict)
    for event in events:
        kinds[event.kind][event.index] = event
    problem = _problem(kinds["task"].get(0))
    calls = tuple(_call(event) for event in events if event.kind in _ROLES)
    row = kinds["row"].get(0)
    graded = {index: feedback_from(event.payload) for index, event in kinds["grade"].items()}
    attempts = _attempts(events, kinds, problem, calls)
    for attempt in attempts:
        attempt.hidden = graded.get(attempt.number)
    return Story(
        problem=problem,
        prompt_language="python" if problem and defined(problem.prompt) else "text",
        language=_language(problem),
        attempts=tuple(attempts),
        calls=calls,
        decisions=tuple(event.payload for event in _in_order(kinds["decide"])),
        recalled=tuple(event.payload for event in _in_order(kinds["recall"])),
        stages=tuple((str(event.payload.get("stage")), event.elapsed) for event in _in_order(kinds["stage"])),
        errors=tuple(event.payload for event in _in_order(kinds["error"])),
        grade=graded.get(0),
        row=Row.from_json(row.payload) if row else None,
    )


def _attempts(
    events: Sequence[Event], kinds: dict[str, dict[int, Event]], problem: Problem | None, calls: Sequence[Call]
) -> list[Attempt]:
    by_number = {(call.role, call.index): call for call in calls}
    acts = {call.index: call for call in calls if call.role == "act"}
    owner = _owners(kinds, acts)
    found: dict[int, Attempt] = {}

    def attempt(number: int) -> Attempt:
        return found.setdefault(number, Attempt(number))

    current, ended = 1, 0.0
    for event in events:
        if event.kind == "act":
            current = owner.get(event.index, current)
            attempt(current).calls.append(acts[event.index])
            if not kinds["episode"]:
                attempt(current).output = _output(acts[event.index].reply, problem)
        elif event.kind in ("tests", "reflect"):
            attempt(current).calls.append(by_number[event.kind, event.index])
        elif event.kind == "episode":
            trajectory, current = trajectory_from(event.payload), event.index + 1
            made = attempt(current)
            made.output, made.steps = trajectory.output, trajectory.steps
            made.won = trajectory.won if problem and problem.kind == "game" else None
        elif event.kind == "check":
            current = event.index + 1
            attempt(current).feedback = feedback_from(event.payload)
        elif event.kind == "observe":
            attempt(event.index).observed = tuple(map(str, event.payload.get("observed", ())))
        elif event.kind == "lesson":
            attempt(current).lesson = lesson_from(event.payload)
        else:
            continue
        attempt(current).seconds += max(0.0, event.elapsed - ended)
        ended = max(ended, event.elapsed)
    attempts = [found[number] for number in sorted(found)]
    for place, this in enumerate(attempts, 1):
        if this.lesson is not None:
            following = attempts[place] if place < len(attempts) else None
            asked = following.calls[0].messages if following and following.calls else ()
            this.lesson_parts = carried(this.lesson.text, "\n".join(text for _, text in asked))
    return attempts


def _owners(kinds: dict[str, dict[int, Event]], acts: dict[int, Call]) -> dict[int, int]:
    """Which attempt each act call belongs to: one each, or to its episode; those of none yet to the one going on."""
    if not kinds["episode"]:
        return {index: index + 1 for index in acts}
    owners = {
        int(number): index + 1
        for index, event in kinds["episode"].items()
        for role, number in event.payload.get("asked", ())
        if role == "act"
    }
    going_on = max(kinds["episode"]) + 2
    return {index: owners.get(index, going_on) for index in acts}


def _output(reply: str, problem: Problem | None) -> str | None:
    if problem is None:
        return reply
    return final_answer(reply) if problem.kind == "question" else extract_program(reply, problem)


def _problem(event: Event | None) -> Problem | None:
    if event is None:
        return None
    values = event.payload
    return Problem(
        id=values["id"],
        prompt=values["prompt"],
        kind=values.get("kind", "function"),
        entry_point=values.get("entry_point"),
        examples=tuple(map(str, values.get("examples", ()))),
    )


def _language(problem: Problem | None) -> Language:
    kind = problem.kind if problem else "text"
    languages: dict[str, Language] = {"function": "python", "stdio": "python", "repository": "diff"}
    return languages.get(kind, "text")


def _call(event: Event) -> Call:
    payload, completion = event.payload, event.payload["completion"]
    usage = completion["usage"]
    return Call(
        role=event.kind,
        index=event.index,
        messages=tuple((role, text) for role, text in payload.get("messages", ())),
        reply=spelled(completion["text"], [ToolCall(*made) for made in completion.get("tool_calls", ())]),
        reasoning=completion.get("reasoning"),
        temperature=payload.get("temperature"),
        finish=completion.get("finish", ""),
        tokens_in=usage["tokens_in"],
        tokens_out=usage["tokens_out"],
        tokens_cached=usage["tokens_cached"],
        cost_usd=usage["cost_usd"],
        tries=usage.get("attempts", 1),
        shared=bool(payload.get("shared")),
        elapsed=event.elapsed,
    )


def _in_order(events: dict[int, Event]) -> Iterator[Event]:
    return (events[index] for index in sorted(events))
