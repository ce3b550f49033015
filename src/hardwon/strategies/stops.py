"""Why a loop that goes on while its trials fail has stopped: what the last trial's verdict says."""

from __future__ import annotations

from collections.abc import Mapping

from hardwon.trial import Stop, Verdict

STOP: Mapping[Verdict, Stop] = {"pass": "solved", "fail": "trials", "no_evidence": "gate"}
"""A failed last trial means that there were as many as allowed; one without evidence ends the loop (law 2)."""
