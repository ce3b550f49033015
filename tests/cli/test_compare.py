"""`hardwon compare`: one budget for every arm, identical calls once, resume, and numbers that the journal bears out."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.cli.own_suite import rows

Hardwon = Callable[..., subprocess.CompletedProcess[str]]

ROLES = ("act", "reflect", "tests", "judge", "induce")
ARMS = ("single", "best_of_n", "reflexion:show=last", "immediate_refinement", "uniform_cost:trials=4")
TOKENS = 1500
TASKS = [
    {
        "task_id": f"add/{n}",
        "prompt": f"Write f(x), which returns x + {n}.",
        "entry_point": "f",
        "tests": [f"assert f(1) == {1 + n}", f"assert f(2) == {2 + n}"],
        "hidden_tests": [f"assert f(0) == {n}", f"assert f(-5) == {n - 5}"],
    }
    for n in range(5)
]


def program(body: str) -> str:
    return f"```python\ndef f(x):\n    {body}\n```"


def lesson(n: int) -> str:
    return ["Constants ignore whatever arrives; derive sums.", "Offsets belong inside every branch, always."][n]


ACTS = [
    [program("return x")],
    [program("return 7"), program("return x + 1")],
    [program("return {1: 3, 2: 4}.get(x)")],  # passes what is shown, and nothing else
    [program("return 4"), program("return 11"), program("return x * 2"), program("return x + 3")],
    [program("return 5"), program("return 12"), program("return -x"), program("return None")],
]
SCRIPT = {f"add/{n}": {"act": acts, "reflect": [lesson(0), lesson(1)]} for n, acts in enumerate(ACTS)}


def write_suite(folder: Path) -> None:
    (folder / "add.jsonl").write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    (folder / "script.json").write_text(json.dumps(SCRIPT))


def arguments(*more: object, arms: str = ",".join(ARMS), budget: str = f"tokens={TOKENS}") -> list[str]:
    command = ["compare", "add.jsonl", "--model", "script:script.json", "--arms", arms, "--budget", budget]
    return [sys.executable, "-m", "hardwon", *command, *map(str, more)]


def start(folder: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HARDWON_CONFIG": str(folder / "none.toml")}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=100, check=False
    )


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A comparison of five arms with two seeds: its folder, and what it printed."""
    folder = tmp_path_factory.mktemp("compared")
    write_suite(folder)
    done = start(folder, arguments("--seeds", 2, "--out", "out"))
    assert done.returncode == 0, done.stderr
    return folder / "out", done.stdout


def report(folder: Path, *options: str) -> str:
    done = start(folder.parent, [sys.executable, "-m", "hardwon", "report", folder.name, *options])
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass
class Walked:
    """What the journal's events say of one task in one arm, without any code of the comparison."""

    spent: list[tuple[str, int, int, bool]] = field(default_factory=list)
    """Each call: role, tokens, tokens of the prompt alone, whether another arm had made it."""
    points: list[tuple[int, int, int]] = field(default_factory=list)
    """Calls and tokens so far, and the trial that would be handed in."""
    scores: list[float] = field(default_factory=list)
    grades: dict[int, bool] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        return len(self.spent)

    @property
    def tokens(self) -> int:
        return sum(tokens for _, tokens, _, _ in self.spent)

    @property
    def solved(self) -> bool:
        return bool(self.points) and self.grades[0]

    def solved_at(self, tokens: float) -> bool:
        last = None
        for _, spent, trial in self.points:
            if spent <= tokens:
                last = trial
        if last is None:
            return False
        return self.grades[0] if last == self.points[-1][2] else self.grades[last]

    def stand(self) -> None:
        best = max(range(len(self.scores)), key=lambda n: (self.scores[n], -n)) + 1
        if not self.points or self.points[-1][2] != best:
            self.points.append((self.calls, self.tokens, best))


def events(folder: Path) -> Iterator[tuple[tuple[str, str, int], str, int, dict[str, Any]]]:
    journal = sqlite3.connect(f"{(folder / 'journal.sqlite').as_uri()}?mode=ro", uri=True)
    for task, arm, seed, kind, index, payload in journal.execute(
        "SELECT task_id, arm, seed, kind, idx, payload FROM events ORDER BY seq"
    ):
        yield (task, arm, seed), kind, index, json.loads(payload)
    journal.close()


