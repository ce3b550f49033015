"""Tests in the shapes that the public benchmarks use, written for this purpose."""

from __future__ import annotations

from .conftest import Run, passes

PROMPT = '''
def pack(text: str):
    """ moves the first letter of each word to its end """
    return " ".join(w[1:] + w[:1] for w in text.split(" "))


def unpack(text: str):
    """ undoes pack """
'''


def test_a_helper_of_the_prompt_may_be_used_by_the_tests(check: Run) -> None:
    tests = """
METADATA = {}
def check(candidate):
    from random import choice, randint
    import string
    for _ in range(20):
        str = ' '.join(''.join(choice(string.ascii_lowercase) for _ in range(randint(1, 9))) for _ in range(3))
        assert candidate(pack(str)) == str
"""
    right = PROMPT + '    return " ".join(w[-1:] + w[:-1] for w in text.split(" "))\n'
    checks = check(right, tests, PROMPT, "unpack")
    assert passes(checks)
    assert len(checks) == 20
    assert not passes(check(PROMPT + "    return text\n", tests, PROMPT, "unpack"))


def test_a_helper_that_the_program_changes_is_not_the_one_the_tests_use(check: Run) -> None:
    cheat = "def pack(text): return text\ndef unpack(text): return text\n"
    tests = "def check(candidate):\n    for w in ('ab cd', 'xyz q'): assert candidate(pack(w)) == w\n"
    assert not passes(check(cheat, tests, PROMPT, "unpack"))


def test_the_entry_point_may_be_called_by_its_own_name(check: Run) -> None:
    tests = """
def check(candidate):
    assert tuple(candidate([3, 1])) == tuple(arrange([3, 1]))
    assert tuple(candidate([3, 1])) == (1, 3)
    assert arrange([]) == []
"""
    prelude = 'def arrange(xs: list):\n    """ sorts """\n'
    assert passes(check("def arrange(xs): return sorted(xs)", tests, prelude, "arrange"))
    assert not passes(check("def arrange(xs): return xs", tests, prelude, "arrange"))


def test_floats_are_compared_as_the_tests_say(check: Run) -> None:
    tests = "def check(candidate):\n    import math\n    assert abs(candidate(2) - math.sqrt(2)) < 1e-6\n"
    tests += "    assert math.fabs(candidate(9) - 3) < 1e-4\n"
    checks = check("def f(x): return x ** 0.5", tests)
    assert passes(checks)
    assert checks[0].expected == "< 1e-06"
    assert not passes(check("def f(x): return x ** 0.51", tests))


def test_a_prompt_without_a_body_still_serves_as_prelude(check: Run) -> None:
    assert passes(check("def f(x): return x", "assert f(1) == 1 and LIMIT == 3", "LIMIT = 3\ndef f(x):\n"))


def test_tests_that_call_check_themselves_are_run_once(check: Run) -> None:
    tests = """
def check(candidate):
    assert candidate(4) == [0, 1, 4, 9]
    assert candidate(0) == []

def test_check():
    check(squares)

test_check()
"""
    checks = check("def squares(n): return [i * i for i in range(n)]", tests, "", "squares")
    assert passes(checks)
    assert len(checks) == 2


def test_assertion_lines_and_a_check_function_are_both_run(check: Run) -> None:
    tests = "assert f(1) == 1\ndef check(candidate):\n    assert candidate(2) == 2\n    assert candidate(3) == 4\n"
    assert [c.status for c in check("def f(x): return x", tests)] == ["pass", "pass", "fail"]


def test_changed_arguments_are_seen(check: Run) -> None:
    tests = "def check(candidate):\n    xs = [2, 1]\n    candidate(xs)\n    assert xs == [1, 2]\n"
    assert passes(check("def f(xs): xs.sort()", tests))


def test_exceptions_are_expected_in_the_usual_way(check: Run) -> None:
    tests = """
def check(candidate):
    assert candidate(1) == 1
    try:
        candidate(-1)
        assert False, "negative numbers must be refused"
    except ValueError as e:
        assert "negative" in str(e)
"""
    right = "def f(x):\n    if x < 0: raise ValueError('negative')\n    return x"
    assert passes(check(right, tests))
    assert not passes(check("def f(x): return x", tests))


def test_no_assertion_at_all_gives_no_check(check: Run) -> None:
    assert check("def f(x): return x", "") == ()
    assert check("def f(x): return x", "def check(candidate):\n    candidate(1)\n") == ()
    assert check("def f(x): return x", "def check(candidate):\n    for x in []: assert candidate(x)\n") == ()


def test_assertions_that_say_nothing_of_the_program_are_no_evidence(check: Run) -> None:
    for tests in (
        "assert True",
        "assert 1 == 1, 'ok'",
        "def check(candidate):\n    assert True\n    x = 2\n    assert x == 2\n",
    ):
        checks = check("def f(x): return x", tests)
        assert {c.status for c in checks} == {"no_evidence"}
    checks = check("def f(x): return x", "f(1)\nx = 5\nassert x == 5\nassert True")
    assert {c.status for c in checks} == {"no_evidence"}


def test_constant_assertions_beside_real_ones_neither_help_nor_harm(check: Run) -> None:
    tests = "def check(candidate):\n    assert candidate(1) == 1\n    assert True, 'prints if this fails'\n"
    assert passes(check("def f(x): return x", tests))
    assert not passes(check("def f(x): return 0", tests))


def test_values_kept_from_earlier_calls_are_evidence(check: Run) -> None:
    tests = "results = []\nfor i in range(3):\n    results.append(f(i))\n"
    tests += "assert results == [0, 1, 4]\nassert len(results) == 3"
    assert passes(check("def f(x): return x * x", tests))


def test_assertions_in_helper_functions_count(check: Run) -> None:
    tests = "def same(a, b):\n    assert f(a) == b\nsame(1, 2)\nsame(2, 3)\n"
    checks = check("def f(x): return x + 1", tests)
    assert passes(checks)
    assert len(checks) == 2
