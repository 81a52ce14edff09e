"""The NDJSON door: commands of the catalog for clients that speak lines of JSON on TCP.

Rule 1: nothing is done before a right token has come, unless ndjson_auth is off; and a first line
that is no JSON object closes the connection, or a web page's POST would be a command.
Rule 2: several requests of a client run at once, and each is answered. A client that closes its
side (`echo … | nc`) still gets all its answers.
Rule 3: from a client that does not read its answers nothing more is read, and no more than one
answer waits for it; what it cannot take in time (unread_time) closes it.
Rule 4: executions belong to no connection. What is told of one goes to the connection that asked.
Rule 5: a client that asks for one thing at a time gets one message at a time: the next one is sent
when it has read the one before. The document's Node client loses what shares a read.

Rule 5 asks the kernel again and again, for there is no event to wait for. That the other side has
acknowledged (SIOCOUTQ, a time stamp of the ACK) or taken what was unsent (TCP_NOTSENT_LOWAT with
EPOLLOUT) says that it lies in its socket, not that it was read; a read is told to us only when it
opens a window that had closed; and nobody can watch another process's socket. So it costs this: one
question (some ten microseconds) for each message when the client is quick, which it mostly is; else
one more after 0.1 ms, then after twice as long each time, up to 10 ms, or when its next line comes;
and `ndjson_apart` bounds it. A response itself waits for no answer to this: what came before it is
tool_started, which was read while the program ran.
"""

import asyncio
import logging
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from typing import Any, Protocol

from nacre import __version__
from nacre.core.catalog.caller import Caller, Scope
from nacre.core.catalog.catalog import Operation, parse_operation
from nacre.core.catalog.grant import Grant
from nacre.core.operations.commands import (
    CallCommand,
    CommandList,
    EndContext,
    ExecutionCancelled,
    ExecutionOutcome,
    GetExecutionStatus,
    ListCommands,
)
from nacre.doors.ndjson.messages import (
    PROTOCOL_VERSION,
    BadLine,
    NdjsonRequest,
    called,
    ended,
    failure,
    failure_of,
    notification,
    progress,
    read_request,
    response,
    status_of,
)
from nacre.errors import Forbidden, Internal, InvalidInput, NacreError, UnknownOperation
from nacre.services.dispatch.dispatch import Dispatch
from nacre.settings.table import Settings

_log = logging.getLogger("nacre.ndjson")

_WHOLE = 1 << 31  # characters: what is kept of an output is an answer's measure here
_PROGRESS = 1000  # ms between two notifications of a command that takes longer
_LINGER = 1.0  # seconds for a client to read its last answers
_LOOK, _LONGEST_LOOK = 0.0001, 0.01  # seconds between two looks whether a client has read
_OPEN = "anybody"  # whose executions are those of clients that need no token


class Guesses(Protocol):
    """What checks tokens (doors/http/credentials.py)."""

    wrong_token_delay: float

    def grant(self, bearer: str) -> Grant | None:
        """Return what a token allows; None if it is none, or no longer one."""

    def note_wrong(self) -> bool:
        """Note a wrong one; return whether there were too many lately."""

    def hold(self, grant: Grant, task: "asyncio.Task[Any]") -> Callable[[], None]:
        """End a connection's task with the token that it came by; returns what forgets it."""


class Reads(Protocol):
    """What knows of a client on this machine (system/peer.py)."""

    def has_read(self, sent: int) -> bool | None:
        """Return whether it has read all of the bytes that we ever sent; None: nobody knows."""

    def close(self) -> None: ...


