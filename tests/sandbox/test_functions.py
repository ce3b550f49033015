"""What the checks of a function say: verdicts, shown values, errors, and the rule for what can not cross the wall."""

from __future__ import annotations

import pytest

from .conftest import Run, passes


def statuses(checks: object) -> list[str]:
    return [check.status for check in checks]  # type: ignore[attr-defined]


def test_each_assertion_is_a_check_of_its_own_and_a_failing_one_does_not_end_the_tests(check: Run) -> None:
    checks = check("def f(x): return x * 2", "assert f(1) == 2\nassert f(2) == 5\nassert f(3) == 6")
    assert statuses(checks) == ["pass", "fail", "pass"]
    assert [c.name for c in checks] == ["test 1", "test 2", "test 3"]
    assert (checks[1].call, checks[1].expected, checks[1].observed) == ("f(2) == 5", "5", "4")
    assert all(c.seconds > 0 for c in checks)


def test_the_observed_value_is_the_programs_on_whichever_side_it_stands(check: Run) -> None:
    (only,) = check("def f(x): return x", "assert 7 == f(8)")
    assert (only.expected, only.observed) == ("7", "8")
    (only,) = check("def f(x): return x", "assert 10 < f(8)")
    assert (only.expected, only.observed) == ("> 10", "8")


def test_a_failing_program_shows_its_exception_and_the_line_it_came_from(check: Run) -> None:
    (only,) = check("def f(x):\n    y = x\n    return y / 0\n", "assert f(1) == 1")
    assert only.status == "fail"
    assert only.error == "ZeroDivisionError: division by zero (line 3: return y / 0)"


def test_a_program_that_does_not_load_is_one_failing_check_with_its_line(check: Run) -> None:
    (only,) = check("def f(x):\n    return )\n", "assert f(1) == 1\nassert f(2) == 2")
    assert (only.name, only.status) == ("program loads", "fail")
    assert "SyntaxError" in (only.error or "")
    assert "line 2" in (only.error or "")
    (only,) = check("import no_such_module\ndef f(x): pass\n", "assert f(1) == 1")
    assert "ModuleNotFoundError" in (only.error or "")
    (only,) = check("def g(x): pass\n", "assert f(1) == 1")
    assert "no function 'f'" in (only.error or "")


def test_a_main_block_does_not_run(check: Run) -> None:
    program = "def f(): return 1\nif __name__ == '__main__':\n    raise SystemExit('main ran')\n"
    assert passes(check(program, "assert f() == 1"))


def test_what_a_program_prints_is_no_verdict(check: Run) -> None:
    program = "import sys\nprint('pass')\ndef f():\n    print('ok')\n    sys.stderr.write('OK')\n    return 2"
    assert statuses(check(program, "assert f() == 1")) == ["fail"]


def test_a_program_finds_its_own_module_and_may_define_dataclasses(check: Run) -> None:
    program = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\nimport sys\n@dataclass\n"
        "class P:\n    x: int\ndef f(): return P(3).x, sys.modules[__name__].P is P"
    )
    assert passes(check(program, "assert f() == (3, True)"))


def test_an_async_function_passes_tests_that_await_it_and_no_others(check: Run) -> None:
    program = "import asyncio\nasync def f(x):\n    await asyncio.sleep(0)\n    return x + 1"
    awaiting = "import asyncio\nassert asyncio.run(f(1)) == 2"
    assert passes(check(program, awaiting))
    assert not passes(check(program, "assert f(1) == 2"))
    assert not passes(check("def f(x): return x + 1", awaiting))


