"""Suites by name: the built-in ones, a file of your own, and those of installed packages (`hardwon.suites`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from hardwon.errors import UsageError
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites.protocol import FeedbackKind as FeedbackKind
from hardwon.suites.protocol import Suite as Suite
from hardwon.suites.protocol import SuiteOptions as SuiteOptions
from hardwon.task import Task

_FILE_ENDINGS = (".json", ".jsonl", ".gz")


def _built_in(
    name: str, summary: str, needs_data: bool, default: FeedbackKind | None, place: str | None = None
) -> Suite:
    """A suite by `load` and `solutions` of the module of its name; `place` is MODULE.LOADER where it is another."""
    module, _, loader = (place or f"{name.replace('-', '_')}.load").partition(".")

    def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
        tasks: tuple[Task, ...] = getattr(import_module(f"hardwon.suites.{module}"), loader)(options, sandbox)
        return tasks

    def solutions(options: SuiteOptions) -> Mapping[str, str]:
        known: Mapping[str, str] = import_module(f"hardwon.suites.{module}").solutions(options)
        return known

    return Suite(name, summary, needs_data, default, load, solutions)


_BUILT_IN = {
    suite.name: suite
    for suite in (
        _built_in("starter", "30 small programming tasks that come with Hardwon", False, "visible"),
        _built_in("humaneval", "HumanEval, or any file in its layout (EvalPlus too)", False, "generated"),
        _built_in("mbpp", "MBPP as first published, or in the layout of MultiPL-E", True, "generated"),
        _built_in("jsonl", "your own tasks, one JSON object a line", True, None),
        _built_in("word-problems", "40 arithmetic word problems that come with Hardwon", False, "visible"),
        _built_in("multi-hop", "20 questions over paragraphs that come with Hardwon", False, "visible"),
        _built_in("gsm8k", "GSM8K, or any word problems in its layout", True, "visible"),
        _built_in("hotpotqa", "HotpotQA: searches the question's own paragraphs", True, "visible"),
        _built_in("hotpotqa-open", "HotpotQA: searches all of the file", True, "visible", "hotpotqa.load_open"),
        _built_in("hotpotqa-cot", "HotpotQA: reasons over the paragraphs", True, "visible", "hotpotqa.load_cot"),
        _built_in("hotpotqa-closed", "HotpotQA: reasons without them", True, "visible", "hotpotqa.load_closed"),
        _built_in("textworld", "text games of a chosen size, made from seeds", False, "visible"),
        _built_in("alfworld", "household tasks: your ALFWorld games, or six that come with Hardwon", False, "oracle"),
        _built_in("starter-repos", "20 small broken repositories that come with Hardwon", False, "visible"),
        _built_in("swebench", "SWE-bench, or any instances in its format", True, "generated"),
        _built_in("game24", "Game of 24: four numbers, one expression", False, "visible"),
    )
}


def suites() -> dict[str, Suite]:
    """Every suite that can be named. Raises UsageError for a plug-in that does not load or is no `Suite`."""
    from importlib.metadata import entry_points

    found = dict(_BUILT_IN)
    for point in entry_points(group="hardwon.suites"):
        try:
            loaded = point.load()
        except Exception as error:
            raise UsageError(
                f"suite plug-in {point.name} ({point.value}) does not load: {error}; mend or uninstall it"
            ) from error
        if not isinstance(loaded, Suite):
            raise UsageError(
                f"suite plug-in {point.name} ({point.value}) is no hardwon.suites.Suite; mend or uninstall it"
            )
        found.setdefault(point.name, loaded)
    return found


def open_suite(name_or_path: str) -> Suite:
    """The suite of this name; a path that ends in .json, .jsonl or .gz is the suite `jsonl` with that file as data.

    Raises UsageError for an unknown name; whether the file is there and well-formed is seen when tasks are loaded.
    """
    if name_or_path in _BUILT_IN:
        return _BUILT_IN[name_or_path]
    if name_or_path.endswith(_FILE_ENDINGS):
        return _own_file(name_or_path)
    known = suites()
    if name_or_path in known:
        return known[name_or_path]
    near = get_close_matches(name_or_path, known, 1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise UsageError(
        f"unknown suite {name_or_path!r}; {hint}the suites are {', '.join(sorted(known))}, or a path that ends in "
        f"{', '.join(_FILE_ENDINGS)}"
    )


def _own_file(path: str) -> Suite:
    def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
        if options.data is not None:
            raise UsageError(f"--data {options.data}: the suite is the file {path} already; give one of the two")
        return _BUILT_IN["jsonl"].load(replace(options, data=Path(path)), sandbox)

    def solutions(options: SuiteOptions) -> Mapping[str, str]:
        return _BUILT_IN["jsonl"].solutions(replace(options, data=Path(path)))

    return Suite(path, f"the tasks in {path}", False, None, load, solutions)
