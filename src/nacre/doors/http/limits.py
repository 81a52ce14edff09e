"""What a connection over TCP may cost before anybody knows who it is.

The server's library parses whatever comes: a header of 20 MB held everybody else for seconds, and
needed no token. So its protocol is asked here first.

Rule 1: the size of a request's head is counted before it is parsed.
Rule 2: the head has to come within a time, counted from its first byte. So nobody holds a
connection by sending a byte a minute.
Rule 3: few connections are open on which no request with credentials has come. If there are more,
the oldest of them is closed: others cannot be kept out by opening many.
Rule 4: few requests of a connection are parsed ahead of their turn (pipelining, RFC 9112, 9.3.2).
The library parses all that come, also without a token, and reads on after each answer.
Rule 5: what takes long to parse for its size (chunks of one byte) is parsed in
pieces, some in each turn of the loop (turns.py). Nothing is parsed of the rest of a request that
was answered without credentials: it is dropped for a while, so that its sender can read the answer.
Rule 6: a client that has sent all that it will send (shutdown(2)) still gets its answers while
a program holds the connection. Whether one does has no event, and of clients that are not on this
machine nobody knows: there the end of what they send is the end.
Rule 7: what a request is handed refers to its connection weakly: else each connection that has
ended would wait for a full collection of Python's garbage, which holds the loop.
"""

import asyncio
import logging
import socket
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol
from weakref import ref

import msgspec
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)
from uvicorn.server import ServerState

from nacre.doors.http.token_use import CUT
from nacre.doors.http.turns import HeldFlow, Turns
from nacre.settings.table import Settings

_log = logging.getLogger("nacre.http")

KNOWN = "nacre.known"  # in the scope of a request: call it when its credentials are right

GONE = "nacre.gone"  # there, too: it says whether the client has left

_LINE_END = b"\r\n"
_HEAD_END = b"\r\n\r\n"  # RFC 9112, 2.1

_PIECE = 4096  # bytes: a few dozen requests
_LINES = 100  # that are parsed in one piece; a head has ten to thirty, and so has a body of JSON

# Seconds between two looks whether anybody still waits for the answer: soon after the first one,
# for a socket that is being closed is somebody's for some microseconds more.
_LOOK, _LONGEST_LOOK = 0.05, 1.0


class Held(Protocol):
    """What knows of a client on this machine (system/peer.py)."""

    def is_held(self) -> bool:
        """Return whether a program is known to have the client's end open."""

    def close(self) -> None: ...


