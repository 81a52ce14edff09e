"""Who may connect over TCP: Host, Origin and credentials are checked before anything is read.

Rule 1: the Host must be a loopback name with exactly the port of this connection. Otherwise a web
page whose name points to 127.0.0.1 (DNS rebinding) could reach the terminals.
Rule 2: a request with an Origin comes from a browser; only our own page's is accepted. Browsers let
any page open a WebSocket anywhere, so for them this check is the only protection (RFC 6455, 10.2).
Rule 3: token and key are in a header, never in the address. A browser cannot send that header with
a WebSocket, so there a one-time ticket is in the query instead.
Rule 4: a WebSocket is refused with an HTTP answer, before the upgrade.
Rule 5: after many wrong tokens, each wrong one is answered late, so that none can be guessed.
"""

import asyncio
import re
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.caller import Scope as CallerScope
from nacre.doors.http.credentials import Credentials, Holder
from nacre.doors.http.limits import KNOWN
from nacre.errors import http_status

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_AGENT_CHARS = 80  # of the name that a program gives itself: it is kept with each session
_CLIENT = re.compile(r"[\w-]{1,64}", re.ASCII)  # what a page calls itself on all its sockets


class Guard:
    """An ASGI middleware that accepts requests with credentials and counts their clients.

    `door` names the door that a path belongs to; `is_open` says which paths need no credentials.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        credentials: Credentials,
        door: Callable[[str], str],
        is_open: Callable[[str], bool],
        client: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._app = app
        self._credentials = credentials
        self._door = door
        self._is_open = is_open
        self._client = client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        admitted = self._admit(scope, headers)
        if isinstance(admitted, Response):
            if admitted.status_code == 429:
                # The connection waits, and only few of those without a token can be open.
                await asyncio.sleep(self._credentials.wrong_token_delay)
            await admitted(scope, receive, send)
            return
        scope["nacre.caller"] = admitted
        with self._client():
            await self._app(scope, receive, send)

    def _admit(self, scope: Scope, headers: Headers) -> Caller | Response:
        """Return the caller, or the answer that refuses the request."""
        port = scope["server"][1]
        if not _is_ours(headers.get("host", ""), port):
            return error_response("FORBIDDEN", "this Host is not served here; use 127.0.0.1", 421)
        origin = headers.get("origin")
        if origin is not None and not _is_ours(origin.lower().removeprefix("http://"), port):
            return error_response("FORBIDDEN", "this Origin may not reach the terminals", 403)
        socket = scope["type"] == "websocket"
        query = _query(scope) if socket else {}
        holder = self._holder(headers, query.get("ticket"))
        if holder is None and (socket or not self._is_open(scope["path"])):
            return self._refusal(headers, ticket="ticket" in query)
        if holder is not None and KNOWN in scope:
            scope[KNOWN]()
        name = query.get("client") or secrets.token_hex(8)
        if not _CLIENT.fullmatch(name):
            return error_response(
                "INVALID_INPUT", "client is up to 64 letters, digits, - and _ of your choice"
            )
        return self._caller(scope, headers, holder, name if socket else "")

    def _holder(self, headers: Headers, ticket: str | None) -> Holder | None:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._credentials.holder(given.strip())
        return None if ticket is None else self._credentials.redeem_ticket(ticket)

    def _refusal(self, headers: Headers, *, ticket: bool) -> Response:
        """Refuse without credentials. The right ones always pass: nobody can lock others out."""
        if "authorization" not in headers or not self._credentials.note_wrong():
            return _unknown(ticket=ticket)
        message = "too many wrong tokens: this one is wrong, too; nacre status names the file"
        return error_response("RESOURCE_LIMIT", message, 429)

    def _caller(self, scope: Scope, headers: Headers, holder: Holder | None, name: str) -> Caller:
        page = holder is Holder.PAGE
        door = "web" if page else self._door(scope["path"])
        return Caller(
            door=door,
            scope=CallerScope.ADMIN,
            person=page,
            client=headers.get("user-agent", ""),
            key=f"{door}:{name}" if name else "",
            label="web page" if page else "",
            told_as="" if page else f"{door}:{name or _agent(headers)}",
        )


def _agent(headers: Headers) -> str:
    """Tell an agent that has no connection of its own: by its MCP session, else by its program."""
    known = headers.get("mcp-session-id") or headers.get("user-agent", "")
    return known[:_AGENT_CHARS]


def _query(scope: Scope) -> dict[str, str]:
    """Return the query's first value of each name."""
    found = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return {name: values[0] for name, values in found.items()}


def _is_ours(host: str, port: int) -> bool:
    return host.lower() in {f"{name}:{port}" for name in _LOOPBACK}


def _unknown(*, ticket: bool) -> Response:
    if ticket:
        message = "the ticket is used, too old or wrong: POST /api/ticket gives another"
    else:
        message = (
            "the token is missing or wrong: send 'Authorization: Bearer TOKEN'; "
            "nacre status names the file that holds it"
        )
    response = error_response("FORBIDDEN", message, 401)
    response.headers["WWW-Authenticate"] = 'Bearer realm="nacre"'
    return response


def error_response(code: str, message: str, status: int | None = None, **more: object) -> Response:
    """The one JSON shape of an error over HTTP."""
    body = {"error": {"code": code, "message": message, **more}}
    return JSONResponse(body, status_code=status or http_status(code))
