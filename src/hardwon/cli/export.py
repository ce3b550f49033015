"""`hardwon export`: a run's submissions for other harnesses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hardwon.runs.journal import Journal
    from hardwon.runs.row import Row

_FORMS = ("humaneval", "evalplus", "answers", "swebench", "trajectories")


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")],
    form: Annotated[str, typer.Option("--format", help=f"{', '.join(_FORMS[:-1])} or {_FORMS[-1]}.")] = "humaneval",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Where to write; default: standard output. Of trajectories a folder, and needed."
        ),
    ] = None,
    arm: Annotated[str | None, typer.Option("--arm", help="Which arm, where the run has several.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Which seed, where the run has several.")] = None,
) -> None:
    """Write a run's submissions as others grade them, or its attempts as others read them.

    humaneval, evalplus: samples for the package of that name. answers: a file of predictions as HotpotQA's. swebench:
    predictions for sb-cli and the SWE-bench harness, one JSON object, or JSON lines where the output ends in .jsonl.
    trajectories: mini-SWE-agent's traj.json.
    """
    from hardwon.errors import UsageError
    from hardwon.runs.folder import read_config
    from hardwon.runs.journal import FILE, Journal
    from hardwon.runs.results import rows as results

    if form not in _FORMS:
        raise UsageError(f"--format {form}: unknown; choose {', '.join(_FORMS[:-1])} or {_FORMS[-1]}")
    if form == "trajectories" and output is None:
        raise UsageError("--format trajectories: writes a folder; give one with --output")
    model = str(read_config(folder)["settings"].get("model"))
    journal = Journal(folder / FILE, read_only=True)
    try:
        rows = _of_one_side(list(results(journal)), arm, seed)
        if form == "trajectories" and output is not None:
            _write_trajectories(journal, rows, model, output)
            return
        text = _text(journal, rows, model, form, lines=output is not None and output.suffix == ".jsonl")
    finally:
        journal.close()
    _write(text, output)


def _of_one_side(rows: list[Row], arm: str | None, seed: int | None) -> list[Row]:
    """The rows of one arm and seed. Raises UsageError for one that is not there, and where there are several."""
    from hardwon.errors import UsageError

    arms = sorted({row.arm for row in rows})
    if arm is not None and arm not in arms:
        raise UsageError(f"--arm {arm}: the run has no such arm; it has {', '.join(arms) or 'none yet'}")
    if arm is None and len(arms) > 1:
        raise UsageError(f"the run has several arms; choose one with --arm: {', '.join(arms)}")
    seeds = sorted({row.seed for row in rows if arm in (None, row.arm)})
    if seed is not None and seed not in seeds:
        raise UsageError(f"--seed {seed}: the run has no such seed; it has {', '.join(map(str, seeds)) or 'none yet'}")
    if seed is None and len(seeds) > 1:
        raise UsageError(f"the run has several seeds; choose one with --seed: {', '.join(map(str, seeds))}")
    return [row for row in rows if arm in (None, row.arm) and seed in (None, row.seed)]


def _text(journal: Journal, rows: list[Row], model: str, form: str, *, lines: bool) -> str:
    from hardwon.errors import UsageError
    from hardwon.runs.export import answers, samples
    from hardwon.runs.predictions import as_lines, as_object, predictions_of

    kinds = _of_tasks(journal, "kind")
    if form == "swebench":
        strangers = [row.task_id for row in rows if kinds.get(row.task_id) != "repository"]
        if strangers:
            raise UsageError(
                f"--format swebench: {strangers[0]} is no work in a repository; choose humaneval or evalplus"
            )
        found = predictions_of(journal, rows, model)
        return as_lines(found) if lines else as_object(found)
    strangers = [row.task_id for row in rows if (kinds.get(row.task_id) == "question") != (form == "answers")]
    if strangers:
        held = kinds.get(strangers[0])
        mend = {"question": "answers", "repository": "swebench", "game": "trajectories"}.get(str(held), "humaneval")
        raise UsageError(f"--format {form}: {strangers[0]} is a task of kind {held}; choose {mend}")
    if form == "answers":
        return answers(rows)
    return samples(rows, form, _of_tasks(journal, "prompt"))


def _of_tasks(journal: Journal, name: str) -> dict[str, str]:
    """What the journal tells of each task under a name. Raises UsageError where it tells nothing of one."""
    from hardwon.errors import UsageError

    found = {}
    for key, _, task in journal.payloads("task"):
        value = task.get(name)
        if not isinstance(value, str):
            raise UsageError(
                f"{journal.path}: task {key.task_id} has no {name}: of another version; export it with that"
            )
        found[key.task_id] = value
    return found


def _write_trajectories(journal: Journal, rows: list[Row], model: str, folder: Path) -> None:
    from hardwon.errors import UsageError
    from hardwon.runs.folder import write_text
    from hardwon.runs.trajectories import attempts

    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--output {folder}: is a file; give a folder")
    count = 0
    for place, text in attempts(journal, rows, model):
        try:
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--output {folder}: {error.strerror}; give a folder that can be written") from error
        write_text(folder / place, text)
        count += 1
    if not count:
        raise UsageError("--format trajectories: the run holds no episode; it is for runs of agents that act")
    typer.echo(f"{count} trajectories in {folder}", err=True)


def _write(text: str, output: Path | None) -> None:
    from hardwon.runs.folder import write_text

    if output is None:
        typer.echo(text, nl=False)
    else:
        write_text(output, text)
