"""SILC's routes on the daemon's port: make, list, resolve and end sessions.

Rule: an answer is the operation's own result; SILC's word for what was done is added as `status`.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from nacre.core.catalog import Operation, Result, parse_parameters
from nacre.core.operations import (
    CloseSession,
    ListSessions,
    ManageSession,
    RestartSession,
    StartSession,
    StopDaemon,
)
from nacre.core.results import SessionList
from nacre.doors.exchange import as_status, decode_object, json_answer, read_body, route
from nacre.services.dispatch import Dispatch


def build_routes(dispatch: Dispatch, *, max_body: int) -> list[Route]:
    async def start(request: Request) -> Operation:
        body = decode_object(await read_body(request, max_body))
        return parse_parameters(StartSession, body)

    async def every(request: Request) -> Operation:
        return ListSessions()

    async def one(request: Request) -> Operation:
        return ListSessions(session=request.path_params["name"])

    async def close(request: Request) -> Operation:
        return CloseSession(session=request.path_params["port"])

    async def kill(request: Request) -> Operation:
        return ManageSession(session=request.path_params["port"], action="kill")

    async def restart(request: Request) -> Operation:
        return RestartSession(session=request.path_params["port"])

    async def shutdown(request: Request) -> Operation:
        return StopDaemon()

    return [
        route(dispatch, "POST /sessions", start),
        route(dispatch, "GET /sessions", every, _bare_array),
        route(dispatch, "GET /resolve/{name}", one),
        route(dispatch, "POST /sessions/{port}/close", close, as_status("closed")),
        route(dispatch, "POST /sessions/{port}/kill", kill, as_status("killed")),
        route(dispatch, "POST /sessions/{port}/restart", restart, as_status("restarted")),
        route(dispatch, "POST /shutdown", shutdown, as_status("shutdown")),
    ]


def _bare_array(result: Result) -> Response:
    assert isinstance(result, SessionList)
    return json_answer(result.sessions)
