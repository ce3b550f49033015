"""Answers: the official definitions of HotpotQA, numbers by value, and a feedback that never says what is right."""

from __future__ import annotations

import asyncio
import random
import re
import string
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.evaluators.answers import (
    AnswerBehaviour,
    AnswerKind,
    exact_match,
    f1,
    final_answer,
    normalised,
)
from hardwon.evaluators.numeric import number_in, same_number
from hardwon.evaluators.oracle_answer import OracleAnswer
from hardwon.trial import Feedback, Step, Trajectory

HAND_MADE = [
    ("Paris", "Paris"), ("paris.", "Paris"), ("The Beatles", "Beatles"), ("the the", "a an"), ("", ""), ("", "Paris"),
    ("yes", "yes"), ("Yes.", "yes"), ("yes", "no"), ("yes it is", "yes"), ("yes", "yes it is"), ("no", "No!"),
    ("no answer", "noanswer"), ("noanswer", "noanswer"), ("noanswer", "yes"), ("Jonny Craig", 'Jonny" Craig'),
    ("Bath", "Bath, Maine"), ("Bath, Maine", "Bath"), ("Maine Bath", "Bath, Maine"), ("2 March 1972", "March 2, 1972"),
    ("1.5", "15"), ("U.S.", "US"), ("U. S.", "US"), ("a b c a", "a a b"), ("cat cat dog", "cat dog dog"),
    ("Gesellschaft mit beschränkter Haftung", "gesellschaft mit BESCHRÄNKTER haftung"), ("Beyoncé", "Beyonce"),
    ("an apple", "apple"), ("theatre", "the atre"), ("a–b", "–b"), ("rock-and-roll", "rock and roll"),
    ("rock-and-roll", "rockandroll"), ("  spaced   out ", "spaced out"), ("tab\tand\nline", "tab and line"),
    ("l'an deux mille", "lan deux mille"), ("A", "a"), ("A.", "the"), ("!!!", "???"), ("İstanbul", "istanbul"),
    ("a_b", "ab"), ("New York City", "New York"), ("New York", "York New City"), ("2004", "in 2004"),
    ("fortnightly women interest magazine", "women's interest magazine"), ("ﬁve", "five"), ("x" * 300, "x" * 300),
]  # fmt: skip
WORDS = [
    "the",
    "a",
    "an",
    "yes",
    "no",
    "noanswer",
    "Paris",
    "paris",
    "Bath,",
    "U.S.",
    "1972",
    "é",
    "–",
    "a-b",
    "'s",
    "_",
]


def official(text: str) -> list[str]:
    """The words that count, told anew: no ASCII signs, no articles, small letters."""
    kept = "".join(sign for sign in text.lower() if sign not in set(string.punctuation))
    parts = re.split(r"(\w+)", kept)
    return "".join(" " if part in ("a", "an", "the") else part for part in parts).split()


def official_f1(prediction: str, gold: str) -> float:
    said, wanted = official(prediction), official(gold)
    for words in (said, wanted):
        if " ".join(words) in ("yes", "no", "noanswer") and said != wanted:
            return 0.0
    left = list(wanted)
    for word in said:
        if word in left:
            left.remove(word)
    same = len(wanted) - len(left)
    if same == 0:
        return 0.0
    precision, recall = same / len(said), same / len(wanted)
    return 2 * precision * recall / (precision + recall)


def random_pairs() -> list[tuple[str, str]]:
    chance = random.Random(7)

    def phrase() -> str:
        return chance.choice(["", " ", "  "]).join(chance.choice(WORDS) + " " for _ in range(chance.randrange(5)))

    return [(phrase(), phrase()) for _ in range(400)]


def test_exact_match_and_f1_are_the_official_ones_on_hand_made_and_random_pairs() -> None:
    pairs = [*HAND_MADE, *((b, a) for a, b in HAND_MADE), *random_pairs()]
    assert len(pairs) > 400
    for prediction, gold in pairs:
        assert exact_match(prediction, gold) == (" ".join(official(prediction)) == " ".join(official(gold)))
        assert f1(prediction, gold) == pytest.approx(official_f1(prediction, gold)), (prediction, gold)


