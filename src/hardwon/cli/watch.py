"""`hardwon watch`: a run's state in the terminal, for those who look from far away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Group

    from hardwon.view.reader import Look, Reader


def watch(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")],
    every: Annotated[float, typer.Option("--every", min=0.2, help="Seconds from one look to the next.")] = 1.0,
    once: Annotated[bool, typer.Option("--once", help="Show the state as it is now, and leave.")] = False,
) -> None:
    """Watch a run in the terminal: arm by arm what is solved and at what price, and what is being worked on.

    Leaves when the run ends, or with Ctrl-C, which does not disturb the run. Where the output is no terminal it is
    shown once.
    """
    import time

    from rich.console import Console
    from rich.live import Live

    from hardwon.view.reader import Reader

    console = Console(highlight=False)
    reader = Reader(folder)
    look = reader.look()
    if once or not console.is_terminal:
        console.print(_shown(reader, look))
        return
    with Live(_shown(reader, look), console=console, auto_refresh=False) as live:
        while look.state == "running":
            time.sleep(every)
            look = reader.look()
            live.update(_shown(reader, look), refresh=True)


def _shown(reader: Reader, look: Look) -> Group:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from hardwon.cli.plain import one_line
    from hardwon.runs.report import title
    from hardwon.view.figures import ago, dollars, percent, seconds, short

    done, total = len(look.rows.all), look.total
    state = f"{look.state}: {done:,}{f' of {total:,}' if total else ''} rows"
    if look.left_s is not None:
        state += f", about {seconds(look.left_s)} left"
    table = Table(box=None, pad_edge=False, header_style="")
    for name in ("arm", "solved", "95 % interval", "trials", "tokens per solved", "cost", "errors"):
        table.add_column(name, justify="left" if name == "arm" else "right", overflow="fold")
    for s in sorted(look.rows.summaries, key=lambda s: look.arms.index(s.arm)):
        interval = f"{percent(s.interval[0])} to {percent(s.interval[1])}" if s.graded else "-"
        arm = one_line(s.arm, 60) + (" (oracle feedback)" if s.oracle else "")
        solved = f"{s.solved} of {s.graded}"
        table.add_row(
            Text(arm),
            solved,
            interval,
            f"{s.trials:.2f}",
            short(s.tokens_per_solved),
            dollars(s.cost_usd),
            str(s.errors),
        )
    lines = [Text(f"{one_line(reader.name, 60)} · {one_line(title(look.config))}"), Text(state), Text("")]
    known = {(row.task_id, row.arm, row.seed) for row in look.rows.all}
    now = [
        Text(f"{one_line(key.task_id, 60)} · {one_line(key.arm, 40)} · {kind}, {ago(at)}")
        for key, kind, at in (reader.events().recent() if look.state == "running" else [])
        if (key.task_id, key.arm, key.seed) not in known
    ]
    if not look.rows.all:
        lines.append(Text("No task has finished yet."))
    return Group(*lines, *([table] if look.rows.all else []), *([Text("")] if now else []), *now[:8])
