"""Who may come in over TCP: Host, Origin and credentials are checked before anything is read.

Rule 1: the Host must be this machine's loopback name with the very port that was connected to, else
a web page whose name was pointed at 127.0.0.1 (DNS rebinding) would reach the terminals.
Rule 2: a request with an Origin comes from a browser; only our own page's is taken. Browsers let
any page open a WebSocket anywhere, so that there the check is all there is (RFC 6455, 10.2).
Rule 3: token and key stand in a header, never in the address. A browser cannot send that header
with a WebSocket: there a ticket, good once, stands in the query instead.
Rule 4: a WebSocket is refused by an HTTP answer, before it is one.
"""

import re
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from nacre.core.caller import Caller
from nacre.core.caller import Scope as CallerScope
from nacre.doors.credentials import Credentials, Holder
from nacre.errors import WIRE

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_CLIENT = re.compile(r"[\w-]{1,64}", re.ASCII)  # what a page calls itself on all its sockets


class Guard:
    """An ASGI middleware that lets in who has credentials, and counts it as a client meanwhile.

    `door` names the door that a path belongs to; `is_open` tells the paths that anybody may read.
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
            await admitted(scope, receive, send)
            return
        scope["nacre.caller"] = admitted
        with self._client():
            await self._app(scope, receive, send)

    def _admit(self, scope: Scope, headers: Headers) -> Caller | Response:
        """Return who asks, or the answer that refuses."""
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
            return _unknown(ticket="ticket" in query)
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
        )


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
    return JSONResponse(body, status_code=status or WIRE[code].http)