class Crowd:
    """The open connections of one daemon, on all its ports."""

    def __init__(self, settings: Settings, peer: Callable[[socket.socket], Held]) -> None:
        """`peer` makes what knows of the other end of a connection."""
        self.settings = settings
        self.peer = peer
        self.turns = Turns()
        self._unknown: dict[LimitedProtocol, None] = {}  # the oldest first

    def protocol(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> "LimitedProtocol":
        """Make a connection's protocol; it is called as uvicorn calls its own class."""
        return LimitedProtocol(self, config, server_state, app_state)

    def enter(self, connection: "LimitedProtocol") -> None:
        while len(self._unknown) >= self.settings.max_unknown_connections:
            oldest = next(iter(self._unknown))
            self.leave(oldest)
            oldest.refuse(503, "too many connections without a token are open")
        self._unknown[connection] = None

    def leave(self, connection: "LimitedProtocol") -> None:
        """Count a connection no more: it has shown its credentials, or it is closed."""
        self._unknown.pop(connection, None)

    def knows(self, connection: "LimitedProtocol") -> bool:
        return connection not in self._unknown


class LimitedProtocol(HttpToolsProtocol):
    def __init__(
        self, crowd: Crowd, config: Config, server_state: ServerState, app_state: dict[str, Any]
    ) -> None:
        super().__init__(config, server_state, app_state)
        self._crowd = crowd
        self._head = 0  # bytes of a head that is not complete
        self._tail = b""  # the last of them: the end of a head may be cut in two
        self._in_head = True
        self._refused = False
        self._patience: asyncio.TimerHandle | None = None
        self._held = b""  # what is parsed when fewer requests wait, or in the next turn
        self._drops = False  # the rest of a request that was refused
        self._upgraded = False
        self._last: Held | None = None  # of a client that sends no more
        self._looks: asyncio.TimerHandle | None = None

    # --- the connection --------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = HeldFlow(transport, partial(_holds, ref(self)))
        if len(self.connections) > self._crowd.settings.max_connections:
            self.refuse(503, "too many connections are open")
            return
        self._crowd.enter(self)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head()
        self._crowd.leave(self)
        self._held = b""
        self._end_looks()
        self.pipeline.clear()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        # Its credentials are checked before anything is read from it, and it is closed without.
        self._crowd.leave(self)
        self._upgraded = True
        super().handle_websocket_upgrade()

    # --- a request's head ------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self._drops:
            return
        if self._held:
            self._held += data
        else:
            self._parse(data)

    def _parse(self, data: bytes) -> None:
        """Parse in pieces, so that few requests are parsed before their number is looked at."""
        settings, turns = self._crowd.settings, self._crowd.turns
        many = data.count(_HEAD_END) > settings.max_pipelined or data.count(_LINE_END) > _LINES
        at = 0
        while at < len(data) and not (
            self._refused or self._upgraded or self._drops or self._is_closing()
        ):
            waits = len(self.pipeline) >= settings.max_pipelined
            if waits or (many and not turns.has_time()):
                self._held = data[at:]
                self.flow.pause_reading()
                if not waits:
                    turns.wait(self._go_on)
                return
            end = at + _PIECE if many else len(data)
            self._parse_piece(data[at:end])
            at = end

    def _go_on(self) -> None:
        """Parse what is held, and read on when all of it is parsed."""
        if not self._held or len(self.pipeline) >= self._crowd.settings.max_pipelined:
            return
        data, self._held = self._held, b""
        self._parse(data)
        if not (self._held or self.pipeline or self._is_closing()):
            self.flow.resume_reading()

    def on_response_complete(self) -> None:
        super().on_response_complete()  # it starts the next request, and reads on
        if self.transport.is_closing():
            return
        if not self._in_head and not self._crowd.knows(self):
            self._drop_rest()
            return
        self._go_on()
        if self.pipeline or self._held:
            self.flow.pause_reading()
        elif self._last is not None and self._is_answered():
            self.transport.close()

    def _drop_rest(self) -> None:
        """Parse nothing more; close when its sender has had the time to read its answer."""
        self._drops, self._held = True, b""
        self.flow.resume_reading()
        self.loop.call_later(self._crowd.settings.header_time, self.transport.close)

    # --- the end of what the client sends --------------------------------------------------

    def eof_received(self) -> bool:  # type: ignore[override]
        """Return whether the connection stays open, for the answers that are still to come."""
        if self._is_answered() and not (self.pipeline or self._held):
            return False
        if self.transport.get_extra_info("sslcontext") is not None:
            return False  # TLS has no half-closed connections here (asyncio)
        self._last = self._crowd.peer(self.transport.get_extra_info("socket"))
        self._look(_LOOK)
        return not self._is_closing()

    def _is_answered(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _look(self, pause: float) -> None:
        assert self._last is not None
        if self._last.is_held():
            longer = min(2 * pause, _LONGEST_LOOK)
            self._looks = self.loop.call_later(pause, self._look, longer)
        else:
            self.transport.close()

    def _end_looks(self) -> None:
        if self._looks is not None:
            self._looks.cancel()
            self._looks = None
        if self._last is not None:
            self._last.close()
            self._last = None

    def _is_closing(self) -> bool:
        return self.transport.is_closing()

    def _parse_piece(self, data: bytes) -> None:
        if self._in_head and not self._admits(data):
            most = self._crowd.settings.max_header_bytes
            self.refuse(431, f"the head of the request is over {most} bytes (max_header_bytes)")
            return
        super().data_received(data)

    def _admits(self, data: bytes) -> bool:
        """Count the data as a part of the head, up to the head's end."""
        if not self._head and self._patience is None:
            self._wait_for_head()
        before = len(self._tail)
        end = (self._tail + data).find(_HEAD_END)
        self._head += len(data) if end < 0 else end + len(_HEAD_END) - before
        self._tail = (self._tail + data)[1 - len(_HEAD_END) :] if end < 0 else b""
        return self._head <= self._crowd.settings.max_header_bytes

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[KNOWN] = partial(_known, ref(self))  # type: ignore[literal-required]
        self.scope[CUT] = self.transport.abort  # type: ignore[literal-required]

    def on_headers_complete(self) -> None:
        self._end_head()
        self._in_head = False
        most = self._crowd.settings.max_url_bytes
        if len(self.url) > most:
            self.refuse(414, f"the address is over {most} bytes (max_url_bytes): send a body")
            return
        scope = self.scope
        super().on_headers_complete()
        if self.cycle is not None:
            scope[GONE] = partial(_is_gone, ref(self), ref(self.cycle))  # type: ignore[literal-required]

    def known(self) -> None:
        self._crowd.leave(self)

    def on_body(self, body: bytes) -> None:
        if not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_head = True
        if not self._refused:
            super().on_message_complete()

    def _wait_for_head(self) -> None:
        seconds = self._crowd.settings.header_time
        message = f"the head of the request did not come within {seconds:g} s (header_time)"
        self._patience = self.loop.call_later(seconds, self.refuse, 408, message)

    def _end_head(self) -> None:
        self._head, self._tail = 0, b""
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    # --- the answer ------------------------------------------------------------------------

    def refuse(self, status: int, message: str) -> None:
        """Answer and close. A request that is being answered is cut off."""
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        self._end_head()
        _log.warning("refused a connection", extra={"status": status, "reason": message})
        body = msgspec.json.encode({"error": {"code": "RESOURCE_LIMIT", "message": message}})
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(STATUS_LINE[status] + head % len(body) + body)
        self.transport.close()


def _known(connection: "ref[LimitedProtocol]") -> None:
    if (known := connection()) is not None:
        known.known()


def _holds(connection: "ref[LimitedProtocol]") -> bool:
    held = connection()
    return held is not None and bool(held._held)  # of the class above


def _is_gone(connection: "ref[LimitedProtocol]", cycle: "ref[RequestResponseCycle]") -> bool:
    asked = connection()
    if asked is not None and not asked.transport.is_closing():
        return False
    if (answering := cycle()) is not None:
        # The loop says so one turn later: until then the library takes it for an application
        # that has not answered.
        answering.disconnected = True
    return True
