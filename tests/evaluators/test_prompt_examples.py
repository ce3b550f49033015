"""What counts as an example in a prompt, and what is left out rather than guessed at."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.evaluators import prompt_examples
from hardwon.evaluators.examples import find_examples

_PLAIN = st.none() | st.booleans() | st.integers(-99, 99) | st.text("abc xyz'\"()[],.=>#\\", max_size=8)
_VALUES = st.recursive(
    _PLAIN, lambda inner: st.lists(inner, max_size=3) | st.lists(inner, min_size=2, max_size=3).map(tuple), max_leaves=6
)
_FORMS = (
    "{c} == {v}",
    "{c} => {v}",
    "{c} -> {v}",
    "{c} = {v}",
    "{c} ➞ {v}",
    "{c} ==> {v}",
    "{c} returns {v}",
    "{c} should return {v}.",
    "* {c} => {v}",
    "{c}  # => {v} (since it is so)",
    ">>> {c}\n    {v}",
    ">>> {c} == {v}",
    "assert {c} == {v}, and so on",
)


@given(st.lists(_VALUES, min_size=2, max_size=2), _VALUES, st.sampled_from(_FORMS))
@settings(deadline=None)
def test_a_known_example_is_found_in_every_form(arguments: list[object], value: object, form: str) -> None:
    call = f"solve({arguments[0]!r}, {arguments[1]!r})"
    prompt = f'def solve(a, b):\n    """Does something.\n\n    {form.format(c=call, v=repr(value))}\n    """\n'
    expected = f"assert {call} == {value!r}"
    if form.startswith(">>> {c}\n") and isinstance(value, str) and "\n" in repr(value):
        return
    assert prompt_examples(prompt, "solve") == (expected,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("For x = 2, y = 'a' the output should be 'aa'.", ("assert f(2, 'a') == 'aa'",)),
        ("For y = 'a' and x = 2, the result should be 'aa'", ("assert f(2, 'a') == 'aa'",)),
        ("Input: x = 2, y = 'a'\n Output: 'aa'", ("assert f(2, 'a') == 'aa'",)),
        ("Input: 2, 'a'\n Output: 'aa' # twice", ("assert f(2, 'a') == 'aa'",)),
        ("Input:\n  x : 2\n  y : 'a'\n Output: 'aa'", ("assert f(2, 'a') == 'aa'",)),
        ("Input: y = 2, z = 'a'\n Output: 'aa'", ()),
        ("Input: 2\n Output: 'aa'", ()),
        ("f(1, 2) => true", ("assert f(1, 2) == True",)),
        ("f(1, 2) -> 4 - 1 = 3", ("assert f(1, 2) == 3",)),
        ("f(1, 2) should\n return 3 and f(2, 2) should return 4.", ("assert f(1, 2) == 3", "assert f(2, 2) == 4")),
        (">>> f([1,\n...    2], 3)\n [1,\n  2]", ("assert f([1, 2], 3) == [1, 2]",)),
        (">>> round(f(1, 2), 1)\n 0.5", ("assert round(f(1, 2), 1) == 0.5",)),
        (">>> f(1, 2)  # a comment\n 3", ("assert f(1, 2) == 3",)),
        (">>> f(1, 2)\n\n None if there is none", ("assert f(1, 2) == None",)),
        (">>> f(1, 2)\n Traceback (most recent call last):\n ValueError: no", ()),
        (">>> f(1, 2) == 3\n False", ()),
        ("g(1, 2) => 3", ("assert f(1, 2) == 3",)),
    ],
)
def test_common_forms_are_read(text: str, expected: tuple[str, ...]) -> None:
    assert prompt_examples(f'def f(x, y):\n    """\n    {text}\n    """\n', "f") == expected


@pytest.mark.parametrize(
    "text",
    [
        "f(1, 2) => 3\n f(1, 2) => 4",  # contradict each other
        "f(n, 0) = f(n - 1, 0)\n f(1, 0) = 2",  # a recurrence defines members, not results
        "f(1, 2) ==> ('x')",  # a string, or a tuple without its comma?
        "f(1, 2) returns 3 or 4",
        "f(1, 2) -> 3, 4",
        'f(1, 2) == ""abc"',
        "f(1, 2) + 1 == 4",
        "2 * f(1, 2) == 6",
        "not f(1, 2) == True",
        "f(1, 2) should not return 3",
        "f(a, b) => 3",
        "f(1, 2) => ...",
        "f([1, ...], 2) => 3",
        f"f(1, 2) => {'[' * 120}{']' * 120}",
        f"f(1, 2) => {'1 = ' * 3000}x",
        "f(1) => 3",  # does not fit the header
        "f(1, 2, 3) => 3",
        "f(1, 2) => __import__('os').getcwd()",
        "f(open('x'), 2) => 3",
        "other.f(1, 2) => 3",
        "len(1, 2) => 3",
    ],
)
def test_what_is_unclear_is_left_out(text: str) -> None:
    assert prompt_examples(f'def f(x, y):\n    """\n    {text}\n    """\n', "f") == ()


def test_an_example_that_is_shown_twice_counts_once() -> None:
    prompt = 'def f(x):\n    """\n    >>> f(1)\n    2\n\n    f(1) => 2\n    f(3) => 4\n    """\n'
    assert [(e.assertion, e.form) for e in find_examples(prompt, "f")] == [
        ("assert f(1) == 2", "doctest"),
        ("assert f(3) == 4", "prose"),
    ]


def test_a_text_without_a_header_is_read_too() -> None:
    assert prompt_examples("Write f so that f(1, [2]) returns {'a': 1}.", "f") == ("assert f(1, [2]) == {'a': 1}",)


@given(st.text(max_size=200), st.text("f(x)=>1,.\"'[]{}#\n ", max_size=80))
@settings(deadline=None)
def test_any_text_can_be_read(text: str, noise: str) -> None:
    for prompt in (text, noise, f'def f(x):\n    """{noise}"""\n{text}'):
        for line in prompt_examples(prompt, "f"):
            compile(line, "<example>", "exec")
