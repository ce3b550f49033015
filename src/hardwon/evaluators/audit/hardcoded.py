"""The attack of one who reads the examples and nothing else: a table of the calls shown and their answers."""

from __future__ import annotations

import ast
import re

from hardwon.evaluators.audit.attack import Attack
from hardwon.evaluators.examples import prompt_examples
from hardwon.evaluators.vetting import Claim, read_claims
from hardwon.task import Problem

_PAIR = re.compile(r"input:\n(.*?)output:\n(.*)", re.DOTALL)


def hard_coded(problem: Problem) -> tuple[Attack, ...]:
    """A program that answers what the problem shows, and nothing for all else; none where nothing can be read."""
    if problem.kind == "stdio":
        return _script(problem)
    if problem.entry_point is None:
        return ()
    claims = shown_claims(problem)
    if not claims:
        return ()
    table = "".join(f"        ({_arguments(claim)}, {claim.expected}),\n" for claim in claims)
    program = (
        f"def {problem.entry_point}(*args, **kwargs):\n    for shown, answer in (\n{table}    ):\n"
        "        if shown == (list(args), kwargs):\n            return answer\n    return None\n"
    )
    return (Attack("hard-coded", f"a table of the {_counted(len(claims))} shown", program),)


def shown_claims(problem: Problem) -> list[Claim]:
    """The calls and answers that a problem of a function shows, as far as they can be read, once each."""
    if problem.entry_point is None:
        return []
    shown = (*problem.examples, *prompt_examples(problem.prompt, problem.entry_point))
    claims, _ = read_claims("\n".join(shown), problem.entry_point)
    return list({claim.arguments: claim for claim in claims}.values())


def _script(problem: Problem) -> tuple[Attack, ...]:
    pairs = [(found[1], found[2]) for text in problem.examples if (found := _PAIR.fullmatch(text))]
    if not pairs:
        return ()
    program = (
        f"import sys\n\ngiven = sys.stdin.read().split()\nfor shown, answer in {pairs!r}:\n"
        "    if shown.split() == given:\n        print(answer)\n        break\n"
    )
    return (Attack("hard-coded", f"a table of the {_counted(len(pairs))} shown", program),)


def _arguments(claim: Claim) -> str:
    call = ast.parse(claim.call, mode="eval").body
    assert isinstance(call, ast.Call)
    named = ", ".join(f"{keyword.arg!r}: {ast.unparse(keyword.value)}" for keyword in call.keywords)
    return f"([{', '.join(map(ast.unparse, call.args))}], {{{named}}})"


def _counted(count: int) -> str:
    return "one example" if count == 1 else f"{count} examples"
