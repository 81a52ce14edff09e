"""/ws/json: every operation as a method, and events, over one WebSocket.

Rule 1: requests run concurrently; when the socket closes, they are cancelled.
Rule 2: a message that is not a request is answered with an error without an id; the socket stays
open.
Rule 3: the socket is always read, because only then do we notice that it closes. Too many requests
are refused, not kept.
"""

import asyncio
import logging
from contextlib import suppress
from typing import Any

import msgspec
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from nacre import __version__
from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import parse_parameters
from nacre.core.catalog.messages import read_message
from nacre.core.operations.all import CATALOG, parse_operation
from nacre.core.operations.follow import Follow, as_wire
from nacre.doors.http.beats import Beats
from nacre.doors.http.sockets import Socket
from nacre.doors.http.ways import cancel_all
from nacre.doors.http.words import words_for
from nacre.errors import (
    HostUnreachable,
    Internal,
    InvalidInput,
    LimitReached,
    NacreError,
    UnknownOperation,
)
from nacre.services.dispatch.answers.delivery import delivered
from nacre.services.dispatch.dispatch import Dispatch
from nacre.services.dispatch.log import unexpected
from nacre.settings.table import Settings
from nacre.wording import Takes, Words

PATH = "/ws/json"

_log = logging.getLogger("nacre.ws")


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    method: str
    id: Any = msgspec.UNSET
    session: str | int | None = None
    params: dict[str, Any] | None = None

    def parameters(self) -> dict[str, Any]:
        """Raises InvalidInput for two different sessions: it is not clear which one is meant."""
        given = self.params or {}
        if self.session is None:
            return given
        if str(given.get("session", self.session)) != str(self.session):
            raise InvalidInput("session and params.session differ", "give one of them")
        return {**given, "session": self.session}

    def answer(self, **outcome: Any) -> dict[str, Any]:
        known = {} if self.id is msgspec.UNSET else {"id": self.id}
        return {**known, "method": self.method, **outcome}


def build_route(dispatch: Dispatch, settings: Settings) -> WebSocketRoute:
    async def endpoint(websocket: WebSocket) -> None:
        socket = Socket(websocket, "ws")
        await socket.accept()
        beats = Beats(settings) if websocket.query_params.get("beats") == "true" else None
        connection = _Connection(dispatch, websocket.scope["nacre.caller"], socket, settings, beats)
        with suppress(WebSocketDisconnect):
            await connection.serve()

    return WebSocketRoute(PATH, endpoint)


class _Connection:
    def __init__(
        self,
        dispatch: Dispatch,
        caller: Caller,
        socket: Socket,
        settings: Settings,
        beats: Beats | None,
    ) -> None:
        self._dispatch = dispatch
        self._caller = caller
        self._words = words_for(caller, _WORDS)
        self._socket = socket
        self._settings = settings
        # Bytes of open requests; at least two of the largest.
        self._room = 2 * settings.max_message_bytes
        self._requests: set[asyncio.Task[None]] = set()
        self._free = asyncio.Semaphore(settings.max_requests)
        self._large = asyncio.Lock()  # for the one large answer at a time
        self._subscriptions: dict[int, asyncio.Task[None]] = {}
        self._count = 0
        self._beats = beats

    async def serve(self) -> None:
        beating: list[asyncio.Task[None]] = []
        try:
            about = {} if self._beats is None else self._beats.about
            await self._socket.tell({"connected": True, "version": __version__, **about})
            if self._beats is not None:
                beating = [asyncio.create_task(self._beat(self._beats))]
            while (message := await self._socket.receive()) is not None:
                await self._take(message)
        finally:
            await cancel_all([*self._requests, *self._subscriptions.values(), *beating])

    async def _beat(self, beats: Beats) -> None:
        with suppress(WebSocketDisconnect):
            await beats.send_all(self._socket.tell)

    async def _take(self, message: str | bytes) -> None:
        """Start a request. Tasks start in the order in which they were made."""
        try:
            request = _decode(message)
        except InvalidInput as error:
            await self._socket.tell({"error": self._words.error(error)})
            return
        if request.method == "subscribe":
            refused = self._start_subscription(request)
        else:
            refused = self._start_request(request, len(message))
        if refused is not None:
            await self._socket.tell(request.answer(error=self._words.error(refused)))

    def _start_request(self, request: Request, size: int) -> LimitReached | None:
        if len(self._requests) >= self._settings.max_waiting_requests or size > self._room:
            return LimitReached(
                "too many requests are waiting on this socket "
                "(max_waiting_requests, max_message_bytes)",
                "wait for their answers",
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
                    with delivered(self._large):
                        await self._answer(request)
                finally:
                    self._room += size

    async def _answer(self, request: Request) -> None:
        try:
            await self._socket.tell(await self._outcome(request))
        except WebSocketDisconnect:
            raise
        except Exception:  # noqa: BLE001  # whoever waits for it would wait for ever
            await self._socket.tell(request.answer(error=self._words.error(_unexpected())))

    async def _outcome(self, request: Request) -> dict[str, Any]:
        try:
            return request.answer(**await self._call(request))
        except NacreError as error:
            return request.answer(error=self._words.error(error))
        except Exception:  # noqa: BLE001  # outermost loop of a door: logged, the caller is told
            return request.answer(error=self._words.error(_unexpected()))

    async def _call(self, request: Request) -> dict[str, Any]:
        """Return the fields of the answer: its result, and a hand-over if there is one."""
        if request.method == "unsubscribe":
            return {"result": await self._unsubscribe(request)}
        if request.method not in CATALOG:
            raise UnknownOperation(
                f"no method {request.method!r}",
                f"there are subscribe, unsubscribe, {', '.join(CATALOG)}",
            )
        operation = parse_operation(request.method, request.parameters())
        answer = await self._dispatch.ask(self._caller, operation)
        return {"result": answer.result, **answer.besides()}

    # --- subscriptions ---------------------------------------------------------------------

    def _start_subscription(self, request: Request) -> LimitReached | None:
        if len(self._subscriptions) >= (most := self._settings.max_subscriptions):
            return LimitReached(
                f"one socket can have {most} subscriptions (max_subscriptions)", "unsubscribe"
            )
        self._count += 1
        number = self._count
        task = asyncio.create_task(self._serve_subscription(number, request))
        self._subscriptions[number] = task
        task.add_done_callback(lambda _: self._subscriptions.pop(number, None))
        return None

    async def _serve_subscription(self, number: int, request: Request) -> None:
        """Answer, then send events until the stream ends, and then say that it has ended."""
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
            except ConnectionError as error:  # a host of the cluster is gone
                failure = HostUnreachable(str(error), "connect again")
            except WebSocketDisconnect:
                raise
            except Exception:  # noqa: BLE001  # outermost loop of a door: logged and told
                failure = _unexpected()
            told = {} if failure is None else {"error": self._words.error(failure)}
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
    return unexpected(_log, "request failed outside its operation")


def _number(params: dict[str, Any]) -> int:
    if set(params) != {"subscription"} or type(params["subscription"]) is not int:
        raise InvalidInput("unsubscribe takes {subscription}, the number from subscribe")
    number: int = params["subscription"]
    return number


def _decode(message: str | bytes) -> Request:
    if isinstance(message, bytes):
        raise InvalidInput("a request is a text message, not a binary one")
    return read_message(Request, message, "a request is {id, method, session, params}")


class _SocketWords(Words):
    """Here, to follow is to subscribe."""

    def takes(self, step: Takes) -> str | None:
        known = step._replace(operation="subscribe") if step.operation == "follow" else step
        return super().takes(known)


_WORDS = _SocketWords()
