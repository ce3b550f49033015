"""Induction: from a finished task to at most three items for the bank (Ouyang et al. 2025, sections 3.2 and 3.3).

Success and failure have prompts of their own, and trials with different outcomes are contrasted. What a model writes is
read, judged by the guard below, asked for once more if need be, and else dropped and counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hardwon.actors.history import transcript
from hardwon.actors.protocol import Generate
from hardwon.errors import UsageError
from hardwon.evaluators.verdict import cut
from hardwon.memory.bank.item import Item, Label, Labeller, Provenance, Scope, asked_in, problem_digest
from hardwon.models.protocol import Message
from hardwon.prompts import render
from hardwon.reflection.guard import holds_program as holds_program
from hardwon.task import Problem
from hardwon.trial import Lesson, Source, Submission, Trial

MOST = 3
"""Items of one task (the paper's setting)."""
MOST_TOKENS = 640
_TRIALS = 5
_LONGEST = 2500
_LONGEST_SAID = 600
_FIELD = re.compile(
    r"^[ \t>*_#-]*(?:\d+[.)][ \t]*)?[*_]*(title|description|content|applies|not[ _]for|evidence)[*_ \t]*:[*_ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_VALUE = re.compile(r"\"[^\"\n]{3,}\"|'[^'\n]{3,}'|\b\d{3,}\b|\b\w*[a-z]_[a-z]\w*\b|\b[a-z]+[A-Z]\w+\b")
_LABELLERS: dict[Source, Labeller] = {
    "grounded": "tests", "generated": "generated tests", "oracle": "oracle", "none": "nobody"
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Induced:
    """What a task taught: its label, who gave it, the items, and why others were dropped, in order."""

    label: Label
    labelled_by: Labeller
    items: tuple[Item, ...] = ()
    dropped: tuple[str, ...] = ()


def label_of(problem: Problem, submission: Submission) -> tuple[Label, Labeller]:
    """How the task went on what the loop could see, and who says so. The hidden grader has no word in it (law 1)."""
    trial = submission.trial
    if trial is None or trial.feedback.verdict == "no_evidence":
        return "unknown", "nobody"
    who = _LABELLERS[trial.feedback.source]
    return (
        "success" if trial.feedback.verdict == "pass" else "failure",
        "reward" if who == "tests" and problem.kind == "game" else who,
    )


async def induce(
    problem: Problem,
    trials: Sequence[Trial],
    lessons: Sequence[Lesson],
    submission: Submission,
    labelled: tuple[Label, Labeller],
    origin: Provenance,
    scope: Scope,
    generate: Generate,
    most: int = MOST,
) -> Induced:
    """Asks for the items of a finished task, once more where the guard objects to some.

    `labelled` is the submission's label and who gave it. Nothing is asked of a task whose label is unknown, or whose
    submission holds nothing: it teaches nothing.
    """
    label, who = labelled
    handed_in = submission.trial
    if label == "unknown" or handed_in is None or not _told(handed_in):
        return Induced(label, who)
    seen = [trial for trial in trials if trial.feedback.verdict != "no_evidence" and _told(trial)]
    shown = _chosen(seen, handed_in)
    form = "contrast" if len({trial.feedback.verdict for trial in shown}) > 1 else label
    values = {
        "problem": problem,
        "attempts": [_attempt(trial, label) for trial in shown],
        "lesson": lessons[-1].text if lessons and label == "success" else "",
        "most": most,
    }
    origin = replace(
        origin, trial=handed_in.number, problem=problem_digest(problem.prompt), asked=asked_in(problem.prompt)
    )
    dropped: list[str] = []
    kept: list[Item] = []
    for _ in range(2):
        prompt = render(f"memory/{form}", rejected=dropped[-1] if dropped else "", **values)
        reply = (await generate((Message("user", prompt),), max_tokens=MOST_TOKENS)).text
        drafts = read_items(reply)
        faults = []
        for draft in drafts[:most]:
            item, fault = _made(draft, problem, shown, label, who, origin, scope, kept)
            if item is not None:
                kept.append(item)
            elif fault is not None:
                faults.append(fault)
        faults += [] if drafts else ["holds no insight in that form"]
        dropped += faults
        if kept or not faults:
            break
    return Induced(label, who, tuple(kept[:most]), tuple(dropped))


def read_items(reply: str) -> list[dict[str, str]]:
    """The items in a reply, as their labelled fields; a new title begins a new one."""
    found: list[dict[str, str]] = []
    marks = list(_FIELD.finditer(reply))
    for n, mark in enumerate(marks):
        name = mark[1].lower().replace(" ", "_")
        end = marks[n + 1].start() if n + 1 < len(marks) else len(reply)
        text = reply[mark.end() : end].strip().strip("*_`# \n\t-")
        if name == "title":
            found.append({})
        if found and name not in found[-1]:
            found[-1][name] = text
    return [draft for draft in found if draft.get("content")]


def objection(text: str, problem: Problem) -> str | None:
    """Why a text is not general enough to keep, as the end of a sentence; None when it is."""
    if holds_program(text):
        return "contains a program instead of advice"
    if problem.entry_point and _names(text, problem.entry_point):
        return f"names this task's function {problem.entry_point}"
    asked = "\n".join((problem.prompt, *problem.examples))
    for value in _VALUE.findall(text):
        if value.strip("\"'") in asked:
            return f"holds {value}, which is this task's own"
    return None


def _names(text: str, function: str) -> bool:
    """Whether a text speaks of a function; a name that is a plain word has to look like code."""
    name = re.escape(function)
    plain = function.isalpha() and function.islower()
    return re.search(rf"`{name}`|\b{name}\(" if plain else rf"\b{name}\b", text) is not None


def _made(
    draft: dict[str, str],
    problem: Problem,
    trials: Sequence[Trial],
    label: Label,
    who: Labeller,
    origin: Provenance,
    scope: Scope,
    earlier: Sequence[Item],
) -> tuple[Item | None, str | None]:
    texts = {name: " ".join(draft.get(name, "").split()) for name in ("title", "description", "applies", "not_for")}
    content = draft["content"]
    evidence = _cited(draft.get("evidence", ""), trials)
    if not evidence:
        return None, "cites no trial or check as its evidence"
    if (fault := objection("\n".join((*texts.values(), content)), problem)) is not None:
        return None, fault
    try:
        item = Item(
            title=cut(texts["title"], 120),
            description=cut(texts["description"], 400),
            content=cut(content, 1200),
            applies=cut(texts["applies"], 400),
            avoid=cut(texts["not_for"], 400),
            label=label,
            labelled_by=who,
            scope=scope,
            provenance=replace(origin, evidence=evidence),
        )
    except UsageError as error:
        return None, f"is malformed ({error})"
    if any(item.text == other.text for other in earlier):
        return None, None
    return item, None


def _cited(text: str, trials: Sequence[Trial]) -> tuple[str, ...]:
    """The trials and checks that the text names, of those that there are."""
    found = [
        f"trial {trial.number}" for trial in trials if re.search(rf"\btrials?\W{{0,3}}{trial.number}\b", text, re.I)
    ]
    names = {check.name for trial in trials for check in trial.feedback.checks}
    return (*found, *sorted(name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)))


def _chosen(trials: Sequence[Trial], submitted: Trial) -> list[Trial]:
    """At most five: the submission and the last before it, those of another outcome first."""
    others = [trial for trial in trials if trial.number != submitted.number]
    others.sort(key=lambda trial: (trial.feedback.verdict == submitted.feedback.verdict, -trial.number))
    return sorted([submitted, *others[: _TRIALS - 1]], key=lambda trial: trial.number)


def _told(trial: Trial) -> str:
    made = trial.trajectory
    if made.steps:
        return transcript(made, opened=True)
    return (made.output or made.reply).strip()


def _attempt(trial: Trial, label: Label) -> dict[str, object]:
    """A trial for the prompt; one without evidence has the label that a judge gave it."""
    verdict = trial.feedback.verdict
    succeeded = verdict == "pass" or (verdict == "no_evidence" and label == "success")
    return {
        "number": trial.number,
        "label": f"{'it seems that ' if verdict == 'no_evidence' else ''}it {'succeeded' if succeeded else 'failed'}",
        "text": cut(_told(trial), _LONGEST),
        "said": "" if verdict != "fail" else cut(trial.feedback.text, _LONGEST_SAID),
    }
