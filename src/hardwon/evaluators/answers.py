"""Short answers: read out of a reply, brought into one spelling, and compared.

Text follows the official evaluation of HotpotQA (Yang et al. 2018, itself after SQuAD: Rajpurkar et al. 2016); numbers
are compared by value. The evaluator, the actors and the vote among samples all read answers here.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from hardwon.trial import Trajectory

AnswerKind = Literal["text", "number"]
"""`text`: the official normalisation decides. `number`: the value does, whatever unit or currency stands beside it."""

_LABEL = re.compile(
    r"^(?P<lead>[ \t>|*_`#-]*(?:\d+[.)][ \t]*)?(?:the[ \t]+)?(?:(?:final|short|correct)[ \t]+)?)"
    r"answer(?:\s+is)?[ \t*_]*(?:[:：=]|(?<=r)$)[ \t*_]*(?P<beside>.*)$",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that begins with the label; as a heading it needs no colon."""
_WITHIN = re.compile(r"(?<![A-Za-z0-9])answer(?:\s+is)?[ \t*_]*[:：][ \t*_]*(.*)", re.IGNORECASE)
_SAID = re.compile(r"\banswer\s+is\s+(.+)", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?:(?<=[a-z)\]]{3})|(?<=\b[Yy]es)|(?<=\b[Nn]o)|(?<=\d))\.\s+(?=[A-Z])")
"""A full stop that is no abbreviation's."""
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_HASHED = re.compile(r"^\s*####[ \t]*(\S.*)$", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*```[\w-]*[ \t]*$", re.MULTILINE)
_BULLET = re.compile(r"(?:[-*•]|\d+[.)])[ \t]+(?=\S)")
_AGAIN = re.compile(r"\A(?:the\s+)?(?:final\s+)?answer(?:\s+is\s*[:：]?|\s*[:：])\s+(?=\S)", re.IGNORECASE)
_WRAPPED = re.compile(
    r"(?:\\[(\[]\s*)?\\(?:text|mathrm|mathbf)\s*\{([^{}]*)\}(?:\s*\\[)\]])?|<answer>(.*?)(?:</answer>|$)", re.I
)
_DECORATION = "*_`\"“”' \t\r\n"

_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WHOLE = {"yes", "no", "noanswer"}
"""Answers that are right or wrong as a whole: F1 gives no share of them."""

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


def final_answer(reply: str) -> str | None:
    """The answer that a reply ends in; None where it gives none.

    That is what follows the last line that begins with `Answer:`, or else the last `####`, `\\boxed`, "answer:" within
    a line, or "the answer is"; a reply of one line that has none of these is the answer itself.
    """
    found = _labelled(reply)
    if found is None:
        lines = [line for line in reply.splitlines() if line.strip()]
        found = lines[0] if len(lines) == 1 else None
    return None if found is None else _bare(found) or None


def _labelled(reply: str) -> str | None:
    labels = [match for match in _LABEL.finditer(reply) if match["beside"].strip() or _heads(match)]
    for label in reversed(labels):
        beside = label["beside"] if label["beside"].strip(_DECORATION) else _below(reply[label.end() :])
        if beside.strip(_DECORATION):
            return beside
    if labels:
        return ""
    for pattern in (_HASHED, _BOXED, _WITHIN):
        if matches := pattern.findall(reply):
            return str(matches[-1])
    if said := _SAID.findall(reply):
        return _SENTENCE_END.split(said[-1])[0]
    return None


def _heads(label: re.Match[str]) -> bool:
    """Whether a label with nothing beside it announces an answer: it has a colon, or is a heading."""
    return label[0].rstrip(" \t*_")[-1:] in ":：=" or "#" in label["lead"]


def _below(rest: str) -> str:
    """The first line below a label, in a fence or not, without the mark of a list."""
    return _BULLET.sub("", _FENCE.sub("", rest).strip().partition("\n")[0].strip(), count=1)


def _bare(answer: str) -> str:
    """The answer without what only decorates it: marks of emphasis, quotes, a box, the full stop of a sentence."""
    if boxed := _BOXED.search(answer):
        answer = boxed[1]
    answer = _AGAIN.sub("", answer.strip(_DECORATION), count=1).strip(_DECORATION)
    if wrapped := _WRAPPED.fullmatch(answer):
        answer = (wrapped[1] if wrapped[1] is not None else wrapped[2]).strip(_DECORATION)
    if answer.endswith(".") and "." not in answer.split()[-1][:-1]:
        answer = answer[:-1].strip(_DECORATION)
    return answer


def normalised(text: str) -> str:
    """Lower case, without ASCII punctuation and English articles, single spaces: HotpotQA's `normalize_answer`."""
    lowered = text.lower().translate(_WITHOUT_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", lowered).split())


def exact_match(prediction: str, gold: str) -> bool:
    """HotpotQA's exact match."""
    return normalised(prediction) == normalised(gold)


def f1(prediction: str, gold: str) -> float:
    """HotpotQA's F1 over the words of both, in 0..1; yes, no and noanswer are right or wrong as a whole."""
    said, wanted = normalised(prediction), normalised(gold)
    if said != wanted and (said in _WHOLE or wanted in _WHOLE):
        return 0.0
    words, gold_words = said.split(), wanted.split()
    common = sum((Counter(words) & Counter(gold_words)).values())
    return 2 * common / (len(words) + len(gold_words)) if common else 0.0


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


@dataclass(frozen=True, slots=True)
class AnswerBehaviour:
    """Samples agree when their answers are spelled alike after normalisation; `Behaviour` of the task room."""

    kind: AnswerKind = "text"

    async def observe(self, trajectory: Trajectory) -> tuple[str, ...]:
        """Never raises."""
        if trajectory.output is None:
            return ()
        return (spelling(trajectory.output, self.kind),)


def spelling(answer: str, kind: AnswerKind) -> str:
    """One spelling for all answers that count as the same (percent signs aside)."""
    number = number_in(answer) if kind == "number" else None
    return normalised(answer) or answer.strip() if number is None else str(number.value)
