"""What a fork server does once, before the first fork, so that each child has less to do."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from hardwon.sandbox.launch import INSIDE, interpreter

from .conftest import Run

_LARGE = 2 << 20


def inside(code: str, *options: str) -> str:
    """What the code prints in an interpreter that is started as a fork server is."""
    start = f"import sys; sys.path.insert(0, {str(INSIDE.parent)!r})\n"
    command = [interpreter(), "-I", "-S", "-X", "utf8", *options, "-c", start + code]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="reads /proc/self/maps")
def test_the_code_on_large_pages_is_the_same_code_at_the_same_place_and_not_writable() -> None:
    printed = inside("""
import ctypes, json, re
from inside import pages

start, end = pages._unwritable_part()
before = ctypes.string_at(start, end - start)
moved = pages.code_on_large_pages()
first = -(-start // pages._LARGE) * pages._LARGE
maps = [line.split() for line in open("/proc/self/maps")]
spans = [([int(x, 16) for x in row[0].split("-")], row[1]) for row in maps]
rights = {r for (a, b), r in spans if a < first + moved and b > first}
works = json.loads(json.dumps(sorted(re.findall(r"[a-z]+", "so it goes")))) == ["goes", "it", "so"]
print(json.dumps([moved, ctypes.string_at(start, end - start) == before, sorted(rights), works]))
""")
    moved, same, rights, works = json.loads(printed)
    assert moved % _LARGE == 0
    assert same
    assert works
    assert all("w" not in each for each in rights)


def test_where_no_large_page_is_to_be_had_the_code_stays_where_it_is() -> None:
    printed = inside("""
from inside import pages
pages._COLLAPSE = 9999  # an advice that no kernel knows
print(pages.code_on_large_pages())
""")
    assert printed == "0"


def test_the_rehearsal_leaves_no_module_and_no_open_descriptor() -> None:
    printed = inside("""
import os
from inside import rehearsal

def state():
    return sorted(sys.modules), sorted(vars(__builtins__)), sorted(os.listdir("/proc/self/fd"))

before = state()
rehearsal.rehearse()
print(state() == before)
""")
    assert printed == "True"


def test_an_assertion_whose_helper_asserts_keeps_its_own_values(check: Run) -> None:
    tests = """
def doubled(x):
    assert candidate(x) != 7
    return candidate(x) * 2

assert doubled(1) == 4
assert candidate(3) == doubled(1)
"""
    found = [(c.status, c.call, c.expected, c.observed) for c in check("def f(x):\n    return x + 1\n", tests)]
    assert found == [
        ("pass", "candidate(x) != 7", "!= 7", "2"),
        ("pass", "doubled(1) == 4", "4", "4"),
        ("pass", "candidate(x) != 7", "!= 7", "2"),
        ("pass", "candidate(3) == doubled(1)", "4", "4"),
    ]


def test_an_exception_that_would_end_the_interpreter_ends_only_its_assertion(check: Run) -> None:
    tests = "import sys\nassert candidate(1) == sys.exit(3)\nassert candidate(1) == 1\n"
    first, second = check("def f(x):\n    return x\n", tests)
    assert (first.status, first.error) == ("fail", "SystemExit: 3")
    assert second.status == "pass"


def test_a_child_that_ended_by_itself_and_one_that_was_ended_are_both_followed_by_the_next(check: Run) -> None:
    tests = "assert candidate() == 1"
    for program in ("import os\ndef f():\n    os._exit(0)\n", "def f():\n    return 1\n") * 3:
        (only,) = check(program, tests)
        assert only.status == ("fail" if "_exit" in program else "pass")


def test_without_namespaces_too_a_folder_is_emptied_however_deep_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    (tmp_path / "own").mkdir()
    printed = inside(f"""
import os
from inside import zygote

os.chdir({str(tmp_path / "own")!r})
os.symlink({str(tmp_path / "kept")!r}, "link")
for _ in range(2500):
    os.mkdir("e")
    os.mkdir("d")
    os.chdir("d")
os.symlink({str(tmp_path / "kept")!r}, "link")
os.chmod("..", 0)
os.chdir({str(tmp_path / "own")!r})
zygote.empty_here()
print(os.listdir(), os.getcwd())
""")
    assert printed == f"[] {tmp_path / 'own'}"
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["file"]


def test_however_deep_the_folders_of_one_child_are_the_next_finds_none(check: Run) -> None:
    deep = """
import os
def f():
    for _ in range(1400):
        os.mkdir("d")
        os.chdir("d")
    open("file", "w").close()
    os.chmod("..", 0)
    return 1
"""
    for program in (deep, "import os\ndef f():\n    return 1 + len(os.listdir())\n"):
        (only,) = check(program, "assert candidate() == 1")
        assert only.status == "pass", only
