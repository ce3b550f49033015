"""Suites by name, by path and from installed packages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hardwon.errors import UsageError
from hardwon.sandbox.protocol import Sandbox
from hardwon.suites.protocol import SuiteOptions
from hardwon.suites.registry import open_suite, suites

Write = Callable[..., Path]
ROW = {"task_id": "a", "prompt": "Add one.", "entry_point": "f", "tests": ["assert f(1) == 2"]}


def test_every_built_in_suite_can_be_opened_by_its_name() -> None:
    assert {"starter", "humaneval", "mbpp", "jsonl"} <= set(suites())
    for name, suite in suites().items():
        assert open_suite(name) == suite
        assert suite.name == name
        assert suite.summary


def test_an_unknown_name_lists_the_names_and_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        open_suite("human-eval")
    assert "did you mean humaneval?" in str(caught.value)
    assert all(name in str(caught.value) for name in suites())


def test_a_path_is_the_same_as_jsonl_with_that_data(write: Write, sandbox: Sandbox) -> None:
    path = write(ROW)
    by_path = open_suite(str(path)).load(SuiteOptions(), sandbox)
    by_name = open_suite("jsonl").load(SuiteOptions(data=path), sandbox)
    assert [task.digest for task in by_path] == [task.digest for task in by_name]


@pytest.mark.parametrize("name", ["none.jsonl", "none.json", "none.jsonl.gz"])
def test_a_path_that_is_not_there_is_named(tmp_path: Path, sandbox: Sandbox, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(UsageError, match="no such file") as caught:
        open_suite(str(path)).load(SuiteOptions(), sandbox)
    assert str(path) in str(caught.value)


def test_data_given_twice_is_a_clash(write: Write, sandbox: Sandbox) -> None:
    path = write(ROW)
    for name in (str(path), "starter"):
        with pytest.raises(UsageError, match="--data"):
            open_suite(name).load(SuiteOptions(data=path), sandbox)


def test_suites_that_need_data_say_so(sandbox: Sandbox) -> None:
    needing = {name for name, suite in suites().items() if suite.needs_data}
    assert needing >= {"mbpp", "jsonl", "gsm8k", "hotpotqa", "hotpotqa-open", "hotpotqa-cot", "hotpotqa-closed"}
    for name in needing:
        with pytest.raises(UsageError, match="give --data"):
            open_suite(name).load(SuiteOptions(), sandbox)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("from hardwon.suites import Suite\nplug = Suite('plug', 's', False, None, lambda o, s: ())\n", None),
        ("plug = 3\n", "is no hardwon.suites.Suite"),
        ("import no_such_package_at_all\n", "does not load"),
    ],
)
def test_an_installed_package_can_bring_a_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, says: str | None
) -> None:
    (tmp_path / "plug_in_suite.py").write_text(source)
    about = tmp_path / "plug_in_suite-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-in-suite\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[hardwon.suites]\nplug = plug_in_suite:plug\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "plug_in_suite", raising=False)
    if says is None:
        assert open_suite("plug").summary == "s"
    else:
        assert open_suite("starter").name == "starter"  # a broken plug-in does not stop the built-in ones
        with pytest.raises(UsageError, match=says):
            open_suite("plug")


def test_naming_a_suite_imports_no_loader_and_nothing_heavy() -> None:
    code = "import sys, json, hardwon.suites as s; s.open_suite('starter'); print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert "hardwon.suites.registry" in loaded
    assert not {"hardwon.suites.jsonl", "hardwon.evaluators", "numpy", "pydantic", "jinja2"} & set(loaded)
