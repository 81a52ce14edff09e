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
Rule 5: what a request is handed refers to its connection weakly: else each connection that has
ended would wait for a full collection of Python's garbage, which holds the loop.
"""

import asyncio
import logging
from functools import partial
from typing import Any
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
from nacre.settings.table import Settings

_log = logging.getLogger("nacre.http")

KNOWN = "nacre.known"  # in the scope of a request: call it when its credentials are right

GONE = "nacre.gone"  # there, too: it says whether the client has left

_HEAD_END = b"\r\n\r\n"  # RFC 9112, 2.1

_PIECE = 4096  # bytes: a few dozen requests


class Crowd:
    """The open connections of one daemon, on all its ports."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
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
        self._held = b""  # what is parsed when fewer requests wait
        self._upgraded = False

    # --- the connection --------------------------------------------------------------------

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self._crowd.settings.max_connections:
            self.refuse(503, "too many connections are open")
            return
        self._crowd.enter(self)
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head()
        self._crowd.leave(self)
        self._held = b""
        self.pipeline.clear()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        # Its credentials are checked before anything is read from it, and it is closed without.
        self._crowd.leave(self)
        self._upgraded = True
        super().handle_websocket_upgrade()

    # --- a request's head ------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self._held:
            self._held += data
        else:
            self._parse(data)

    def _parse(self, data: bytes) -> None:
        """Parse in pieces, so that few requests are parsed before their number is looked at."""
        many = data.count(_HEAD_END) > self._crowd.settings.max_pipelined
        at = 0
        while at < len(data) and not (self._refused or self._upgraded or self._is_closing()):
            if len(self.pipeline) >= self._crowd.settings.max_pipelined:
                self._held = data[at:]
                self.flow.pause_reading()
                return
            end = at + _PIECE if many else len(data)
            self._parse_piece(data[at:end])
            at = end

    def on_response_complete(self) -> None:
        super().on_response_complete()  # it starts the next request, and reads on
        if self.transport.is_closing():
            return
        if self._held and len(self.pipeline) < self._crowd.settings.max_pipelined:
            data, self._held = self._held, b""
            self._parse(data)
        if self.pipeline or self._held:
            self.flow.pause_reading()

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


def _is_gone(connection: "ref[LimitedProtocol]", cycle: "ref[RequestResponseCycle]") -> bool:
    asked = connection()
    if asked is not None and not asked.transport.is_closing():
        return False
    if (answering := cycle()) is not None:
        # The loop says so one turn later: until then the library takes it for an application
        # that has not answered.
        answering.disconnected = True
    return True
