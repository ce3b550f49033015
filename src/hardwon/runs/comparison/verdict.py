"""What the numbers say, in whole sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hardwon.runs.comparison.cells import NAMES, percents, points, probability, tidy, times
from hardwon.runs.comparison.result import ArmResult, Comparison, Difference, Judgement

_DEARER = 1.05
"""Spending at least so many times the baseline's is called dearer; it shows as 1.1 times."""


_SMALL = 0.05
"""A difference of solve rates that is taken for too small to pay, whatever it is."""


def judged(found: Difference, confidence: float, *, several: bool) -> Difference:
    """The difference with its verdict and sentence; `several` says that p was adjusted for more than one."""
    verdict = _verdict(found, confidence)
    return replace(found, verdict=verdict, sentence=_sentence(found, verdict, confidence, several))


def _verdict(found: Difference, confidence: float) -> Judgement:
    if not found.difference or found.p_adjusted >= 1 - confidence:
        return "no difference shown"
    return "better" if found.difference > 0 else "worse"


def _sentence(found: Difference, verdict: Judgement, confidence: float, several: bool) -> str:
    arm, baseline = found.arm, found.baseline
    if found.difference is None or found.interval is None:
        return f"no difference shown between {arm} and {baseline}: no task is graded in both."
    p = probability(found.p_adjusted)
    facts = (
        f"{100 * confidence:g} % interval {percents(found.interval)}, p {p if p.startswith('<') else f'= {p}'}"
        f"{' after Holm' if several else ''}, {found.won} won, {found.lost} lost"
    )
    price = "" if found.times is None else f", at {times(found.times)} times the {NAMES[found.unit]}"
    price += "; oracle feedback" if found.oracle_feedback else ""
    if verdict == "no difference shown":
        return f"no difference shown between {arm} and {baseline} ({points(found.difference)} points, {facts}){price}."
    size = tidy(100 * abs(found.difference))
    return f"{arm} solves {size} points {'more' if verdict == 'better' else 'less'} than {baseline} ({facts}){price}."


def remarks(comparison: Comparison) -> tuple[str, ...]:
    """What a reader has to know beside the numbers, as whole sentences."""
    return (
        *(_did_not_pay(found) for found in comparison.differences if _dear_for_nothing(found)),
        *_labels(comparison.arms),
        *_gaps(comparison),
        *_money(comparison),
    )


def _dear_for_nothing(found: Difference) -> bool:
    return found.verdict != "better" and found.pairs > 0 and found.times is not None and found.times >= _DEARER


def _did_not_pay(found: Difference) -> str:
    """A loss, or a gain that is small at best, did not pay; where the data can not tell, that is what it says."""
    price = f"{times(found.times)} times the {NAMES[found.unit]} of {found.baseline}"
    if found.verdict == "worse":
        return f"{found.arm}: it did not pay: {price}, and it solves less."
    if found.interval is not None and found.interval[1] < _SMALL:
        most = tidy(100 * max(0.0, found.interval[1]))
        return f"{found.arm}: it did not pay: {price}, and it solves at most {most} points more."
    return f"{found.arm}: not shown to pay: {price}, and not shown to solve more; these tasks are too few to tell."


def _labels(arms: Sequence[ArmResult]) -> Iterator[str]:
    if oracle := [arm.arm for arm in arms if arm.oracle]:
        yield (
            f"oracle feedback ({_all_or(oracle, arms)}): a loop saw the hidden answer's verdict; not comparable with"
            " blind runs."
        )
    if generated := [arm.arm for arm in arms if arm.feedback.get("generated")]:
        yield f"generated feedback ({', '.join(generated)}): the loop went by vetted tests that the model itself wrote."
    if voted := [f"{arm.arm} {arm.votes}" for arm in arms if arm.votes]:
        yield f"Choices made by model vote are ungrounded: no evidence stands behind them ({', '.join(voted)})."
    if any(arm.graded_on.get("visible") for arm in arms):
        yield "Some tasks hide nothing from the loop: what it saw grades them (tests, a game, rules)."


def _all_or(named: Sequence[str], arms: Sequence[ArmResult]) -> str:
    return "all arms" if len(named) == len(arms) > 1 else ", ".join(named)


def _gaps(comparison: Comparison) -> Iterator[str]:
    if len({arm.rows for arm in comparison.arms}) > 1:
        yield (
            "The run is not finished: its arms have not all worked the same tasks, so their rates can not be held"
            " beside each other yet; the paired differences can."
        )
    if left_out := [f"{found.arm} {found.left_out}" for found in comparison.differences if found.left_out]:
        yield (
            f"Pairs of task and seed left out of the differences, because they are not graded in both the arm and"
            f" {comparison.baseline}: {', '.join(left_out)}."
        )
    if any(arm.errors for arm in comparison.arms):
        yield "Errors are neither solved nor unsolved; the same command tries those tasks again."
    if not comparison.budget:
        yield "No budget was set: the arms spent what they liked, so this is no comparison at equal budget."
    elif comparison.limit is None:
        limited = ", ".join(comparison.budget)
        yield f"The budget limits {limited}, which no curve can follow here: {comparison.unit} are counted instead."
    if over := sum(arm.over for arm in comparison.arms):
        rows, most = sum(arm.rows for arm in comparison.arms), max(arm.most_over for arm in comparison.arms)
        yield (
            f"{over} of {rows} rows went over the budget of {comparison.budget['tokens']:,.0f} tokens, by at most"
            f" {most:,}: the provider counted more tokens than were estimated before the call."
        )
    if any(arm.usd is None for arm in comparison.arms):
        yield "A price is not known: costs in dollars show as ?."


def _money(comparison: Comparison) -> Iterator[str]:
    alone = sum(arm.tokens.total for arm in comparison.arms)
    shared = sum(arm.tokens.shared or 0 for arm in comparison.arms)
    if shared:
        yield (
            f"Run alone the arms would have cost {alone:,.0f} tokens together; {alone - shared:,.0f} were paid, because"
            " identical calls are made once."
        )
