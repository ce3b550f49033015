"""What the trials of one task say about self-written tests, without the hidden ones.

Independent programs that agree against a test speak against the test (the dual agreement of Chen et al. 2022, CodeT).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from hardwon.trial import Trial

_AGREE = 2
"""So many different programs with the same answer outvote a self-written test."""


def upheld(trials: Sequence[Trial]) -> bool | None:
    """Whether self-written tests that refused a program were right in the end; None where nothing tells.

    True when a later trial passes all evidence; False when two different programs that pass everything else give the
    same answer against the same test.
    """
    refused = [trial for trial in trials if only_generated_fails(trial)]
    if not refused:
        return None
    if trials[-1].feedback.verdict == "pass":
        return True
    against: defaultdict[tuple[str | None, str | None], set[str | None]] = defaultdict(set)
    for trial in refused:
        for check in trial.feedback.failing:
            if check.observed is not None:
                against[check.call, check.observed].add(trial.trajectory.output)
    return False if any(len(programs) >= _AGREE for programs in against.values()) else None


def only_generated_fails(trial: Trial) -> bool:
    """Whether a trial failed on self-written tests and on nothing else."""
    failing = trial.feedback.failing
    return bool(failing) and all(check.source == "generated" for check in failing)