def walk(folder: Path) -> dict[tuple[str, str, int], Walked]:
    found: dict[tuple[str, str, int], Walked] = {}
    for key, kind, index, payload in events(folder):
        walked = found.setdefault(key, Walked())
        if kind in ROLES:
            usage = payload["completion"]["usage"]
            spent = usage["tokens_in"] + usage["tokens_out"]
            walked.spent.append((kind, spent, usage["tokens_in"], bool(payload.get("shared"))))
        if kind == "act":
            walked.scores.append(0.0)
            walked.stand()
        if kind == "check":
            walked.scores[index] = payload["score"]
            walked.stand()
        if kind == "grade":
            walked.grades[index] = payload["verdict"] == "pass"
    return found


def test_equal_first_attempts_are_made_once_and_every_arm_is_charged(compared: tuple[Path, str]) -> None:
    folder, _ = compared
    walked = walk(folder)
    for n, seed in product(range(5), range(2)):
        firsts = [walked[f"add/{n}", arm, seed].spent[0] for arm in ARMS]
        assert [shared for *_, shared in firsts].count(False) == 1
        assert len({tokens for _, tokens, _, _ in firsts}) == 1
    for row in rows(folder):
        spent = walked[row["task_id"], row["arm"], row["seed"]].spent
        assert (row["calls"], row["calls_shared"]) == (len(spent), sum(shared for *_, shared in spent))
        assert row["tokens_in"] + row["tokens_out"] == sum(tokens for _, tokens, _, _ in spent)
        assert row["tokens_shared"] == sum(tokens for _, tokens, _, shared in spent if shared)


def test_no_identical_call_is_paid_twice(compared: tuple[Path, str]) -> None:
    paid = [
        (task, seed, kind, index, payload["digest"])
        for (task, _, seed), kind, index, payload in events(compared[0])
        if kind in ROLES and not payload.get("shared")
    ]
    assert len(set(paid)) == len(paid)
    assert len({task for task, *_ in paid}) == 5


def test_calls_of_an_earlier_run_of_the_same_model_are_not_paid_again(
    compared: tuple[Path, str], tmp_path: Path
) -> None:
    write_suite(tmp_path)
    more = ("--seeds", 2, "--out", "out", "--reuse", compared[0])
    done = start(tmp_path, arguments(*more, arms="single,reflexion:show=last,self_refine"))
    assert done.returncode == 0, done.stderr
    found = rows(tmp_path / "out")
    before = {(row["task_id"], row["arm"], row["seed"]): row for row in rows(compared[0])}
    for row in found:
        if row["arm"] != "self_refine":
            assert row["calls_shared"] == row["calls"]
            assert row["submission"] == before[row["task_id"], row["arm"], row["seed"]]["submission"]
    assert any(row["calls_shared"] < row["calls"] for row in found)


def test_calls_of_another_model_are_not_reused(compared: tuple[Path, str], tmp_path: Path) -> None:
    write_suite(tmp_path)
    (tmp_path / "other.json").write_text(json.dumps(SCRIPT))
    command = arguments("--out", "out", "--reuse", compared[0])
    done = start(tmp_path, [part.replace("script.json", "other.json") for part in command])
    assert done.returncode == 2
    assert "its model is script:script.json, not script:other.json" in done.stderr


def test_every_call_of_every_arm_begins_within_the_budget(compared: tuple[Path, str]) -> None:
    reached = 0
    for walked in walk(compared[0]).values():
        before = 0
        for _, tokens, prompt, _ in walked.spent:
            assert before + prompt < TOKENS
            before += tokens
        reached += before > TOKENS / 2
    assert reached > 4


def test_a_budget_of_calls_is_never_exceeded(tmp_path: Path) -> None:
    write_suite(tmp_path)
    arms = "single,best_of_n,reflexion,self_consistency,placebo,auto"
    done = start(tmp_path, arguments("--out", "out", arms=arms, budget="calls=3"))
    assert done.returncode == 0, done.stderr
    found = rows(tmp_path / "out")
    assert len(found) == 6 * 5
    assert max(row["calls"] for row in found) == 3
    assert {row["stop"] for row in found if row["calls"] == 3 and row["solved"] is False} <= {"budget", "trials"}