@given(st.text(max_size=40), st.text(max_size=40))
def test_the_definitions_agree_on_any_text(prediction: str, gold: str) -> None:
    assert normalised(prediction) == " ".join(official(prediction))
    assert f1(prediction, gold) == pytest.approx(official_f1(prediction, gold))
    assert f1(prediction, gold) == pytest.approx(f1(gold, prediction))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18", "18"), ("18.", "18"), ("18 eggs", "18"), ("$18.50", "18.5"), ("18 dollars", "18"),
        ("€ 1,234.5", "1234.5"),
        ("1\u00a0234", "1234"), ("1’234’567", "1234567"), ("-8", "-8"), ("−8 degrees", "-8"), ("-$3", "-3"),
        ("$-3", "-3"),
        ("1/2", "1/2"), ("3 1/2 hours", "7/2"), ("3½", "7/2"), ("⅔", "2/3"), (r"\frac{3}{4}", "3/4"), (".5", "1/2"),
        (r"\$18", "18"), ("25%", "25"), ("25 percent", "25"), ("6 * 3 = 18", "18"), ("20 eggs (18 + 2)", "20"),
        ("(18)", "18"), ("She makes $18 every day.", "18"), ("18 and again 18", "18"), ("1.8e1", "18"), ("１８", "18"),
        ("18 km2", "18"), ("$15/hour", "15"), ("60 / day", "60"), ("42 m^2", "42"), ("minus 5", "-5"),
        ("Negative $5", "-5"), ("- 5", "-5"), ("1_000", "1000"), (r"1{,}000 or 1\,000", "1000"),
        ("5.000.000", "5000000"), ("1.5k", "1500"), ("5 km", "5"), ("2 million people", "2000000"), ("**42**", "42"),
        ("10^7", None), ("5**2", None), ("√5", None), ("10 - 5", None),
        ("", None), ("none", None), ("18 or 20", None), ("5-6", None), ("1/0", None), ("12:30", None),
        ("3/4/2020", None),
        ("9" * 5000, None), ("1 = 2 + 3", None), ("km2", None),
    ],
)  # fmt: skip
def test_the_one_number_of_an_answer_is_read(text: str, value: str | None) -> None:
    number = number_in(text)
    assert (None if number is None else number.value) == (None if value is None else Fraction(value))


@pytest.mark.parametrize(
    ("prediction", "gold", "same"),
    [
        ("25%", "25", True), ("25", "25%", True), ("0.25", "25%", True), ("1/4", "25%", True), ("25%", "0.25", True),
        ("25%", "50%", False), ("2500%", "25", True), ("0.25%", "25%", False), ("18.0", "18", True),
        ("7/2", "3.5", True),
        ("18.4", "18", False), ("5 or 18", "18", False), ("eighteen", "18", False), ("1,215 people", "1215", True),
    ],
)  # fmt: skip
def test_numbers_are_compared_by_value(prediction: str, gold: str, same: bool) -> None:
    assert same_number(prediction, gold) == same


@given(st.text(max_size=80))
def test_no_text_breaks_the_reading_of_numbers(text: str) -> None:
    number_in(text)
    number_in(f"{text} 5/{text}")


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Two and two.\nAnswer: 4", "4"), ("**Answer:** 4 apples", "4 apples"), ("**Final Answer**: `Paris`.", "Paris"),
        ("Answer: 3\nNo, wait.\nAnswer: 4", "4"), ("Answer: 3\nAnswer: 4", "4"),
        ("Answer:\n\n4 apples\nBye", "4 apples"),
        ("So\n#### 42", "42"), (r"Hence \boxed{\frac{1}{2}}, done." + "\nok", r"\frac{1}{2}"), ("4", "4"),
        ("I add.\nSo the answer is 4. That is all.", "4"), ("ANSWER = yes", "yes"), ('Answer: "The Who"', "The Who"),
        ("Answer: U.S.", "U.S."), ("The answer is: Bath, Maine.", "Bath, Maine"),
        ("One line.\nAnother line.", None), ("", None), ("Answer:", None), ("Answer: **", None),
        ("So the answer is Mr. Smith. He sang.", "Mr. Smith"), ("The answer is U.S. Route 66.", "U.S. Route 66"),
        ("Answer: Paris\nI used the given answer = format.", "Paris"),
        ("Answer: Paris\n(This answer: based on paragraph 2)", "Paris"), ("So.\nAnswer: Paris\nAnswer:", "Paris"),
        ("The possible answer: 70 or 72\n" + r"\boxed{72}", "72"), ("So.\n### Answer\nParis", "Paris"),
        ("So.\n#### Answer\n72", "72"), ("So.\nAnswer:\n```\nParis\n```", "Paris"),
        ("Answer:\n- Paris\n- Rome", "Paris"), (r"Answer: \boxed{\text{Paris}}", "Paris"),
        ("So.\n__Answer:__ Paris", "Paris"), ("So.\nAnswer：Paris", "Paris"),
        ("Answer: <answer>Paris</answer>", "Paris"), ("Answer: The answer is Paris.", "Paris"),
        ("We know the answer: it is\nhard", "it is"), ("So.\nAnswer:\n\\[\n(1 + 2) * 8\n\\]", "(1 + 2) * 8"),
        ("Therefore, the answer is:\n\\[\n\\boxed{(1 + 2) * 8}\n\\]", "(1 + 2) * 8"),
    ],
)  # fmt: skip
def test_the_final_answer_of_a_reply_is_found(reply: str, answer: str | None) -> None:
    assert final_answer(reply) == answer


