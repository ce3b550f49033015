"""Diffs are read as git writes them, whatever the files are called."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardwon.evaluators.patches import changes, looks_like_test, only, paths_of


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, check=True)
    return done.stdout.decode()


def test_each_part_names_its_files_and_the_parts_make_the_whole(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    names = ["plain.py", "with space.py", "with\ttab.py", "ümlaut.py", 'quo"te.py', "sub b/b.py", "mode.sh", "gone.py"]
    (tmp_path / "sub b").mkdir()
    for name in names:
        (tmp_path / name).write_text(f"{name}\nsecond line\nthird line\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "base")
    for name in names[:6]:
        (tmp_path / name).write_text("changed\n--- a/no/header.py\ndiff --git a/x b/x\n")
    (tmp_path / "mode.sh").chmod(0o755)
    (tmp_path / "gone.py").unlink()
    (tmp_path / "empty new.py").write_text("")
    (tmp_path / "picture.bin").write_bytes(bytes(range(256)))
    git(tmp_path, "add", "-A")
    diff = git(tmp_path, "diff", "--cached", "--binary", "--no-renames")
    parts = changes(diff)
    assert sorted(path for part in parts for path in part.paths) == sorted([*names, "empty new.py", "picture.bin"])
    assert "".join(part.text for part in parts) == diff
    assert {path for part in parts if part.new for path in part.paths} == {"empty new.py", "picture.bin"}


def test_a_renamed_file_counts_under_both_names(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "old.py").write_text("same\n" * 9)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "base")
    git(tmp_path, "mv", "old.py", "new.py")
    assert paths_of(git(tmp_path, "diff", "--cached", "-M")) == {"old.py", "new.py"}


NAME = st.text("ab", min_size=1, max_size=5)


@settings(max_examples=50)
@given(st.dictionaries(NAME, st.lists(st.sampled_from(["+a", "-b", " c", "+++ b/q", "--- a/q", " @@ -1 +1 @@"]))), NAME)
def test_leaving_out_a_file_leaves_all_others_as_they_are(files: dict[str, list[str]], left_out: str) -> None:
    parts = {
        name: f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n"
        + "".join(f"{x}\n" for x in body)
        for name, body in files.items()
    }
    kept = only("".join(parts.values()), lambda change: left_out not in change.paths)
    assert kept == "".join(part for name, part in parts.items() if name != left_out)


@pytest.mark.parametrize("text", ["", "no diff at all\n", "fatal: not a git repository"])
def test_what_is_no_diff_has_no_parts(text: str) -> None:
    assert changes(text) == ()


def test_tests_are_known_by_their_names() -> None:
    for path in ("tests/a.py", "pkg/tests/data/x.json", "test_a.py", "pkg/a_test.go", "src/a.test.js", "src/a.spec.ts"):
        assert looks_like_test(path), path
    for path in ("src/a.py", "latest/a.py", "contest.py", "attest_a.py", "testing.py"):
        assert not looks_like_test(path), path
