"""`hardwon audit`: how far a suite's evaluators can be trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hardwon.cli import options as o


def audit(
    suite: o.SuiteName,
    data: o.Data = None,
    limit: o.Limit = None,
    ids: o.Ids = None,
    feedback: Annotated[
        str, typer.Option("--feedback", help="What a loop would use, visible or oracle: that is examined.")
    ] = "visible",
    mutants: Annotated[
        int, typer.Option("--mutants", min=0, max=10_000, help="Most mutants of each task's known solution.")
    ] = 20,
    reruns: Annotated[
        int, typer.Option("--reruns", min=1, max=1_000, help="Times that one program is checked, to find flaky tests.")
    ] = 3,
    sandbox: o.SandboxName = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the whole finding to this file, as JSON.")] = None,
    as_json: o.Json = False,
) -> None:
    """Attack each task's evaluators with wrong programs, and say what they let through.

    Trivial answers, objects that equal everything, early exits, a table of the shown answers, and mutants of the known
    solution. No model is asked.
    """
    from hardwon.cli.auditing import AuditOptions, examine_suite

    examine_suite(
        AuditOptions(
            suite=suite,
            data=data,
            limit=limit,
            ids=o.id_list(ids),
            feedback=o.one_of("--feedback", feedback, ("visible", "oracle")),
            mutants=mutants,
            reruns=reruns,
            sandbox=o.one_of("--sandbox", sandbox, o.SANDBOXES),
            out=out,
            as_json=as_json,
        )
    )
