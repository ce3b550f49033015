"""Short answers: read out of a reply, brought into one spelling, and compared.

Text follows the official evaluation of HotpotQA (Yang et al. 2018, itself after SQuAD: Rajpurkar et al. 2016); numbers
are compared by value. The evaluator, the actors and the vote among samples all read answers here.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from hardwon.evaluators.numeric import number_in
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
_HASHED = re.compile(r"^[ \t]*####[ \t]*(\S.*)$", re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*(?:```[\w-]*|\\[\[\]]|\$\$)[ \t]*$", re.MULTILINE)
"""A line that only opens or closes a block of code or a formula."""
_BULLET = re.compile(r"\A(?:[-*•]|\d+[.)])[ \t]+(?=\S)")
_AGAIN = re.compile(r"\A(?:the\s+)?(?:final\s+)?answer(?:\s+is\s*[:：]?|\s*[:：])\s+(?=\S)", re.IGNORECASE)
_WRAPPED = re.compile(
    r"(?:\\[(\[]\s*)?\\(?:text|mathrm|mathbf)\s*\{([^{}]*)\}(?:\s*\\[)\]])?|<answer>(.*?)(?:</answer>|$)", re.I
)
_DECORATION = "*_`\"“”' \t\r\n"

_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WHOLE = {"yes", "no", "noanswer"}
"""Answers that are right or wrong as a whole: F1 gives no share of them."""


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
