"""One client of the NDJSON door: its token, its requests, and the methods that answer them.

Rule 1: nothing is done before a right token has come, unless ndjson_auth is off; and a first line
that is no JSON object closes the connection, or a web page's POST would be a command.
Rule 2: several requests run at once, and each is answered. A client that closes its side
(`echo … | nc`) still gets all its answers.
Rule 3: executions belong to no connection. What is told of one goes to the connection that asked.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from msgspec.structs import replace

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
from nacre.doors.ndjson.wire import NdjsonWire, Reads
from nacre.errors import Forbidden, Internal, InvalidInput, NacreError, UnknownOperation
from nacre.services.dispatch.dispatch import Dispatch
from nacre.settings.table import Settings

_log = logging.getLogger("nacre.ndjson")

_WHOLE = 1 << 31  # characters: what is kept of an output is an answer's measure here
_PROGRESS = 1000  # ms between two notifications of a command that takes longer
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


class NdjsonClient:
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
        self._wire = NdjsonWire(reader, writer, peer, settings, self._rest)
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
        self._idle: asyncio.TimerHandle | None = None

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
            self._wire.close()
            await self._dispatch(self._caller, EndContext())

    # --- requests ---------------------------------------------------------------------------

    async def _take_lines(self) -> None:
        first = True
        async for line in self._wire.lines():
            try:
                request = read_request(line)
            except BadLine as bad:
                await self._wire.send(failure(bad.identifier, bad.message, "INVALID_INPUT"))
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
                await self._wire.send(failure(request.id, why, Forbidden.code))
                continue
            await self._free.acquire()  # if none is free, further lines stay in the client's socket
            self._wire.unanswered += 1
            task = asyncio.create_task(self._answer(request))
            self._running.add(task)
            task.add_done_callback(self._answered)

    def _rest(self) -> None:
        """Begin to count the time with nothing in flight."""
        if self._idle is not None:
            self._idle.cancel()
        self._idle = self._loop.call_later(self._settings.ndjson_timeout, self._too_long)

    def _too_long(self) -> None:
        self._idle = None
        if not self._running:
            self._wire.leaving.set()

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
            await self._wire.send(failure(request.id, why, Forbidden.code))
            return
        self._known = True
        told = {"server": "nacre", "version": __version__, "protocol_version": PROTOCOL_VERSION}
        await self._wire.send(response(request.id, told))

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
            await self._wire.respond(failure_of(request.id, error))
        except ConnectionError:
            raise
        except Exception:  # noqa: BLE001  # outermost loop of a door: logged, the caller is told
            _log.exception("request failed outside its operation")
            wrong = Internal("Unexpected error", "the daemon's log says why")
            await self._wire.respond(failure_of(request.id, wrong))

    async def _list_tools(self, identifier: Any, params: dict[str, Any]) -> None:
        found = await self._dispatch(self._caller, ListCommands())
        assert isinstance(found, CommandList)
        warnings = {"warnings": found.warnings} if found.warnings else {}
        await self._wire.respond(response(identifier, {"tools": found.commands, **warnings}))

    async def _call_tool(self, identifier: Any, params: dict[str, Any]) -> None:
        if "wait_ms" in params:
            raise InvalidInput("wait_ms is not a parameter", "the answer comes at its end")
        operation = parse_operation("call_command", {"max_chars": _WHOLE, **params, "wait_ms": 0})
        assert isinstance(operation, CallCommand)
        outcome = await self._outcome(operation)
        if operation.dry_run:
            await self._wire.respond(response(identifier, called(outcome)))
            return
        await self._wire.send(notification("tool_started", outcome))
        leaves = outcome.context_ended
        while outcome.status in ("queued", "running"):
            waiting = GetExecutionStatus(
                execution_id=outcome.execution_id,
                wait_ms=_PROGRESS,
                max_chars=operation.max_chars,
            )
            outcome = await self._outcome(waiting)
            if outcome.status in ("queued", "running") and not self._wire.is_behind:
                await self._wire.send(progress(outcome))
        await self._wire.respond(response(identifier, called(outcome)))
        await self._wire.send(ended(outcome))
        if leaves:
            self._wire.leaving.set()

    async def _status(self, identifier: Any, params: dict[str, Any]) -> None:
        given = {"max_chars": _WHOLE, **params}
        outcome = await self._outcome(parse_operation("get_execution_status", given))
        await self._wire.respond(response(identifier, status_of(outcome)))

    async def _cancel(self, identifier: Any, params: dict[str, Any]) -> None:
        found = await self._dispatch(self._caller, parse_operation("cancel_execution", params))
        assert isinstance(found, ExecutionCancelled)
        await self._wire.respond(response(identifier, {"cancelled": found.cancelled}))

    async def _outcome(self, operation: Operation) -> ExecutionOutcome:
        found = await self._dispatch(self._caller, operation)
        assert isinstance(found, ExecutionOutcome)
        return found


_METHODS: dict[str, Callable[[NdjsonClient, Any, dict[str, Any]], Awaitable[None]]] = {
    "list_tools": NdjsonClient._list_tools,
    "call_tool": NdjsonClient._call_tool,
    "get_execution_status": NdjsonClient._status,
    "cancel_execution": NdjsonClient._cancel,
}
_ALL = ("initialize", *_METHODS)
