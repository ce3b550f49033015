"""Mutants: what each slip makes of a program, and that nothing about them is left to chance."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.evaluators.audit.mutants import mutants
from hardwon.suites import starter
from hardwon.suites.protocol import SuiteOptions

SOLUTIONS = sorted(starter.solutions(SuiteOptions()).values())


@settings(deadline=None)
@given(st.sampled_from(SOLUTIONS), st.integers(0, 60))
def test_mutants_are_different_valid_programs_and_the_same_each_time(solution: str, limit: int) -> None:
    made = mutants(solution, limit)
    assert made == mutants(solution, limit)
    assert len(made) <= limit
    programs = [attack.program for attack in made]
    assert len({ast.dump(ast.parse(program)) for program in [*programs, solution]}) == len(programs) + 1
    assert {attack.kind for attack in made} <= {"mutant"}


@settings(deadline=None)
@given(st.sampled_from(SOLUTIONS), st.integers(1, 60))
def test_every_kind_of_slip_has_its_share(solution: str, limit: int) -> None:
    def counted(attacks: tuple[object, ...]) -> dict[str, int]:
        kinds = [str(getattr(attack, "name", "")).partition(",")[0].partition(":")[0] for attack in attacks]
        return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}

    supply, taken = counted(mutants(solution, 10_000)), counted(mutants(solution, limit))
    assert sum(taken.values()) == min(limit, sum(supply.values()))
    most = max(taken.values())
    assert all(taken.get(kind, 0) >= min(there, most - 1) for kind, there in supply.items())


@pytest.mark.parametrize(
    ("program", "mutant"),
    [
        ("def f(a):\n    return a < 1", "def f(a):\n    return a <= 1"),
        ("def f(a):\n    return a + 3", "def f(a):\n    return a - 3"),
        ("def f(a):\n    return a + 3", "def f(a):\n    return a + 4"),
        ("def f(a):\n    return -a", "def f(a):\n    return +a"),
        ("def f(a):\n    return 1 if a else 2", "def f(a):\n    return 1 if not a else 2"),
        ("def f(a):\n    return a and True", "def f(a):\n    return a or True"),
        ("def f(a):\n    return a[:3]", "def f(a):\n    return a[1:3]"),
        ("def f(a):\n    return list(range(a))", "def f(a):\n    return list(range(a - 1))"),
        ("def f(a, b):\n    return g(a, b)", "def f(a, b):\n    return g(b, a)"),
        ("def f(a):\n    return sorted(a, reverse=True)", "def f(a):\n    return sorted(a)"),
        ("def f(a):\n    a.sort()\n    return a", "def f(a):\n    return a"),
        ("def f(a):\n    return a", "def f(a):\n    return None"),
        (
            "def f(a):\n    s = 0\n    for x in a:\n        s += x\n    return s",
            "def f(a):\n    s = 0\n    for x in a:\n        s += x\n        return s\n    return s",
        ),
        ("def f(a):\n    return [x for x in a if x > 0]", "def f(a):\n    return [x for x in a]"),
    ],
)
def test_the_slips_that_programmers_make_are_made(program: str, mutant: str) -> None:
    assert f"{mutant}\n" in {attack.program for attack in mutants(program, 1_000)}


def test_what_does_not_run_is_left_alone() -> None:
    program = 'import os\n\ndef f(a: "int") -> "str":\n    """Says 1."""\n    return a'
    assert [attack.name for attack in mutants(program)] == ["return, line 5: return a -> return None"]


@pytest.mark.parametrize("text", ["def f(", "", "1\x00", "(" * 5000])
def test_no_python_no_mutants(text: str) -> None:
    assert mutants(text) == ()


def test_a_limit_below_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="limit=-1"):
        mutants("x = 1", -1)
