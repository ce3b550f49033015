"""Induction: general items with evidence from what was verified; asked for once more, else dropped and counted."""

import asyncio
from collections.abc import Sequence

import pytest

from hardwon.memory.bank.induction import Induced, induce, label_of, objection, read_items
from hardwon.memory.bank.item import Provenance, Scope, problem_digest
from hardwon.models.protocol import Completion, Message, Usage
from hardwon.task import Problem
from hardwon.trial import Check, Feedback, Lesson, Source, Step, Submission, Trajectory, Trial, Verdict

PROBLEM = Problem(
    "t/1", "Write sum_pairs(xs) for the file 'orders.csv'; above 4096 give None.", "function", "sum_pairs"
)
GOOD = """Title: Test the empty case
Description: The empty case is the first to break.
Content: Before the loop, return what an empty input should give.
Applies: to functions over lists
Not for: generators
Evidence: trial 1"""
LESSON = Lesson("Guard the empty list.")


def trial(number: int, verdict: Verdict, source: Source = "grounded", reply: str = "def f(): ...") -> Trial:
    checks = (Check("empty_list", verdict),)
    return Trial(number, Trajectory(reply, reply), Feedback(verdict, float(verdict == "pass"), "said", checks, source))


class Replies:
    """Gives one reply after the other and keeps the prompts."""

    def __init__(self, *replies: str) -> None:
        self.prompts: list[str] = []
        self._replies = list(replies)

    async def __call__(self, messages: tuple[Message, ...], **given: object) -> Completion:
        self.prompts.append(messages[-1].content)
        return Completion(self._replies.pop(0), Usage(1, 1), "m")


def induced(trials: Sequence[Trial], replies: Replies, problem: Problem = PROBLEM) -> Induced:
    submission = Submission(trials[-1] if trials else None, "trials")
    origin, scope = Provenance("run", problem.id, "arm", 3), Scope("suite", problem.kind)
    return asyncio.run(
        induce(problem, trials, [LESSON], submission, label_of(problem, submission), origin, scope, replies)
    )


def test_an_item_carries_label_scope_and_what_it_rests_on() -> None:
    found = induced([trial(1, "fail"), trial(2, "pass")], Replies(GOOD.replace("trial 1", "trial 2, empty_list")))
    (item,) = found.items
    assert (found.label, found.labelled_by, found.dropped) == ("success", "tests", ())
    assert (item.title, item.applies, item.avoid) == ("Test the empty case", "to functions over lists", "generators")
    assert item.provenance == Provenance(
        "run", "t/1", "arm", 3, 2, ("trial 2", "empty_list"), problem_digest(PROBLEM.prompt), PROBLEM.prompt
    )
    assert (item.label, item.state, item.scope) == ("success", "provisional", Scope("suite", "function"))


def test_success_failure_and_different_outcomes_have_prompts_of_their_own() -> None:
    said = []
    for verdicts in (["pass"], ["fail"], ["fail", "pass"]):
        replies = Replies(GOOD)
        induced([trial(n, verdict) for n, verdict in enumerate(verdicts, 1)], replies)  # type: ignore[arg-type]
        said.append(replies.prompts[0])
    assert "is solved now" in said[0]
    assert "it failed" in said[1]
    assert "different outcomes" in said[2]
    assert ["Guard the empty list." in prompt for prompt in said] == [True, False, True]


@pytest.mark.parametrize(
    ("source", "kind", "who"),
    [("grounded", "function", "tests"), ("generated", "function", "generated tests"), ("oracle", "function", "oracle"),
     ("grounded", "game", "reward")],
)  # fmt: skip
def test_labels_come_from_what_the_loop_could_see(source: Source, kind: str, who: str) -> None:
    problem = Problem("t", "x", kind)  # type: ignore[arg-type]
    assert label_of(problem, Submission(trial(1, "fail", source), "trials")) == ("failure", who)
    assert label_of(problem, Submission(trial(1, "no_evidence", source), "gate")) == ("unknown", "nobody")
    assert label_of(problem, Submission(None, "budget")) == ("unknown", "nobody")


def test_without_evidence_or_without_content_nothing_is_asked_and_nothing_learned() -> None:
    for trials in ([], [trial(1, "no_evidence")], [trial(1, "fail", reply="  ")]):
        replies = Replies()
        assert induced(trials, replies).items == ()
        assert replies.prompts == []


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("I have no idea.", "holds no insight"),
        (GOOD.replace("Evidence: trial 1", ""), "cites no trial"),
        (GOOD.replace("trial 1", "trial 7"), "cites no trial"),
        (GOOD.replace("the loop", "sum_pairs"), "names this task's function"),
        (GOOD.replace("the loop", "'orders.csv'"), "this task's own"),
        (GOOD.replace("the loop", "4096"), "this task's own"),
        (GOOD.replace("Before the loop", "def g():\n    return 1\nBefore"), "contains a program"),
    ],
)
def test_what_is_not_kept_is_asked_for_once_more_and_else_dropped_and_counted(broken: str, reason: str) -> None:
    replies = Replies(broken, GOOD)
    found = induced([trial(1, "pass")], replies)
    assert [item.title for item in found.items] == ["Test the empty case"]
    assert len(found.dropped) == 1
    assert reason in found.dropped[0]
    assert found.dropped[0] in replies.prompts[1]
    assert (induced([trial(1, "pass")], Replies(broken, broken)).items, len(replies.prompts)) == ((), 2)


def test_at_most_three_items_are_kept_and_a_repeated_one_once() -> None:
    many = "\n\n".join(GOOD.replace("empty case", f"case {word}") for word in ("one", "one", "two", "six", "ten"))
    found = induced([trial(1, "pass")], Replies(many))
    assert [item.title for item in found.items] == ["Test the case one", "Test the case two"]


def test_items_are_read_in_the_forms_that_models_write() -> None:
    for text in (GOOD, GOOD.replace("Title:", "## **Title**:"), f"# Memory Item 1\n- {GOOD}\n", f"1. {GOOD}"):
        (draft,) = read_items(text.replace("\n", "\r\n").replace("\r", ""))
        assert (draft["title"], draft["not_for"]) == ("Test the empty case", "generators")


def test_a_plain_word_may_be_said_though_a_function_has_its_name() -> None:
    problem = Problem("t", "Write largest(xs).", "function", "largest")
    assert objection("The largest of an empty list fails.", problem) is None
    assert objection("Call largest(xs) first.", problem) is not None


def test_an_episode_is_shown_as_its_steps() -> None:
    problem = Problem("g", "Win.", "game")
    steps = (Step("look", "open door", "It is open."),)
    won = Trial(1, Trajectory(None, "", steps, True, 1.0), Feedback("pass", 1.0, "won", (), "grounded"))
    replies = Replies(GOOD)
    assert induced([won], replies, problem).labelled_by == "reward"
    assert "Action: open door" in replies.prompts[0]
