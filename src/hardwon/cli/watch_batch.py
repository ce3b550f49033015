"""What is shown while a batch over repositories goes on: its table in a terminal, else a line for each instance."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import RenderableType
from rich.live import Live
from rich.text import Text

from hardwon.cli.progress import Watching
from hardwon.cli.watch_instances import instance_table
from hardwon.errors import UsageError
from hardwon.runs.instances import Instances
from hardwon.runs.journal import Journal
from hardwon.runs.row import Row
from hardwon.runs.stages import staged
from hardwon.task import Task

_A_SECOND = 2.0


def watching(journal: Journal, tasks: Sequence[Task], *, show: bool, compared: bool = False) -> Watching:
    """Who watches a run of these tasks over this journal."""
    if any(map(staged, tasks)):
        return WatchingBatch(Instances(journal.path), show=show, compared=compared)
    return Watching(show=show, compared=compared)


class WatchingBatch(Watching):
    """As `Watching`, with the table of the instances in work in place of the bar."""

    def __init__(self, instances: Instances, *, show: bool, compared: bool = False) -> None:
        super().__init__(show=show, compared=compared)
        self._instances = instances
        self._since = time.time()
        self._started: dict[tuple[str, str], float] = {}
        self._last: RenderableType = ""
        self._table = Live(console=self._console, refresh_per_second=_A_SECOND, get_renderable=self._look)

    def __enter__(self) -> Self:
        if self._live:
            self._table.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._table.stop()
        self._instances.close()

    def start(self, task_id: str, arm: str) -> None:
        self._started[task_id, arm] = time.time()
        super().start(task_id, arm)

    def finish(self, row: Row) -> None:
        self._started.pop((row.task_id, row.arm), None)
        super().finish(row)

    def _look(self) -> RenderableType:
        size = self._console.size
        try:
            standing = self._instances.look(self._since, dict(self._started))
        except UsageError:  # the run itself will say what is wrong with its journal
            return self._last
        lines = instance_table(standing, size.width, size.height - 1)
        self._last = Text("\n".join(lines), no_wrap=True, overflow="crop")
        return self._last
