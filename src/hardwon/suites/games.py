"""What the suites of games share: their small settings file, the need for the extra, and the task of a game."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path

from hardwon.environments.protocol import Environment
from hardwon.environments.task import EpisodeTask
from hardwon.errors import UsageError
from hardwon.evaluators.reward import EnvironmentReward
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.read import Row, read_rows
from hardwon.task import Problem
from hardwon.trial import Source

_LARGEST = 100_000


def read_settings(
    path: Path | None, defaults: Mapping[str, int], most: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Whole numbers by name from one JSON object or a TOML file, over `defaults`.

    Each is at least 1, a seed 0, and at most what `most` says of it.

    Raises UsageError that names the file and what is wrong in it.
    """
    if path is None:
        return dict(defaults)
    rows = [_toml(path)] if path.suffix == ".toml" else read_rows(path)
    if len(rows) != 1:
        raise rows[1].wrong("settings are one object; drop the others")
    row = rows[0]
    row.only(tuple(defaults))
    for name, value in row.fields.items():
        least, largest = 0 if name == "seed" else 1, (most or {}).get(name, _LARGEST)
        if type(value) is not int or not least <= value <= largest:
            raise row.wrong(f"{name!r} is {value!r}; give a whole number from {least} to {largest:,}")
    return {**defaults, **row.fields}


def need_extra(suite: str, *packages: str) -> None:
    """Raises UsageError where one of the packages of the extra `games` is not installed; imports nothing."""
    for package in packages:
        if find_spec(package) is None:
            raise UsageError(f'the suite {suite} needs the package {package}: pip install "hardwon[games]"')


def refuse_generated(options: SuiteOptions) -> None:
    """Raises UsageError for `--feedback generated`."""
    if options.feedback == "generated":
        raise UsageError(
            "--feedback generated: self-written tests are for programs, and these tasks are games; leave it out"
        )


def game_task(
    problem: Problem,
    environment: Callable[[], Environment],
    content: str,
    *,
    feedback: Source,
    told: bool,
    steps: int,
    tools: str,
) -> EpisodeTask:
    """The task of a game; `content` is what the game is made of, `feedback` how the loop's reward is labelled.

    With `told` the player learns of success in the world itself, so that nothing about the grade is hidden.
    """
    text = json.dumps([problem.id, problem.prompt, content, steps], sort_keys=True)
    return EpisodeTask(
        problem=problem,
        feedback=None if feedback == "none" else EnvironmentReward(feedback),
        grader=EnvironmentReward("grounded"),
        digest=hashlib.sha256(text.encode()).hexdigest(),
        graded_on="visible" if told else "hidden",
        environment=environment,
        steps=steps,
        tools=tools,
    )


def _toml(path: Path) -> Row:
    try:
        return Row(str(path), tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; give settings as JSON or TOML, or leave --data out") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: {error}; mend the file") from None
