"""`hardwon bank`, and runs with a bank, as a user starts them."""

import json
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.own_suite import rows

Hardwon = Callable[..., subprocess.CompletedProcess[str]]

INSIGHT = """Title: Guard empty input
Description: Ask first whether there is anything.
Content: Return early for an empty list, since the largest of nothing fails.
Evidence: trial 1"""


@pytest.fixture
def bank(hardwon: Hardwon, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`hardwon bank …` on one bank."""

    def start(*arguments: object, **given: Any) -> subprocess.CompletedProcess[str]:
        return hardwon("bank", *arguments, env={"HARDWON_BANK": str(tmp_path / "bank.sqlite")}, **given)

    return start


def listed(bank: Hardwon) -> list[dict[str, Any]]:
    done = bank("list", "--json")
    assert done.returncode == 0, done.stderr
    items: list[dict[str, Any]] = json.loads(done.stdout)
    return items


def added(bank: Hardwon, title: str, content: str, *more: str) -> str:
    done = bank("add", "--title", title, "--content", content, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


def test_an_item_is_added_edited_pinned_merged_and_rolled_back(bank: Hardwon) -> None:
    one = added(bank, "Guard empty input", "Return early for an empty list.", "--tag", "lists")
    two = added(bank, "Empty lists", "Ask whether a list holds anything.")
    assert "no such item" in bank("pin", "zzz").stderr
    assert bank("edit", one[:6], "--applies", "to lists").returncode == 0
    assert bank("pin", one).returncode == 0
    assert bank("merge", one, two).returncode == 0
    states = {item["id"]: item["state"] for item in listed(bank)}
    assert states == {one: "pinned", two: "superseded"}
    shown = bank("show", one).stdout
    assert "applies: to lists" in shown
    assert f"supersedes: {two}" in shown
    assert "added by the user" in shown
    assert bank("rollback", 2).returncode == 0
    assert {item["state"] for item in listed(bank)} == {"active"}
    assert "has no snapshot 99" in bank("rollback", 99).stderr
    assert bank("quarantine", two).returncode == 0
    assert [i["id"] for i in json.loads(bank("list", "--state", "quarantined", "--json").stdout)] == [two]


def test_a_search_says_what_a_task_would_recall_and_why(bank: Hardwon) -> None:
    item = added(bank, "Guard empty input", "Return early for an empty list.")
    (found,) = json.loads(
        bank("search", "largest value of a possibly empty input list", "--embedder", "none", "--json").stdout
    )
    assert (found["item"], {"empty", "list", "input"} <= set(found["words"])) == (item, True)
    assert bank("search", "bake a cake", "--embedder", "none").stdout == "nothing relevant\n"


def test_an_export_imports_to_the_same_bank(bank: Hardwon, tmp_path: Path, hardwon: Hardwon) -> None:
    added(bank, "Guard empty input", "Return early.")
    added(bank, "مرحبا", "اختبر القائمة الفارغة أولا 🙂")
    assert bank("export", "--out", "items.jsonl").returncode == 0
    there = {"HARDWON_BANK": str(tmp_path / "other.sqlite")}
    assert "2 items imported" in hardwon("bank", "import", "items.jsonl", env=there).stdout
    assert "0 items imported, 2 were there" in hardwon("bank", "import", "items.jsonl", env=there).stdout
    assert hardwon("bank", "export", env=there).stdout == (tmp_path / "items.jsonl").read_text()
    assert "> Return early." in bank("export", "--format", "markdown").stdout


def test_an_import_changes_no_item_that_is_there_and_says_where_it_differs(bank: Hardwon) -> None:
    item = added(bank, "Guard empty input", "Return early.")
    assert bank("export", "--out", "items.jsonl").returncode == 0
    assert bank("pin", item).returncode == 0
    told = bank("import", "items.jsonl").stdout
    assert "0 items imported, 1 were there already" in told
    assert f"{item}: state stays pinned; the file has active" in told.splitlines()
    assert [(each["id"], each["state"]) for each in listed(bank)] == [(item, "pinned")]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "items.jsonl:1: "),
        ('{"title": "x"}', "field content is missing"),
        ('{"title": " ", "content": "x"}', "field title is empty"),
        ('{"title": "x", "content": "' + "y" * 3000 + '"}', "has 3000 characters"),
        ('{"title": "x", "content": "' + "y" * 1_000_000 + '"}', "at most 65536 are read"),
        ('{"title": "x", "content": "a\\u0000b"}', "no readable text"),
        ('{"title": "x", "content": "a\\u202eb"}', "no readable text"),
        ('{"title": "x", "content": "a\\ud800b"}', "no readable text"),
        ('{"title": "x", "content": "a\\u200bb"}', "no readable text"),
        ('{"title": "x", "content": "a\\udb40\\udc41b"}', "no readable text"),
        ('{"id": 5, "title": "x", "content": "y"}', "items.jsonl:1: field id"),
        ('{"id": null, "title": "x", "content": "y"}', "field id"),
        ('{"id": "a\\u001b[31m", "title": "x", "content": "y"}', "field id"),
        ('{"id": "' + "i" * 60_000 + '", "title": "x", "content": "y"}', "field id"),
        ('{"supersedes": [[1]], "title": "x", "content": "y"}', "field supersedes"),
        ('{"supersedes": "abc", "title": "x", "content": "y"}', "field supersedes: want a list"),
        ('{"scope": {"tags": "abc"}, "title": "x", "content": "y"}', "field scope.tags: want a list"),
        ('{"scope": {"tags": [1]}, "title": "x", "content": "y"}', "field scope.tags: want a text"),
        ('{"scope": {"kind": 5}, "title": "x", "content": "y"}', "field scope.kind: want a text"),
        ('{"scope": {"colour": ""}, "title": "x", "content": "y"}', "field 'scope.colour' is unknown"),
        ('{"scope": [1], "title": "x", "content": "y"}', "field scope: want an object"),
        ('{"scope": [], "title": "x", "content": "y"}', "field scope: want an object"),
        ('{"provenance": "x", "title": "x", "content": "y"}', "field provenance: want an object"),
        ('{"provenance": {"seed": NaN}, "title": "x", "content": "y"}', "field provenance.seed: want a whole"),
        ('{"provenance": {"trial": true}, "title": "x", "content": "y"}', "field provenance.trial: want a whole"),
        ('{"provenance": {"evidence": "t"}, "title": "x", "content": "y"}', "field provenance.evidence: want a list"),
        ('{"provenance": {"task": "a\\u0000b"}, "title": "x", "content": "y"}', "field provenance.task holds"),
        ('{"title": "good", "content": "y"}\n{"scope": 1, "title": "x", "content": "y"}', "items.jsonl:2: field scope"),
        ('{"schema": 0, "title": "x", "content": "y"}', "this version reads 1"),
        ('{"title": "x", "content": "y", "colour": 1}', "the fields are"),
        ('{"title": "x", "content": "y", "state": "gone"}', "choose provisional"),
        ('{"title": 5, "content": "y"}', "want a text, not int"),
        ('{"id": "a", "title": "x", "content": "y"}\n{"id": "a", "title": "z", "content": "y"}', "is on line 1 too"),
    ],
)
def test_bad_items_are_refused_in_one_line_and_nothing_is_written(
    bank: Hardwon, tmp_path: Path, line: str, said: str
) -> None:
    (tmp_path / "items.jsonl").write_text(line + "\n")
    done = bank("import", "items.jsonl")
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "bank.sqlite").exists()


def test_a_bank_that_is_none_is_refused_in_one_line(bank: Hardwon, hardwon: Hardwon, tmp_path: Path) -> None:
    assert "no bank there" in bank("list").stderr
    (tmp_path / "noise").write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 20)
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE t (x)")
    other.close()
    old = sqlite3.connect(tmp_path / "old.db")
    old.executescript("CREATE TABLE bank (id TEXT, schema INTEGER); CREATE TABLE revisions (seq INTEGER);"
                      "INSERT INTO bank VALUES ('x', 0)")  # fmt: skip
    old.close()
    for place, said in (
        ("noise", "not a readable bank"),
        ("other.db", "but no bank"),
        ("old.db", "written by another version (bank schema 0"),
        (tmp_path, "is a folder"),
    ):
        done = hardwon("bank", "list", "--bank", place)
        assert (done.returncode, said in done.stderr, done.stderr.count("\n")) == (2, True, 1), done.stderr


def test_a_run_learns_and_the_next_recalls_it_and_says_why(
    hardwon: Hardwon, tasks: Path, tmp_path: Path, script: str
) -> None:
    path = tmp_path / "script.json"
    replies = json.loads(path.read_text())
    replies.setdefault("*", {})["induce"] = [INSIGHT]
    path.write_text(json.dumps(replies))
    for entry in replies.values():
        entry.setdefault("induce", [INSIGHT])
    path.write_text(json.dumps(replies))
    run = ("run", tasks, "--model", script, "--bank", "bank.sqlite", "--embedder", "none", "--withhold", "0")
    first = hardwon(*run, "--recall", 2, "--learn", "next", "--out", "first", "--ids", "own/largest")
    assert first.returncode == 0, first.stderr
    items = json.loads(hardwon("bank", "list", "--bank", "bank.sqlite", "--json").stdout)
    assert [(item["title"], item["label"], item["labelled_by"]) for item in items] == [
        ("Guard empty input", "success", "tests")
    ]
    again = hardwon(*run, "--recall", 2, "--learn", "next", "--out", "first", "--ids", "own/largest")
    assert again.returncode == 0, again.stderr
    assert len(json.loads(hardwon("bank", "list", "--bank", "bank.sqlite", "--json").stdout)) == 1
    second = hardwon(*run, "--recall", 2, "--out", "second")
    assert second.returncode == 0, second.stderr
    why = hardwon("bank", "why", "second", "own/largest")
    assert "nothing relevant" in why.stdout  # it is the task's own lesson
    assert "taught, as a success by tests" in hardwon("bank", "why", "first", "own/largest").stdout
    whole = hardwon("bank", "why", "first").stdout
    assert "1 tasks taught 1 items; 0 replies or items dropped" in whole
    assert json.loads(hardwon("bank", "why", "second", "--json").stdout)["asked"] == 2
    assert json.loads((tmp_path / "second" / "config.json").read_text())["settings"]["bank"]["recall"] is True
    assert len(rows(tmp_path / "second")) == 2


def test_a_run_without_a_bank_is_known_by_the_same_settings_as_ever(
    hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path
) -> None:
    hardwon("run", tasks, "--model", script, "--out", "out")
    settings = json.loads((tmp_path / "out" / "config.json").read_text())["settings"]
    assert "bank" not in settings
    assert not any(name.startswith("memory/") for name in settings["prompts"])


def test_clashing_bank_options_are_refused(hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path) -> None:
    run = ("run", tasks, "--model", script, "--out", "out", "--embedder", "none")
    for more, said in (
        (("--bank", "b.sqlite"), "give --recall K"),
        (("--bank", "b.sqlite", "--recall", "2"), "no bank there"),
        (("--bank", "b.sqlite", "--learn", "stream"), "give --recall K too"),
        (("--bank", "b.sqlite", "--learn", "always"), "choose next or stream"),
        (("--recall", "1", "--learn", "next", "--withhold", "1"), "want a share"),
    ):
        done = hardwon(*run, *more)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "out").exists()


def test_a_proof_pairs_the_strategy_with_itself_and_says_in_words_what_came_of_it(
    hardwon: Hardwon, tasks: Path, tmp_path: Path, script: str
) -> None:
    path = tmp_path / "script.json"
    replies = json.loads(path.read_text())
    for entry in replies.values():
        entry["induce"] = [INSIGHT]
    path.write_text(json.dumps(replies))
    prove = ("bank", "prove", tasks, "--model", script, "--bank", "bank.sqlite", "--embedder", "none", "--out", "out")
    done = hardwon(*prove, "--learn", "stream", "--seeds", 2)
    assert done.returncode == 0, done.stderr
    assert "no difference shown between reflexion+bank and reflexion" in " ".join(done.stdout.split())
    assert "o effect shown of any single item" in done.stdout
    assert {(row["arm"], row["seed"]) for row in rows(tmp_path / "out")} == {
        (arm, seed) for arm in ("reflexion", "reflexion+bank") for seed in (0, 1)
    }
    effects = json.loads((tmp_path / "out" / "effects.json").read_text())
    assert effects["worked"] == 4
    assert "without a bank" not in hardwon("bank", "why", "out", "own/largest").stderr
    assert json.loads(hardwon("bank", "stats", "--bank", "bank.sqlite", "--json").stdout)["episodes"] == 4
    again = hardwon(*prove, "--learn", "stream", "--seeds", 2)
    assert (again.returncode, again.stdout) == (0, done.stdout)


def test_items_are_taken_in_from_a_file_whose_name_is_no_text(bank: Hardwon, tmp_path: Path) -> None:
    added(bank, "Guard empty input", "Return early for an empty list.")
    odd = tmp_path / "items\udcff.jsonl"
    odd.write_text(bank("export").stdout)
    assert bank("rollback", 0).returncode == 0
    done = bank("import", odd)
    assert done.returncode == 0, done.stderr
    assert len(listed(bank)) == 1
