"""Strategies by name: the built-in ones, and those of installed packages (entry points `hardwon.strategies`).

A strategy is loaded when it is asked for, so that the command line starts quickly.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import cast

from hardwon.errors import UsageError
from hardwon.strategies.protocol import Strategy

_TOO_LARGE = 1e9

_BUILT_IN = {
    "ab_mcts": "ABMCTS",
    "auto": "Auto",
    "best_of_n": "BestOfN",
    "immediate_refinement": "ImmediateRefinement",
    "immediate_reflection": "ImmediateReflection",
    "last_attempt": "LastAttempt",
    "last_attempt_and_reflection": "LastAttemptAndReflection",
    "placebo": "Placebo",
    "reflexion": "Reflexion",
    "scale_parallel": "ScaleParallel",
    "scale_sequential": "ScaleSequential",
    "self_consistency": "SelfConsistency",
    "self_refine": "SelfRefine",
    "single": "Single",
    "tree_of_thoughts": "TreeOfThoughts",
    "uniform_cost": "UniformCost",
}
"""Each lies in the file of its own name, in the class named here."""


def strategies() -> dict[str, type[Strategy]]:
    """Every strategy that can be named. Raises UsageError for a plug-in that does not load."""
    from importlib.metadata import entry_points

    found = {name: _built_in(name) for name in _BUILT_IN}
    for point in entry_points(group="hardwon.strategies"):
        try:
            found.setdefault(point.name, point.load())
        except Exception as error:
            raise UsageError(
                f"strategy plug-in {point.name} ({point.value}) does not load: {error}; mend or uninstall it"
            ) from error
    return found


def make_strategy(name: str, settings: Mapping[str, str] | None = None) -> Strategy:
    """The strategy `name` with `settings`, given as text. Raises UsageError for what is unknown or out of range."""
    kind = _built_in(name) if name in _BUILT_IN else _plug_in(name)
    hints = typing.get_type_hints(kind)
    fields = {f.name: hints[f.name] for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    values: dict[str, object] = {}
    for key, text in (settings or {}).items():
        if key not in fields:
            takes = f"its settings are {', '.join(fields)}" if fields else "it takes no settings"
            raise UsageError(f"strategy {name} has no setting {key!r}; {takes}")
        values[key] = _value(f"{name}.{key}", fields[key], text)
    try:
        return kind(**values)
    except ValueError as error:
        raise UsageError(f"strategy {name}: {error}") from error


def settings_of(strategy: Strategy) -> dict[str, object]:
    """The settings of a strategy, as its run's configuration records them."""
    return dataclasses.asdict(strategy) if dataclasses.is_dataclass(strategy) else {}


def _built_in(name: str) -> type[Strategy]:
    return cast("type[Strategy]", getattr(import_module(f"hardwon.strategies.{name}"), _BUILT_IN[name]))


def _plug_in(name: str) -> type[Strategy]:
    known = strategies()
    if name not in known:
        near = get_close_matches(name, known, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"unknown strategy {name!r}; {hint}the strategies are {', '.join(sorted(known))}")
    return known[name]


def _value(place: str, kind: object, text: str) -> object:
    options = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    if type(None) in options and text.lower() in ("all", "none"):
        return None
    for option in options:
        if typing.get_origin(option) is typing.Literal:
            if text in typing.get_args(option):
                return text
        elif option is bool and text.lower() in ("true", "false"):
            return text.lower() == "true"
        elif option in (int, float):
            try:
                number = option(text)
            except ValueError:
                continue
            if not (1 if option is int else 0) <= number < _TOO_LARGE:
                break
            return number
        elif option is str:
            return text
    raise UsageError(f"{place}={text}: want {_describe(options)}")


def _describe(options: tuple[object, ...]) -> str:
    words: list[str] = []
    for option in options:
        if typing.get_origin(option) is typing.Literal:
            words.extend(map(str, typing.get_args(option)))
        else:
            words.append(
                {int: "a whole number from 1", float: "a number from 0", bool: "true or false"}.get(
                    option,
                    "all",  # type: ignore[call-overload]
                )
            )
    return " or ".join(words)
