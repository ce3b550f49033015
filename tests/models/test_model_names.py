"""Promises of opening a model by name, of the `<think>` split, and of what importing the room costs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.errors import UsageError
from hardwon.models import Model, ScriptedModel, open_model
from hardwon.models.reasoning import split_reasoning

HEAVY = ("pydantic_ai", "xllamacpp", "numpy", "httpx", "httpx2", "stamina", "genai_prices", "openai", "sqlite3")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gpt-5-mini", "unknown model; the valid forms"),
        ("opnai:gpt-5-mini", "did you mean openai:gpt-5-mini?"),
        ("OpenAI:gpt-5-mini", "did you mean openai:gpt-5-mini?"),
        ("qwen2.5-coder-1.5b", "did you mean local:qwen2.5-coder-1.5b?"),
        ("local:qwen2.5-coder-15b", "did you mean local:qwen2.5-coder-1.5b?"),
        ("local:", "names no model"),
        ("script:", "names no file"),
        ("", "the valid forms are openai:MODEL"),
        ("http://localhost:1/v1", "names no model; want http://HOST:PORT/v1#MODEL"),
        ("http://:80/v1#m", "not an address"),
        ("http://localhost:port/v1#m", "not an address"),
    ],
)
def test_an_unknown_name_gets_one_line_with_the_mend(name: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_model(name)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_request_in_flight_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        open_model("local:qwen2.5-coder-0.5b", parallel=0)


def test_every_kind_of_model_keeps_the_protocol() -> None:
    opened = open_model("local:qwen2.5-coder-0.5b", parallel=3)
    assert isinstance(opened, Model)
    assert (opened.name, opened.parallel) == ("local:qwen2.5-coder-0.5b", 3)
    assert isinstance(ScriptedModel.from_replies({}), Model)


def test_opening_an_embedded_or_scripted_model_loads_no_library() -> None:
    code = (
        "import sys, hardwon.models\n"
        "hardwon.models.open_model('local:qwen2.5-coder-0.5b')\n"
        "hardwon.models.ScriptedModel.from_replies({})\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@given(st.text(), st.text())
def test_a_leading_thought_is_split_off_and_nothing_of_the_answer_is_lost(thought: str, answer: str) -> None:
    if "</think>" in thought:
        return
    assert split_reasoning(f"<think>{thought}</think>{answer}") == (answer.lstrip(), thought.strip() or None)


@given(st.text())
def test_an_answer_without_a_leading_thought_is_unchanged(answer: str) -> None:
    if not answer.lstrip().startswith("<think>"):
        assert split_reasoning(answer) == (answer, None)


def test_a_thought_that_never_ended_leaves_no_answer() -> None:
    assert split_reasoning(" <think>so then") == ("", "so then")
