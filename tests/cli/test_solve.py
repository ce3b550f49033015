"""`hardwon solve`: exit 0 solved, 1 not solved, 2 usage, 3 infrastructure."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

Hardwon = Callable[..., subprocess.CompletedProcess[str]]

GOOD = "```python\nprint(sum(map(int, input().split())))\n```"
BAD = "```python\nprint(max(map(int, input().split())))\n```"
CHECK = "python check.py"
LESSON = "Maximum was taken where the total is wanted; add the numbers up."


def arrange(tmp_path: Path, *acts: str) -> list[object]:
    work = tmp_path / "work"
    work.mkdir()
    (work / "check.py").write_text(
        "import subprocess, sys\n"
        "out = subprocess.run([sys.executable, 'total.py'], input='1 2 3', capture_output=True, text=True).stdout\n"
        "print('got', out)\nsys.exit(out.strip() != '6')\n"
    )
    (tmp_path / "s.json").write_text(json.dumps({"*": {"act": list(acts), "reflect": [LESSON]}}))
    return ["--check", CHECK, "--workdir", work, "--model", "script:s.json", "--output", "total.py"]


def test_a_prompt_from_standard_input_is_solved_and_the_program_written(hardwon: Hardwon, tmp_path: Path) -> None:
    done = hardwon("solve", "--prompt", "-", *arrange(tmp_path, BAD, GOOD), stdin="Add the numbers on the line.")
    assert done.returncode == 0, done.stderr
    assert "sum(map" in (tmp_path / "total.py").read_text()
    assert LESSON in done.stderr
    assert not (tmp_path / "work" / "total.py").exists()


def test_what_is_not_solved_leaves_with_1_and_hands_over_the_best(hardwon: Hardwon, tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("Add.")
    done = hardwon("solve", "--prompt", "p.txt", *arrange(tmp_path, BAD))
    assert done.returncode == 1, done.stderr
    assert "max(map" in (tmp_path / "total.py").read_text()


def test_bad_input_leaves_with_2(hardwon: Hardwon, tmp_path: Path) -> None:
    options = arrange(tmp_path, GOOD)
    (tmp_path / "empty.txt").write_text(" \n")
    for prompt, said in (("none.txt", "none.txt"), ("empty.txt", "is empty")):
        done = hardwon("solve", "--prompt", prompt, *options)
        assert done.returncode == 2
        assert said in done.stderr
    (tmp_path / "p.txt").write_text("Add.")
    done = hardwon("solve", "--prompt", "p.txt", *options, "--workdir", "nowhere")
    assert done.returncode == 2
    assert not (tmp_path / "runs").exists()


def test_a_command_that_is_not_there_leaves_with_3(hardwon: Hardwon, tmp_path: Path) -> None:
    arrange(tmp_path, GOOD)
    (tmp_path / "p.txt").write_text("Add.")
    done = hardwon("solve", "--prompt", "p.txt", "--check", "no-such-checker", "--model", "script:s.json")
    assert done.returncode == 3, (done.stdout, done.stderr)
    assert "no-such-checker" in done.stdout + done.stderr


def test_a_finished_solve_is_tried_again_not_just_repeated(hardwon: Hardwon, tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("Add.")
    options = arrange(tmp_path, BAD)
    assert hardwon("solve", "--prompt", "p.txt", *options).returncode == 1
    (tmp_path / "s.json").write_text(json.dumps({"*": {"act": [GOOD]}}))
    assert hardwon("solve", "--prompt", "p.txt", *options).returncode == 0


def test_what_one_solve_taught_the_next_one_recalls_but_not_its_own(hardwon: Hardwon, tmp_path: Path) -> None:
    insight = (
        "Title: Add up, do not compare\nDescription: A sum of numbers is no maximum.\n"
        "Content: Where numbers on a line are to be added, use their sum.\nEvidence: trial 1"
    )
    options = [*arrange(tmp_path, GOOD), "--bank", "bank.sqlite", "--embedder", "none", "--withhold", "0", "--json"]
    (tmp_path / "s.json").write_text(json.dumps({"*": {"act": [GOOD], "induce": [insight]}}))
    (tmp_path / "one.txt").write_text("Add the numbers on the line.")
    (tmp_path / "two.txt").write_text("Print what the numbers on the line add up to, in one line.")
    first = json.loads(hardwon("solve", "--prompt", "one.txt", *options, "--learn", "next").stdout)
    assert len(first["induced"]) == 1
    assert first["recalled"] == []
    again = json.loads(hardwon("solve", "--prompt", "one.txt", *options, "--recall", "2").stdout)
    assert again["recalled"] == []
    second = json.loads(hardwon("solve", "--prompt", "two.txt", *options, "--recall", "2").stdout)
    assert second["recalled"] == first["induced"]
