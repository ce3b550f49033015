"""A program is found in any reply, and nothing is taken for one that is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.actors.extract import defined, extract_program, parse
from hardwon.task import Problem

PLAIN = Problem("t", "Write add(a, b).", "function", "add")
ADD = "def add(a, b):\n    return a + b"
SIGNATURE = Problem(
    "t",
    'from typing import List\n\n\ndef double(x: int) -> int:\n    """Doubles."""\n    return x * 2\n\n\n'
    'def total(xs: List[int]) -> int:\n    """Sums the doubled numbers."""\n',
    "function",
    "total",
)


def works(program: str | None, name: str, *arguments: object) -> object:
    assert program is not None
    space: dict[str, object] = {}
    exec(program, space)
    return space[name](*arguments)  # type: ignore[operator]


@pytest.mark.parametrize(
    "reply",
    [
        f"```python\n{ADD}\n```",
        f"Sure! Here it is:\n\n```python\n{ADD}\n```\n\nIt adds `a` and `b`.",
        f"```py\n{ADD}\n```",
        f"```\n{ADD}\n```",
        f"~~~python\n{ADD}\n~~~",
        f"````python\n{ADD}\n````",
        f"```python\n{ADD}",
        ADD,
        f"Here you go:\n\n{ADD}\n\nThat adds two numbers.",
        f"```python\r\n{ADD}\r\n```".replace("\n", "\r\n").replace("\r\r", "\r"),
        f"1. Write it:\n   ```python\n   {ADD.replace(chr(10), chr(10) + '   ')}\n   ```\n2. Done.",
        f"```python\n{ADD}\n```\nUse it:\n```python\nprint(add(1, 2))\n```",
        f"```bash\npip install nothing\n```\n```python\n{ADD}\n```",
        "A first try:\n```python\ndef add(a, b):\n    return a - b\n```\nNo, rather:\n```python\n" + ADD + "\n```",
        "```python\nimport functools\n\n@functools.cache\ndef add(a, b):\n    return a + b\n```",
        "```python\ndef plus(a, b):\n    return a + b\n\ndef add(a, b):\n    return plus(a, b)\n```",
        "```python\ndef plus(a, b):\n    return a + b\n```\n\n```python\ndef add(a, b):\n    return plus(a, b)\n```",
        "```python\nclass Adder:\n    def __call__(self, a, b):\n        return a + b\n\nadd = Adder()\n```",
        "The code:\n\nimport math\n\ndef add(a, b):\n    return math.floor(a) + b\n\nDone!",
    ],
)
def test_the_program_is_found_however_it_is_wrapped(reply: str) -> None:
    assert works(extract_program(reply, PLAIN), "add", 2, 3) == 5


def test_async_functions_are_programs() -> None:
    program = extract_program("```python\nasync def add(a, b):\n    return a + b\n```", PLAIN)
    assert program is not None
    assert "add" in defined(program)


@pytest.mark.parametrize("reply", ["", "I am sorry, I cannot do that.", "Yes.", "The answer is a + b = c, I think."])
def test_prose_is_no_program(reply: str) -> None:
    assert extract_program(reply, PLAIN) is None


def test_broken_code_is_still_the_program_so_that_its_error_is_seen() -> None:
    program = extract_program("```python\ndef add(a, b:\n    return a + b\n```", PLAIN)
    assert program is not None
    assert parse(program) is None


def test_imports_and_helpers_of_the_prompt_are_put_back() -> None:
    reply = "```python\ndef total(xs: List[int]) -> int:\n    return sum(double(x) for x in xs)\n```"
    assert works(extract_program(reply, SIGNATURE), "total", [1, 2]) == 6


def test_a_helper_that_the_reply_wrote_itself_wins_over_the_prompts() -> None:
    reply = "```python\ndef double(x):\n    return x * 3\n\ndef total(xs):\n    return sum(double(x) for x in xs)\n```"
    assert works(extract_program(reply, SIGNATURE), "total", [1, 2]) == 9


BODY = "return sum(double(x) for x in xs)"


@pytest.mark.parametrize("reply", [f"    {BODY}", f"```python\n{BODY}\n```"])
def test_a_bare_body_completes_the_prompts_function(reply: str) -> None:
    assert works(extract_program(reply, SIGNATURE), "total", [1, 2]) == 6


def test_a_stdio_program_needs_no_function() -> None:
    problem = Problem("t", "Print the sum.", "stdio")
    assert extract_program("```python\nprint(sum(map(int, input().split())))\n```", problem) is not None
    assert extract_program("print(sum(map(int, input().split())))", problem) is not None


def test_a_text_is_the_longest_block_or_the_whole_reply() -> None:
    problem = Problem("t", "Write a Makefile.", "text")
    assert extract_program("So:\n```make\nall:\n\ttrue\n```\nrun `make`", problem) == "all:\n\ttrue"
    assert extract_program("all:\n\ttrue", problem) == "all:\n\ttrue"
    assert extract_program("  \n", problem) is None


@given(st.text(max_size=300))
def test_no_reply_breaks_the_reader(reply: str) -> None:
    for problem in (PLAIN, SIGNATURE, Problem("t", "x", "stdio"), Problem("t", "x", "text")):
        program = extract_program(reply, problem)
        assert program is None or program.strip()


@given(st.text("abc ()=:\n`'#", max_size=80), st.text("abc .,\n", max_size=80))
def test_prose_around_a_fenced_program_changes_nothing(before: str, after: str) -> None:
    before = before.replace("`", "")
    program = extract_program(f"{before}\n```python\n{ADD}\n```\n{after}", PLAIN)
    assert works(program, "add", 2, 3) == 5


def test_a_whole_function_of_another_name_is_not_taken_for_a_body() -> None:
    program = extract_program("```python\ndef summed(xs):\n    return sum(xs)\n```", SIGNATURE)
    assert program is not None
    assert "total" not in defined(program)
