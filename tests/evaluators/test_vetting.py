"""Which tests of a model survive vetting; the model's text is hostile and never executed."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.evaluators.literals import Signature, is_literal
from hardwon.evaluators.vetting import read_claims, vet

_HOSTILE = (
    "assert f(1) == __import__('os').system('true')",
    "assert f(__import__('os').system('true')) == 1",
    "assert f(1) == (lambda: 1)()",
    "assert f(1) == [x for x in [1]]",
    "assert f(1) == 10 ** 10 ** 10",
    "assert f('a' * 10 ** 9) == 1",
    "assert f(1) == f(1)",
    "assert f(*open('x')) == 1",
    "assert f(**{'a': 1}) == 1",
    "assert f(1) == 1 or exit()",
    "assert f(1) == f'{exit()}'",
    "assert (f := 1) == 1",
    "assert f(1) is f(1)",
    "assert f(1) == 1, exit()",
    "assert abs(f(1) - 1.0) < 1e9",
    "assert f.__globals__['x'](1) == 1",
    "assert f(1)(2) == 3",
    "assert True",
    "assert f",
    "assert f(1) != 2",
    "assert f(1) == ...",
    "assert f([...]) == 1",
    "f(1) == 2",
    "print(f(1))",
    "exit(); assert f(1) == 1",
    "assert f(1) == 1; exit()",
    "assert f(" + "[" * 300 + "]" * 300 + ") == 1",
    "assert f(" + "[" * 90 + "]" * 90 + ") == 1",
)


@given(st.lists(st.sampled_from(_HOSTILE) | st.text(max_size=60), max_size=8), st.integers(2, 3))
@settings(deadline=None)
def test_only_calls_on_literals_compared_with_a_literal_survive(lines: list[str], samples: int) -> None:
    for claim in vet(["\n".join(lines)] * samples, "f").kept:
        (statement,) = ast.parse(claim.assertion).body
        assert isinstance(statement, ast.Assert)
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
        assert {ast.unparse(call.func) for call in calls} <= {"f", "abs"}
        (call,) = [call for call in calls if ast.unparse(call.func) == "f"]
        assert all(map(is_literal, call.args))


@pytest.mark.parametrize("line", [line for line in _HOSTILE if line != "assert f(1) == 1, exit()"])
def test_a_hostile_or_empty_line_is_dropped_and_counted(line: str) -> None:
    vetted = vet([line, line, line], "f")
    assert vetted.kept == ()
    if "f(" in line or line.startswith("assert"):
        assert vetted.dropped.total() >= 1


def test_a_message_of_an_assertion_is_left_behind() -> None:
    assert [c.assertion for c in vet(["assert f(1) == 1, exit()"] * 2, "f").kept] == ["assert f(1) == 1"]


@pytest.mark.parametrize(
    ("line", "assertion"),
    [
        ("assert f(1, [2]) == {'a': (1, None)}", "assert f(1, [2]) == {'a': (1, None)}"),
        ("assert 3 == f(1)", "assert f(1) == 3"),
        ("assert f(1) is True", "assert f(1) == True"),
        ("assert f(1)", "assert f(1) == True"),
        ("assert not f(1)", "assert f(1) == False"),
        ("assert abs(f(1) - 0.5) < 1e-6", "assert abs(f(1) - 0.5) <= 1e-06"),
        ("assert math.isclose(f(1), 0.5, rel_tol=1e-9)", "assert abs(f(1) - 0.5) <= 1e-06"),
        ("    assert f(-1) == -2  # indented, in some test function", "assert f(-1) == -2"),
        ("assert f([1,\n          2]) == 3", "assert f([1, 2]) == 3"),
        ("assert f(set()) == set()", "assert f(set()) == set()"),
    ],
)
def test_the_usual_ways_to_write_a_test_are_read(line: str, assertion: str) -> None:
    claims, dropped = read_claims(f"Here are tests:\n```python\n{line}\n```\nDone.", "f")
    assert ([claim.assertion for claim in claims], dropped.total()) == ([assertion], 0)


def test_a_last_line_cut_off_by_the_token_limit_costs_only_itself() -> None:
    claims, dropped = read_claims("```python\nassert f(1) == 2\nassert f(2) == 3\nassert f([1, 2", "f")
    assert [claim.assertion for claim in claims] == ["assert f(1) == 2", "assert f(2) == 3"]
    assert dropped == {"not valid Python": 1}


def test_a_test_needs_a_second_sample_that_states_the_same() -> None:
    vetted = vet(["assert f(1) == 2\nassert f(3) == 4", "assert f(1) == 2.0\nassert f(5) == 6"], "f")
    assert [claim.assertion for claim in vetted.kept] == ["assert f(1) == 2"]
    assert vetted.dropped == {"stated by one sample only": 2}


def test_samples_that_disagree_cancel_each_other_and_a_majority_wins() -> None:
    assert vet(["assert f(1) == 2", "assert f(1) == 3"], "f").kept == ()
    tied = ["assert f(1) == 2", "assert f(1) == 2", "assert f(1) == 3", "assert f(1) == 3"]
    assert vet(tied, "f").kept == ()
    assert [c.expected for c in vet(["assert f(1) == 2", "assert f(1) == 3", "assert f(1) == 2"], "f").kept] == ["2"]


def test_later_samples_can_not_overrule_the_one_that_proposed_the_test() -> None:
    vetted = vet(["assert f(1) == 3", "assert f(1) == 2", "assert f(1) == 2"], "f")
    assert vetted.kept == ()
    assert vetted.dropped == {"on which the samples disagree": 1}


def test_one_sample_can_not_agree_with_itself() -> None:
    assert vet(["assert f(1) == 2\nassert f(1) == 2\nassert f(1) == 2", ""], "f").kept == ()
    contradiction = "assert f(1) == 2\nassert f(1) == 3"
    assert vet([contradiction, contradiction, contradiction], "f").kept == ()


def test_the_prompts_own_examples_outrank_the_model() -> None:
    reply = "assert f(1) == 2\nassert f(2) == 9\nassert f(3) == 6"
    vetted = vet([reply, reply], "f", examples={"1": "2", "2": "4"})
    assert [claim.assertion for claim in vetted.kept] == ["assert f(3) == 6"]
    assert vetted.dropped == {"already shown by the prompt": 1, "against the prompt's examples": 1}


def test_tests_of_something_else_or_with_another_arity_are_dropped() -> None:
    reply = "assert g(1) == 2\nassert f(1, 2) == 3\nassert f(1) == 1"
    vetted = vet([reply, reply], "f", header=Signature(("x",), 1))
    assert [claim.assertion for claim in vetted.kept] == ["assert f(1) == 1"]
    assert vetted.dropped == {"not about the entry point": 2, "with the wrong number of arguments": 2}
    assert vetted.summary.startswith("1 self-written test kept, 4 dropped")


def test_no_more_tests_are_kept_than_asked_for() -> None:
    reply = "\n".join(f"assert f({n}) == {n}" for n in range(9))
    vetted = vet([reply, reply], "f", max_tests=4)
    assert (len(vetted.kept), vetted.dropped["over the limit"]) == (4, 5)
