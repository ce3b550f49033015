"""The web application: addresses to pages."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from hardwon.errors import HardwonError, UsageError
from hardwon.runs.journal import Key
from hardwon.view import pages
from hardwon.view.bank import bank_page, change_page, item_page
from hardwon.view.beside import compare_page
from hardwon.view.branching import change_from, start
from hardwon.view.folders import Shelf
from hardwon.view.guard import Guard
from hardwon.view.links import Addresses
from hardwon.view.live import changes
from hardwon.view.reader import Reader, readable
from hardwon.view.render import STATIC
from hardwon.view.wanted import Wanted

_LINKS = Addresses()
_LONGEST_FORM = 100_000
_SEED = re.compile(r"-?[0-9]{1,18}")


def make_app(shelf: Shelf, token: str, port: int, bank: str | None = None) -> ASGIApp:
    """The view over the runs of a shelf and the bank at a place (None: the usual one), behind its guard."""

    def reader(request: Request) -> Reader:
        found = shelf.get(request.path_params["run"])
        if found is None:
            raise LookupError("run")
        return found

    async def runs(request: Request) -> Response:
        find, order = request.query_params.get("find", "")[:200], request.query_params.get("order", "newest")
        return await _answer(partial(pages.runs_page, shelf, _LINKS, find, order))

    async def run(request: Request) -> Response:
        wanted = Wanted.read(request.query_params)
        return await _answer(lambda: pages.run_page(reader(request), _LINKS, wanted))

    async def task(request: Request) -> Response:
        return await _answer(lambda: pages.task_page(reader(request), _LINKS, _key(request)))

    async def calls(request: Request) -> Response:
        return await _answer(lambda: pages.calls_page(reader(request), _LINKS, _key(request)))

    async def compare(request: Request) -> Response:
        baseline = request.query_params.get("baseline")
        return await _answer(lambda: compare_page([reader(request)], _LINKS, baseline))

    async def compare_runs(request: Request) -> Response:
        def made() -> str:
            chosen = [shelf.get(run) for run in dict.fromkeys(request.query_params.getlist("run"))]
            found = [one for one in chosen if one is not None]
            if not found:
                raise UsageError("Tick two runs or more in the list of runs, then compare them.")
            return compare_page(found, _LINKS, request.query_params.get("baseline"))

        return await _answer(made)

    async def what_if(request: Request) -> Response:
        form = dict(await _form(request))

        def made() -> str:
            path = reader(request).path
            with readable(path):
                folder, key = start(path, _key(request), change_from(form), bank)
            return _LINKS.task(shelf.add(folder).id, key)

        try:
            return RedirectResponse(await run_in_threadpool(made), 303)
        except LookupError:
            return _not_here()
        except HardwonError as error:
            return HTMLResponse(pages.message_page(_LINKS, "No branch was made", str(error)), 409)

    async def items(request: Request) -> Response:
        return await _answer(lambda: bank_page(bank, _LINKS, request.query_params))

    async def item(request: Request) -> Response:
        return await _answer(lambda: item_page(bank, _LINKS, request.query_params.get("id", "")))

    async def change(request: Request) -> Response:
        form = await _form(request)
        try:
            asked = await run_in_threadpool(change_page, bank, _LINKS, form)
        except HardwonError as error:
            return HTMLResponse(pages.message_page(_LINKS, "Nothing was changed", str(error)), 409)
        return RedirectResponse(_LINKS.bank(), 303) if asked is None else HTMLResponse(asked)

    async def run_events(request: Request) -> Response:
        found = await run_in_threadpool(shelf.get, request.path_params["run"])
        if found is None:
            return Response(status_code=404)
        key = _key(request) if "id" in request.query_params else None
        return _stream(request, lambda: found.mark() if key is None else str(found.events().newest(key)))

    async def all_events(request: Request) -> Response:
        return _stream(request, lambda: _mark(shelf), every_s=0.5)

    routes = [
        Route("/", runs),
        Route("/events", all_events),
        Route("/bank", items),
        Route("/bank", change, methods=["POST"]),
        Route("/bank/item", item),
        Route("/compare", compare_runs),
        Route("/run/{run}", run),
        Route("/run/{run}/task", task),
        Route("/run/{run}/calls", calls),
        Route("/run/{run}/compare", compare),
        Route("/run/{run}/events", run_events),
        Route("/run/{run}/what-if", what_if, methods=["POST"]),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Guard(Starlette(routes=routes, exception_handlers={404: _unknown}), token, port)


async def _answer(made: Callable[[], str]) -> Response:
    """A page, or one that says why it can not be shown; what can be wrong with a folder never ends the view."""
    try:
        return HTMLResponse(await run_in_threadpool(made))
    except LookupError:
        return _not_here()
    except HardwonError as error:
        return HTMLResponse(pages.message_page(_LINKS, "Nothing to show", str(error)), 409)


def _not_here() -> Response:
    text = "There is no such run or task here. A run gets another address when its folder moves."
    return HTMLResponse(pages.message_page(_LINKS, "Not here", text), 404)


async def _form(request: Request) -> list[tuple[str, str]]:
    """The fields of a form; none where there is more than a form of ours can hold."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LONGEST_FORM:
            return []
    return parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)


async def _unknown(request: Request, error: Exception) -> Response:
    return HTMLResponse(pages.message_page(_LINKS, "Not here", "There is no such page."), 404)


def _key(request: Request) -> Key:
    seed = request.query_params.get("seed", "0")
    number = int(seed) if _SEED.fullmatch(seed) else 0
    return Key(request.query_params.get("id", ""), request.query_params.get("arm", ""), number)


def _mark(shelf: Shelf) -> str:
    marks = []
    for reader in shelf.readers():
        try:
            marks.append(f"{reader.id}:{reader.mark()}")
        except UsageError:
            marks.append(f"{reader.id}:gone")
    return " ".join(marks)


def _stream(request: Request, mark: Callable[[], str], every_s: float = 0.25) -> Response:
    return StreamingResponse(changes(request, mark, every_s), media_type="text/event-stream")