def test_a_comparison_works_the_tasks_that_are_picked_in_every_arm(tmp_path: Path) -> None:
    write_suite(tmp_path)
    picked = ("--select", "/[0-3]$", "--shuffle", 1, "--slice", ":2", "--out", "out")
    done = start(tmp_path, arguments(*picked, arms="single,best_of_n", budget="calls=2"))
    assert done.returncode == 0, done.stderr
    found = {
        arm: {row["task_id"] for row in rows(tmp_path / "out") if row["arm"] == arm} for arm in ("single", "best_of_n")
    }
    assert found["single"] == found["best_of_n"]
    assert len(found["single"] - {"add/4"}) == 2


def test_two_seeds_give_rows_for_both(compared: tuple[Path, str]) -> None:
    folder, _ = compared
    found = {(row["task_id"], row["arm"], row["seed"]) for row in rows(folder)}
    assert found == {(f"add/{n}", arm, seed) for n, arm, seed in product(range(5), ARMS, range(2))}
    assert json.loads((folder / "config.json").read_text())["settings"]["seeds"] == [0, 1]


def exact_p(sums: list[int]) -> float:
    """Sign flips, all of them."""
    signs = list(product((1, -1), repeat=len(sums)))
    as_far = sum(abs(sum(s * d for s, d in zip(flip, sums, strict=True))) >= abs(sum(sums)) for flip in signs)
    return as_far / len(signs)


def holm(ps: list[float]) -> list[float]:
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda n: ps[n])):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = highest
    return adjusted


def test_the_numbers_equal_a_recomputation_from_the_journal(compared: tuple[Path, str]) -> None:
    folder, _ = compared
    told = json.loads(report(folder, "--format", "json"))
    walked = walk(folder)
    pairs = {arm: {(t, s): w for (t, a, s), w in walked.items() if a == arm} for arm in ARMS}
    assert {arm["arm"] for arm in told["arms"]} == set(ARMS)
    for arm in told["arms"]:
        mine = pairs[arm["arm"]].values()
        assert (arm["graded"], arm["solved"]) == (10, sum(w.solved for w in mine))
        assert arm["rate"] == pytest.approx(sum(w.solved for w in mine) / 10)
        assert arm["calls"]["total"] == sum(w.calls for w in mine)
        assert arm["tokens"]["total"] == sum(w.tokens for w in mine)
        assert arm["tokens"]["shared"] == sum(tokens for w in mine for _, tokens, _, shared in w.spent if shared)
        assert arm["tokens"]["per_solved"] == pytest.approx(sum(w.tokens for w in mine) / sum(w.solved for w in mine))
        curve = arm["curve"]
        assert curve["unit"] == "tokens"
        rates = [sum(w.solved_at(at) for w in mine) / 10 for at in curve["at"]]
        assert curve["rate"] == pytest.approx(rates)
        end = int(curve["at"][-1])
        assert curve["area"] == pytest.approx(sum(w.solved_at(at) for at in range(end) for w in mine) / 10 / end)
    ps = []
    for found in told["differences"]:
        ours, theirs = pairs[found["arm"]], pairs["single"]
        each = {key: int(ours[key].solved) - int(theirs[key].solved) for key in theirs}
        assert (found["won"], found["lost"]) == (list(each.values()).count(1), list(each.values()).count(-1))
        assert found["difference"] == pytest.approx(sum(each.values()) / 10)
        ps.append(exact_p([each[f"add/{n}", 0] + each[f"add/{n}", 1] for n in range(5)]))
        assert found["p"] == pytest.approx(ps[-1])
    assert [found["p_adjusted"] for found in told["differences"]] == pytest.approx(holm(ps))
    assert any(found["won"] for found in told["differences"])


def test_rows_carry_the_curve_that_the_journal_shows(compared: tuple[Path, str]) -> None:
    folder, _ = compared
    walked = walk(folder)
    for row in rows(folder):
        mine = walked[row["task_id"], row["arm"], row["seed"]]
        points = [(p["calls"], p["tokens"], p["trial"]) for p in row["curve"]]
        assert points == mine.points
        assert row["curve"][-1]["solved"] == row["solved"] == mine.solved


def test_the_report_shows_what_the_comparison_printed(compared: tuple[Path, str]) -> None:
    folder, printed = compared
    assert report(folder) == printed
    assert all(len(line) <= 80 for line in printed.splitlines())
    assert all(arm in printed for arm in ARMS)


