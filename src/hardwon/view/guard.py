"""Who may ask: this machine alone, by the name the view gave itself, with the token of this sitting."""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hardwon.view.links import Addresses
from hardwon.view.pages import message_page

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_USUAL = 80
"""Browsers leave this port out of the name."""
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Lets requests through to `app` that carry the token, in the address once and in a cookie from then on.

    A request for another host name is refused (a foreign name that points here), and so is any that would change
    something and comes from another origin. Every answer carries a strict content policy.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._cookie = f"hardwon-{port}"
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        if port == _USUAL:
            self._hosts |= {"127.0.0.1", "localhost"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await (self._refusal(scope) or self._app)(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self._hosts:
            return _page(421, "Another name", "The view answers to 127.0.0.1 and localhost only.")
        if scope["path"].startswith("/static/"):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = next((value for name, value in query if name == "token"), None)
        if given is not None and self._is_token(given):
            rest = urlencode([(name, value) for name, value in query if name != "token"])
            answer = RedirectResponse(scope["path"] + (f"?{rest}" if rest else ""), 303)
            answer.set_cookie(self._cookie, self._token, httponly=True, samesite="lax", path="/")
            return answer
        if not self._is_token(_cookie(headers.get("cookie", ""), self._cookie)):
            return _page(
                403,
                "The address has no token",
                "Open the address that hardwon view printed: it ends in ?token=…, and only who has it may look.",
            )
        if scope["method"] not in ("GET", "HEAD") and headers.get("origin") != f"http://{host}":
            return _page(403, "Another origin", "A change has to come from the view's own pages.")
        return None

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())


def _cookie(text: str, name: str) -> str:
    try:
        found = SimpleCookie(text).get(name)
    except CookieError:
        return ""
    return found.value if found else ""


def _page(status: int, heading: str, text: str) -> HTMLResponse:
    return HTMLResponse(message_page(Addresses(), heading, text), status)
