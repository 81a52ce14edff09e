"""The routes of a session's own port, as in SILC.

Rule 1: one application serves all ports. The port of the connection says which session is meant,
never the request.
Rule 2: a body that is a JSON object holds parameters; any other body is the text itself.
"""

import base64
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from nacre.core.catalog.catalog import Operation, Result, parse_parameters
from nacre.core.operations.results import Output, SessionDetails
from nacre.core.operations.runs import GetSessionStatus, Run, SendKey
from nacre.core.operations.sessions import CloseSession, ListSessions, ResizeSession, SignalSession
from nacre.core.operations.terminal import PressKeys, ReadOutput, SendInput
from nacre.doors.http.exchange import as_status, decode_object, json_answer, read_body, route
from nacre.doors.http.guard import error_response
from nacre.doors.ports.sse import stream_route
from nacre.doors.ports.words import PORT
from nacre.errors import InvalidInput
from nacre.services.dispatch.dispatch import Dispatch


def build_app(dispatch: Dispatch, *, max_body: int) -> ASGIApp:
    routes = build_routes(dispatch, max_body=max_body)
    known = [f"{method} {one.path}" for one in routes for method in sorted(one.methods or ())]
    listed = [name for name in known if not name.startswith("HEAD ")]

    def home(result: Result) -> Response:
        assert isinstance(result, SessionDetails)
        return json_answer(
            {
                "session": result.name,
                "session_id": result.session_id,
                "port": result.port,
                "routes": listed,
            }
        )

    async def details(request: Request) -> Operation:
        return ListSessions(session=_port(request))

    def refuse(request: Request, error: Exception) -> Response:
        return error_response(
            "UNKNOWN_OPERATION",
            f"no route {request.method} {request.url.path} on a session's port; "
            f"there are: {', '.join(listed)}",
            getattr(error, "status_code", 404),
        )

    first = route(dispatch, "GET /", details, home, words=PORT)
    return Starlette(
        routes=[first, *routes],
        exception_handlers={404: refuse, 405: refuse},
    )


def build_routes(dispatch: Dispatch, *, max_body: int) -> list[Route]:
    async def status(request: Request) -> Operation:
        return GetSessionStatus(session=_port(request))

    async def out(request: Request) -> Operation:
        query = {**request.query_params, "session": _port(request)}
        return parse_parameters(ReadOutput, query, strict=False)

    async def send(request: Request) -> Operation:
        data = await read_body(request, max_body)
        if not _flag(request, "nonewline"):
            # A line that is piped into curl has a newline already: press Enter once.
            data = data.rstrip(b"\r\n") + b"\r"
        # Bytes, because input for a terminal need not be text.
        encoded = base64.b64encode(data).decode()
        return SendInput(session=_port(request), input=encoded, encoding="base64")

    async def key(request: Request) -> Operation:
        given = _parameters(await read_body(request, max_body), "key")
        return parse_parameters(SendKey, {**given, "session": _port(request)})

    async def run(request: Request) -> Operation:
        given = _parameters(await read_body(request, max_body), "command")
        seconds = given.pop("timeout", request.query_params.get("timeout"))
        if seconds is not None:
            given.setdefault("timeout_ms", _milliseconds(seconds))
        return parse_parameters(Run, {**given, "session": _port(request)})

    async def interrupt(request: Request) -> Operation:
        return PressKeys(session=_port(request), keys=["ctrl+c"])

    async def resize(request: Request) -> Operation:
        body = decode_object(await read_body(request, max_body))
        size = {**request.query_params, **body, "session": _port(request)}
        return parse_parameters(ResizeSession, size, strict=False)

    async def terminate(request: Request) -> Operation:
        return SignalSession(session=_port(request), signal="TERM")

    async def kill(request: Request) -> Operation:
        return SignalSession(session=_port(request), signal="KILL")

    async def close(request: Request) -> Operation:
        return CloseSession(session=_port(request))

    ask = partial(route, dispatch, words=PORT)
    return [
        ask("GET /status", status),
        ask("GET /out", out),
        ask("GET /raw", out, _as_text),
        stream_route(dispatch, "/stream"),
        ask("POST /in", send, as_status("sent")),
        ask("POST /key", key),
        ask("POST /run", run),
        ask("POST /interrupt", interrupt, as_status("interrupted")),
        ask("POST /sigterm", terminate, as_status("sigterm_sent")),
        ask("POST /sigkill", kill, as_status("sigkill_sent")),
        ask("POST /resize", resize, as_status("resized")),
        ask("POST /close", close),
    ]


def _port(request: Request) -> int:
    port: int = request.scope["server"][1]
    return port


def _parameters(body: bytes, text_name: str) -> dict[str, Any]:
    """Return the parameters in a body; see rule 2. Raises InvalidInput if it is not text."""
    try:
        return decode_object(body)
    except InvalidInput:
        pass
    try:
        return {text_name: body.decode().rstrip("\r\n")}
    except UnicodeDecodeError as error:
        raise InvalidInput(f"the body is not UTF-8: {error}") from error


def _flag(request: Request, name: str) -> bool:
    return request.query_params.get(name, "0").lower() not in ("0", "false", "no")


def _milliseconds(seconds: object) -> int:
    try:
        return round(float(str(seconds)) * 1000)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"timeout is a number of seconds, not {seconds!r}") from error


def _as_text(result: Result) -> Response:
    assert isinstance(result, Output)
    return PlainTextResponse(result.output + "\n")
