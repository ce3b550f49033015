"""What `run` and `solve` share: the model, the strategy and its budget, and where the run goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hardwon.budget import Budget
from hardwon.runs.runner import Arm
from hardwon.session import Sampling
from hardwon.strategies.registry import make_strategy


@dataclass(frozen=True, slots=True)
class LoopOptions:
    """What the command line asked for; None means the configured default."""

    model: str | None
    strategy: str
    settings: Mapping[str, str]
    budget: str
    seed: int
    temperature: float
    max_tokens: int
    prompts: Path | None
    sandbox: Literal["auto", "bubblewrap", "process"] | None
    out: Path | None
    fresh: bool
    as_json: bool

    def arm(self) -> Arm:
        """The one arm of the run. Raises UsageError for a strategy, setting or budget that makes no sense."""
        strategy = make_strategy(self.strategy, self.settings)
        sampling = Sampling(self.temperature, self.max_tokens, seed=self.seed)
        return Arm(strategy.name, strategy, Budget.parse(self.budget), sampling, self.seed)
