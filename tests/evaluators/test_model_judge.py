"""A model as judge: three values, no evidence, and a measure of how often it was true."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon import Budget, Problem, ScriptedModel, Session
from hardwon.actors.program import ProgramActor
from hardwon.evaluators.model_judge import OPINIONS, Judgement, ModelJudge, calibrate, read_judgement
from hardwon.strategies.reflexion import Reflexion
from hardwon.trial import Trajectory

PROBLEM = Problem("t", "Write f(x), which returns x.", "function", "f", ("assert f(1) == 1",))


class Asked:
    """Answers every question alike and remembers what was asked."""

    def __init__(self, reply: str) -> None:
        self.reply = reply
        self.prompts: list[tuple[str, str]] = []

    def __call__(self, role: str, prompt: str, *, key: str, **rest: Any) -> Awaitable[str]:
        assert role == "judge"
        self.prompts.append((key, prompt))

        async def answer() -> str:
            return self.reply

        return answer()


@pytest.mark.parametrize(
    ("reply", "opinion"),
    [
        ('{"reason": "it is right", "verdict": "yes"}', "yes"),
        ('```json\n{"verdict": "NO", "reason": "fails for 0"}\n```', "no"),
        ('I think so. {"verdict": true}', "yes"),
        ("{'verdict': 'no'}", "no"),
        ('{"reason": "cut off", "verdict": "unsure', "unsure"),
        ("**Verdict:** yes", "yes"),
        ('{"verdict": "yes"} or rather {"verdict": "no"}', "unsure"),
        ('{"verdict": "perhaps"}', "unsure"),
        ('{"reason": "no verdict"}', "unsure"),
        ("Yes, that is right.", "unsure"),
        ("", "unsure"),
        ("{" * 5000, "unsure"),
    ],
)
def test_a_judgement_is_read_where_there_is_one_and_unsure_where_there_is_none(reply: str, opinion: str) -> None:
    assert read_judgement(reply).opinion == opinion


@settings(deadline=None)
@given(
    st.sampled_from(OPINIONS),
    st.text(max_size=80),
    st.text(alphabet=st.characters(exclude_characters="{}:="), max_size=40),
)
def test_a_well_formed_answer_is_read_out_of_any_text(opinion: str, reason: str, around: str) -> None:
    read = read_judgement(f"{around}{json.dumps({'reason': reason, 'verdict': opinion})}{around}")
    assert (read.opinion, read.reason) == (opinion, " ".join(reason.split()))


@pytest.mark.parametrize(("word", "score"), [("yes", 1.0), ("no", 0.0), ("unsure", 0.5)])
def test_a_model_s_opinion_is_never_evidence(word: str, score: float) -> None:
    ask = Asked(json.dumps({"reason": "so it seems", "verdict": word}))
    judge = ModelJudge(PROBLEM)
    feedback = asyncio.run(judge.check(Trajectory("def f(x): return x"), ask))
    assert (feedback.verdict, feedback.source, feedback.grounded, feedback.score) == (
        "no_evidence",
        "none",
        False,
        score,
    )
    assert f"{word}: so it seems" in feedback.text
    assert judge.source == "none"
    assert "def f(x): return x" in ask.prompts[0][1]
    assert "assert f(1) == 1" in ask.prompts[0][1]


def test_without_a_model_or_an_answer_nothing_is_asked() -> None:
    ask = Asked("{}")
    feedback = [
        asyncio.run(ModelJudge(PROBLEM).check(Trajectory("x"))),
        asyncio.run(ModelJudge(PROBLEM).check(Trajectory(None), ask)),
    ]
    assert [(each.verdict, each.score) for each in feedback] == [("no_evidence", 0.0)] * 2
    assert ask.prompts == []


def test_each_answer_is_judged_under_a_key_of_its_own() -> None:
    ask = Asked("{}")
    for text in ("a", "b", "a"):
        asyncio.run(ModelJudge(PROBLEM).check(Trajectory(text), ask))
    first, second, third = (key for key, _ in ask.prompts)
    assert first == third != second
    assert first.startswith("judge:")


def test_no_loop_runs_on_a_model_s_opinion() -> None:
    """It is paid for and shown, and the first trial is handed in at the gate (law 2)."""
    model = ScriptedModel.from_replies(
        {"t": {"act": ["```python\ndef f(x): return x\n```"], "judge": ['{"verdict": "no", "reason": "it may fail"}']}}
    )
    session = Session(PROBLEM, model, ProgramActor(), ModelJudge(PROBLEM), budget=Budget(calls=9))
    submission = asyncio.run(Reflexion().solve(PROBLEM, session))
    assert (submission.stop, len(session.trials), session.lessons) == ("gate", 1, [])
    assert session.ledger.calls == 2


def test_a_judge_is_measured_against_the_truth() -> None:
    said = [Judgement("yes")] * 4 + [Judgement("no")] * 3 + [Judgement("unsure")]
    measured = calibrate(said, [True, True, True, False, False, False, True, True])
    assert (measured.yes.hits, measured.yes.of) == (3, 4)
    assert (measured.no.hits, measured.no.of) == (2, 3)
    assert measured.unsure.share == 1 / 8
    low, high = measured.yes.interval
    assert low < 3 / 4 < high
    assert measured.as_json()["counts"]["no"] == {"right": 1, "wrong": 2}
    with pytest.raises(ValueError, match="zip"):
        calibrate(said, [True])


@given(st.lists(st.tuples(st.sampled_from(OPINIONS), st.booleans())))
def test_every_judgement_is_counted_once(pairs: list[tuple[Any, bool]]) -> None:
    measured = calibrate([Judgement(opinion) for opinion, _ in pairs], [truth for _, truth in pairs])
    assert measured.yes.of + measured.no.of + measured.unsure.hits == measured.unsure.of == len(pairs)
