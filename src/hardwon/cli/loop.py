"""What the commands that work share: the model and where the run goes, and the arms with their budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hardwon.budget import Budget
from hardwon.calls import Sampling
from hardwon.errors import UsageError
from hardwon.runs.runner import Arm
from hardwon.strategies.protocol import Strategy
from hardwon.strategies.registry import make_strategy, settings_of

_ENOUGH = 32
"""Trials and patience of an arm of a comparison where the user sets none: the budget ends it, not a cap of its own."""


@dataclass(frozen=True, slots=True)
class LoopOptions:
    """What the command line asked for; None means the configured default."""

    model: str | None
    prompts: Path | None
    sandbox: Literal["auto", "bubblewrap", "process"] | None
    out: Path | None
    fresh: bool
    as_json: bool


@dataclass(frozen=True, slots=True)
class ArmOptions:
    """The budget of each task, and how the model is asked."""

    budget: str
    temperature: float
    max_tokens: int

    def arm(self, strategy: str, settings: Mapping[str, str], seed: int) -> Arm:
        """One arm. Raises UsageError for a strategy, setting or budget that makes no sense."""
        made = make_strategy(strategy, settings)
        return self._arm(made.name, made, seed)

    def arms(self, text: str, seeds: Sequence[int]) -> list[Arm]:
        """The arms of a comparison, `NAME` or `NAME:KEY=VALUE:…` with commas between them, each with every seed.

        Raises UsageError for what is unknown, malformed or there twice.
        """
        specs = [part.strip() for part in text.split(",") if part.strip()]
        if len(specs) < 2:
            raise UsageError(f"--arms {text}: want at least two, such as --arms single,reflexion:trials=5")
        for spec in specs:
            if specs.count(spec) > 1:
                raise UsageError(f"--arms {text}: {spec} is there twice; give each arm once")
        made = {spec: _strategy(spec) for spec in specs}
        return [self._arm(spec, strategy, seed) for seed in seeds for spec, strategy in made.items()]

    def with_and_without(self, text: str, mark: str, seed: int) -> tuple[Arm, Arm]:
        """One arm as `arms` reads it, twice: under its own name, and with `mark` behind it. Raises UsageError.

        It keeps its own caps, so that the budget has something left to learn from the task with.
        """
        strategy = make_strategy(*_spec(text))
        return self._arm(text, strategy, seed), self._arm(text + mark, strategy, seed)

    def _arm(self, name: str, strategy: Strategy, seed: int) -> Arm:
        sampling = Sampling(self.temperature, self.max_tokens, seed=seed)
        return Arm(name, strategy, Budget.parse(self.budget), sampling, seed)


def _strategy(spec: str) -> Strategy:
    """The strategy of one arm; the budget bounds it where the arm itself does not."""
    name, settings = _spec(spec)
    strategy = make_strategy(name, settings)
    caps: dict[str, str] = {key: str(_ENOUGH) for key in ("trials", "patience") if key in settings_of(strategy)}
    return make_strategy(name, {**caps, **settings}) if caps else strategy


def _spec(spec: str) -> tuple[str, dict[str, str]]:
    """The name and the settings in `NAME:KEY=VALUE:…`."""
    name, *pairs = spec.split(":")
    settings: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key or key in settings:
            raise UsageError(f"--arms {spec}: {pair!r} is no setting of its own; want NAME:KEY=VALUE:KEY=VALUE")
        settings[key] = value
    return name, settings
