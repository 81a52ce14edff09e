"""A session's output as server-sent events (WHATWG HTML, section 9.2).

Rule 1: an event is a snapshot of the last lines. A slow reader misses states in between, but never
gets a wrong one, and nothing queues up for it.
Rule 2: it follows one session to its end, even if another session gets the port afterwards.
"""

import asyncio
from collections.abc import AsyncIterator

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import parse_parameters
from nacre.core.operations.results import Output, SessionDetails
from nacre.core.operations.runs import AwaitQuiesce
from nacre.core.operations.sessions import ListSessions
from nacre.core.operations.terminal import ReadOutput
from nacre.doors.http.exchange import error_answer
from nacre.doors.http.words import words_for
from nacre.doors.ports.words import PORT
from nacre.errors import NacreError, SessionExited, SessionNotFound, WaitTimedOut
from nacre.services.dispatch.dispatch import Dispatch

_KEEP_ALIVE = 15_000  # ms without events, after which a comment shows that the connection works
_PACE = 0.05  # seconds between events: at most 20 snapshots a second

_HEADERS = {"Cache-Control": "no-store"}


def stream_route(dispatch: Dispatch, path: str) -> Route:
    async def endpoint(request: Request) -> Response:
        caller: Caller = request.scope["nacre.caller"]
        try:
            session = await _details(dispatch, caller, request.scope["server"][1])
            query = {**request.query_params, "session": session.session_id}
            read = parse_parameters(ReadOutput, query, strict=False)
        except NacreError as error:
            return error_answer(error, words_for(caller, PORT))
        assert isinstance(read, ReadOutput)
        return StreamingResponse(
            follow(dispatch, caller, read), media_type="text/event-stream", headers=_HEADERS
        )

    return Route(path, endpoint, methods=["GET"])


async def follow(dispatch: Dispatch, caller: Caller, read: ReadOutput) -> AsyncIterator[bytes]:
    """Yield an event for the current lines, for each change, and for the end."""
    seen = read.since_generation
    try:
        while True:
            output = await dispatch(caller, msgspec.structs.replace(read, since_generation=seen))
            assert isinstance(output, Output)
            seen = output.generation
            if not output.unchanged:
                yield _event("output", output)
                await asyncio.sleep(_PACE)
            try:
                await _next_output(dispatch, caller, read.session, seen)
            except WaitTimedOut:
                yield b": still here\n\n"
            except SessionExited:
                session = await _details(dispatch, caller, read.session)
                if session.alive or session.generation != seen:
                    continue  # restarted, or its last output is not sent yet
                yield _event("exit", {"exit_code": session.exit_code, "signal": session.signal})
                return
    except SessionNotFound:
        # Killed and removed before its output was read to the end.
        yield _event("exit", {"exit_code": None, "signal": None})


async def _next_output(dispatch: Dispatch, caller: Caller, session: str | int, seen: int) -> None:
    await dispatch(
        caller,
        AwaitQuiesce(session=session, timeout_ms=0, max_wait_ms=_KEEP_ALIVE, last_generation=seen),
    )


async def _details(dispatch: Dispatch, caller: Caller, session: str | int) -> SessionDetails:
    found = await dispatch(caller, ListSessions(session=session))
    assert isinstance(found, SessionDetails)
    return found


def _event(name: str, content: object) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), msgspec.json.encode(content))
