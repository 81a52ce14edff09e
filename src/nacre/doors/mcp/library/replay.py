"""What a client over HTTP missed while its stream was broken.

The first event of each stream has an id and no data (SEP-1699); a client whose stream breaks comes
back with the last id that it saw, and gets what came after it.

Rule 1: each MCP session has a store of its own: streams are named by request ids, which every
client counts from zero.
Rule 2: what is kept has a bound (mcp_replay_bytes); the oldest goes first.
Rule 3: who asks for what is not there any more, since it was too much or another daemon's, is told
so as the answer to its request: it would wait for ever.
"""

import secrets
from collections import OrderedDict, deque
from typing import Any, NamedTuple

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import GET_STREAM_KEY, EventCallback, EventMessage, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from nacre.errors import WIRE, DaemonRestarted, LimitReached, NacreError
from nacre.wording import OPERATIONS

RETRY = 500  # milliseconds that a client waits before it comes back: a daemon is replaced in these

_EVENT = 200  # bytes that an event takes beside its message
_NOTIFICATION = b'{"jsonrpc":"2.0","method":'
_FORGOTTEN = 1000  # streams whose answer is known not to be kept any more


class _Event(NamedTuple):
    number: int
    stream: str
    message: bytes  # empty: the stream's first event


class RecentEvents(EventStore):
    """The last events of one MCP session."""

    def __init__(self, daemon: str, limit: int) -> None:
        # Event ids name the daemon and the store: another's numbers mean nothing here.
        self._daemon = daemon
        self._name = f"{daemon}-{secrets.token_hex(4)}"
        self._limit = limit
        self._events: deque[_Event] = deque()
        self._bytes = 0
        self._last = 0
        self._forgotten: OrderedDict[str, None] = OrderedDict()

    async def store_event(self, stream_id: str, message: types.JSONRPCMessage | None) -> str:
        self._last += 1
        packed = b""
        if message is not None:
            packed = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        else:  # a new request, perhaps under a name that was used before
            self._forgotten.pop(stream_id, None)
        self._bytes += len(packed) + _EVENT
        self._events.append(_Event(self._last, stream_id, packed))
        while self._bytes > self._limit:
            self._forget(self._events.popleft())
        return f"{self._name}.{self._last}.{stream_id}"

    def _forget(self, event: _Event) -> None:
        self._bytes -= len(event.message) + _EVENT
        if event.message and not event.message.startswith(_NOTIFICATION):
            self._forgotten[event.stream] = None
            if len(self._forgotten) > _FORGOTTEN:
                self._forgotten.popitem(last=False)

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        name, _, rest = last_event_id.partition(".")
        number, _, stream = rest.partition(".")
        if not number.isdecimal() or not stream:
            return None
        if name.partition("-")[0] != self._daemon:
            error: NacreError = DaemonRestarted(
                "the daemon was restarted before it answered; the sessions go on: look what became "
                "of it first, else try again",
                retry=True,
            )
        elif name != self._name:
            return None
        elif stream in self._forgotten:
            error = LimitReached("the answer is not kept any more: it is over mcp_replay_bytes")
        else:
            for event in list(self._events):
                if event.stream == stream and event.number > int(number) and event.message:
                    sent = types.jsonrpc_message_adapter.validate_json(event.message, by_name=False)
                    seen = f"{self._name}.{event.number}.{stream}"
                    await send_callback(EventMessage(sent, seen))
            return stream
        if stream != GET_STREAM_KEY:
            await send_callback(EventMessage(_failure(stream, error)))
        return None


def _failure(stream: str, error: NacreError) -> types.JSONRPCError:
    """Return the answer to the request that a stream is named by."""
    told = OPERATIONS.error(error)
    code = WIRE[error.code].jsonrpc or -32603
    data = types.ErrorData(code=code, message=told["message"], data=told)
    # A stream's name does not tell whether the id was a number; the official clients count.
    request = int(stream) if stream.isdecimal() else stream
    return types.JSONRPCError(jsonrpc="2.0", id=request, error=data)


class ReplayingSessions(StreamableHTTPSessionManager):
    """The library's sessions, each with a store of its own; the library would share one."""

    def __init__(
        self, server: Server[Any], *, max_body: int, daemon: str, replay_bytes: int
    ) -> None:
        self._daemon = daemon
        self._replay_bytes = replay_bytes
        super().__init__(server, max_request_body_size=max_body, retry_interval=RETRY)

    @property
    def event_store(self) -> EventStore | None:
        """Asked for once by each session that is opened."""
        return RecentEvents(self._daemon, self._replay_bytes)

    @event_store.setter
    def event_store(self, given: EventStore | None) -> None:
        """The library sets what it was given, which is none."""
