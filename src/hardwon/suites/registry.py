"""Suites by name: the built-in ones, a file of your own, and those of installed packages (`hardwon.suites`)."""

from __future__ import annotations

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


def _built_in(name: str, summary: str, needs_data: bool, default: FeedbackKind | None) -> Suite:
    def load(options: SuiteOptions, sandbox: Sandbox) -> tuple[Task, ...]:
        module = import_module(f"hardwon.suites.{name}")
        tasks: tuple[Task, ...] = module.load(options, sandbox)
        return tasks

    return Suite(name, summary, needs_data, default, load)


_BUILT_IN = {
    suite.name: suite
    for suite in (
        _built_in("starter", "30 small programming tasks that come with Hardwon", False, "visible"),
        _built_in("humaneval", "HumanEval, or any file in its layout (EvalPlus too)", False, "generated"),
        _built_in("mbpp", "MBPP as first published, or in the layout of MultiPL-E", True, "generated"),
        _built_in("jsonl", "your own tasks, one JSON object a line", True, None),
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

    return Suite(path, f"the tasks in {path}", False, None, load)
