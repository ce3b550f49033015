"""A model as judge: a structured answer of three values, and how often such answers were true.

A model's opinion is not grounded (law 2): as an evaluator it gives no evidence, so no loop runs on it. It serves to
rank where nothing better exists, and to be measured against a truth where there is one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hardwon.evaluators.verdict import cut
from hardwon.prompts import render
from hardwon.rates import Rate
from hardwon.task import Ask, Problem
from hardwon.trial import NO_FEEDBACK, Feedback, Source, Trajectory

Opinion = Literal["yes", "no", "unsure"]
OPINIONS: tuple[Opinion, ...] = ("yes", "no", "unsure")
_SCORES: dict[Opinion, float] = {"yes": 1.0, "no": 0.0, "unsure": 0.5}
_WORDS: dict[str, Opinion] = {"yes": "yes", "true": "yes", "no": "no", "false": "no", "unsure": "unsure"}
_LOOSE = re.compile(r"\bverdict[\"'*]*\s*[:=][\"'*\s]*(yes|no|unsure|true|false)\b", re.IGNORECASE)
_REASON_LIMIT = 600


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge said of one answer, and why in its own words (empty where it gave no reason that can be read)."""

    opinion: Opinion
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """Asks a model whether an answer fulfils a problem. Its source is `none`: its feedback is always `no_evidence`."""

    problem: Problem
    max_tokens: int = 256

    @property
    def source(self) -> Source:
        return "none"

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        """No evidence, with the judgement in its text and 1, 0.5 or 0 as its score for yes, unsure or no.

        Raises BudgetExhausted, ModelError.
        """
        if trajectory.output is None or ask is None:
            return NO_FEEDBACK
        judgement = await self.judge(trajectory.output, ask)
        reason = f": {judgement.reason}" if judgement.reason else ""
        text = f"A model's opinion, which is no evidence: {judgement.opinion}{reason}"
        return Feedback("no_evidence", _SCORES[judgement.opinion], text, (), "none")

    async def judge(self, output: str, ask: Ask) -> Judgement:
        """The model's judgement of one answer, asked for once for each different answer, under the key `judge:N`.

        Raises BudgetExhausted, ModelError.
        """
        problem = self.problem
        prompt = render("evaluators/judge", problem=problem.prompt.strip(), examples=problem.examples, answer=output)
        # The number follows from the answer, since an evaluator counts nothing; a vote's numbers are small.
        number = int(hashlib.sha256(output.encode("utf-8", "surrogatepass")).hexdigest()[:5], 16)
        return read_judgement(await ask("judge", prompt, key=f"judge:{number}", max_tokens=self.max_tokens))


def read_judgement(reply: str) -> Judgement:
    """The judgement in a reply, fenced or among other text; `unsure` where none can be read or several disagree."""
    found = [judgement for value in _objects(reply) if (judgement := _judgement(value)) is not None]
    if not found:
        found = [Judgement(_WORDS[word.lower()]) for word in _LOOSE.findall(reply)]
    if len({judgement.opinion for judgement in found}) != 1:
        return Judgement("unsure", "" if not found else "it contradicted itself")
    return found[-1]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects that stand in a text, one after the other."""
    decoder = json.JSONDecoder(strict=False)
    position = text.find("{")
    while position >= 0:
        end = position + 1
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            pass
        else:
            yield value
        position = text.find("{", end)


def _judgement(value: dict[str, Any]) -> Judgement | None:
    fields = {name.lower(): content for name, content in value.items()}
    opinion = _WORDS.get(str(fields.get("verdict", "")).strip().lower())
    reason = fields.get("reason", "")
    if opinion is None:
        return None
    return Judgement(opinion, cut(" ".join(reason.split()), _REASON_LIMIT) if isinstance(reason, str) else "")


@dataclass(frozen=True, slots=True)
class JudgeCalibration:
    """How a judge's opinions compare with the truth: for each, how many answers were right and how many wrong."""

    right: dict[Opinion, int]
    wrong: dict[Opinion, int]

    @property
    def yes(self) -> Rate:
        """Of the answers it said yes to, those that are right."""
        return Rate(self.right["yes"], self.right["yes"] + self.wrong["yes"])

    @property
    def no(self) -> Rate:
        """Of the answers it said no to, those that are wrong."""
        return Rate(self.wrong["no"], self.right["no"] + self.wrong["no"])

    @property
    def unsure(self) -> Rate:
        """Of all answers, those on which it gave no opinion."""
        total = sum(self.right.values()) + sum(self.wrong.values())
        return Rate(self.right["unsure"] + self.wrong["unsure"], total)

    def as_json(self) -> dict[str, Any]:
        counts = {opinion: {"right": self.right[opinion], "wrong": self.wrong[opinion]} for opinion in OPINIONS}
        shares = {"yes": self.yes.as_json(), "no": self.no.as_json(), "unsure": self.unsure.as_json()}
        return {"counts": counts, **shares}


def calibrate(judgements: Sequence[Judgement], truths: Sequence[bool]) -> JudgeCalibration:
    """Counts a judge's opinions against whether each answer is right. Raises ValueError for different lengths."""
    counted = Counter(zip((judgement.opinion for judgement in judgements), truths, strict=True))
    return JudgeCalibration(
        {opinion: counted[opinion, True] for opinion in OPINIONS},
        {opinion: counted[opinion, False] for opinion in OPINIONS},
    )
