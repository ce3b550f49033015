"""What a learning strategy knows of the earlier tasks of its arm, the same whatever the timing of the workers.

Task number n knows the notes of tasks 0 to n - LAG and waits for them; results therefore do not depend on which of
several workers was faster.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from hardwon.trial import Note, Tally

LAG = 8
"""A task does not wait for the LAG - 1 tasks before it, so that as many can be worked at once."""


class Learning:
    """The notes of one arm and seed, task by task in the order of the run; `finished` are those known already."""

    def __init__(self, finished: Mapping[int, Iterable[Note]]) -> None:
        self._notes = {position: tuple(notes) for position, notes in finished.items()}
        self._tallied: dict[str, Tally] = {}
        self._tallied_to = 0
        self._changed = asyncio.Condition()

    async def finish(self, position: int, notes: Iterable[Note]) -> None:
        """A task is done, or an error has ended it (then it has no notes)."""
        async with self._changed:
            self._notes[position] = tuple(notes)
            self._changed.notify_all()

    async def before(self, position: int) -> dict[str, Tally]:
        """The tallies that the task at `position` may know; waits until those tasks are done."""
        last = position - LAG
        async with self._changed:
            await self._changed.wait_for(lambda: all(n in self._notes for n in range(self._tallied_to, last + 1)))
            if last + 1 < self._tallied_to:  # a task that an error ended before, tried again
                return add({}, (note for n in range(last + 1) for note in self._notes[n]))
            self._tallied = add(
                self._tallied, (note for n in range(self._tallied_to, last + 1) for note in self._notes[n])
            )
            self._tallied_to = max(self._tallied_to, last + 1)
            return self._tallied


def add(tallies: Mapping[str, Tally], notes: Iterable[Note]) -> dict[str, Tally]:
    """The tallies with the notes added to them."""
    added = dict(tallies)
    for note in notes:
        tally = added.get(note.key, Tally())
        added[note.key] = Tally(tally.tried + 1, tally.won + note.won, tally.tokens + note.tokens)
    return added
