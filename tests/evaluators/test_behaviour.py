"""Behaviour: programs are compared by what they do on common inputs, in the real sandbox and without a model."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.evaluators.conftest import Run

from hardwon.evaluators.behaviour import CallBehaviour, OutputBehaviour, common_calls
from hardwon.sandbox.protocol import Sandbox
from hardwon.task import Problem
from hardwon.trial import Trajectory

TWICE = Problem(
    "t", 'def twice(n: int) -> int:\n    """Twice n.\n\n    >>> twice(3)\n    6\n    """\n', "function", "twice"
)
ONE = "def twice(n):\n    return 2 * n\n"
OTHER = "def twice(n):\n    total = n\n    return total + n\n"
WRONG = "def twice(n):\n    return n ** 2 - n\n"
BROKEN = "def twice(n):\n    return n.nothing\n"


def test_programs_that_do_the_same_agree_however_they_are_written(run: Run, sandbox: Sandbox) -> None:
    behaviour = CallBehaviour(TWICE, sandbox)
    one, other, wrong = (run(behaviour.observe(Trajectory(text))) for text in (ONE, OTHER, WRONG))
    assert one == other
    assert one != wrong  # they agree on the shown example, where n is 3, and differ on its neighbours
    assert one[0] == wrong[0] == "6"


def test_programs_that_break_on_every_input_do_not_agree(run: Run, sandbox: Sandbox) -> None:
    behaviour = CallBehaviour(TWICE, sandbox)
    assert run(behaviour.observe(Trajectory(BROKEN))) == ()
    assert run(behaviour.observe(Trajectory(None, "no program"))) == ()


def test_a_program_that_fails_on_some_inputs_says_where(run: Run, sandbox: Sandbox) -> None:
    text = "def twice(n):\n    if n < 0:\n        raise ValueError('negative')\n    return 2 * n\n"
    seen = run(CallBehaviour(TWICE, sandbox).observe(Trajectory(text)))
    assert any(value.startswith("! ") for value in seen)
    assert "6" in seen


def test_programs_that_print_are_compared_by_their_output(run: Run, sandbox: Sandbox) -> None:
    behaviour = OutputBehaviour(("2\n", "5\n"), sandbox)
    one = run(behaviour.observe(Trajectory("print(int(input()) * 2)")))
    other = run(behaviour.observe(Trajectory("n = int(input())\nprint(n + n)")))
    assert one == other != run(behaviour.observe(Trajectory("print(4)")))


def test_without_examples_the_annotations_make_the_inputs() -> None:
    calls = common_calls(Problem("t", "def f(text: str, n: int) -> str:\n    ...\n", "function", "f"))
    assert len(calls) >= 5
    assert all(call.startswith("f('") for call in calls)


def test_where_nothing_is_shown_nothing_is_guessed() -> None:
    assert common_calls(Problem("t", "Write f, which solves it.", "function", "f")) == ()


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=4), st.text("ab ", max_size=5))
def test_common_inputs_are_the_same_every_time_few_and_hold_what_is_shown(numbers: list[int], text: str) -> None:
    problem = Problem("t", f"Write f.\n\n>>> f({numbers!r}, {text!r})\n1\n", "function", "f")
    calls = common_calls(problem)
    assert calls == common_calls(problem)
    assert len(set(calls)) == len(calls) <= 12
    assert calls[0] == f"f({numbers!r}, {text!r})"