def check(evaluator: OracleAnswer, output: str | None, steps: tuple[Step, ...] = ()) -> Feedback:
    return asyncio.run(evaluator.check(Trajectory(output, "a reply", steps)))


def test_exact_match_passes_and_f1_scores_below_a_pass() -> None:
    gold = OracleAnswer(("Bath, Maine",))
    assert check(gold, "bath maine").score == 1.0
    assert check(gold, "bath maine").verdict == "pass"
    assert check(gold, "Bath").verdict == "fail"
    assert check(gold, "Bath").score == pytest.approx(2 / 3)
    turned = check(gold, "Maine Bath")
    assert turned.verdict == "fail"
    assert 0.9 < turned.score < 1


def test_each_of_several_answers_is_accepted() -> None:
    gold = OracleAnswer(("UK", "United Kingdom"))
    assert [check(gold, output).verdict for output in ("uk", "The United Kingdom", "England")] == [
        "pass",
        "pass",
        "fail",
    ]
    assert check(OracleAnswer(("0.5", "50"), "number"), "50 kg").verdict == "pass"


@pytest.mark.parametrize("kind", ["text", "number"])
@pytest.mark.parametrize("output", ["Lyon", "17 and 4", "99999", None, " ", "41 234"])
def test_the_feedback_never_tells_the_gold_answer(kind: AnswerKind, output: str | None) -> None:
    """Two tasks that differ in their gold answer alone say the same of the same wrong answer."""
    one, other = (check(OracleAnswer((gold,), kind), output) for gold in ("41234", "71889 Zanzibar"))
    assert (one.verdict, other.verdict) == ("fail", "fail")
    assert one.text == other.text
    assert one.checks == other.checks
    assert "41234" not in repr(one)


def test_an_oracle_says_that_it_is_one_and_a_grader_does_not() -> None:
    assert check(OracleAnswer(("x",)), "y").source == "oracle"
    assert {c.source for c in check(OracleAnswer(("x",)), "y").checks} == {"oracle"}
    assert check(OracleAnswer(("x",), source="grounded"), "y").source == "grounded"


def test_an_answer_of_nothing_but_articles_passes_for_no_other() -> None:
    gold = OracleAnswer(("A",))
    assert check(gold, "a").verdict == "pass"
    assert check(gold, "the").verdict == "fail"
    assert check(gold, "!!").verdict == "fail"
    for answers in ((), ("",), ("x", " ")):
        with pytest.raises(ValueError, match="at least one"):
            OracleAnswer(answers)


def test_no_answer_fails_and_says_what_is_missing() -> None:
    assert "Answer:" in check(OracleAnswer(("x",)), None).text
    steps = (Step("t", "Search[a]", "o"),)
    assert "1 steps without an answer" in check(OracleAnswer(("x",)), None, steps).text


def test_wrong_answers_that_differ_are_different_outcomes() -> None:
    gold = OracleAnswer(("x",))
    assert check(gold, "y").checks != check(gold, "z").checks
    assert check(gold, "The y").checks == check(gold, "y").checks


def test_samples_agree_by_what_they_answer_not_by_how() -> None:
    def seen(output: str | None, kind: AnswerKind) -> tuple[str, ...]:
        return asyncio.run(AnswerBehaviour(kind).observe(Trajectory(output)))

    assert seen("The Who.", "text") == seen("who", "text")
    assert seen("$18.00", "number") == seen("18 dollars", "number") == seen("36/2", "number")
    assert seen("18", "number") != seen("19", "number")
    assert seen(None, "text") == ()
    assert seen("!", "text") != ()
