"""Who may connect over TCP: Host, Origin and credentials are checked before anything is read.

Rule 1: the Host must be a loopback name with exactly the port of this connection; beyond loopback
the address that was connected to, or a name of the settings. Otherwise a web page whose name points
here (DNS rebinding) could reach the terminals.
Rule 2: a request with an Origin comes from a browser; only our own page's is accepted. Browsers let
any page open a WebSocket anywhere, so for them this check is the only protection (RFC 6455, 10.2).
Rule 3: token and key are in a header, never in the address. A browser cannot send that header with
a WebSocket, so there a one-time ticket is in the query instead.
Rule 4: a WebSocket is refused with an HTTP answer, before the upgrade.
Rule 5: what a token allows goes with the caller: scope and sessions are checked in dispatch.
Rule 6: no answer is kept in a cache, taken for another type than it says, or shown in a frame of
another page, unless its route knows better: what programs print stands in them.
Rule 7: after many wrong tokens, each wrong one is answered late, so that none can be guessed.
"""

import asyncio
import re
import secrets
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from math import ceil
from typing import NamedTuple
from urllib.parse import parse_qs

from msgspec.structs import replace
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.caller import Scope as CallerScope
from nacre.core.catalog.grant import Grant
from nacre.doors.http.credentials import Credentials
from nacre.doors.http.limits import KNOWN
from nacre.errors import http_status

_HTTPS = 443  # the port that https means if none is named (RFC 9110, 4.2.2)
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
)
_AGENT_CHARS = 80  # of the name that a program gives itself: it is kept with each session
_CLIENT = re.compile(r"[\w-]{1,64}", re.ASCII)  # what a page calls itself on all its sockets


class Beyond(NamedTuple):
    """What is served beyond loopback, over TLS: a port, and the names that lead there."""

    port: int
    names: frozenset[str]


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
        beyond: Beyond | None = None,
    ) -> None:
        self._app = app
        self._beyond = beyond
        self._credentials = credentials
        self._door = door
        self._is_open = is_open
        self._client = client

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if scope["type"] == "http":
            send = _kept_by_nobody(send)
        admitted = self._admit(scope, headers)
        if isinstance(admitted, Response):
            if admitted.status_code == 429 and "retry-after" not in admitted.headers:
                # The connection waits, and only few of those without a token can be open.
                await asyncio.sleep(self._credentials.wrong_token_delay)
            await admitted(scope, receive, send)
            return
        scope["nacre.caller"], grant = admitted
        with self._client():
            if not grant.token:
                await self._app(scope, receive, send)
                return
            seconds = None if grant.expires is None else grant.expires - time.time()
            use = self._credentials.use
            await use.serve(self._app, scope, receive, send, token=grant.token, seconds=seconds)

    def _admit(self, scope: Scope, headers: Headers) -> tuple[Caller, Grant] | Response:
        """Return the caller and what they came in by, or the answer that refuses the request."""
        names, scheme = self._names_and_scheme(scope)
        hosts = [host.lower() for host in headers.getlist("host")]
        if len(hosts) != 1 or hosts[0] not in names:  # of two, others may believe the second
            known = ", ".join(sorted(names))
            return error_response("FORBIDDEN", f"this Host is not served here; use {known}", 421)
        origins = headers.getlist("origin")
        if not {origin.lower() for origin in origins} <= {scheme + name for name in names}:
            return error_response("FORBIDDEN", "this Origin may not reach the terminals", 403)
        socket = scope["type"] == "websocket"
        query = _query(scope) if socket or _is_mcp(scope["path"]) else {}
        grant = self._grant(headers, query.get("ticket") if socket else None)
        if grant is None and (socket or not self._is_open(scope["path"])):
            return self._refusal(headers, ticket=socket and "ticket" in query)
        if grant is not None and KNOWN in scope:
            scope[KNOWN]()
        name = query.get("client") or (secrets.token_hex(8) if socket else "")
        if name and not _CLIENT.fullmatch(name):
            return error_response(
                "INVALID_INPUT", "client is up to 64 letters, digits, - and _ of your choice"
            )
        grant = grant or _NOBODY
        if grant.token and (wait := self._credentials.use.seconds_to_wait(grant.token)):
            return _too_often(wait)
        caller = self._caller(scope, headers, grant, name if socket else "")
        if not socket and not caller.person:
            known = headers.get("mcp-session-id") or name
            told = known or headers.get("user-agent", "")
            told_as = f"{caller.door}:{told[:_AGENT_CHARS]}"
            caller = replace(caller, told_as=told_as, alike=not known)
        return caller, grant

    def _names_and_scheme(self, scope: Scope) -> tuple[set[str], str]:
        """Return what Host may be, and how an Origin of our own page begins."""
        address, port = scope["server"]
        if self._beyond is not None and port == self._beyond.port:
            literal = f"[{address}]" if ":" in address else address
            # An address that is no name cannot be pointed elsewhere.
            names = {literal.lower(), *self._beyond.names}
            bare = names if port == _HTTPS else set()
            return {f"{name}:{port}" for name in names} | bare, "https://"
        return {f"{name}:{port}" for name in _LOOPBACK}, "http://"

    def _grant(self, headers: Headers, ticket: str | None) -> Grant | None:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._credentials.grant(given.strip())
        return None if ticket is None else self._credentials.redeem_ticket(ticket)

    def _refusal(self, headers: Headers, *, ticket: bool) -> Response:
        """Refuse without credentials. The right ones always pass: nobody can lock others out."""
        if "authorization" not in headers or not self._credentials.note_wrong():
            return _unknown(ticket=ticket)
        message = "too many wrong tokens: this one is wrong, too; nacre status names the file"
        return error_response("RESOURCE_LIMIT", message, 429)

    def _caller(self, scope: Scope, headers: Headers, grant: Grant, name: str) -> Caller:
        page = grant.person
        door = "web" if page else self._door(scope["path"])
        return Caller(
            door=door,
            scope=grant.scope,
            person=page,
            sessions=grant.sessions,
            token=grant.token,
            token_name=grant.token_name,
            owner=grant.token,
            client=headers.get("user-agent", ""),
            key=f"{door}:{name}" if name else "",
            label="web page" if page else "",
            told_as="" if page else f"{door}:{name}",
        )


# Who has shown nothing gets files that hold no secret, and reaches no operation.
_NOBODY = Grant(CallerScope.OBSERVE, sessions=frozenset())


def grant_of(caller: Caller) -> Grant:
    """Return what a caller came in by."""
    named = (caller.token, caller.token_name)
    return Grant(caller.scope, caller.person, caller.sessions, *named)


def _kept_by_nobody(send: Send) -> Send:
    """Add the headers that an answer does not have yet."""

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            known = {name.lower() for name, _ in given}
            message["headers"] = given + [one for one in _HEADERS if one[0] not in known]
        await send(message)

    return with_headers


def _is_mcp(path: str) -> bool:
    return path.rstrip("/") == "/mcp"


def _query(scope: Scope) -> dict[str, str]:
    """Return the query's first value of each name."""
    found = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return {name: values[0] for name, values in found.items()}


def _too_often(wait: float) -> Response:
    message = f"this token asks too often (token_rate): try again in {ceil(wait)} s"
    response = error_response("RESOURCE_LIMIT", message, 429)
    response.headers["Retry-After"] = str(ceil(wait))
    return response


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
