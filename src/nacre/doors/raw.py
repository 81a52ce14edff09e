"""/ws/raw/{session}: a session's terminal as bytes, for a terminal elsewhere, over one WebSocket.

Rule 1: binary messages are the terminal's bytes, out what it shows, in what a person types; text
messages are JSON and say all else.
Rule 2: a snapshot is announced by a message right before its bytes: the other terminal is reset,
and takes the alternate screen or leaves it, before they are written to it.
Rule 3: who reads slowly gets a fresh snapshot instead of what it missed; nothing queues up here.
"""

import asyncio
import logging
from contextlib import suppress
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from nacre.core.caller import Caller
from nacre.core.catalog import parse_parameters
from nacre.core.operations import ListSessions, ResizeSession
from nacre.core.results import SessionDetails
from nacre.core.watch import Detached, Event, Output, Resized, Snapshot, Watch, WatchSession
from nacre.doors.sockets import Socket
from nacre.errors import Internal, InvalidInput, NacreError
from nacre.services.dispatch import Dispatch

PATH = "/ws/raw/{session}"

_log = logging.getLogger("nacre.raw")

_PARAMETERS = {"rows": "rows", "cols": "cols", "scrollback": "history"}
_GUARDS = ("ticket", "client")  # in the query, too, and read by the guard


class Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text message of the client: the size that the session is to have, or a fresh snapshot."""

    resize: tuple[int, int] | None = None
    refresh: bool = False
    scrollback: Annotated[int, Meta(ge=0, le=100_000)] | None = None


def build_route(dispatch: Dispatch) -> WebSocketRoute:
    async def endpoint(websocket: WebSocket) -> None:
        socket = Socket(websocket)
        await socket.accept()
        with suppress(WebSocketDisconnect):
            await _serve(dispatch, websocket, socket)

    return WebSocketRoute(PATH, endpoint)


async def _serve(dispatch: Dispatch, websocket: WebSocket, socket: Socket) -> None:
    caller: Caller = websocket.scope["nacre.caller"]
    failure: NacreError | None = None
    try:
        request = _read(websocket)
        session = await dispatch(caller, ListSessions(session=request.session))
        assert isinstance(session, SessionDetails)
        async with dispatch.watch(caller, request) as watch:
            fits = request.rows is not None and request.cols is not None
            viewer = _Viewer(dispatch, caller, session.session_id, socket, watch, fits=fits)
            await viewer.serve()
    except NacreError as error:
        failure = error
    except WebSocketDisconnect:
        raise
    except Exception:  # noqa: BLE001  # outermost loop of a door: logged, the client is told
        _log.exception("connection failed")
        failure = Internal("unexpected error; the daemon's log says why")
    if failure is not None:
        await socket.tell({"event": "error", "error": failure.as_dict()})
    await socket.close(failure)


def _read(websocket: WebSocket) -> WatchSession:
    """Raises InvalidInput for a query that does not fit."""
    query = dict(websocket.query_params)
    if unknown := set(query) - {*_PARAMETERS, *_GUARDS}:
        raise InvalidInput(
            f"the query has {', '.join(sorted(unknown))}; it takes {', '.join(_PARAMETERS)}"
        )
    params: dict[str, Any] = {
        ours: query[theirs] for theirs, ours in _PARAMETERS.items() if theirs in query
    }
    params["session"] = websocket.path_params["session"]
    request = parse_parameters(WatchSession, params, strict=False)
    assert isinstance(request, WatchSession)
    return request


class _Viewer:
    """One who watches over a socket."""

    def __init__(
        self,
        dispatch: Dispatch,
        caller: Caller,
        session_id: str,  # its name may change meanwhile
        socket: Socket,
        watch: Watch,
        *,
        fits: bool,
    ) -> None:
        self._dispatch = dispatch
        self._caller = caller
        self._session_id = session_id
        self._fits = fits
        self._socket = socket
        self._watch = watch

    async def serve(self) -> None:
        """Return when the client has gone or there is nothing more to tell."""
        both = (asyncio.create_task(self._take_all()), asyncio.create_task(self._tell_all()))
        try:
            done, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)

    # --- what the client sends -------------------------------------------------------------

    async def _take_all(self) -> None:
        while (message := await self._socket.receive()) is not None:
            try:
                await self._take(message)
            except NacreError as error:
                await self._socket.tell({"event": "error", "error": error.as_dict()})
        raise WebSocketDisconnect

    async def _take(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            await self._watch.type(message)
            return
        try:
            wish = msgspec.json.decode(message, type=Wish)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            raise InvalidInput(f"a text message is {{resize}} or {{refresh}}: {error}") from error
        if wish.resize is not None:
            await self._resize(*wish.resize)
        if wish.refresh:
            self._watch.refresh(wish.scrollback)

    async def _resize(self, rows: int, cols: int) -> None:
        size = {"session": self._session_id, "rows": rows, "cols": cols}
        await self._dispatch(self._caller, parse_parameters(ResizeSession, size))
        if self._fits:
            self._watch.fit(rows, cols)

    # --- what the client is told -----------------------------------------------------------

    async def _tell_all(self) -> None:
        async for event in self._watch:
            await self._tell(event)

    async def _tell(self, event: Event) -> None:
        if isinstance(event, Output):
            await self._socket.write(event.data)
        elif isinstance(event, Snapshot):
            announced = {
                "event": "snapshot",
                "rows": event.rows,
                "cols": event.cols,
                "alternate": event.alternate,
                "history_lines": event.history_lines,
            }
            await self._socket.tell(announced, event.history + event.data)
        elif isinstance(event, Resized):
            await self._socket.tell({"event": "resized", "rows": event.rows, "cols": event.cols})
        elif isinstance(event, Detached):
            await self._socket.tell({"event": "detached", "message": event.message})
        else:
            ended = {"exit_code": event.exit_code, "signal": event.signal}
            await self._socket.tell({"event": "ended", **ended})
