"""Does what `hardwon plan` asks: reads the data and the pilot, and rehearses the arms."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Literal

from hardwon import prompts as prompt_texts
from hardwon.cli.working import need_feedback
from hardwon.config import load_config
from hardwon.errors import UsageError
from hardwon.models.open import open_model
from hardwon.runs.planning import (
    NoSandbox,
    Price,
    as_json,
    as_table,
    guessed,
    make_plan,
    measured,
    price_of,
    read_pilot,
)
from hardwon.runs.runner import Arm
from hardwon.suites.registry import SuiteOptions, open_suite

_KINDS = ("openai", "anthropic", "google", "ollama", "replay", "script", "http", "https")


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What the command line asked for; `difference` in points of solve rate, `power` a share."""

    suite: str
    arms: tuple[Arm, ...]
    data: Path | None
    model: str | None
    limit: int | None
    ids: tuple[str, ...] | None
    workers: int | None
    feedback: Literal["visible", "generated", "oracle"] | None
    fallback: bool
    prompts: Path | None
    pilot: Path | None
    difference: float
    power: float
    as_json: bool


def make(options: PlanOptions) -> str:
    """The plan as text. Raises UsageError."""
    config = load_config()
    _check(options)
    prompt_texts.use_folder(options.prompts or config.prompts)
    model, workers = options.model or config.model, options.workers or config.workers
    _know(model)
    price = price_of(model)
    _need_price(options, model, price)
    suite = open_suite(options.suite)
    tasks = suite.load(SuiteOptions(options.data, options.feedback, options.ids, options.limit), NoSandbox())
    if not tasks:
        raise UsageError(f"{suite.name}: no task to plan for; give a suite with tasks")
    for strategy in {arm.name: arm.strategy for arm in options.arms}.values():
        need_feedback(strategy, tasks, options.fallback)
    pilot = None if options.pilot is None else read_pilot(options.pilot, options.arms)
    assumed = guessed(model, price, workers) if pilot is None else measured(pilot, model, price, workers)
    difference, power = options.difference / 100, options.power
    plan = make_plan(tasks, options.arms, assumed, pilot, difference=difference, power=power)
    return as_json(plan) if options.as_json else as_table(f"{suite.name} · {model}", plan)


def _check(options: PlanOptions) -> None:
    limits = options.arms[0].budget
    if limits.calls is None and limits.tokens is None and limits.usd is None:
        raise UsageError(f"--budget {str(limits)!r}: a comparison needs a limit on tokens, calls or usd")
    if limits.seconds is not None:
        raise UsageError(
            f"--budget {limits}: arms wait for each other's calls, so seconds are not equal; leave them out"
        )
    if not 0 < options.difference <= 100:
        raise UsageError(f"--difference {options.difference:g}: want points above 0 and at most 100, such as 5")
    if not 0 < options.power < 1:
        raise UsageError(f"--power {options.power:g}: want a share between 0 and 1, such as 0.8")


def _know(model: str) -> None:
    """Raises UsageError for a name that no model has; none is opened: keys and files may still be missing."""
    kind, _, rest = model.partition(":")
    if kind == "local":
        from hardwon.models.weights import weights_named

        weights_named(rest)
    elif not rest or (kind not in _KINDS and not entry_points(group="hardwon.models", name=kind)):
        open_model(model)


def _need_price(options: PlanOptions, model: str, price: Price) -> None:
    if options.arms[0].budget.usd is not None and price.usd_in is None:
        raise UsageError(f"--budget usd: the price of {model} is not known; limit tokens or calls instead")
