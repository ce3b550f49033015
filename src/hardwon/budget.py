"""Budget and ledger: the limits, and the one place where calls, tokens, dollars and seconds are counted."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass, field, fields

from hardwon.errors import HardwonError, UsageError


class BudgetExhausted(HardwonError):
    """A limit was reached; raised before the call that would go over it, so nothing is lost."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one task in one arm; None is no limit.

    `calls` counts model calls, `tokens` input and output tokens together, `usd` dollars, `seconds` wall time.
    """

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Reads `tokens=8000,usd=0.05`. Raises UsageError that names the part that is wrong."""
        known = [f.name for f in fields(cls)]
        limits: dict[str, float] = {}
        for part in filter(None, (p.strip() for p in text.split(","))):
            name, _, value = part.partition("=")
            name = name.strip()
            if name not in known:
                raise UsageError(f"--budget {part}: unknown limit {name!r}; the limits are {', '.join(known)}")
            if name in limits:
                raise UsageError(f"--budget {text}: {name} is given twice; give it once")
            try:
                number = float(value.replace("_", ""))
            except ValueError:
                number = math.nan
            if not number > 0 or math.isinf(number):
                raise UsageError(f"--budget {part}: want a number above 0, such as {name}=100")
            if name in ("calls", "tokens") and number != int(number):
                raise UsageError(f"--budget {part}: want a whole number above 0, such as {name}=100")
            limits[name] = number
        whole = {k: int(v) for k, v in limits.items() if k in ("calls", "tokens")}
        return cls(**(limits | whole))  # type: ignore[arg-type]

    def __str__(self) -> str:
        set_limits = ((f.name, getattr(self, f.name)) for f in fields(self))
        return ",".join(f"{name}={value:.15g}" for name, value in set_limits if value is not None)


@dataclass(slots=True)
class Ledger:
    """Counts what one task of one arm has spent, against its budget.

    `reserve` is called before each model call and `charge` after it; nobody else changes the numbers. `cost_usd` turns
    None for good with the first call whose price is not known (law 9).
    """

    budget: Budget = field(default_factory=Budget)
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cost_usd: float | None = 0.0
    calls_by_role: Counter[str] = field(default_factory=Counter)
    tokens_by_role: Counter[str] = field(default_factory=Counter)
    _open_calls: int = 0
    _open_tokens: int = 0
    _earlier_seconds: float = 0.0
    _started: float = field(default_factory=time.monotonic)

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    @property
    def seconds(self) -> float:
        """Wall seconds spent on the task, those of earlier sittings of a resumed run included."""
        return self._earlier_seconds + time.monotonic() - self._started

    def reserve(self, prompt_tokens: int, max_tokens: int) -> int:
        """Asks leave for a call; returns how many completion tokens it may have, at most `max_tokens`.

        `prompt_tokens` is an estimate. Calls in flight count with their reservation, so that parallel calls cannot go
        over together. Raises BudgetExhausted when a limit is reached or the prompt alone would reach it.
        """
        limit = self.budget
        if limit.calls is not None and self.calls + self._open_calls >= limit.calls:
            raise BudgetExhausted(f"the budget of {limit.calls} calls is spent")
        if limit.usd is not None and self.cost_usd is not None and self.cost_usd >= limit.usd:
            raise BudgetExhausted(f"the budget of {limit.usd:g} dollars is spent")
        if limit.seconds is not None and self.seconds >= limit.seconds:
            raise BudgetExhausted(f"the budget of {limit.seconds:g} seconds is spent")
        allowed = max_tokens
        if limit.tokens is not None:
            allowed = min(max_tokens, limit.tokens - self.tokens - self._open_tokens - prompt_tokens)
            if allowed <= 0:
                raise BudgetExhausted(f"the budget of {limit.tokens} tokens is spent")
        self._open_calls += 1
        self._open_tokens += prompt_tokens + allowed
        return allowed

    def release(self, prompt_tokens: int, allowed: int) -> None:
        """Gives a reservation back, after the call was charged or failed."""
        self._open_calls -= 1
        self._open_tokens -= prompt_tokens + allowed

    def charge(self, role: str, tokens_in: int, tokens_out: int, tokens_cached: int, cost_usd: float | None) -> None:
        """Counts one finished call."""
        self.calls += 1
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        self.tokens_cached += tokens_cached
        self.calls_by_role[role] += 1
        self.tokens_by_role[role] += tokens_in + tokens_out
        self.cost_usd = None if cost_usd is None or self.cost_usd is None else self.cost_usd + cost_usd

    def spent_earlier(self, seconds: float) -> None:
        """Takes over the wall time of an earlier sitting, as the journal has it."""
        self._earlier_seconds = max(self._earlier_seconds, seconds)