@pytest.mark.parametrize(
    "value",
    [
        "None", "True", "-1", "2**70", "-(10**400)", "1.5", "float('inf')", "-0.0", "3+4j", "'é\\ud800 \\U0001f600'",
        "b'\\x00\\xff'", "bytearray(b'x')", "[1, [2, (3,)]]", "(1,)", "()", "{1: 'a', (1, 2): [3]}", "{1, 2}",
        "frozenset({1})",
        "range(1, 9, 3)", "Decimal('1.10')", "Fraction(1, 3)", "datetime(2020, 1, 2, 3)", "timedelta(1, 2, 3)",
        "deque([1, 2])",
        "int", "...", "date(2020, 1, 2)",
    ],
)  # fmt: skip
def test_plain_data_crosses_in_both_directions_as_it_is(check: Run, value: str) -> None:
    imports = (
        "from collections import deque\nfrom datetime import date, datetime, timedelta\n"
        "from decimal import Decimal\nfrom fractions import Fraction\n"
    )
    program = (
        f"{imports}def f(x=None):\n    v = {value}\n    return v if x is None else (x == v and type(x) is type(v))"
    )
    tests = f"{imports}got = f()\nassert got == {value}\nassert type(got) is type({value})\n"
    tests += f"assert f({value}) in (True, None)"
    assert passes(check(program, tests if value not in ("None", "int") else f"{imports}assert f() == {value}"))


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ("Counter('aab')", "{'a': 2, 'b': 1}"), ("OrderedDict(a=1)", "{'a': 1}"), ("defaultdict(int, a=1)", "{'a': 1}"),
        ("P(1, 2)", "(1, 2)"), ("E.A", "1"), ("type('L', (list,), {})([1])", "[1]"),
        ("type('S', (str,), {})('x')", "'x'"),
        ("type('F', (float,), {})(1.5)", "1.5"),
    ],
)  # fmt: skip
def test_subclasses_cross_as_their_plain_base_type(check: Run, value: str, plain: str) -> None:
    program = (
        "from collections import *\nfrom enum import IntEnum\nP = namedtuple('P', 'x y')\n"
        f"class E(IntEnum):\n    A = 1\ndef f(): return {value}"
    )
    assert passes(check(program, f"got = f()\nassert got == {plain}\nassert type(got) is type({plain})"))


def test_an_iterator_crosses_as_an_iterator_that_equals_nothing(check: Run) -> None:
    program = "def f(n):\n    yield from range(n)"
    assert passes(check(program, "assert list(f(3)) == [0, 1, 2]\nassert sum(f(4)) == 6\nassert next(f(1)) == 0"))
    assert statuses(check(program, "assert f(3) == [0, 1, 2]")) == ["fail"]
    assert passes(check("def f(): return {1: 2}.keys()", "assert sorted(f()) == [1]"))


def test_an_endless_iterator_may_be_used_as_far_as_it_was_taken(check: Run) -> None:
    program = "import itertools\ndef f(): return itertools.count()"
    tests = "from itertools import islice\nassert list(islice(f(), 3)) == [0, 1, 2]\nassert sum(f()) > 0"
    assert statuses(check(program, tests)) == ["pass", "fail"]


OPAQUE = """
class Thing:
    def __eq__(self, other): return True
    def __len__(self): return 3
def f(x=None): return Thing()
"""


@pytest.mark.parametrize(
    "test",
    [
        "assert f() == 1", "assert f() != 1", "assert not f()", "assert f()", "assert len(f()) == 3",
        "assert f() in [1]",
        "assert isinstance(f(), object) and isinstance(f(), int) is False", "assert f().x == 1", "assert f()() == 1",
        "assert f()[0] == 1", "assert str(f()) != ''", "assert f() + 1 != 2", "assert 1 + f() != 2",
        "assert hash(f()) != 0",
        "assert [f()] != [1]", "assert {f()} != {1}", "assert f'{f()}'", "assert f() < 3",
        "assert all(f() for _ in [1])",
        "assert repr(f())", "assert list(f()) == []", "assert bool(f()) is True", "assert abs(f() - 1) < 9",
    ],
)  # fmt: skip
def test_touching_an_opaque_value_fails_the_check_and_names_its_type(check: Run, test: str) -> None:
    checks = check(OPAQUE, test)
    assert statuses(checks) == ["fail"]
    assert "Thing" in (checks[0].error or "") + (checks[0].observed or "")


