"""When a loop has stopped getting anywhere: the same program, or the same failures, again."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hardwon.trial import Trial


def plateau(trials: Sequence[Trial], patience: int = 1) -> bool:
    """Whether each of the last `patience` trials repeats an earlier program or an earlier outcome of its checks.

    Programs are compared by their syntax trees, so that comments and layout do not count as new. An episode that handed
    nothing in repeats another if the same was done in it: that its goal was not reached says nothing.
    """
    if len(trials) <= patience:
        return False
    return all(_repeats(trials[:i], trials[i]) for i in range(len(trials) - patience, len(trials)))


def _repeats(earlier: Sequence[Trial], trial: Trial) -> bool:
    return any(program_of(t) == program_of(trial) or outcome(t) == outcome(trial) for t in earlier)


def program_of(trial: Trial) -> str:
    """The program of a trial, written so that comments and layout make no difference; else its text, or its actions."""
    if _only_acted(trial):
        return "\n".join(step.action.casefold() for step in trial.trajectory.steps if step.action)
    text = trial.trajectory.output or trial.trajectory.reply
    try:
        return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return text.strip()


def outcome(trial: Trial) -> object:
    """What the checks came to; equal for trials that fail alike."""
    if _only_acted(trial):
        return program_of(trial)
    return [(c.name, c.status, c.observed, c.error) for c in trial.feedback.checks] or trial.feedback.text


def _only_acted(trial: Trial) -> bool:
    return trial.trajectory.output is None and bool(trial.trajectory.steps)
