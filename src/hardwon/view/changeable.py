"""Which settings can be others from a trial on: those that none of the calls before it depend on."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from hardwon.errors import UsageError
from hardwon.strategies.registry import make_strategy, settings_of

_ANY_TIME = ("trials", "patience")
"""They say how long to go on, never what a prompt holds."""
_WINDOW = "memory"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name, its value now as text, and the values that it may have (none: any of its kind).

    `early` is whether calls up to the trial depend on it, so that it can be another only from an earlier one.
    """

    name: str
    value: str
    choices: tuple[str, ...]
    early: bool


@dataclass(frozen=True, slots=True)
class Made:
    """What an arm was made with: its strategy by name, with its settings; the model; the budget as it is spelled."""

    strategy: str
    settings: dict[str, object]
    model: str
    budget: str


def made_with(config: Mapping[str, Any], arm: str) -> Made:
    """What an arm of a run was made with. Raises UsageError where the configuration does not tell."""
    settings = config["settings"]
    made = settings.get("arms", {}).get(arm)
    if not isinstance(made, Mapping) or "strategy" not in made:
        raise UsageError(f"{arm}: the run's configuration does not tell its strategy")
    name = str(made["strategy"])
    usual = settings_of(make_strategy(name))
    limits = {limit: value for limit, value in settings.get("budget", {}).items() if value is not None}
    return Made(
        name,
        {key: value for key, value in made.items() if key in usual},
        str(settings.get("model", "")),
        ",".join(f"{limit}={value}" for limit, value in limits.items()),
    )


def changeable(made: Made, trial: int) -> list[Setting]:
    """The settings of the arm's strategy, as they can be changed after a trial."""
    hints = typing.get_type_hints(type(make_strategy(made.strategy)))
    return [
        Setting(name, as_text(value), _choices(hints.get(name)), trial > 1 and name not in (*_ANY_TIME, _WINDOW))
        for name, value in made.settings.items()
    ]


def changed(made: Made, trial: int, wanted: Mapping[str, str]) -> dict[str, str]:
    """Those of the wanted settings that are others than the arm's. Raises UsageError for one that can not be."""
    found = {name: value for name, value in wanted.items() if value != as_text(made.settings.get(name, object()))}
    make_strategy(made.strategy, {**all_text(made), **found})
    early = [setting.name for setting in changeable(made, trial) if setting.early and setting.name in found]
    if _WINDOW in found and _held(found[_WINDOW], trial) != _held(as_text(made.settings[_WINDOW]), trial):
        early.append(_WINDOW)
    if early:
        raise UsageError(
            f"{', '.join(early)}: the trials up to trial {trial} were made with it as it was; change it after an "
            "earlier trial"
        )
    return found


def all_text(made: Made) -> dict[str, str]:
    """The arm's settings in which it is not the usual one, as the command takes them."""
    usual = settings_of(make_strategy(made.strategy))
    return {name: as_text(value) for name, value in made.settings.items() if usual[name] != value}


def as_text(value: object) -> str:
    return "all" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _choices(kind: object) -> tuple[str, ...]:
    if kind is bool:
        return ("true", "false")
    return tuple(map(str, typing.get_args(kind))) if typing.get_origin(kind) is Literal else ()


def _held(window: str, trial: int) -> int:
    """How many lessons a window of this width held at most in the prompts up to a trial."""
    return trial - 1 if not window.isdigit() else min(int(window), trial - 1)
