"""Suites by name: the built-in ones, a file of your own, and those of installed packages (`hardwon.suites`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from hardwon.errors import UsageError
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites.about import About
from hardwon.suites.built_in import BUILT_IN
from hardwon.suites.protocol import FeedbackKind as FeedbackKind
from hardwon.suites.protocol import Suite as Suite
from hardwon.suites.protocol import SuiteOptions as SuiteOptions
from hardwon.task import Task

_FILE_ENDINGS = (".json", ".jsonl", ".gz")


def suites() -> dict[str, Suite]:
    """Every suite that can be named. Raises UsageError for a plug-in that does not load or is no `Suite`."""
    from importlib.metadata import entry_points

    found = dict(BUILT_IN)
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
    if name_or_path in BUILT_IN:
        return BUILT_IN[name_or_path]
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
        return BUILT_IN["jsonl"].load(replace(options, data=Path(path)), sandbox)

    def solutions(options: SuiteOptions) -> Mapping[str, str]:
        return BUILT_IN["jsonl"].solutions(replace(options, data=Path(path)))

    def about() -> About | None:
        known = BUILT_IN["jsonl"].about()
        return known and replace(known, takes_data=False)

    return Suite(path, f"the tasks in {path}", False, None, load, solutions, about)
