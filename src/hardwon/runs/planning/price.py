"""The price of a model's tokens, known from its name alone: without a key, without the network."""

from __future__ import annotations

import os
from dataclasses import dataclass

from hardwon.models.prices import price_usd

_FREE = ("local", "script", "replay")
_LISTED = ("openai", "anthropic", "google")
_SAMPLE = 1000
"""Tokens that are priced to find the rate: few enough for the lowest step of a price that goes by length."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars a token, in and out; None where the price is not known (law 9)."""

    usd_in: float | None
    usd_out: float | None

    def of(self, tokens_in: int, tokens_out: int) -> float | None:
        """Dollars for so many tokens."""
        if self.usd_in is None or self.usd_out is None:
            return None
        return tokens_in * self.usd_in + tokens_out * self.usd_out


def price_of(model: str) -> Price:
    """The price of a model by its full name, as `genai-prices` lists it; discounts for cached tokens are left out."""
    kind, _, rest = model.partition(":")
    if kind in _FREE:
        return Price(0.0, 0.0)
    if "://" in model:
        address, _, name = model.partition("#")
        return Price(_rate(name, address, tokens_in=_SAMPLE), _rate(name, address, tokens_out=_SAMPLE))
    if kind not in _LISTED:
        return Price(None, None)
    moved = os.environ.get(f"{kind.upper()}_BASE_URL") or kind
    return Price(_rate(rest, moved, tokens_in=_SAMPLE), _rate(rest, moved, tokens_out=_SAMPLE))


def _rate(model: str, provider: str, *, tokens_in: int = 0, tokens_out: int = 0) -> float | None:
    """Dollars a token at a provider, given by its name or address."""
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
    if "://" in provider:
        usd = price_usd(usage, (model,), provider)
    else:
        try:
            usd = float(calc_price(usage, model, provider_id=provider).total_price)
        except LookupError:
            usd = None
    return None if usd is None else usd / (tokens_in + tokens_out)
