"""`hardwon doctor` on games: which packages are there, and the compiler that builds them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from hardwon.cli.games import GamesState, games_state

Hardwon = Callable[..., subprocess.CompletedProcess[str]]


def test_doctor_says_which_games_can_be_played(hardwon: Hardwon) -> None:
    games = json.loads(hardwon("doctor", "--json", "--sandbox", "process").stdout)["games"]
    expected = {name: version(name) if find_spec(name) else None for name in ("textworld", "alfworld")}
    assert games["packages"] == expected
    assert games["installed"] is all(expected.values())
    lines = hardwon("doctor", "--sandbox", "process").stdout.splitlines()
    assert lines[lines.index("games") + 1 :] == games_state().as_lines()[1:]


def test_what_is_missing_for_games_is_said_with_its_mend() -> None:
    text = "\n".join(GamesState({"textworld": "1.7.0", "alfworld": None}, None).as_lines())
    assert "textworld   1.7.0" in text
    assert 'alfworld    needs: pip install "hardwon[games]"' in text
    assert "C compiler  not found" in text
    assert "apt-get install build-essential" in text


def test_a_compiler_is_what_cc_names_or_is_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    assert games_state().compiler is None
    for name in ("gcc", "mine"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    assert games_state().compiler == str(tmp_path / "gcc")
    monkeypatch.setenv("CC", "mine -O2")
    assert games_state().compiler == str(tmp_path / "mine")
