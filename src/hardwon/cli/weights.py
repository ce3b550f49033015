"""Gets a model ready for use, with a bar while its weights are fetched."""

from __future__ import annotations

import sys

from hardwon.models.open import open_model
from hardwon.models.protocol import Model


def ready_model(name: str, *, parallel: int) -> Model:
    """Opens a model; the weights of an embedded one are fetched first, once. Raises UsageError, ModelError."""
    model = open_model(name, parallel=parallel)
    if name.startswith("local:"):
        from hardwon.models.weights import weights_present

        short = name.removeprefix("local:")
        if not weights_present(short):
            pull_shown(short)
    return model


def pull_shown(short: str) -> None:
    """Fetches an embedded model's weights, showing a bar in a terminal and a line every tenth otherwise."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    from hardwon.models.fetch import pull

    console = Console(stderr=True)
    if not console.is_terminal:
        path = pull(short, progress=_plain(short))
        print(f"{short}: ready in {path}", file=sys.stderr)
        return
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(f"fetching {short}", *columns, console=console) as bar:
        task = bar.add_task("", total=None)
        path = pull(short, progress=lambda done, total: bar.update(task, completed=done, total=total))
    console.print(f"{short}: ready in {path}", markup=False, highlight=False)


class _plain:
    """Says each tenth of a download once."""

    def __init__(self, short: str) -> None:
        self._short = short
        self._said = -1

    def __call__(self, done: int, total: int) -> None:
        tenth = 10 * done // total if total else 0
        if tenth > self._said:
            self._said = tenth
            print(f"{self._short}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB", file=sys.stderr, flush=True)
