"""The gold answer as evaluator: exact match decides, F1 is the score (HotpotQA), or a number's value (GSM8K)."""

from __future__ import annotations

from dataclasses import dataclass

from hardwon.evaluators.answers import AnswerKind, exact_match, f1, normalised, spelling
from hardwon.evaluators.numeric import number_in, same_number
from hardwon.evaluators.verdict import cut, no_output
from hardwon.task import Ask
from hardwon.trial import Check, Feedback, Source, Trajectory

_BELOW_PASS = 0.99
"""The most that a wrong answer scores: the right words in another order have an F1 of 1, and are no match."""
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class OracleAnswer:
    """Compares the trajectory's output with `answers`, each of which is accepted.

    `source` is `oracle` where a loop may use it. The feedback's text and checks say whether an answer is right, and
    never what would be. Raises ValueError for no answers, or a blank one: nothing could be compared with it (law 3).
    """

    answers: tuple[str, ...]
    kind: AnswerKind = "text"
    source: Source = "oracle"

    def __post_init__(self) -> None:
        if not self.answers or not all(answer.strip() for answer in self.answers):
            raise ValueError("want at least one answer, and none that is blank")

    async def check(self, trajectory: Trajectory, ask: Ask | None = None) -> Feedback:
        """Never raises; `ask` is not used."""
        output = trajectory.output
        if output is None or not output.strip():
            return self._unanswered(trajectory)
        right = any(self._same(output, gold) for gold in self.answers)
        score = 1.0 if right else min(_BELOW_PASS, max(self._nearness(output, gold) for gold in self.answers))
        shown = cut(" ".join(output.split()), _SHOWN)
        error = None if right else f"wrong answer {cut(spelling(output, self.kind), _SHOWN)!r}"
        check = Check("answer", "pass" if right else "fail", error=error, source=self.source)
        return Feedback(check.status, score, self._text(shown, right), (check,), self.source)

    def _same(self, output: str, gold: str) -> bool:
        if self.kind == "number":
            return same_number(output, gold)
        if not normalised(gold):  # a gold answer of articles and signs alone would match any other of these (law 3)
            return output.strip().lower() == gold.strip().lower()
        return exact_match(output, gold)

    def _nearness(self, output: str, gold: str) -> float:
        return f1(output, gold) if self.kind == "text" else 0.0

    def _text(self, shown: str, right: bool) -> str:
        if right:
            return "The answer is right."
        if self.kind == "number" and number_in(shown) is None:
            return f"The answer {shown!r} is wrong: it does not give one number. Give the number alone."
        return f"The answer {shown!r} is wrong."

    def _unanswered(self, trajectory: Trajectory) -> Feedback:
        if not trajectory.steps:
            return no_output(self.source, "The reply held no answer. End it with a line `Answer: …`.")
        text = f"The episode ended after {len(trajectory.steps)} steps without an answer."
        last = cut(trajectory.steps[-1].action, _SHOWN)
        check = Check("answer", "fail", error=f"{text} Its last action was {last!r}.", source=self.source)
        return Feedback("fail", 0.0, text, (check,), self.source)
