"""`hardwon run` and what reads its folder, as the contract has them."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.own_suite import LESSON, rows

Hardwon = Callable[..., subprocess.CompletedProcess[str]]

CONTRACT = {
    "task_id", "arm", "seed", "solved", "feedback", "verdict", "submission", "trials", "calls", "tokens_in",
    "tokens_out", "tokens_cached", "cost_usd", "wall_s", "stop", "error",
}  # fmt: skip


def test_a_run_leaves_config_journal_and_one_row_for_each_task(
    hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path
) -> None:
    done = hardwon("run", "jsonl", "--data", tasks, "--model", script, "--out", "out")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "out"
    assert {"config.json", "journal.sqlite", "results.jsonl"} <= {p.name for p in folder.iterdir()}
    double, largest = rows(folder)
    assert set(double) >= CONTRACT
    assert (double["task_id"], double["solved"], double["trials"], double["stop"]) == ("own/double", True, 1, "solved")
    assert (largest["solved"], largest["trials"], largest["trial_verdicts"]) == (True, 2, ["fail", "pass"])
    assert (largest["feedback"], largest["cost_usd"], largest["error"]) == ("grounded", 0.0, None)
    assert "if xs else None" in largest["submission"]
    assert "2 of 2" in done.stdout


def test_a_file_of_tasks_is_a_suite_by_itself(hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path) -> None:
    done = hardwon("run", tasks, "--model", script, "--ids", "own/largest", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert [row["task_id"] for row in rows(tmp_path / "out")] == ["own/largest"]


def test_the_same_command_goes_on_and_more_tasks_join_the_run(
    hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path
) -> None:
    first = hardwon("run", tasks, "--model", script, "--limit", 1, "--out", "out")
    second = hardwon("run", tasks, "--model", script, "--out", "out")
    assert (first.returncode, second.returncode) == (0, 0)
    assert "1 of 2 tasks are finished already" in second.stderr
    assert len(rows(tmp_path / "out")) == 2


def test_a_changed_setting_is_refused_and_nothing_is_written(
    hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path
) -> None:
    hardwon("run", tasks, "--model", script, "--out", "out")
    before = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    done = hardwon("run", tasks, "--model", script, "--out", "out", "--seed", 5)
    assert done.returncode == 2
    assert "seed was 0, is 5" in done.stderr
    assert (
        "reflexion.trials was 3, is 4" in hardwon("run", tasks, "--model", script, "--out", "out", "--trials", 4).stderr
    )
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == before
    assert hardwon("run", tasks, "--model", script, "--out", "out", "--seed", 5, "--fresh").returncode == 0


def test_oracle_feedback_is_labelled_on_every_row_and_in_the_report(
    hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path
) -> None:
    done = hardwon("run", tasks, "--model", script, "--feedback", "oracle", "--out", "out")
    assert {row["feedback"] for row in rows(tmp_path / "out")} == {"oracle"}
    for form in ("table", "markdown"):
        assert "oracle feedback" in hardwon("report", "out", "--format", form).stdout
    assert "oracle feedback" in done.stdout


def test_reports_say_the_same_in_every_form(hardwon: Hardwon, tasks: Path, script: str) -> None:
    hardwon("run", tasks, "--model", script, "--out", "out")
    (arm,) = json.loads(hardwon("report", "out", "--format", "json").stdout)["arms"]
    assert (arm["solved"], arm["graded"], arm["trials"]) == (2, 2, 1.5)
    tokens = f"{arm['tokens_per_solved']:,.0f}"
    for form in ("table", "markdown"):
        text = hardwon("report", "out", "--format", form).stdout
        assert "2 of 2 = 100.0%" in text
        assert "34.2% to 100.0%" in text
        assert tokens in text


def test_json_goes_to_standard_output_and_progress_does_not(hardwon: Hardwon, tasks: Path, script: str) -> None:
    done = hardwon("run", tasks, "--model", script, "--json", "--show")
    assert json.loads(done.stdout)["arms"][0]["solved"] == 2
    assert LESSON in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_without_a_folder_the_same_settings_find_their_run_again(
    hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path
) -> None:
    hardwon("run", tasks, "--model", script)
    again = hardwon("run", tasks, "--model", script)
    other = hardwon("run", tasks, "--model", script, "--trials", 5)
    assert "finished already" in again.stderr
    assert "finished already" not in other.stderr
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_samples_are_exported_for_both_harnesses(hardwon: Hardwon, tasks: Path, script: str) -> None:
    hardwon("run", tasks, "--model", script, "--out", "out")
    completions = [json.loads(line) for line in hardwon("export", "out", "--format", "humaneval").stdout.splitlines()]
    solutions = [json.loads(line) for line in hardwon("export", "out", "--format", "evalplus").stdout.splitlines()]
    assert [sample["task_id"] for sample in completions] == ["own/double", "own/largest"]
    assert all(set(sample) == {"task_id", "completion"} for sample in completions)
    assert "def largest" in solutions[1]["solution"]


def test_no_feedback_no_loop(hardwon: Hardwon, tmp_path: Path, script: str) -> None:
    blind = {
        "task_id": "own/double",
        "prompt": "Write double(x).",
        "entry_point": "double",
        "hidden_tests": ["assert double(1) == 2"],
    }
    (tmp_path / "blind.jsonl").write_text(json.dumps(blind))
    refused = hardwon("run", "blind.jsonl", "--model", script, "--feedback", "visible", "--out", "out")
    assert refused.returncode == 2
    assert "--fallback single" in refused.stderr
    assert not (tmp_path / "out").exists()
    done = hardwon(
        "run", "blind.jsonl", "--model", script, "--feedback", "visible", "--fallback", "single", "--out", "out"
    )
    assert done.returncode == 0, done.stderr
    assert "without a loop" in done.stderr
    (row,) = rows(tmp_path / "out")
    assert (row["stop"], row["trials"], row["feedback"], row["solved"]) == ("gate", 1, "none", True)


def test_generated_tests_allow_the_loop_and_are_labelled(hardwon: Hardwon, tmp_path: Path) -> None:
    blind = {
        "task_id": "own/double",
        "prompt": "Write double(x).",
        "entry_point": "double",
        "hidden_tests": ["assert double(1) == 2"],
    }
    (tmp_path / "blind.jsonl").write_text(json.dumps(blind))
    asserts = "assert double(2) == 4\nassert double(0) == 0\nassert double(5) == 10"
    replies = {
        "act": ["```python\ndef double(x):\n    return x\n```", "```python\ndef double(x):\n    return x * 2\n```"],
        "reflect": ["Nothing was multiplied: the argument came back untouched, so multiply."],
        "tests": [asserts],
    }
    (tmp_path / "s.json").write_text(json.dumps({"*": replies}))
    done = hardwon("run", "blind.jsonl", "--model", "script:s.json", "--out", "out")
    assert done.returncode == 0, done.stderr
    (row,) = rows(tmp_path / "out")
    assert (row["feedback"], row["solved"], row["trials"]) == ("generated", True, 2)
    assert "generated tests" in done.stdout


def test_a_replayed_run_has_the_same_results_without_a_model(
    hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path
) -> None:
    hardwon("run", tasks, "--model", script, "--out", "first")
    done = hardwon("run", tasks, "--model", "replay:first", "--out", "second")
    assert done.returncode == 0, done.stderr
    untimed: list[list[dict[str, Any]]] = [
        [{k: v for k, v in row.items() if k != "wall_s"} for row in rows(tmp_path / name)]
        for name in ("first", "second")
    ]
    assert untimed[0] == untimed[1]


def test_the_budget_of_each_task_ends_it_with_what_it_has(
    hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path
) -> None:
    hardwon("run", tasks, "--model", script, "--budget", "calls=2", "--out", "out")
    double, largest = rows(tmp_path / "out")
    assert (double["stop"], largest["stop"]) == ("solved", "budget")
    assert (largest["calls"], largest["solved"]) == (2, False) or largest["solved"] is True
    assert "max(xs)" in largest["submission"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "unknown suite"),
        (["jsonl"], "--data"),
        (["missing.jsonl"], "missing.jsonl"),
        (["starter", "--model", "telepathy:x"], "telepathy"),
        (["starter", "--model", "script:none.json"], "none.json"),
        (["starter", "--model", "openai:gpt-5-mini"], "OPENAI_API_KEY"),
        (["starter", "--strategy", "reflex"], "did you mean reflexion"),
        (["starter", "--set", "trails=3"], "trails"),
        (["starter", "--set", "trials"], "KEY=VALUE"),
        (["starter", "--trials", "0"], "trials"),
        (["starter", "--trials", "2", "--set", "trials=3"], "twice"),
        (["starter", "--budget", "tokens=many"], "tokens"),
        (["starter", "--feedback", "psychic"], "visible or generated or oracle"),
        (["starter", "--ids", "starter/none-such"], "none-such"),
        (["starter", "--sandbox", "cardboard"], "cardboard"),
        (["starter", "--prompts", "nowhere"], "nowhere"),
        (["starter", "--limit", "0"], "limit"),
        (["starter", "--no-such-option"], "no-such-option"),
        (["starter", "--seed", "99999999999999999999"], "seed"),
        (["starter", "--set", "retry_temperature=nan"], "retry_temperature"),
        (["starter", "--set", "retry_temperature=5"], "0 to 2"),
        ([], "SUITE"),
    ],
)
def test_bad_input_ends_in_one_line_with_exit_2_and_nothing_written(
    hardwon: Hardwon, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "s.json").write_text("{}")
    model = [] if "--model" in arguments else ["--model", "script:s.json"]
    done = hardwon("run", *arguments, *model, "--out", "out")
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_bad_lines_are_named_by_file_and_line(hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path) -> None:
    with tasks.open("a") as file:
        file.write("{not json}\n")
    done = hardwon("run", tasks, "--model", script, "--out", "out")
    assert done.returncode == 2
    assert "tasks.jsonl:3" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_dollar_budget_needs_a_known_price(hardwon: Hardwon, tasks: Path) -> None:
    done = hardwon("run", tasks, "--model", "http://127.0.0.1:9/v1#x", "--budget", "usd=1")
    assert done.returncode == 2
    assert "price" in done.stderr


def test_a_server_that_is_not_there_is_infrastructure_not_failure(
    hardwon: Hardwon, tasks: Path, tmp_path: Path
) -> None:
    done = hardwon("run", tasks, "--model", "http://127.0.0.1:9/v1#x", "--limit", 1, "--out", "out")
    assert done.returncode == 3, done.stderr
    (row,) = rows(tmp_path / "out")
    assert (row["solved"], row["stop"]) == (None, "error")


def test_the_config_file_gives_defaults_and_is_checked(
    hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'model = "{script}"\nworkers = 1\n')
    assert hardwon("run", tasks, env={"HARDWON_CONFIG": str(config)}).returncode == 0
    config.write_text('modle = "x"\n')
    done = hardwon("run", tasks, env={"HARDWON_CONFIG": str(config)})
    assert done.returncode == 2
    assert "config.toml: modle" in done.stderr


def test_prompts_of_ones_own_are_used_and_make_a_new_run(
    hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path
) -> None:
    (tmp_path / "mine" / "actors").mkdir(parents=True)
    (tmp_path / "mine" / "actors" / "program.txt").write_text("Solve {{ problem.id }} at once.")
    assert hardwon("run", tasks, "--model", script, "--prompts", "mine", "--out", "out").returncode == 0
    assert b"Solve own/double at once." in (tmp_path / "out" / "journal.sqlite").read_bytes() + (
        (tmp_path / "out" / "journal.sqlite-wal").read_bytes()
        if (tmp_path / "out" / "journal.sqlite-wal").exists()
        else b""
    )
    assert hardwon("run", tasks, "--model", script, "--out", "out").returncode == 2
    (tmp_path / "mine" / "actors" / "program.txt").write_text("Solve {{ problem.idd }}.")
    done = hardwon("run", tasks, "--model", script, "--prompts", "mine", "--out", "other")
    assert done.returncode == 2
    assert "idd" in done.stderr


def test_a_reply_that_is_no_valid_unicode_harms_no_result(hardwon: Hardwon, tasks: Path, tmp_path: Path) -> None:
    reply = "```python\ndef double(x): return 2 * x  # \\ud83d\n```"
    (tmp_path / "s.json").write_text('{"*": {"act": [' + json.dumps(reply).replace("\\\\ud83d", "\\ud83d") + "]}}")
    assert hardwon("run", tasks, "--model", "script:s.json", "--out", "out").returncode == 0
    assert rows(tmp_path / "out")[0]["solved"] is True
    assert hardwon("export", "out").returncode == 0


def test_odd_task_ids_are_sorted_and_kept(hardwon: Hardwon, tmp_path: Path) -> None:
    names = ["m²", "9" * 5000, "t10", "t2", "t02"]
    lines = [{"task_id": n, "prompt": "Write f.", "entry_point": "f", "tests": ["assert f() == 1"]} for n in names]
    (tmp_path / "odd.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "s.json").write_text('{"*": {"act": ["def f(): return 1"]}}')
    assert hardwon("run", "odd.jsonl", "--model", "script:s.json", "--out", "out").returncode == 0
    found = [row["task_id"] for row in rows(tmp_path / "out")]
    assert sorted(found) == sorted(names)
    assert found.index("t2") < found.index("t10")


def test_one_run_is_the_same_however_it_is_spelled(hardwon: Hardwon, tasks: Path, script: str) -> None:
    assert hardwon("run", "jsonl", "--data", tasks, "--model", script, "--out", "out").returncode == 0
    for spelling in (["tasks.jsonl"], [tasks], ["jsonl", "--data", "tasks.jsonl", "--feedback", "visible"]):
        done = hardwon("run", *spelling, "--model", script, "--out", "out")
        assert done.returncode == 0, done.stderr
        assert "2 of 2 tasks are finished already" in done.stderr


def test_an_edited_script_is_told(hardwon: Hardwon, tasks: Path, script: str, tmp_path: Path) -> None:
    hardwon("run", tasks, "--model", script, "--limit", 1, "--out", "out")
    (tmp_path / "script.json").write_text("{}")
    done = hardwon("run", tasks, "--model", script, "--out", "out")
    assert done.returncode == 0
    assert "has changed since this run began" in done.stderr


def test_output_that_can_not_be_written_is_one_line(tasks: Path, script: str, hardwon: Hardwon, tmp_path: Path) -> None:
    hardwon("run", tasks, "--model", script, "--out", "out")
    done = subprocess.run(
        f"{sys.executable} -m hardwon report out > /dev/full",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert hardwon("export", "out", "--output", "nowhere/samples.jsonl").returncode == 2