def test_pages_and_pictures_are_written_and_named(compared: tuple[Path, str], tmp_path: Path) -> None:
    folder, _ = compared
    for form, begins in (("html", b"<!doctype html"), ("svg", b"<?xml"), ("png", b"\x89PNG")):
        said = report(folder, "--format", form).strip()
        assert said == f"out/comparison.{form}"
        assert (folder / f"comparison.{form}").read_bytes().lower().startswith(begins.lower())
        elsewhere = tmp_path / f"page.{form}"
        assert report(folder, "--format", form, "--output", str(elsewhere)).strip() == str(elsewhere)
        assert elsewhere.stat().st_size > 1000


def test_an_interrupted_comparison_goes_on_to_the_same_end_and_pays_nothing_twice(tmp_path: Path) -> None:
    """The second task's first program sleeps until its time is over, so the kill surely comes under way."""
    write_suite(tmp_path)
    slow = {**SCRIPT, "add/1": {**SCRIPT["add/1"], "act": [program("import time; time.sleep(99)"), *ACTS[1]]}}
    (tmp_path / "script.json").write_text(json.dumps(slow))
    options = ("--limit", 4, "--workers", 1, "--out")
    arms = "best_of_n,reflexion,single"
    whole = start(tmp_path, arguments(*options, "whole", arms=arms))
    assert whole.returncode == 0, whole.stderr
    command = arguments(*options, "killed", arms=arms)
    environment = {**os.environ, "HARDWON_CONFIG": str(tmp_path / "none.toml")}
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("[3/12]"):
            break
    process.send_signal(signal.SIGKILL)
    process.stderr.close()
    assert process.wait(30) == -signal.SIGKILL
    again = start(tmp_path, command)
    assert again.returncode == 0, again.stderr
    assert "3 of 12 tasks are finished already" in again.stderr
    untimed = [
        [{k: v for k, v in row.items() if k != "wall_s"} for row in rows(tmp_path / name)]
        for name in ("whole", "killed")
    ]
    assert untimed[0] == untimed[1]
    assert again.stdout == whole.stdout
    paid = [
        (task, kind, index, payload["digest"])
        for (task, _, _), kind, index, payload in events(tmp_path / "killed")
        if kind in ROLES and not payload.get("shared")
    ]
    assert len(set(paid)) == len(paid)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--arms", "single", "--budget", "calls=3"], "at least two"),
        (["--arms", "single,single", "--budget", "calls=3"], "twice"),
        (["--arms", "single,reflex", "--budget", "calls=3"], "did you mean reflexion"),
        (["--arms", "single,reflexion:trails=3", "--budget", "calls=3"], "trails"),
        (["--arms", "single,reflexion:trials", "--budget", "calls=3"], "KEY=VALUE"),
        (["--arms", "single,reflexion"], "--budget"),
        (["--arms", "single,reflexion", "--budget", "seconds=5"], "tokens, calls or usd"),
        (["--arms", "single,reflexion", "--budget", "calls=3", "--baseline", "auto"], "none of the arms"),
        (["--arms", "single,reflexion", "--budget", "calls=3", "--format", "gif"], "unknown; choose"),
        (["--arms", "single,reflexion", "--budget", "calls=3", "--seeds", "0"], "seeds"),
    ],
)
def test_bad_input_ends_in_one_line_with_exit_2_and_nothing_written(
    tmp_path: Path, options: list[str], said: str
) -> None:
    write_suite(tmp_path)
    command = [sys.executable, "-m", "hardwon", "compare", "add.jsonl", "--model", "script:script.json", *options]
    done = start(tmp_path, [*command, "--out", "out"])
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_picture_of_one_arm_is_refused(hardwon: Hardwon, tasks: Path, script: str) -> None:
    hardwon("run", tasks, "--model", script, "--out", "out")
    done = hardwon("report", "out", "--format", "png")
    assert done.returncode == 2
    assert "use hardwon compare" in done.stderr


def test_another_budget_or_arm_is_another_comparison(compared: tuple[Path, str]) -> None:
    folder, _ = compared
    for command, said in (
        (arguments("--seeds", 2, "--out", "out", budget="tokens=900"), "budget.tokens was 1500, is 900"),
        (arguments("--seeds", 2, "--out", "out", arms="single,best_of_n"), "arms."),
    ):
        done = start(folder.parent, command)
        assert done.returncode == 2
        assert said in done.stderr