@pytest.mark.parametrize(
    "test", ["assert f() is not None", "x = f()\nassert x is not None", "assert id(f()) != 0",
        "assert type(f()) is not int",
             "assert [f()] is not None", "x = f()\nassert x is not None and f() is not 1", "assert (f(), 1)[1] == 1"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_no_check_passes_on_an_opaque_value_even_where_it_can_not_notice(check: Run, test: str) -> None:
    checks = check(OPAQUE, test)
    assert checks
    assert "pass" not in statuses(checks)


@pytest.mark.parametrize(
    "value",
    ["lambda x: x", "f", "print", "__import__('os')", "object()", "Exception('x')", "[lambda: 0]", "{object(): 1}"],
)
def test_functions_modules_and_instances_do_not_cross(check: Run, value: str) -> None:
    assert "pass" not in statuses(check(f"def f(): return {value}", "assert f() == 1\nassert f() is not None"))


@pytest.mark.parametrize("argument", ["lambda x: x", "iter([1])", "(x for x in [1])", "object()", "open"])
def test_an_argument_that_can_not_cross_is_no_evidence(check: Run, argument: str) -> None:
    checks = check("def f(g): return 1", f"assert f({argument}) == 1")
    if argument == "open":  # a built-in function crosses by its name
        assert passes(checks)
        return
    assert statuses(checks) == ["no_evidence"]
    assert "cross" in (checks[0].error or "")


def test_arguments_that_were_changed_in_place_come_back_changed(check: Run) -> None:
    program = """
def f(a, b=None):
    if isinstance(a, list): a.sort(); a.append([0]); a[0].append(9) if isinstance(a[0], list) else None
    if isinstance(a, dict): a["new"] = a.pop("old")
    if isinstance(a, set): a.discard(1)
    if isinstance(a, bytearray): a += b"!"
    if b is not None: b.clear()
"""
    tests = """
x = [3, 1, 2]; y = x; f(x)
assert x == [1, 2, 3, [0]]
assert y is x
inner = [1]; outer = [inner]; f(outer)
assert inner == [1, 9]
d = {"old": 1}; f(d)
assert d == {"new": 1}
s = {1, 2}; f(s)
assert s == {2}
b = bytearray(b"a"); f(b)
assert b == b"a!"
z = [1]; f(1, b=z)
assert z == []
t = ([2],); f([], t[0])
assert t == ([],)
"""
    checks = check(program, tests)
    assert passes(checks)
    assert len(checks) == 8


def test_a_function_that_returns_its_argument_returns_the_same_object(check: Run) -> None:
    assert passes(check("def f(x):\n    x.append(1)\n    return x", "x = []\nassert f(x) is x\nassert x == [1]"))


def test_a_missing_change_in_place_is_seen(check: Run) -> None:
    checks = check("def f(x): return sorted(x)", "x = [2, 1]\nf(x)\nassert x == [1, 2]")
    assert statuses(checks) == ["fail"]


def test_expected_exceptions_are_caught_as_their_own_type(check: Run) -> None:
    program = """
class Bad(ValueError): pass
class Own(Exception): pass
def f(x):
    if x == 0: raise ValueError("zero")
    if x == 1: raise KeyError("one")
    if x == 2: raise Bad("two")
    if x == 3: raise Own("three")
    return x
"""
    tests = """
try:
    f(0)
    assert False
except ValueError as e:
    assert str(e) == "zero"
try: f(1); assert False
except KeyError as e: assert e.args == ("one",)
try:
    f(2)
except ValueError as e:
    assert type(e).__name__ == "Bad"
else:
    assert False, "must raise"
caught = None
try: f(3)
except Exception as e: caught = type(e).__name__
assert caught == "Own"
"""
    checks = check(program, tests)
    assert passes(checks)
    assert statuses(check("def f(x): return x", tests))[:1] == ["fail"]


def test_an_expected_exception_alone_is_a_check(check: Run) -> None:
    tests = "try:\n    f(0)\n    assert False\nexcept ValueError:\n    pass"
    (only,) = check("def f(x): raise ValueError('bad')", tests)
    assert only.status == "pass"
    assert only.observed == "ValueError: bad (line 1: def f(x): raise ValueError('bad'))"
    assert statuses(check("def f(x): return 1", tests)) == ["fail"]
    assert statuses(check("def f(x): raise TypeError('other')", tests)) == ["fail"]


def test_a_time_out_or_a_death_is_not_an_expected_exception(check: Run) -> None:
    tests = "try:\n    f(0)\n    assert False\nexcept Exception:\n    pass"
    assert "pass" not in statuses(check("def f(x):\n    while True: pass", tests, test_seconds=0.3))
    assert "pass" not in statuses(check("import os\ndef f(x): os._exit(0)", tests))
    bare = "try:\n    f(0)\n    assert False\nexcept:\n    pass\nassert True"
    checks = check("import os\ndef f(x): os._exit(0)", bare)
    assert statuses(checks) == ["fail"]


def test_a_crash_says_how_the_candidate_died_and_the_rest_is_still_run(check: Run) -> None:
    program = "import os, ctypes\ndef f(x):\n    if x == 1: os._exit(3)\n    return x"
    checks = check(program, "assert f(0) == 0\nassert f(1) == 1\nassert f(2) == 2")
    assert statuses(checks) == ["pass", "fail", "pass"]
    assert "status 3" in (checks[1].error or "")
    (only,) = check("import ctypes\ndef f(): ctypes.string_at(0)", "assert f() == 0")
    assert "SIGSEGV" in (only.error or "")


def test_memory_beyond_the_cap_is_named_as_the_cause(check: Run) -> None:
    checks = check("def f(): return len(bytearray(3 << 30))", "assert f() == 0")
    assert "MemoryError" in (checks[0].error or "")


@pytest.mark.parametrize(
    "tests",
    ["assert f( == 1", "assert undefined(f) == 1", "import no_such_thing\nassert f() == 1", "x = y\nassert f() == 1"],
)
def test_broken_tests_are_no_evidence(check: Run, tests: str) -> None:
    checks = check("def f(): return 1", tests)
    assert statuses(checks) == ["no_evidence"]
    assert checks[0].error


def test_a_name_error_in_a_text_that_the_program_returned_is_the_programs_fault(check: Run) -> None:
    assert statuses(check("def f(): return 'no_such_name'", "assert eval(f()) == 4")) == ["fail"]
    assert statuses(check("def f(): return 'no_such_name'", "x = eval(f())\nassert x == 4"))[0] == "fail"


def test_tests_that_break_off_say_that_they_did_not_finish(check: Run) -> None:
    checks = check("def f(x): return x", "assert f(1) == 1\ny = undefined\nassert f(2) == 2")
    assert [(c.name, c.status) for c in checks] == [("test 1", "pass"), ("tests finish", "no_evidence")]


def test_an_exception_between_assertions_fails_and_what_follows_is_marked_not_run(check: Run) -> None:
    program = "def f(x):\n    if x: raise ValueError('no')\n    return 1"
    checks = check(program, "assert f(0) == 1\ny = f(5)\nassert y == 1\nassert f(0) == 1")
    assert statuses(checks) == ["pass", "fail", "fail", "fail"]
    assert checks[1].call == "y = f(5)"
    assert "not run" in (checks[2].error or "")


def test_more_checks_than_are_shown_are_counted_in_one(check: Run) -> None:
    tests = "for i in range(1000):\n    assert f(i) == i"
    checks = check("def f(x): return x", tests)
    assert passes(checks)
    assert (len(checks), checks[-1].name) == (201, "tests 201 to 1000")
    checks = check("def f(x): return x if x != 777 else 0", tests)
    assert statuses(checks)[-1] == "fail"
    assert checks[-1].expected == "777"


def test_tests_can_not_be_told_apart_by_the_name_of_their_module_or_the_state_of_random(check: Run) -> None:
    """The checker's random numbers are not the candidate's: a candidate can not foretell the tests' inputs."""
    program = "import random\nahead = [random.random() for _ in range(3)]\ndef f(x): return x in ahead"
    assert (
        statuses(check(program, "import random\nfor _ in range(3): assert f(random.random()) == True")) == ["fail"] * 3
    )
