"""What a suite says of itself is what its tasks are, once they are loaded."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from importlib.metadata import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.suites.instances import instance, make_checkout

from hardwon.actors.choose import actor_for
from hardwon.actors.program import ProgramActor
from hardwon.actors.react import ReActActor
from hardwon.actors.reasoning import ReasoningActor
from hardwon.actors.shell import ShellActor
from hardwon.errors import UsageError
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites.about import About
from hardwon.suites.alfworld import houses
from hardwon.suites.built_in import BUILT_IN
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.registry import open_suite

Write = Callable[..., Path]
WORKERS = {
    ProgramActor: "program writer",
    ReasoningActor: "reasoner",
    ReActActor: "ReAct agent",
    ShellActor: "shell agent",
}
HIDDEN = "def check(candidate):\n    assert candidate(1) == 2\n"
HEADER = {"prompt": 'def f(x):\n    """Add one."""\n', "entry_point": "f", "test": HIDDEN}
QUESTION = {"_id": "q", "question": "Where is it?", "answer": "Here"}
CONTEXT = [["It", ["It is here."]]]
DATA: dict[str, list[dict[str, Any]]] = {
    "humaneval": [{"task_id": "a", **HEADER, "canonical_solution": "    return x + 1\n"}],
    "mbpp": [
        {"task_id": 1, "text": "Add one.", "code": "def f(x):\n    return x + 1", "test_list": ["assert f(1) == 2"]},
        {"name": "b", **HEADER},
    ],
    "jsonl": [{"task_id": "a", "prompt": "Add one.", "entry_point": "f", "tests": ["assert f(1) == 2"]}],
    "gsm8k": [
        {"question": "One and one?", "answer": "Two.\n#### 2"},
        {"id": "b", "question": "Two?", "answer": "####2"},
    ],
    **{name: [{**QUESTION, "context": CONTEXT}] for name in ("hotpotqa", "hotpotqa-open", "hotpotqa-cot")},
    "hotpotqa-closed": [QUESTION],
    "textworld": [{"games": 1, "rooms": 1, "objects": 1, "quest": 1}],
}
"""Data of each suite with the fields that its layout names, and no others."""


def said_of(name: str) -> About:
    about = BUILT_IN[name].about()
    assert about is not None
    return about


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_what_a_suite_says_of_itself_holds_for_its_tasks(
    name: str, tmp_path: Path, write: Write, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite, about = BUILT_IN[name], said_of(name)
    if about.need and about.need.name == "games" and about.need.missing:
        pytest.skip("the extra games is not installed")
    monkeypatch.setenv("HARDWON_CACHE", str(tmp_path / "cache"))
    checkouts = make_checkout(tmp_path) if name == "swebench" else None
    rows = [instance(tmp_path)] if name == "swebench" else DATA.get(name)
    data = None if rows is None else write(*rows)
    assert data is not None or not suite.needs_data
    tasks = suite.load(SuiteOptions(data, limit=2, checkouts=checkouts), sandbox)
    default = suite.default_feedback or "visible"
    source = {"visible": "grounded"}.get(default, default) if about.evidence else "none"
    for task in tasks:
        assert WORKERS[type(actor_for(task))] == about.worker
        assert (task.feedback.source if task.feedback else "none") == source
        assert getattr(task, "steps", None) == about.steps


def test_every_layout_names_the_fields_that_its_data_have() -> None:
    for name, rows in DATA.items():
        about = said_of(name)
        known = about.settings or set(re.findall(r"\w+", about.layout))
        assert {field for row in rows for field in row} <= set(known), name


@pytest.mark.parametrize(
    ("name", "number"), [("starter", 30), ("word-problems", 40), ("multi-hop", 20), ("starter-repos", 20)]
)
def test_a_bundled_suite_holds_as_many_tasks_as_it_says(name: str, number: int) -> None:
    assert BUILT_IN[name].summary.startswith(f"{number} ")
    assert len(BUILT_IN[name].solutions(SuiteOptions())) == number


def test_six_household_games_are_bundled() -> None:
    assert " six " in BUILT_IN["alfworld"].summary
    assert len(houses()) == 6


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_a_suite_that_takes_no_data_refuses_them(name: str, tmp_path: Path, sandbox: Sandbox) -> None:
    if said_of(name).takes_data:
        return
    with pytest.raises(UsageError, match="drop --data"):
        BUILT_IN[name].load(SuiteOptions(tmp_path / "any.jsonl"), sandbox)


NEEDED = [
    (name, module) for name in BUILT_IN for need in [said_of(name).need] if need is not None for module in need.modules
]


@pytest.mark.parametrize(("name", "module"), NEEDED)
def test_a_suite_does_not_load_without_what_it_says_it_needs(
    name: str, module: str, write: Write, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    need = said_of(name).need
    assert need is not None
    if any(find_spec(other) is None for other in need.modules if other != module):
        pytest.skip(f"another module of {need.install} is missing already")
    monkeypatch.setitem(sys.modules, module, None)
    assert need.missing == (module,)
    data = write("", name="data.parquet") if "Parquet" in need.case else None
    with pytest.raises(UsageError, match=re.escape(need.install)):
        BUILT_IN[name].load(SuiteOptions(data), sandbox)


def test_every_extra_that_a_suite_needs_is_one_of_hardwon() -> None:
    extras = metadata("hardwon").get_all("Provides-Extra") or []
    needs = [need for name in BUILT_IN if (need := said_of(name).need) and not need.package]
    assert needs
    assert {need.name for need in needs} <= set(extras)


@pytest.mark.parametrize("name", ["textworld", "game24"])
def test_the_settings_that_a_suite_names_are_read_and_no_others(name: str, write: Write, sandbox: Sandbox) -> None:
    about = said_of(name)
    for setting, most in about.most.items():
        data = write(json.dumps({setting: most + 1}), name="settings.json")
        with pytest.raises(UsageError, match=f"{setting!r} is {most + 1}"):
            BUILT_IN[name].load(SuiteOptions(data), sandbox)
    with pytest.raises(UsageError, match=f"the fields are {', '.join(about.settings)}"):
        BUILT_IN[name].load(SuiteOptions(write('{"other": 1}')), sandbox)


def test_a_file_of_your_own_is_its_own_data(write: Write) -> None:
    suite = open_suite(str(write(*DATA["jsonl"])))
    about, jsonl = suite.about(), said_of("jsonl")
    assert about is not None
    assert (about.layout, about.worker) == (jsonl.layout, jsonl.worker)
    assert not about.takes_data
