"""`tree_of_thoughts` and `uniform_cost`: the order in which states are expanded, and where the search ends."""

import pytest
from tests.strategies.watched import LESSONS, Watched, programs, run

from hardwon.budget import Budget
from hardwon.strategies.tree_of_thoughts import TreeOfThoughts
from hardwon.strategies.uniform_cost import UniformCost
from hardwon.trial import Check, Feedback, Trajectory

WAYS = ["1. Count upwards.\n2. Look it up in a table.\n3. Ask a friend."]


def parents(model: Watched) -> list[str | None]:
    """The constant of the program that each attempt was shown."""
    shown = [prompt.partition("return ")[2][:1] for prompt in model.prompts("act")]
    return [constant or None for constant in shown]


def test_breadth_first_expands_the_best_states_of_each_layer() -> None:
    strategy = TreeOfThoughts(trials=12, branch=3, beam=2, depth=2)
    submission, session, model = run(strategy, programs(3, 1, 5, 2, 4, 0, 6, 2, 2, 7), 9)
    assert parents(model) == [None] * 3 + ["5"] * 3 + ["3"] * 3
    assert submission.stop == "plateau"
    assert submission.trial == session.trials[6]


def test_the_trial_cap_ends_a_search_within_a_layer() -> None:
    submission, session, _ = run(TreeOfThoughts(trials=4, branch=3), programs(1, 2, 3, 4, 9), 9)
    assert submission.stop == "trials"
    assert len(session.trials) == 4


def test_depth_first_follows_the_best_child_and_backtracks() -> None:
    strategy = TreeOfThoughts(search="depth", branch=2, depth=3, trials=9)
    _, _, model = run(strategy, programs(1, 5, 2, 4, 3, 3, 3, 3, 3), 9)
    assert parents(model) == [None, None, "5", "5", "4", "4", "2", "2", "1"]


def test_depth_first_prunes_states_below_the_threshold() -> None:
    strategy = TreeOfThoughts(search="depth", branch=2, depth=3, threshold=0.5)
    submission, _, model = run(strategy, programs(1, 5, 2, 3), 9)
    assert parents(model) == [None, None, "5", "5"]
    assert submission.stop == "plateau"


@pytest.mark.parametrize("search", ["breadth", "depth"])
def test_a_tree_searched_through_is_a_plateau(search: str) -> None:
    submission, session, _ = run(TreeOfThoughts(search=search, depth=1), programs(1, 2, 3), 9)  # type: ignore[arg-type]
    assert submission.stop == "plateau"
    assert len(session.trials) == 3


@pytest.mark.parametrize("search", ["breadth", "depth"])
@pytest.mark.parametrize("at", [1, 2, 3, 4, 6])
def test_a_pass_anywhere_ends_the_search(search: str, at: int) -> None:
    acts = programs(*range(at - 1), 9, 8, 8)
    submission, session, _ = run(TreeOfThoughts(search=search), acts, 9)  # type: ignore[arg-type]
    assert submission.stop == "solved"
    assert submission.trial == session.trials[-1]
    assert len(session.trials) == at


def test_children_can_follow_proposed_ways_after_one_plain_attempt() -> None:
    strategy = TreeOfThoughts(proposals="propose", branch=3, trials=6)
    _, _, model = run(strategy, programs(5, 1, 2, 3, 4, 0), 9, reflect=WAYS)
    assert model.roles == ["act", "reflect", "act", "act", "reflect", "act", "act", "act"]
    followed = [
        [way in prompt for way in ("Count", "table", "friend")].index(True) for prompt in model.prompts("act")[1:]
    ]
    assert followed == [0, 1, 0, 1, 2]
    assert "return 5" in model.prompts("reflect")[1]


def test_a_reply_that_proposes_nothing_leaves_plain_samples() -> None:
    _, session, _ = run(TreeOfThoughts(proposals="propose", trials=5), programs(1, 2), 9, reflect=["I do not know."])
    assert len(session.trials) == 5


def test_without_evidence_the_model_votes_and_the_gate_says_so() -> None:
    submission, session, model = run(TreeOfThoughts(branch=3), programs(1, 2, 3), None, judge=("2",))
    assert submission.stop == "gate"
    assert submission.trial == session.trials[1]
    assert model.roles == ["act", "act", "act", "judge"]
    assert session.votes == 1


def test_one_candidate_needs_no_vote() -> None:
    submission, session, _ = run(TreeOfThoughts(trials=1), programs(1), None)
    assert (submission.trial, session.votes) == (session.trials[0], 0)


class Digits:
    """An evaluator with a check for each of three places: the constant's digits say what passes (1) and fails (0)."""

    source = "grounded"

    async def check(self, trajectory: Trajectory, ask: object = None) -> Feedback:
        digits = (trajectory.output or "").rpartition("return ")[2].strip()
        checks = tuple(Check(f"c{n}", "pass" if digit == "1" else "fail") for n, digit in enumerate(digits))
        score = digits.count("1") / len(digits)
        return Feedback("pass" if score == 1 else "fail", score, f"{digits} of the checks", checks)


def expanded(model: Watched) -> list[str]:
    return [prompt.partition("return ")[2][:3] for prompt in model.prompts("reflect")]


def test_the_cheapest_path_goes_first_and_among_equals_the_fewest_failing_checks() -> None:
    acts = programs("200", "210", "211", "122", "121", "112")
    submission, _, model = run(UniformCost(branch=2, trials=6), acts, Digits())  # type: ignore[arg-type]
    assert expanded(model) == ["200", "211", "210"]
    assert submission.stop == "trials"


def test_equal_outcomes_are_one_state_that_is_expanded_once() -> None:
    acts = programs("200", "210", "010", "200", "020", "210")
    submission, session, model = run(UniformCost(branch=2), acts, Digits())  # type: ignore[arg-type]
    assert expanded(model) == ["200", "210"]
    assert submission.stop == "plateau"
    assert len(session.trials) == 5


def test_an_expansion_reflects_once_and_its_samples_see_the_lesson_and_the_program() -> None:
    _, _, model = run(UniformCost(branch=2, trials=3), programs(1, 2, 3), 9)
    assert model.roles == ["act", "reflect", "act", "act"]
    for prompt in model.prompts("act")[1:]:
        assert LESSONS[0] in prompt
        assert "return 1" in prompt
        assert "returned 1" in prompt


def test_a_pass_ends_the_search_by_cost() -> None:
    submission, session, _ = run(UniformCost(), programs(1, 9, 2), 9)
    assert submission.stop == "solved"
    assert submission.trial == session.trials[1]
    assert len(session.trials) == 2


@pytest.mark.parametrize("strategy", [TreeOfThoughts(), UniformCost()], ids=repr)
def test_a_budget_that_ends_midway_hands_in_the_best(strategy: TreeOfThoughts | UniformCost) -> None:
    submission, session, _ = run(strategy, programs(3, 7, 1, 2, 5), 9, Budget(calls=4))
    assert submission.stop == "budget"
    assert submission.trial == session.trials[1]
