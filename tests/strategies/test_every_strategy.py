"""What every strategy promises: laws 2 and 5, the shared first attempt, resumption, and what its file may hold."""

import ast
import asyncio
import statistics
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies.watched import LESSONS, Watched, open_session, programs, run

import hardwon.strategies
from hardwon.errors import ModelError, UsageError
from hardwon.record import MemoryRecord
from hardwon.runs.runner import solve
from hardwon.strategies.registry import make_strategy, strategies
from hardwon.trial import Submission

FOLDER = Path(hardwon.strategies.__file__).parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem in strategies())
LOOPS = [name for name in NAMES if name != "single"]
VARIANTS: list[tuple[str, dict[str, str]]] = [
    *((name, {}) for name in NAMES),
    ("reflexion", {"show": "best", "memory": "1"}),
    ("placebo", {"lesson": "none"}),
    ("tree_of_thoughts", {"search": "depth"}),
    ("tree_of_thoughts", {"proposals": "propose"}),
]


def test_every_strategy_lies_in_the_file_of_its_name() -> None:
    assert {name: kind.name for name, kind in strategies().items()} == {name: name for name in strategies()}
    assert sorted(strategies()) == NAMES


def test_an_unknown_name_is_answered_with_the_list() -> None:
    with pytest.raises(UsageError) as caught:
        make_strategy("best_of_m")
    assert "did you mean best_of_n" in str(caught.value)
    assert all(name in str(caught.value) for name in NAMES)


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("best_of_n", "trials", 0),
        ("self_consistency", "temperature", 2.5),
        ("self_refine", "retry_temperature", float("nan")),
        ("reflexion", "memory", 0),
        ("placebo", "patience", 0),
        ("tree_of_thoughts", "threshold", 1.5),
        ("tree_of_thoughts", "beam", 0),
        ("uniform_cost", "branch", -1),
    ],
)
def test_a_setting_out_of_its_range_is_refused_by_name(name: str, setting: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{setting}={value}"):
        strategies()[name](**{setting: value})


@pytest.mark.parametrize("name", LOOPS)
@given(numbers=st.lists(st.integers(0, 9), min_size=1, max_size=8), few=st.integers(1, 8), more=st.integers(1, 8))
@settings(max_examples=15)
def test_the_best_on_visible_evidence_is_handed_in_and_more_trials_never_make_it_worse(
    name: str, numbers: list[int], few: int, more: int
) -> None:
    scores = []
    for cap in sorted((few, more)):
        submission, session, _ = run(make_strategy(name, {"trials": str(cap)}), programs(*numbers), 9)
        assert submission.trial is not None
        assert len(session.trials) <= cap
        assert submission.trial.feedback.score == max(trial.feedback.score for trial in session.trials)
        assert (submission.stop == "solved") == (submission.trial.feedback.verdict == "pass")
        scores.append(submission.trial.feedback.score)
    assert scores[0] <= scores[1]


def test_the_first_attempt_is_the_same_in_all_strategies() -> None:
    first = [run(make_strategy(name), programs(1, 2, 9), 9)[2].requests[0] for name in NAMES]
    assert all(request == first[0] for request in first)


def test_the_nth_fresh_sample_is_the_same_call_wherever_one_is_drawn() -> None:
    sampling = [make_strategy(name) for name in ("best_of_n", "self_consistency", "tree_of_thoughts")]
    drawn = [run(strategy, programs(1, 2, 3, 4), 9)[2].requests[:3] for strategy in sampling]
    assert drawn[0] == drawn[1] == drawn[2]


@pytest.mark.parametrize("name", NAMES)
def test_what_needs_feedback_makes_one_call_where_there_is_none(name: str) -> None:
    strategy = make_strategy(name)
    submission, session, _ = run(strategy, programs(1, 2), None)
    assert submission.trial is not None
    if strategy.needs_feedback:
        assert (submission.stop, session.ledger.calls) == ("gate", 1)


def sitting(name: str, given: dict[str, str], record: MemoryRecord, lasts: int | None = None) -> tuple[Watched, object]:
    """One sitting over a record: the model, and the submission, or None if the model broke down."""
    model = Watched({"act": programs(1, 2, 3, 4, 2, 5, 6, 7), "reflect": [*LESSONS, "1. Count.\n2. Guess."]}, lasts)
    submission: Submission | None = None
    try:
        submission = asyncio.run(solve(make_strategy(name, given), open_session(model, 9, record=record)))
    except ModelError:
        assert lasts is not None
    return model, submission


@pytest.mark.parametrize(("name", "given"), VARIANTS)
def test_a_finished_record_is_replayed_without_a_call_to_the_same_submission(name: str, given: dict[str, str]) -> None:
    record = MemoryRecord()
    first, submission = sitting(name, given, record)
    again, same = sitting(name, given, record)
    assert first.requests
    assert not again.requests
    assert submission == same


@pytest.mark.parametrize(("name", "given"), VARIANTS)
def test_broken_off_anywhere_it_goes_on_as_if_nothing_had_happened(name: str, given: dict[str, str]) -> None:
    whole, submission = sitting(name, given, MemoryRecord())
    for lasts in range(len(whole.requests)):
        record = MemoryRecord()
        before, _ = sitting(name, given, record, lasts)
        after, same = sitting(name, given, record)
        assert before.requests + after.requests == whole.requests
        assert same == submission


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


WORDS = {"hardwon.session", "hardwon.trial", "hardwon.task", "hardwon.errors"}
PLAIN = {
    "__future__",
    "ast",
    "collections",
    "collections.abc",
    "contextlib",
    "dataclasses",
    "heapq",
    "random",
    "typing",
}
SEARCH = {"treequest", "numpy"}
"""`ab_mcts` alone: the search is theirs."""


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_a_strategy_imports_the_session_and_the_words_and_nothing_that_reads_writes_or_counts(path: Path) -> None:
    ours = {name for name in imports(path) if name.startswith("hardwon.strategies.")}
    allowed = WORDS | PLAIN | ours | (SEARCH if path.stem == "ab_mcts" else set())
    if path.stem == "registry":
        allowed |= {"types", "difflib", "importlib", "importlib.metadata"}
    assert imports(path) <= allowed
    names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
    assert not names & {"open", "print", "input", "exec", "eval"}


@pytest.mark.parametrize("name", NAMES)
def test_a_strategy_holds_no_prompt_text(name: str) -> None:
    tree = ast.parse((FOLDER / f"{name}.py").read_text())
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    said |= {id(arg) for node in ast.walk(tree) if isinstance(node, ast.Call) and _explains(node) for arg in node.args}
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said
    ]
    assert not [text for text in texts if len(text.split()) > 4]


def _explains(call: ast.Call) -> bool:
    """Whether a call tells a person why: an error, or a decision for the report."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in ("UsageError", "ValueError", "decide")


def test_half_of_the_strategies_are_shorter_than_80_lines() -> None:
    assert statistics.median(len((FOLDER / f"{name}.py").read_text().splitlines()) for name in NAMES) < 80
