"""What one wants to know of a suite before its data are there: who works it, what it reads, what it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Literal

Worker = Literal["program writer", "reasoner", "ReAct agent", "shell agent"]
"""The actors of `hardwon.actors`, in words; `actors.choose.actor_for` is what decides for each task."""


@dataclass(frozen=True, slots=True)
class Need:
    """What must be installed: an extra of Hardwon, or a `package` of its own, by its `name`.

    `modules` are what that brings and the suite imports; `case` says when it is needed, empty for always.
    """

    name: str
    modules: tuple[str, ...]
    case: str = ""
    package: bool = False

    @property
    def install(self) -> str:
        """What pip is to be given."""
        return self.name if self.package else f"hardwon[{self.name}]"

    @property
    def missing(self) -> tuple[str, ...]:
        """The modules that are not installed; imports nothing."""
        return tuple(module for module in self.modules if find_spec(module) is None)


@dataclass(frozen=True, slots=True)
class About:
    """Facts of a suite beside those in `Suite`.

    `worker` is who works its tasks. `layout` says in a sentence what its data look like. `takes_data` is whether data
    may be given, `evidence` whether its tasks bring anything that the loop can learn from but the hidden answer.
    `steps` is the most actions of an attempt, None where a single reply is the attempt. `settings` are those of a
    settings file with their defaults, `most` their largest values as far as they are bounded.
    """

    worker: Worker
    layout: str
    takes_data: bool = True
    evidence: bool = True
    need: Need | None = None
    steps: int | None = None
    settings: Mapping[str, int] = field(default_factory=dict)
    most: Mapping[str, int] = field(default_factory=dict)
