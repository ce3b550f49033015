"""Rows by the ten thousand: as strict as `Row.from_json`, in compiled code."""

from __future__ import annotations

import json
from functools import cache
from math import isfinite

from pydantic import TypeAdapter, ValidationError

from hardwon.runs.row import Row


def parsed(text: str) -> Row:
    """The row that `Row.from_json` reads from this JSON. Raises UsageError as that does, ValueError for no JSON."""
    try:
        row = adapter().validate_json(text, strict=True)
        numbers = (row.score, row.wall_s, row.cost_usd or 0.0, row.tokens_in, row.tokens_out, row.calls, row.trials)
        if isfinite(sum(numbers) + sum(row.trial_scores)):
            return row
    except (ValidationError, OverflowError):
        pass  # what the compiled code refuses, the other one may know; if not, it says why
    return Row.from_json(json.loads(text))


@cache
def adapter() -> TypeAdapter[Row]:
    """Made once, and dear to make."""
    return TypeAdapter(Row)
