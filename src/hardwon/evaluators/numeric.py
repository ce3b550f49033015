"""The one number that a short answer gives, whatever stands beside it, and numbers compared by value."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

_LONGEST = 500
"""Characters of an answer in which a number is looked for."""
_GROUPED = re.compile(r"(?<=\d)(?:[,'’_\u00a0\u2009\u202f]|\{,\}|\\,)(?=\d{3}(?!\d))")
_DOTTED = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?!\d)")
"""Groups of three behind two full stops or more."""
_POWER = re.compile(r"(?<=[\d)])\s?\*\*\s?(?=\d)")
_MINUS = re.compile(r"(?:\b(?:minus|negative)\s+|^\s*-\s+)(?=[$€£¥]?\d)", re.IGNORECASE)
_SCALES = {"k": 10**3, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_LATEX_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_VULGAR = re.compile("[¼-¾⅐-⅞]")
_BRACKETED = re.compile(r"\([^()]*\)")
_NUMBER = re.compile(
    r"(?<![\w./^√])(?P<sign>-)?(?:[$€£¥]\s?)?(?P<minus>-)?"
    r"(?:(?P<whole>\d{1,50})\s+(?=\d+\s?/))?"
    r"(?:(?P<top>\d{1,50})\s?/\s?(?P<bottom>\d{1,50})|(?P<decimal>(?:\d{1,50}(?:\.\d{1,50})?|\.\d{1,50})(?:e[-+]?\d{1,2})?))"
    r"(?!\d|/\s?\d|e[-+]?\d|\s?\^)"
    r"(?:(?P<scale>(?-i:k)\b|\s?(?:thousand|million|billion|trillion)\b)|(?P<percent>\s?(?:%|per\s?cent\b)))?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Number:
    """A value, and whether it was given in percent (25 % has the value 25)."""

    value: Fraction
    percent: bool = False


def number_in(text: str) -> Number | None:
    """The one number that an answer gives; None where it gives none, or several that differ.

    Reads signs, thousands separators, decimals, fractions and mixed numbers, percent; units and currency are passed
    over, and so is what stands before the last `=` or, where there is more, in brackets.
    """
    text = _plain(text[:_LONGEST])
    tail = text.rpartition("=")[2]
    text = tail if _NUMBER.search(tail) else text
    without = _BRACKETED.sub(" ", text)
    text = without if _NUMBER.search(without) else text
    found = [_number(match) for match in _NUMBER.finditer(text)]
    values = {number.value for number in found if number is not None}
    if len(values) != 1 or None in found:
        return None
    return Number(values.pop(), any(number is not None and number.percent for number in found))


def _plain(text: str) -> str:
    """The text with one spelling for minus, grouping and fractions."""
    text = _GROUPED.sub("", text.replace("\\$", "$").replace("\\%", "%").replace("−", "-"))
    text = _POWER.sub("^", text)
    text = _MINUS.sub("-", _DOTTED.sub(lambda found: found[0].replace(".", ""), text))
    text = _LATEX_FRACTION.sub(r" \1/\2", text)
    text = _VULGAR.sub(lambda sign: f" {Fraction(unicodedata.numeric(sign[0])).limit_denominator(20)}", text)
    return unicodedata.normalize("NFKC", text).replace("\u2044", "/")


def _number(match: re.Match[str]) -> Number | None:
    try:
        value = Fraction(match["decimal"]) if match["decimal"] else Fraction(int(match["top"]), int(match["bottom"]))
    except ZeroDivisionError:
        return None
    value = (value + int(match["whole"] or 0)) * _SCALES.get((match["scale"] or "").strip().lower(), 1)
    return Number(-value if match["sign"] or match["minus"] else value, match["percent"] is not None)


def same_number(prediction: str, gold: str) -> bool:
    """Whether both give one number of the same value.

    Where only one of them is in percent, 25 % equals 25 (the sign is taken for a unit) and 0.25.
    """
    said, wanted = number_in(prediction), number_in(gold)
    if said is None or wanted is None:
        return False
    if said.value == wanted.value:
        return True
    if said.percent == wanted.percent:
        return False
    share, other = (said, wanted) if said.percent else (wanted, said)
    return share.value / 100 == other.value
