"""Trajectory, feedback, trial and lesson: what one attempt at a task leaves behind.

Small frozen types without behaviour of their own beyond reading them; nothing here imports the rest of Hardwon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["pass", "fail", "no_evidence"]
"""`no_evidence` is neither: nothing was tested, so nothing was shown (law 3)."""

Source = Literal["grounded", "oracle", "generated", "none"]
"""Where feedback comes from. `oracle` is the hidden gold answer, `generated` rests on tests a model wrote."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an episode: what the model thought, what it did, and what the world answered."""

    thought: str
    action: str
    observation: str


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What an actor produced.

    `output` is the program or answer handed in, None when the reply held none; `reply` is the model's raw text. Of an
    episode, `steps` are its steps, `won` is the world's own word on whether the goal was reached (None: no world), and
    `reward` its score in 0..1; `opening` is what the world showed before the first.
    """

    output: str | None
    reply: str = ""
    steps: tuple[Step, ...] = ()
    won: bool | None = None
    reward: float = 0.0
    opening: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """One check behind a feedback.

    `status` is this check's own verdict. `call` is the source of what was tried (an assertion, or the standard
    input), `expected` and `observed` are shown values (repr, cut to a bounded length), `error` the exception line or
    the limit that was hit, `seconds` wall time, `source` where this check comes from.
    """

    name: str
    status: Verdict
    call: str | None = None
    expected: str | None = None
    observed: str | None = None
    error: str | None = None
    seconds: float = 0.0
    source: Source = "grounded"


@dataclass(frozen=True, slots=True)
class Feedback:
    """The outcome of checking one trajectory: verdict, score in 0..1, a text for the model, and its checks."""

    verdict: Verdict
    score: float
    text: str
    checks: tuple[Check, ...] = ()
    source: Source = "grounded"

    @property
    def grounded(self) -> bool:
        """Whether something that is not the model decided (self-written tests count as evidence of their kind)."""
        return self.source != "none"

    @property
    def failing(self) -> tuple[Check, ...]:
        """The checks that failed, in order."""
        return tuple(c for c in self.checks if c.status == "fail")


NO_FEEDBACK = Feedback("no_evidence", 0.0, "", (), "none")
"""What an unchecked trajectory has."""

LessonOrigin = Literal["model", "evidence", "placebo"]


@dataclass(frozen=True, slots=True)
class Lesson:
    """A self-reflection: what failed, why, what to do next time, and the names of the checks it rests on.

    `origin` is `evidence` when the guard rejected the model's texts and the lesson was made of the failing checks
    themselves, `placebo` when a control put the lesson of another task in its place; `rejected` holds the guard's
    reasons, in order.
    """

    text: str
    checks: tuple[str, ...] = ()
    origin: LessonOrigin = "model"
    rejected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trial:
    """One trajectory and its feedback, numbered from 1."""

    number: int
    trajectory: Trajectory
    feedback: Feedback


def best(trials: Sequence[Trial]) -> Trial | None:
    """The best trial on visible evidence, the earliest among equals (law 5); None for no trials."""
    return max(trials, key=lambda t: (t.feedback.score, -t.number), default=None)


@dataclass(frozen=True, slots=True)
class Standing:
    """What would be handed in after spending so much: a trial's number, and the calls, tokens and dollars so far."""

    trial: int
    calls: int
    tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Note:
    """What a strategy learned of its own means on one task: `key` names the means and the state it was used in.

    `won` says whether it brought what it was used for, `tokens` what it took.
    """

    key: str
    won: bool
    tokens: int


@dataclass(frozen=True, slots=True)
class Tally:
    """The notes of earlier tasks under one key: how often tried, how often it won, for how many tokens in all."""

    tried: int = 0
    won: int = 0
    tokens: int = 0


Stop = Literal["solved", "trials", "plateau", "budget", "gate", "error"]
"""Why a strategy stopped."""


@dataclass(frozen=True, slots=True)
class Submission:
    """What a strategy hands in: one trial (None if there was none) and the reason it stopped."""

    trial: Trial | None
    stop: Stop
