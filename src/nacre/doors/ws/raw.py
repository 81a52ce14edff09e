"""/ws/raw/{session}: a session's terminal as bytes over a WebSocket, for a terminal elsewhere.

Rule 1: binary messages are the terminal's bytes, out what it shows, in what a person types; text
messages are JSON and say all else. A client that numbers what it types sends that in them, too.
Rule 2: a snapshot is announced by a message right before its bytes: the other terminal is reset,
and takes the alternate screen or leaves it, before they are written to it.
Rule 3: who reads slowly, or says that it draws slowly, gets a fresh snapshot instead of what it
missed; nothing queues up here.
Rule 4: the socket is read on while what came waits for its turn to be typed, for only so is it seen
that it closes. What still waits then is dropped; what is too much is refused.
"""

import asyncio
import base64
import logging
from contextlib import suppress
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import parse_parameters
from nacre.core.catalog.messages import read_message
from nacre.core.operations.results import SessionDetails
from nacre.core.operations.sessions import ListSessions, ResizeSession
from nacre.core.operations.watch import (
    Detached,
    Dropped,
    Numbered,
    Printed,
    Resized,
    Snapshot,
    Taken,
    Typing,
    Watch,
    WatchEvent,
    WatchSession,
)
from nacre.doors.http.beats import Beats
from nacre.doors.http.slashes import segments
from nacre.doors.http.sockets import Socket
from nacre.doors.http.ways import until_one_ends
from nacre.doors.http.words import words_for
from nacre.errors import BadParameter, HostUnreachable, InvalidInput, LimitReached, NacreError
from nacre.services.dispatch.dispatch import Dispatch
from nacre.services.dispatch.log import unexpected
from nacre.settings.table import Settings
from nacre.wording import Takes

PATH = "/ws/raw/{session}"

_log = logging.getLogger("nacre.raw")

_PARAMETERS = {"rows": "rows", "cols": "cols", "scrollback": "history", "typing": "typing"}
_INTERRUPT = b"\x03"  # Ctrl+C: never too late
_GUARDS = ("ticket", "client")  # also in the query, but for the guard
_DRAWN = "drawn"  # in the query: the client tells how much it has drawn


class Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text message of the client: a new size for the session, a request for a snapshot, or what
    was typed, in base64, with its number and the heartbeat that was heard last; or how many bytes
    more it has drawn."""

    resize: tuple[int, int] | None = None
    refresh: bool = False
    scrollback: Annotated[int, Meta(ge=0, le=100_000)] | None = None
    type: str | None = None
    number: Annotated[int, Meta(ge=0, lt=1 << 53)] = 0
    beat: int | None = None
    go_on: bool = False
    drawn: Annotated[int, Meta(ge=0, lt=1 << 53)] = 0


def build_route(dispatch: Dispatch, settings: Settings) -> WebSocketRoute:
    async def endpoint(websocket: WebSocket) -> None:
        socket = Socket(websocket, "ws/raw", typed=True)
        await socket.accept()
        with suppress(WebSocketDisconnect):
            await _serve(dispatch, websocket, socket, settings)

    return WebSocketRoute(PATH, endpoint)


async def _serve(
    dispatch: Dispatch, websocket: WebSocket, socket: Socket, settings: Settings
) -> None:
    caller: Caller = websocket.scope["nacre.caller"]
    failure: NacreError | None = None
    try:
        request = _read(websocket)
        session = await dispatch(caller, ListSessions(session=request.session))
        assert isinstance(session, SessionDetails)
        async with dispatch.watch(caller, request) as watch:
            fits = request.rows is not None and request.cols is not None
            beats = None if request.typing is None else Beats(settings)
            ahead = settings.viewer_ahead if _DRAWN in websocket.query_params else None
            viewer = _Viewer(
                dispatch, caller, session.session_id, socket, watch, beats, fits=fits, ahead=ahead
            )
            await viewer.serve(2 * settings.max_message_bytes)
    except NacreError as error:
        failure = error
    except ConnectionError as error:  # a host of the cluster is gone
        failure = HostUnreachable(str(error), "connect again")
    except WebSocketDisconnect:
        raise
    except Exception:  # noqa: BLE001  # outermost loop of a door: logged, the client is told
        failure = unexpected(_log, "connection failed")
    if failure is not None:
        await socket.tell({"event": "error", "error": words_for(caller).error(failure)})
    await socket.close(failure)


def _read(websocket: WebSocket) -> WatchSession:
    """Raises InvalidInput for a wrong query."""
    query = dict(websocket.query_params)
    if unknown := set(query) - {*_PARAMETERS, *_GUARDS, _DRAWN}:
        raise InvalidInput(
            f"unknown in the query: {', '.join(sorted(unknown))}",
            f"it takes {', '.join((*_PARAMETERS, _DRAWN))}",
        )
    params: dict[str, Any] = {
        ours: query[theirs] for theirs, ours in _PARAMETERS.items() if theirs in query
    }
    params["session"] = segments(websocket.path_params)["session"]
    try:
        request = parse_parameters(WatchSession, params, strict=False)
    except BadParameter as error:
        theirs = {ours: name for name, ours in _PARAMETERS.items()}
        names = tuple(theirs.get(name, name) for name in error.parameters)
        raise BadParameter(names, error.problem, Takes(None, tuple(_PARAMETERS))) from error
    assert isinstance(request, WatchSession)
    return request


class _Viewer:
    """A viewer over a WebSocket."""

    def __init__(
        self,
        dispatch: Dispatch,
        caller: Caller,
        session_id: str,  # not its name, which may change
        socket: Socket,
        watch: Watch,
        beats: Beats | None,  # None: the client does not number what it types
        *,
        fits: bool,
        ahead: int | None,  # bytes that may be sent ahead of what is drawn; None: it does not tell
    ) -> None:
        self._dispatch = dispatch
        self._caller = caller
        self._session_id = session_id
        self._fits = fits
        self._socket = socket
        self._watch = watch
        self._beats = beats
        self._waiting: asyncio.Queue[str | bytes] = asyncio.Queue()  # bounded by the room
        self._room = 0
        self._got = 0  # messages of the client, whatever became of them
        self._ahead = ahead
        self._undrawn = 0
        self._drew = asyncio.Event()

    async def serve(self, room: int) -> None:
        """Return when the client has gone or there is nothing more to tell.

        `room` is for the bytes of what the client sent and nobody has taken yet.
        """
        self._room = room
        ways = [self._take_all(), self._read_all(), self._tell_all()]
        if self._beats is not None:
            ways.append(self._beats.send_all(self._tell_beat))
        tasks = [asyncio.create_task(way) for way in ways]
        await until_one_ends(tasks)

    # --- what the client sends -------------------------------------------------------------

    async def _read_all(self) -> None:
        while (message := await self._socket.receive()) is not None:
            self._got += 1
            if len(message) > self._room:
                await self._refuse(
                    LimitReached(
                        "too much waits here to be typed (max_message_bytes)", "wait for your turn"
                    )
                )
                continue
            self._room -= len(message)
            self._waiting.put_nowait(message)
        # What came right before the end has its turn now, if it need not wait for it.
        await asyncio.sleep(0)
        raise WebSocketDisconnect

    async def _take_all(self) -> None:
        while True:
            message = await self._waiting.get()
            try:
                await self._take(message)
            except NacreError as error:
                await self._refuse(error)
            finally:
                self._room += len(message)

    async def _refuse(self, error: NacreError) -> None:
        await self._socket.tell({"event": "error", "error": words_for(self._caller).error(error)})

    async def _take(self, message: str | bytes) -> None:
        if isinstance(message, bytes):
            await self._watch.type(message)
            return
        wish = read_message(Wish, message, "a text message is {resize}, {refresh} or {type}")
        if wish.drawn:
            self._undrawn = max(0, self._undrawn - wish.drawn)
            self._drew.set()
        if wish.type is not None:
            await self._type(wish, wish.type)
        if wish.resize is not None:
            await self._resize(*wish.resize)
        if wish.refresh:
            self._watch.refresh(wish.scrollback)

    async def _type(self, wish: Wish, encoded: str) -> None:
        """Raises InvalidInput where it cannot be numbered."""
        if self._beats is None:
            raise InvalidInput("type needs a name in the query: typing", "send keys as bytes")
        try:
            data = base64.b64decode(encoded, validate=True)
        except ValueError as error:
            raise InvalidInput("type is not valid base64") from error
        late = self._beats.is_late(wish.beat) and data != _INTERRUPT
        await self._watch.type(data, Numbered(wish.number, go_on=wish.go_on, late=late))

    async def _resize(self, rows: int, cols: int) -> None:
        size = {"session": self._session_id, "rows": rows, "cols": cols}
        await self._dispatch(self._caller, parse_parameters(ResizeSession, size))
        if self._fits:
            self._watch.fit(rows, cols)

    # --- what the client is told -----------------------------------------------------------

    async def _tell_beat(self, beat: dict[str, Any]) -> None:
        # A client whose messages are stuck on their way hears us all the same.
        await self._socket.tell({**beat, "got": self._got})

    async def _tell_all(self) -> None:
        async for event in self._watch:
            await self._tell(event)
            # What comes meanwhile is shown by the next snapshot, as for who reads slowly.
            while self._ahead is not None and self._undrawn > self._ahead:
                self._drew.clear()
                await self._drew.wait()

    async def _tell(self, event: WatchEvent) -> None:
        if isinstance(event, Printed):
            self._undrawn += len(event.data)
            await self._socket.write(event.data)
        elif isinstance(event, Snapshot):
            announced = {
                "event": "snapshot",
                "rows": event.rows,
                "cols": event.cols,
                "alternate": event.alternate,
                "history_lines": event.history_lines,
                "line": event.line,
            }
            drawn = event.history + event.data
            self._undrawn += len(drawn)
            await self._socket.tell(announced, drawn)
        elif isinstance(event, Resized):
            size = {"event": "resized", "rows": event.rows, "cols": event.cols}
            who = {} if event.by is None else {"by": event.by, "given_back": event.given_back}
            await self._socket.tell({**size, **who})
        elif isinstance(event, Typing):
            about = {} if self._beats is None else self._beats.about
            known = msgspec.structs.asdict(event)
            await self._socket.tell({"event": "typing", **known, **about})
        elif isinstance(event, Taken):
            await self._socket.tell({"event": "taken", "number": event.number})
        elif isinstance(event, Dropped):
            dropped = {"number": event.number, "why": event.why}
            await self._socket.tell({"event": "dropped", **dropped})
        elif isinstance(event, Detached):
            await self._socket.tell({"event": "detached", "message": event.message})
        else:
            ended = {"exit_code": event.exit_code, "signal": event.signal}
            await self._socket.tell({"event": "ended", **ended})
