"""`hardwon watch`: a run's state in the terminal, for those who look from far away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hardwon.runs.instances import Instances, Standing
    from hardwon.view.reader import Look, Reader

_ENDLESS = 1 << 16
"""As wide and as high as anything will be, where the output is no terminal."""
_MOST = 8
"""Lines of those at work, where they are not the table of a batch; with less room than that below them, arms are left
out for the sake of that table."""


def watch(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")],
    every: Annotated[float, typer.Option("--every", min=0.2, help="Seconds from one look to the next.")] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Show the state as it is now, and leave.")] = False,
) -> None:
    """Watch a run in the terminal: arm by arm what is solved and at what price, and what is being worked on.

    Of a batch over repositories each instance in work is shown: its stage, trial, step, cost and time. Leaves when the
    run ends, or with Ctrl-C, which does not disturb the run. Where the output is no terminal it is shown once.
    """
    import time

    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from hardwon.runs.instances import Instances
    from hardwon.runs.journal import FILE
    from hardwon.view.reader import Reader

    console = Console(highlight=False)
    reader, instances = Reader(folder), Instances(folder / FILE)
    look = reader.look()
    if not console.is_terminal:
        typer.echo("\n".join(_shown(reader, look, instances, _ENDLESS, _ENDLESS)))
        return

    def shown() -> Text:
        lines = _shown(reader, look, instances, console.width, console.height - 1)
        return Text("\n".join(lines), no_wrap=True, overflow="crop")

    if once:
        console.print(shown())
        return
    with Live(shown(), console=console, auto_refresh=False) as live:
        while look.state == "running":
            time.sleep(every)
            look = reader.look()
            live.update(shown(), refresh=True)


def _shown(reader: Reader, look: Look, instances: Instances, width: int, height: int) -> list[str]:
    """The state as lines of at most `width` columns; those at work in what `height` leaves for them."""
    from hardwon.cli.plain import one_line
    from hardwon.cli.watch_instances import instance_table
    from hardwon.runs.report import title
    from hardwon.runs.report_fold import fold
    from hardwon.view.figures import seconds

    done, total = len(look.rows.all), look.total
    state = f"{look.state}: {done:,}{f' of {total:,}' if total else ''} rows"
    if look.left_s is not None:
        state += f", about {seconds(look.left_s)} left"
    lines = [*fold(f"{one_line(reader.name, 60)} · {one_line(title(look.config))}", width), *fold(state, width), ""]
    arms = _arms(look, width) if look.rows.all else fold("No task has finished yet.", width)
    standing = _standing(reader, look, instances)
    if standing is None or height > len(lines) + len(arms) + _MOST:
        lines += arms
    if standing is None:
        now = _at_work(reader, look, width)
        return [*lines, *([""] if now else []), *now]
    lines += [""] * bool(lines[-1])
    if look.state == "running":
        return [*lines, *instance_table(standing, width, max(4, height - len(lines)))]
    return [*lines, *fold("stages: " + ", ".join(f"{name} {n:,}" for name, n in standing.stages.items()), width)]


def _arms(look: Look, width: int) -> list[str]:
    from hardwon.cli.plain import one_line
    from hardwon.runs.report_fold import table
    from hardwon.view.figures import dollars, percent, short

    rows = []
    for s in sorted(look.rows.summaries, key=lambda s: look.arms.index(s.arm)):
        arm = one_line(s.arm, 60) + (" (oracle feedback)" if s.oracle else "")
        interval = f"{percent(s.interval[0])} to {percent(s.interval[1])}" if s.graded else "-"
        cost = (short(s.tokens_per_solved), dollars(s.cost_usd))
        rows.append((arm, f"{s.solved} of {s.graded}", interval, f"{s.trials:.2f}", *cost, str(s.errors)))
    return table(("arm", "solved", "95 % interval", "trials", "tokens per solved", "cost", "errors"), rows, width)


def _standing(reader: Reader, look: Look, instances: Instances) -> Standing | None:
    """How the instances of a batch stand; None for a run whose tasks have no stages."""
    from hardwon.runs.folder import CONFIG

    if not look.seq:
        return None
    standing = instances.look(since=(reader.path / CONFIG).stat().st_mtime)
    return standing if standing.total else None


def _at_work(reader: Reader, look: Look, width: int) -> list[str]:
    """What the last events of a run that is going on were about."""
    from hardwon.cli.plain import one_line
    from hardwon.runs.report_fold import fold
    from hardwon.view.figures import ago

    if look.state != "running":
        return []
    known = {(row.task_id, row.arm, row.seed) for row in look.rows.all}
    now = [
        f"{one_line(key.task_id, 60)} · {one_line(key.arm, 40)} · {kind}, {ago(at)}"
        for key, kind, at in reader.events().recent()
        if (key.task_id, key.arm, key.seed) not in known
    ]
    return [line for told in now[:_MOST] for line in fold(told, width)]
