"""What a call cost, by the price list of `genai-prices`; a price that is not known is None, never 0 (law 9)."""

from __future__ import annotations

from typing import Any


def price_usd(usage: Any, models: tuple[str, ...], address: str) -> float | None:
    """Dollars for one call's `usage`, priced as the first of `models` that the provider at `address` lists.

    `usage` is a usage object of `genai-prices` or `pydantic-ai`. None when the provider or the model is unknown.
    """
    from genai_prices import calc_price

    for model in models:
        try:
            return float(calc_price(usage, model, provider_api_url=address).total_price)
        except LookupError:
            continue
    return None


def price_is_known(model: str, address: str) -> bool:
    """Whether calls to `model` at `address` can be priced."""
    from genai_prices import Usage

    return price_usd(Usage(input_tokens=1, output_tokens=1), (model,), address) is not None