class NdjsonDoor:
    def __init__(
        self,
        dispatch: Dispatch,
        credentials: Guesses,
        settings: Settings,
        client: Callable[[], AbstractContextManager[None]],
        peer: Callable[[socket.socket], Reads],
    ) -> None:
        self._dispatch = dispatch
        self._credentials = credentials
        self._settings = settings
        self._client = client
        self._peer = peer
        self._connections: set[asyncio.Task[Any]] = set()
        self._servers: list[asyncio.Server] = []

    async def listen(self, *listeners: socket.socket) -> None:
        limit = self._settings.ndjson_max_line_bytes
        for listener in listeners:
            server = await asyncio.start_server(self.connected, sock=listener, limit=limit)
            self._servers.append(server)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        task = asyncio.current_task()
        assert task is not None
        if len(self._connections) >= self._settings.ndjson_max_clients:
            most = self._settings.ndjson_max_clients
            writer.write(failure(None, f"Too many clients: {most} at once", "RESOURCE_LIMIT"))
            await _close(writer)
            return
        self._connections.add(task)
        peer = self._peer(writer.get_extra_info("socket"))
        connection = _NdjsonClient(
            self._dispatch, self._credentials, self._settings, reader, writer, peer
        )
        try:
            with self._client():
                await connection.serve()
        except (ConnectionError, asyncio.CancelledError):  # the task ends here in either case
            _log.debug("client left, or the door has closed")
        except Exception:  # noqa: BLE001  # outermost loop of a door: logged, the daemon continues
            _log.exception("connection failed")
        finally:
            self._connections.discard(task)
            await _close(writer)

    async def close(self) -> None:
        for server in self._servers:
            server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError, TimeoutError):
        async with asyncio.timeout(_LINGER):
            await writer.wait_closed()
    writer.transport.abort()  # what a client does not read must not keep the daemon


