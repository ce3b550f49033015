"""`hardwon suites`: all of them at a glance, one in full, in little room and for programs."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardwon.cli.suite_facts import Facts, all_facts, list_lines, one_lines
from hardwon.suites.about import About, Need
from hardwon.suites.built_in import BUILT_IN
from hardwon.suites.protocol import Suite

Hardwon = Callable[..., subprocess.CompletedProcess[str]]
ALL = all_facts()
SILENT = Facts(Suite("plug", "one task", False, None, lambda options, sandbox: ()), None)


def loaded_by(*arguments: str) -> set[str]:
    """The modules that a command loads."""
    code = (
        f"import sys; sys.argv = ['hardwon', *{arguments!r}]\nfrom hardwon.cli.app import main\n"
        "try: main()\nexcept SystemExit as end: code = end.code\n"
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "suites" in done.stdout or "starter" in done.stdout
    return set(done.stderr.split())


def test_the_help_loads_no_suite() -> None:
    assert not {name for name in loaded_by("--help") if name.startswith("hardwon.suites")}


def test_the_list_loads_no_model_no_world_and_nothing_that_is_slow_to_load() -> None:
    loaded = {name.partition(".")[0] for name in loaded_by("suites")}
    models = {"anthropic", "google", "httpx", "openai", "pydantic_ai", "xllamacpp"}
    assert not loaded & {*models, "alfworld", "jericho", "jinja2", "numpy", "pyarrow", "scipy", "textworld"}


def test_every_suite_is_a_line_of_a_table_when_piped(hardwon: Hardwon) -> None:
    header, *lines = hardwon("suites").stdout.splitlines()
    assert header.split() == ["suite", "worked", "by", "data", "feedback", "needs", "holds"]
    assert [line.split()[0] for line in lines] == list(BUILT_IN)
    for line, facts in zip(lines, ALL, strict=True):
        cells = {cell.strip() for cell in line.split("  ")}
        assert {facts.worker, facts.data, facts.feedback, facts.suite.summary} <= cells


def test_the_list_for_programs_holds_what_each_suite_alone_does(hardwon: Hardwon) -> None:
    found = {each["name"]: each for each in json.loads(hardwon("suites", "--json").stdout)}
    assert list(found) == list(BUILT_IN)
    assert json.loads(hardwon("suites", "textworld", "--json").stdout) == found["textworld"]
    assert found["textworld"]["settings"]["rooms"] == {"default": 3, "most": 50}
    assert found["textworld"]["steps"] == 30
    assert found["textworld"]["needs"]["install"] == "hardwon[games]"
    assert found["jsonl"]["default_feedback"] is None
    assert found["gsm8k"]["default_feedback"] == "none"
    assert [found[name]["data"] for name in ("starter", "humaneval", "mbpp")] == ["its own", "optional", "needed"]


@given(width=st.integers(40, 200), facts=st.sampled_from(ALL))
def test_no_line_is_wider_than_the_terminal_and_no_word_is_lost(width: int, facts: Facts) -> None:
    for lines, whole in (
        (list_lines([facts], width), list_lines([facts], None)[1:]),
        (one_lines(facts, width), one_lines(facts, None)),
    ):
        assert max(map(len, lines)) <= width
        words = {word.strip(":;") for word in " ".join(whole).split()} - {"-"}
        assert words <= {word.strip(":;") for word in " ".join(lines).split()}


@given(width=st.integers(40, 200), facts=st.sampled_from(ALL))
def test_a_command_that_is_folded_is_still_the_same_command(width: int, facts: Facts) -> None:
    text = "\n".join(one_lines(facts, width)).rpartition("\n\n")[2]
    assert shlex.split(text.replace("\\\n", "")) == shlex.split(facts.command)


@pytest.mark.parametrize("name", ["starter", "word-problems", "multi-hop", "game24"])
def test_the_command_to_copy_runs(name: str, hardwon: Hardwon, tmp_path: Path) -> None:
    script, config = tmp_path / "replies.json", tmp_path / "config.toml"
    script.write_text(json.dumps({"*": {"act": ["Action: finish[1]"], "reflect": ["Count again."]}}))
    config.write_text(f'model = "script:{script}"\n')
    command = next(facts.command for facts in ALL if facts.suite.name == name)
    done = hardwon(*shlex.split(command)[1:], env={"HARDWON_CONFIG": str(config)})
    assert done.returncode == 0, done.stderr
    assert len([*tmp_path.glob("runs/*/results.jsonl")]) == 1


def test_an_unknown_name_is_one_line_with_the_nearest(hardwon: Hardwon) -> None:
    done = hardwon("suites", "text-world")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean textworld?" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_of_your_own_is_told_of_too_and_one_that_is_missing_is_named(hardwon: Hardwon, tasks: Path) -> None:
    told = json.loads(hardwon("suites", tasks, "--json").stdout)
    assert told["data"] == "its own"
    assert told["command"] == f"hardwon run {tasks} --limit 3"
    done = hardwon("suites", "none.jsonl")
    assert done.returncode == 2
    assert done.stderr.startswith("hardwon: none.jsonl: no such file")


def test_what_a_plug_in_does_not_say_is_unknown() -> None:
    told = SILENT.as_json()
    assert told["worked_by"] is told["data"] is told["data_format"] is told["steps"] is None
    row = list_lines([SILENT], None)[1]
    assert row.split() == ["plug", "?", "?", "by", "the", "data", "-", "one", "task"]
    assert one_lines(SILENT, 60)[0] == "plug: one task"


def test_what_is_missing_is_said_with_its_mend() -> None:
    about = About("reasoner", "a file", need=Need("games", ("no_such_module_here",)))
    facts = Facts(SILENT.suite, about)
    assert 'hardwon[games]: missing, pip install "hardwon[games]"' in "\n".join(one_lines(facts, None))
    assert facts.as_json()["needs"] == {"install": "hardwon[games]", "case": None, "installed": False}
