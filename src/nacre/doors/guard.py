"""Who may come in over TCP: Host, Origin and token are checked before anything is read.

Rule 1: the Host must be this machine's loopback name with the very port that was connected to, else
a web page whose name was pointed at 127.0.0.1 (DNS rebinding) would reach the terminals.
Rule 2: a request with an Origin comes from a browser; only our own page's is taken.
Rule 3: the token stands in a header, never in the address, and is compared in constant time.
"""

import hmac
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from nacre.core.caller import Caller
from nacre.core.caller import Scope as CallerScope
from nacre.errors import WIRE

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Guard:
    """An ASGI middleware that lets in who has the token, and counts it as a client meanwhile.

    `door` names the door that a path belongs to.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str,
        door: Callable[[str], str],
        open_paths: Collection[str],
        client: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._app = app
        self._token = token.encode()
        self._door = door
        self._open_paths = open_paths
        self._client = client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if refusal := self._refusal(headers, scope["path"], port=scope["server"][1]):
            await refusal(scope, receive, send)
            return
        scope["nacre.caller"] = Caller(
            door=self._door(scope["path"]),
            scope=CallerScope.ADMIN,
            client=headers.get("user-agent", ""),
        )
        with self._client():
            await self._app(scope, receive, send)

    def _refusal(self, headers: Headers, path: str, *, port: int) -> Response | None:
        if not _is_ours(headers.get("host", ""), port):
            return error_response("FORBIDDEN", "this Host is not served here; use 127.0.0.1", 421)
        origin = headers.get("origin")
        if origin is not None and not _is_ours(origin.lower().removeprefix("http://"), port):
            return error_response("FORBIDDEN", "this Origin may not reach the terminals", 403)
        if path in self._open_paths:
            return None
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and hmac.compare_digest(
            given.strip().encode("utf-8", "replace"), self._token
        ):
            return None
        response = error_response(
            "FORBIDDEN",
            "the token is missing or wrong: send 'Authorization: Bearer TOKEN'; "
            "nacre status names the file that holds it",
            401,
        )
        response.headers["WWW-Authenticate"] = 'Bearer realm="nacre"'
        return response


def _is_ours(host: str, port: int) -> bool:
    return host.lower() in {f"{name}:{port}" for name in _LOOPBACK}


def error_response(code: str, message: str, status: int | None = None, **more: object) -> Response:
    """The one JSON shape of an error over HTTP."""
    body = {"error": {"code": code, "message": message, **more}}
    return JSONResponse(body, status_code=status or WIRE[code].http)