class _NdjsonClient:
    def __init__(
        self,
        dispatch: Dispatch,
        credentials: Guesses,
        settings: Settings,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        peer: Reads,
    ) -> None:
        self._dispatch = dispatch
        self._credentials = credentials
        self._settings = settings
        self._reader = reader
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._known = settings.ndjson_auth == "off"
        self._token = ""
        self._forget: Callable[[], None] = lambda: None  # the token that the connection ends with
        self._caller = Caller(
            door="ndjson",
            scope=Scope.DRIVE,
            owner=_OPEN if self._known else "",
            told_as=f"ndjson:{secrets.token_hex(8)}",
        )
        self._running: set[asyncio.Task[None]] = set()
        self._free = asyncio.Semaphore(settings.max_waiting_requests)
        self._turn = asyncio.Lock()  # one message at a time waits for a client that does not read
        self._idle: asyncio.TimerHandle | None = None
        self._leaving = asyncio.Event()  # the context has ended: no further line is read
        self._peer = peer
        self._sent = 0  # bytes
        self._unanswered = 0  # requests without their response
        self._came = asyncio.Event()  # a line: who asks has mostly read what came before

    async def serve(self) -> None:
        """Serve until the client has closed its side and has its answers."""
        try:
            self._rest()
            await self._take_lines()
            if self._running:
                await asyncio.wait(self._running)
        finally:
            self._forget()
            if self._idle is not None:
                self._idle.cancel()
            for task in self._running:
                task.cancel()
            self._peer.close()
            await self._dispatch(self._caller, EndContext())

    # --- in --------------------------------------------------------------------------------

    async def _take_lines(self) -> None:
        first = True
        async for line in self._lines():
            try:
                request = read_request(line)
            except BadLine as bad:
                await self._send(failure(bad.identifier, bad.message, "INVALID_INPUT"))
                if first and not bad.is_object:
                    return
                first = False
                continue
            first = False
            if request.method == "initialize":
                await self._initialize(request)
                continue
            if not self._known:
                why = "Not initialized: send initialize with params.token first"
                await self._send(failure(request.id, why, Forbidden.code))
                continue
            await self._free.acquire()  # if none is free, further lines stay in the client's socket
            self._unanswered += 1
            task = asyncio.create_task(self._answer(request))
            self._running.add(task)
            task.add_done_callback(self._answered)

    async def _lines(self) -> AsyncIterator[bytes]:
        """Yield lines until the client has closed its side, or its context has ended."""
        leaving = asyncio.ensure_future(self._leaving.wait())
        reading: asyncio.Future[bytes | None] | None = None
        try:
            while True:
                reading = asyncio.ensure_future(self._line())
                await asyncio.wait((reading, leaving), return_when=asyncio.FIRST_COMPLETED)
                if not reading.done():
                    return
                line = reading.result()
                self._came.set()
                self._rest()
                if line is None:
                    return
                if line.strip():
                    yield line
        finally:
            leaving.cancel()
            if reading is not None:  # also when the door is closed just as the client leaves
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)

    async def _line(self) -> bytes | None:
        """Return the next line; None at the end. One that is too long is answered and skipped."""
        try:
            return await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as end:
            return end.partial or None  # the last line may go without its end
        except asyncio.LimitOverrunError as over:
            await self._skip(over.consumed)
            most = self._settings.ndjson_max_line_bytes
            why = f"Line too long: at most {most} bytes (ndjson_max_line_bytes)"
            await self._send(failure(None, why, InvalidInput.code))
            return b"\n"

    async def _skip(self, size: int) -> None:
        while True:
            await self._reader.readexactly(size)
            try:
                await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as over:
                size = over.consumed
            except asyncio.IncompleteReadError:
                return
            else:
                return

    def _rest(self) -> None:
        """Begin to count the time with nothing in flight."""
        if self._idle is not None:
            self._idle.cancel()
        self._idle = self._loop.call_later(self._settings.ndjson_timeout, self._too_long)

    def _too_long(self) -> None:
        self._idle = None
        if not self._running:
            self._leaving.set()

    def _answered(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        if not task.cancelled() and (left := task.exception()) is not None:
            _log.debug("client left before its answer", exc_info=left)
        self._free.release()
        self._rest()

    # --- methods ---------------------------------------------------------------------------

    async def _initialize(self, request: NdjsonRequest) -> None:
        token = (request.params or {}).get("token")
        if not self._known and not (isinstance(token, str) and self._take(token)):
            if token is not None and self._credentials.note_wrong():
                await asyncio.sleep(self._credentials.wrong_token_delay)
            why = (
                "Not authorized: the token in params.token is missing or wrong; nacre status names "
                "the file that holds it"
            )
            await self._send(failure(request.id, why, Forbidden.code))
            return
        self._known = True
        told = {"server": "nacre", "version": __version__, "protocol_version": PROTOCOL_VERSION}
        await self._send(response(request.id, told))

    def _take(self, token: str) -> bool:
        """Return whether the token is one; then its client may do what the token allows."""
        grant = self._credentials.grant(token)
        if grant is None or grant.person:
            return False
        self._token = token
        task = asyncio.current_task()
        assert task is not None
        self._forget()
        self._forget = self._credentials.hold(grant, task)
        self._caller = replace(
            self._caller,
            scope=min(grant.scope, Scope.DRIVE),
            sessions=grant.sessions,
            token=grant.token,
            token_name=grant.token_name,
            owner=grant.token,
        )
        return True

    def _require_token(self) -> None:
        """Raises Forbidden when the token was revoked, or has expired."""
        if self._caller.token and self._credentials.grant(self._token) is None:
            raise Forbidden("Not authorized: the token was revoked or has expired", "use another")

    async def _answer(self, request: NdjsonRequest) -> None:
        try:
            await self._answer_or_refuse(request)
        except ConnectionError:
            _log.debug("client left before its answer")

    async def _answer_or_refuse(self, request: NdjsonRequest) -> None:
        try:
            self._require_token()
            method = _METHODS.get(request.method)
            if method is None:
                raise UnknownOperation(
                    f"Unknown method {request.method!r}", f"there are {', '.join(_ALL)}"
                )
            await method(self, request.id, request.params or {})
        except NacreError as error:
            await self._respond(failure_of(request.id, error))
        except ConnectionError:
            raise
        except Exception:  # noqa: BLE001  # outermost loop of a door: logged, the caller is told
            _log.exception("request failed outside its operation")
            wrong = Internal("Unexpected error", "the daemon's log says why")
            await self._respond(failure_of(request.id, wrong))

    async def _list_tools(self, identifier: Any, params: dict[str, Any]) -> None:
        found = await self._dispatch(self._caller, ListCommands())
        assert isinstance(found, CommandList)
        warnings = {"warnings": found.warnings} if found.warnings else {}
        await self._respond(response(identifier, {"tools": found.commands, **warnings}))

    async def _call_tool(self, identifier: Any, params: dict[str, Any]) -> None:
        if "wait_ms" in params:
            raise InvalidInput("wait_ms is not a parameter", "the answer comes at its end")
        operation = parse_operation("call_command", {"max_chars": _WHOLE, **params, "wait_ms": 0})
        assert isinstance(operation, CallCommand)
        outcome = await self._outcome(operation)
        if operation.dry_run:
            await self._respond(response(identifier, called(outcome)))
            return
        await self._send(notification("tool_started", outcome))
        leaves = outcome.context_ended
        while outcome.status in ("queued", "running"):
            waiting = GetExecutionStatus(
                execution_id=outcome.execution_id,
                wait_ms=_PROGRESS,
                max_chars=operation.max_chars,
            )
            outcome = await self._outcome(waiting)
            if outcome.status in ("queued", "running") and not self._turn.locked():
                await self._send(progress(outcome))
        await self._respond(response(identifier, called(outcome)))
        await self._send(ended(outcome))
        if leaves:
            self._leaving.set()

    async def _status(self, identifier: Any, params: dict[str, Any]) -> None:
        given = {"max_chars": _WHOLE, **params}
        outcome = await self._outcome(parse_operation("get_execution_status", given))
        await self._respond(response(identifier, status_of(outcome)))

    async def _cancel(self, identifier: Any, params: dict[str, Any]) -> None:
        found = await self._dispatch(self._caller, parse_operation("cancel_execution", params))
        assert isinstance(found, ExecutionCancelled)
        await self._respond(response(identifier, {"cancelled": found.cancelled}))

    async def _outcome(self, operation: Operation) -> ExecutionOutcome:
        found = await self._dispatch(self._caller, operation)
        assert isinstance(found, ExecutionOutcome)
        return found

    # --- out -------------------------------------------------------------------------------

    async def _respond(self, message: bytes) -> None:
        """Write what answers a request. Raises ConnectionError."""
        await self._send(message)
        self._unanswered -= 1

    async def _send(self, message: bytes) -> None:
        """Write a message, and wait for a client that does not read. Raises ConnectionError."""
        async with self._turn:
            if self._unanswered <= 1:  # who asks for more at once tells its answers apart
                await self._until_read()
            if self._writer.is_closing():
                raise ConnectionResetError
            self._writer.write(message)
            self._sent += len(message)
            try:
                async with asyncio.timeout(self._settings.unread_time):
                    await self._writer.drain()
            except TimeoutError:
                _log.warning("a client reads nothing: disconnected")
                self._writer.transport.abort()
                raise ConnectionResetError from None

    async def _until_read(self) -> None:
        """Return when the client has read what it was sent, or after `ndjson_apart` seconds.

        There is no event for it; mostly it has, and the kernel is asked once. Else it is asked
        again when the client's next line comes, and now and then.
        """
        pause, until = _LOOK, self._loop.time() + self._settings.ndjson_apart
        while self._loop.time() < until:
            unsent = self._writer.transport.get_write_buffer_size()
            if not unsent and self._peer.has_read(self._sent) is not False:
                return
            if self._writer.is_closing():
                return
            self._came.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._came.wait()
            pause = min(2 * pause, _LONGEST_LOOK)


_METHODS: dict[str, Callable[[_NdjsonClient, Any, dict[str, Any]], Awaitable[None]]] = {
    "list_tools": _NdjsonClient._list_tools,
    "call_tool": _NdjsonClient._call_tool,
    "get_execution_status": _NdjsonClient._status,
    "cancel_execution": _NdjsonClient._cancel,
}
_ALL = ("initialize", *_METHODS)
