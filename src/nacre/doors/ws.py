"""/ws/json: every operation as a method, and events, over one WebSocket.

Rule 1: requests run side by side; when the socket closes, what they wait for is given up.
Rule 2: a message that is no request is answered by an error without an id; the socket stays open.
Rule 3: the socket is read on whatever is under way, for only so is it seen that it closes; what is
too much is refused, not kept.
"""

import asyncio
import logging
from contextlib import suppress
from typing import Any

import msgspec
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from nacre import __version__
from nacre.config import Settings
from nacre.core.caller import Caller
from nacre.core.catalog import parse_parameters
from nacre.core.events import Follow, as_wire
from nacre.core.operations import CATALOG, parse_operation
from nacre.doors.sockets import Socket
from nacre.errors import Internal, InvalidInput, LimitReached, NacreError, UnknownOperation
from nacre.services.dispatch import Dispatch

PATH = "/ws/json"

_log = logging.getLogger("nacre.ws")


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    method: str
    id: Any = msgspec.UNSET
    session: str | int | None = None
    params: dict[str, Any] | None = None

    def parameters(self) -> dict[str, Any]:
        """Raises InvalidInput for two different sessions: neither is meant for certain."""
        given = self.params or {}
        if self.session is None:
            return given
        if str(given.get("session", self.session)) != str(self.session):
            raise InvalidInput("session stands beside params and is another in them; give one")
        return {**given, "session": self.session}

    def answer(self, **outcome: Any) -> dict[str, Any]:
        known = {} if self.id is msgspec.UNSET else {"id": self.id}
        return {**known, "method": self.method, **outcome}


def build_route(dispatch: Dispatch, settings: Settings) -> WebSocketRoute:
    async def endpoint(websocket: WebSocket) -> None:
        socket = Socket(websocket)
        await socket.accept()
        connection = _Connection(dispatch, websocket.scope["nacre.caller"], socket, settings)
        with suppress(WebSocketDisconnect):
            await connection.serve()

    return WebSocketRoute(PATH, endpoint)


class _Connection:
    def __init__(
        self, dispatch: Dispatch, caller: Caller, socket: Socket, settings: Settings
    ) -> None:
        self._dispatch = dispatch
        self._caller = caller
        self._socket = socket
        self._settings = settings
        # Bytes of requests under way; at least two of the largest.
        self._room = 2 * settings.max_message_bytes
        self._requests: set[asyncio.Task[None]] = set()
        self._free = asyncio.Semaphore(settings.max_requests)
        self._subscriptions: dict[int, asyncio.Task[None]] = {}
        self._count = 0

    async def serve(self) -> None:
        try:
            await self._socket.tell({"connected": True, "version": __version__})
            while (message := await self._socket.receive()) is not None:
                await self._take(message)
        finally:
            tasks = [*self._requests, *self._subscriptions.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _take(self, message: str | bytes) -> None:
        """Start what a message asks for. Tasks start in the order in which they were made."""
        try:
            request = _decode(message)
        except InvalidInput as error:
            await self._socket.tell({"error": error.as_dict()})
            return
        if request.method == "subscribe":
            refused = self._start_subscription(request)
        else:
            refused = self._start_request(request, len(message))
        if refused is not None:
            await self._socket.tell(request.answer(error=refused.as_dict()))

    def _start_request(self, request: Request, size: int) -> LimitReached | None:
        if len(self._requests) >= self._settings.max_waiting_requests or size > self._room:
            return LimitReached(
                "too many requests wait on this socket (max_waiting_requests, max_message_bytes); "
                "await their answers"
            )
        self._room -= size
        task = asyncio.create_task(self._serve_request(request, size))
        self._requests.add(task)
        task.add_done_callback(self._requests.discard)
        return None

    async def _serve_request(self, request: Request, size: int) -> None:
        with suppress(WebSocketDisconnect):
            async with self._free:
                try:
                    await self._socket.tell(await self._outcome(request))
                finally:
                    self._room += size

    async def _outcome(self, request: Request) -> dict[str, Any]:
        try:
            return request.answer(result=await self._call(request))
        except NacreError as error:
            return request.answer(error=error.as_dict())
        except Exception:  # noqa: BLE001  # outermost loop of a door: logged, the caller is told
            return request.answer(error=_unexpected().as_dict())

    async def _call(self, request: Request) -> Any:
        if request.method == "unsubscribe":
            return await self._unsubscribe(request)
        if request.method not in CATALOG:
            raise UnknownOperation(
                f"no method {request.method!r}; there are subscribe, unsubscribe, "
                f"{', '.join(CATALOG)}"
            )
        operation = parse_operation(request.method, request.parameters())
        return await self._dispatch(self._caller, operation)

    # --- subscriptions ---------------------------------------------------------------------

    def _start_subscription(self, request: Request) -> LimitReached | None:
        if len(self._subscriptions) >= (most := self._settings.max_subscriptions):
            return LimitReached(
                f"a socket has {most} subscriptions at most (max_subscriptions); unsubscribe"
            )
        self._count += 1
        number = self._count
        task = asyncio.create_task(self._serve_subscription(number, request))
        self._subscriptions[number] = task
        task.add_done_callback(lambda _: self._subscriptions.pop(number, None))
        return None

    async def _serve_subscription(self, number: int, request: Request) -> None:
        """Answer, then send events until the stream ends, and at last that it has."""
        answered = False
        failure: NacreError | None = None
        with suppress(WebSocketDisconnect):
            try:
                follow = parse_parameters(Follow, request.parameters())
                assert isinstance(follow, Follow)
                async with self._dispatch.follow(self._caller, follow) as stream:
                    begun = {"subscription": number, "events": follow.events}
                    await self._socket.tell(request.answer(result=begun))
                    answered = True
                    async for event in stream:
                        await self._socket.tell({"subscription": number, **as_wire(event)})
            except NacreError as error:
                failure = error
            except WebSocketDisconnect:
                raise
            except Exception:  # noqa: BLE001  # outermost loop of a door: logged and told
                failure = _unexpected()
            told = {} if failure is None else {"error": failure.as_dict()}
            last = {"subscription": number, "event": "unsubscribed", **told}
            await self._socket.tell(last if answered else request.answer(**told))

    async def _unsubscribe(self, request: Request) -> dict[str, Any]:
        wanted = _number(request.parameters())
        task = self._subscriptions.get(wanted)
        if task is None:
            raise InvalidInput(f"no subscription {wanted} on this socket")
        task.cancel()
        await asyncio.wait((task,))  # from here on none of its events is sent
        return {"subscription": wanted}


def _unexpected() -> Internal:
    _log.exception("request failed outside its operation")
    return Internal("unexpected error; the daemon's log says why")


def _number(params: dict[str, Any]) -> int:
    if set(params) != {"subscription"} or type(params["subscription"]) is not int:
        raise InvalidInput("unsubscribe takes {subscription}, the number that subscribe gave")
    number: int = params["subscription"]
    return number


def _decode(message: str | bytes) -> Request:
    if isinstance(message, bytes):
        raise InvalidInput("a request is a text message, not a binary one")
    try:
        return msgspec.json.decode(message, type=Request)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise InvalidInput(f"a request is {{id, method, session, params}}: {error}") from error
