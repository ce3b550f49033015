"""The same pages as files, to share a run with someone who has no Hardwon."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from hardwon.errors import InfrastructureError, UsageError
from hardwon.runs.journal import Key
from hardwon.view import pages
from hardwon.view.beside import compare_page
from hardwon.view.folders import Shelf
from hardwon.view.links import Files
from hardwon.view.private import without_places
from hardwon.view.reader import Reader, readable
from hardwon.view.render import STATIC
from hardwon.view.wanted import Wanted, listed

Shared = Callable[[str], str]
"""A page as it may be shared."""

_ASSETS = ("view.css", "icon.svg")


def export_pages(places: Sequence[Path], out: Path) -> Path:
    """Writes all pages of the runs in and below `places` into a new folder, whole or not at all; gives its first page.

    The pages do not say where anything lies on this machine. Raises UsageError where there is no run, or none that can
    be read, or something lies at `out` already; InfrastructureError where it can not be written.
    """
    for place in places:
        if not place.is_dir():
            raise UsageError(f"{place}: no such folder; give a run folder, or one that holds run folders")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"--export {out}: lies there already; give a new folder")
    shelf = Shelf(places)
    if not shelf.readers():
        raise UsageError(f"{places[0]}: no run folder here; give one that hardwon run has made")
    shelf.check()
    draft = out.with_name(f".hardwon-{os.getpid()}-{out.name}")
    try:
        draft.mkdir(parents=True)
        _write_all(shelf, draft, without_places([reader.path for reader in shelf.readers()], places))
        if out.exists():
            out.rmdir()
        draft.rename(out)
    except OSError as error:
        raise InfrastructureError(f"--export {out}: {error.strerror}; mend that and export again") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        shelf.close()
    return out / Files().runs()


def _write_all(shelf: Shelf, out: Path, shared: Shared) -> None:
    links = Files()
    for name in _ASSETS:
        shutil.copyfile(STATIC / name, out / name)
    write = partial(_write, shared)
    write(out / links.runs(), partial(pages.runs_page, shelf, links))
    for reader in shelf.readers():
        try:
            _write_run(reader, out, links, write)
        except UsageError:  # the list of runs says why this one can not be read
            continue


def _write_run(reader: Reader, out: Path, links: Files, write: Callable[[Path, Callable[[], str]], None]) -> None:
    with readable(reader.path):
        rows = reader.look().rows
    for number in range(1, listed(rows, Wanted()).pages + 1):
        wanted = Wanted(page=number)
        name = links.run(reader.id, wanted.query(page=number))
        write(out / name, partial(pages.run_page, reader, links, wanted))
    if len(rows.arms) > 1:
        write(out / links.compare(reader.id), partial(compare_page, [reader], links))
    for row in rows.all:
        key = Key(row.task_id, row.arm, row.seed)
        write(out / links.task(reader.id, key), partial(pages.task_page, reader, links, key))
        write(out / links.calls(reader.id, key), partial(pages.calls_page, reader, links, key))


def _write(shared: Shared, path: Path, made: Callable[[], str]) -> None:
    """Writes a page, or in its place one that says why it can not be shown."""
    try:
        text = made()
    except LookupError:
        text = pages.message_page(Files(), "Not here", "The journal has nothing on this task.")
    except UsageError as error:
        text = pages.message_page(Files(), "Nothing to show", str(error))
    path.write_text(shared(text), encoding="utf-8")
