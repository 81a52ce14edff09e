"""SILC's routes on the daemon's port: create, list, resolve and end sessions.

Rule: an answer is the operation's result, with SILC's `status` added.
"""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nacre.core.catalog.catalog import Operation, Result, parse_parameters
from nacre.core.operations.daemon import StopDaemon
from nacre.core.operations.results import SessionList
from nacre.core.operations.sessions import (
    CloseSession,
    ListSessions,
    ManageSession,
    RestartSession,
    StartSession,
)
from nacre.doors.http.exchange import as_status, decode_object, json_answer, read_body, route
from nacre.doors.http.slashes import segments
from nacre.doors.ports.words import SILC
from nacre.services.dispatch.dispatch import Dispatch


def build_routes(dispatch: Dispatch, *, max_body: int) -> list[Route]:
    async def start(request: Request) -> Operation:
        body = decode_object(await read_body(request, max_body))
        return parse_parameters(StartSession, body)

    async def every(request: Request) -> Operation:
        return ListSessions()

    async def one(request: Request) -> Operation:
        return ListSessions(session=segments(request.path_params)["name"])

    async def close(request: Request) -> Operation:
        return CloseSession(session=request.path_params["port"])

    async def kill(request: Request) -> Operation:
        return ManageSession(session=request.path_params["port"], action="kill")

    async def restart(request: Request) -> Operation:
        return RestartSession(session=request.path_params["port"])

    async def shutdown(request: Request) -> Operation:
        return StopDaemon()

    ask = partial(route, dispatch, words=SILC)
    return [
        ask("POST /sessions", start),
        ask("GET /sessions", every, _bare_array),
        ask("GET /resolve/{name}", one),
        ask("POST /sessions/{port}/close", close, as_status("closed")),
        # SILC's own MCP server asks so; it takes a 404 for "there is no such session".
        ask("DELETE /sessions/{port}", close, as_status("closed")),
        ask("POST /sessions/{port}/kill", kill, as_status("killed")),
        ask("POST /sessions/{port}/restart", restart, as_status("restarted")),
        ask("POST /shutdown", shutdown, as_status("shutdown")),
    ]


def _bare_array(result: Result) -> Response:
    assert isinstance(result, SessionList)
    return json_answer(result.sessions)
