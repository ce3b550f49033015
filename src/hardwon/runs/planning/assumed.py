"""What a plan takes for granted, and how it says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import get_args

from hardwon.models.protocol import Role
from hardwon.runs.planning.pilot import Pilot
from hardwon.runs.planning.price import Price

_TOKENS_OUT: Mapping[Role, int] = {"act": 200, "reflect": 80, "tests": 80, "judge": 4}
_CHARS_A_TOKEN = 4.0
_DENSE, _SPARSE = 2.5, 5.0
_SPREAD = 1.25
"""Tasks differ from a pilot's mean by so much, as a factor, in characters a token."""
_LONGEST = 1 << 30
_FIRST, _RETRY = 0.5, 0.2
_HOSTED_RATE, _EMBEDDED_RATE = 50, 20
"""Tokens a second: of each call to a server, and of an embedded model in all."""


@dataclass(frozen=True, slots=True)
class Assumed:
    """What the rehearsal answers with.

    `tokens_out` is the length of a reply by role, `chars_a_token` that of a prompt's token, which lies between `dense`
    and `sparse`. `first` and `retry` are the chances (0..1) that a first and a later trial passes, `retry_of` the
    latter in an arm of its own; `rejected` is the chance that the guard refuses a lesson. `seconds_a_token` is the time
    that a worker takes for each token written, None where it is not known. With `filled` a budget that ends an arm is
    taken to have held all that it could. `said` tells all of it in words.
    """

    price: Price
    workers: int
    tokens_out: Mapping[Role, int] = field(default_factory=lambda: dict(_TOKENS_OUT))
    chars_a_token: float = _CHARS_A_TOKEN
    dense: float = _DENSE
    sparse: float = _SPARSE
    first: float = _FIRST
    retry: float = _RETRY
    retry_of: Mapping[str, float] = field(default_factory=dict)
    rejected: float = 0.0
    seconds_a_token: float | None = None
    filled: bool = False
    said: tuple[str, ...] = ()


def least(assumed: Assumed) -> tuple[Assumed, ...]:
    """Under which an arm takes as little as it can: every trial passes; replies are as short as they can be, or so long
    that a budget ends an arm that goes on after a pass."""
    sure = replace(assumed, first=1.0, retry=1.0, retry_of={}, rejected=0.0)
    sizes = (assumed.dense, assumed.sparse)
    return tuple(_sized(sure, size, act=length, other=length) for size in sizes for length in (1, _LONGEST))


def most(assumed: Assumed) -> tuple[Assumed, ...]:
    """Under which an arm takes as much of one thing or another as it can: no trial passes.

    Short replies leave a budget of tokens room for more calls, long ones fill it with what is written; lessons that are
    refused are asked for again.
    """
    accepted, refused = (
        replace(assumed, first=0.0, retry=0.0, retry_of={}, rejected=share, filled=True) for share in (0.0, 1.0)
    )
    dense, sparse = assumed.dense, assumed.sparse
    return (
        accepted,
        _sized(accepted, dense, act=1, other=1),
        _sized(accepted, sparse, act=1, other=1),
        _sized(refused, sparse, act=1, other=1),
        _sized(accepted, sparse, act=_LONGEST, other=1),
        *(_sized(each, size, act=_LONGEST, other=_LONGEST) for each in (accepted, refused) for size in (dense, sparse)),
    )


def _sized(assumed: Assumed, chars_a_token: float, *, act: int, other: int) -> Assumed:
    """Every reply of an act and of any other role of so many tokens, or of as many as the call may have."""
    lengths: dict[Role, int] = {role: act if role == "act" else other for role in get_args(Role)}
    return replace(assumed, tokens_out=lengths, chars_a_token=chars_a_token)


def guessed(model: str, price: Price, workers: int) -> Assumed:
    """What is assumed without a pilot: stated guesses."""
    seconds, time = _guessed_time(model, workers)
    said = (
        f"expected: replies of {_lengths(_TOKENS_OUT)} tokens (guesses; a pilot measures them)",
        f"expected: {_FIRST:.0%} of first attempts pass their checks, {_RETRY:.0%} of later ones (guesses)",
        _about_tokens(_CHARS_A_TOKEN, _DENSE, _SPARSE, "guesses"),
        time,
        _about_price(price),
    )
    return Assumed(price, workers, seconds_a_token=seconds, said=said)


def measured(pilot: Pilot, model: str, price: Price, workers: int) -> Assumed:
    """What a pilot measured; guesses for what it can not tell."""
    first, retry = pilot.passed(first=True), pilot.passed(first=False)
    lengths = {**_TOKENS_OUT, **pilot.tokens_out}
    rates = {arm: pilot.passed(first=False, arm=arm) for arm in pilot.settings.get("arms", {})}
    of_arm = {arm: rate for arm, rate in rates.items() if rate is not None}
    seconds, time = _guessed_time(model, workers)
    if pilot.seconds_a_token is not None:
        seconds = pilot.seconds_a_token
        at_once = f" with {pilot.workers} workers" if pilot.workers else ""
        time = f"{seconds:.2g} seconds a task and token written (the pilot's{at_once}), {workers} workers now"
    other = pilot.settings.get("model")
    size = pilot.chars_a_token or _CHARS_A_TOKEN
    dense, sparse = (size / _SPREAD, size * _SPREAD) if pilot.chars_a_token else (_DENSE, _SPARSE)
    said = (
        f"expected: replies of {_lengths(lengths)} tokens (the pilot's means, {len(pilot.rows)} rows)",
        f"expected: {_rate(first, _FIRST)} of first attempts pass their checks, {_rate(retry, _RETRY)} of later ones",
        _about_tokens(size, dense, sparse, "the pilot's mean, and what tasks differ from it by"),
        time,
        _about_price(price),
        *([f"the pilot was made with another model, {other}"] if other != model else []),
    )
    return Assumed(
        price,
        workers,
        lengths,
        size,
        dense,
        sparse,
        _FIRST if first is None else first,
        _RETRY if retry is None else retry,
        of_arm,
        pilot.rejected,
        seconds,
        said=said,
    )


def _guessed_time(model: str, workers: int) -> tuple[float | None, str]:
    kind = model.partition(":")[0]
    if kind in ("script", "replay"):
        return 0.0, "replies take no time"
    if kind == "local":
        return workers / _EMBEDDED_RATE, f"{_EMBEDDED_RATE} tokens a second in all (a guess; a pilot measures it)"
    if kind in ("openai", "anthropic", "google", "ollama") or "://" in model:
        return 1 / _HOSTED_RATE, f"{_HOSTED_RATE} tokens a second and call, {workers} at once (a guess)"
    return None, "the time of a call is not known; a pilot measures it"


def _about_tokens(size: float, dense: float, sparse: float, source: str) -> str:
    return f"{size:.2g} characters a token of a prompt, between {dense:.2g} and {sparse:.2g} ({source})"


def _lengths(tokens: Mapping[Role, int]) -> str:
    return ", ".join(f"{count} ({role})" for role, count in tokens.items())


def _rate(measured: float | None, guess: float) -> str:
    return f"{guess:.0%} (a guess)" if measured is None else f"{measured:.0%}"


def _about_price(price: Price) -> str:
    if price.usd_in is None or price.usd_out is None:
        return "the price of the model is not known"
    if not price.usd_in and not price.usd_out:
        return "the model costs nothing"
    return f"${price.usd_in * 1e6:g} a million tokens in, ${price.usd_out * 1e6:g} out; no discount for cached ones"
