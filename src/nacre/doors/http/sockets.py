"""An open WebSocket, as the doors use it.

Rule 1: sending waits until the other side has read. One message at a time goes into the server's
buffer (64 KiB and one message), so nothing piles up for a client that does not read.
Rule 2: when the daemon stops, sockets are closed with 1001, going away (RFC 6455, 7.4.1). If the
client does not read, the connection is cut.
Rule 3: what is refused in the middle is read to its end and dropped. The kernel answers data that
nobody reads with a reset, which can overtake the code that says why.
"""

import asyncio
import time
from socket import SO_SNDBUF, SOL_SOCKET
from typing import Any

from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode
from websockets.http11 import Request
from websockets.protocol import State

from nacre.doors.http.message_log import log_message, log_size
from nacre.doors.http.slices import encode_in_slices
from nacre.errors import NacreError, http_status
from nacre.wording import OPERATIONS

_SEND = "websocket.send"
_GOING_AWAY = 1001
# Bytes in the kernel's buffer. By default it takes 4 MB, so a slow reader would see old output.
_SEND_BUFFER = 128 * 1024
_LINGER = 0.5  # seconds for the last frames, on loopback
_PART = 4096  # bytes that are taken without a look at the clock: at most 680 frames, 10 ms
_TURN = 0.002  # seconds

# Codes for applications begin at 4000 (RFC 6455, 7.4.2); we add the HTTP status.
_OWN_CODES = 4000


class Socket:
    """A WebSocket that many tasks may write to."""

    def __init__(self, websocket: WebSocket, door: str, *, typed: bool = False) -> None:
        """`door` is for the log. With `typed` messages are what a person types: not for it."""
        self._websocket = websocket
        self._door, self._typed = door, typed
        self._turn = asyncio.Lock()

    async def accept(self) -> None:
        await self._websocket.accept()

    async def receive(self) -> str | bytes | None:
        """Return the next message; None when the other side has gone."""
        message = await self._websocket.receive()
        if message["type"] == "websocket.disconnect":
            return None
        text: str | None = message.get("text")
        if text is None:
            data: bytes = message["bytes"]
            log_size(self._door, "received", len(data))
            return data
        if self._typed:
            log_size(self._door, "received", len(text))
        else:
            log_message(self._door, "received", text.encode(errors="replace"))
        return text

    async def tell(self, message: dict[str, Any], data: bytes | None = None) -> None:
        """Send a message as JSON, and bytes that must follow it directly.

        Raises WebSocketDisconnect when the other side has gone.
        """
        encoded = b"".join(await encode_in_slices(message, OPERATIONS.encode))
        log_message(self._door, "sent", encoded)
        text: Message = {"type": _SEND, "text": encoded.decode()}
        await self._send(text, *([] if data is None else [{"type": _SEND, "bytes": data}]))

    async def write(self, data: bytes) -> None:
        """Send bytes. Raises WebSocketDisconnect when the other side has gone."""
        log_size(self._door, "sent", len(data))
        await self._send({"type": _SEND, "bytes": data})

    async def close(self, error: NacreError | None = None) -> None:
        """Close; an error's code is 4000 and the HTTP status of it: 4404 for no such session."""
        code = 1000 if error is None else _OWN_CODES + http_status(error.code)
        await self._send({"type": "websocket.close", "code": code})

    async def _send(self, *messages: Message) -> None:
        async with self._turn:
            for message in messages:
                try:
                    await self._websocket.send(message)
                except RuntimeError as error:
                    # The server itself has closed it: a message was too big or malformed.
                    raise WebSocketDisconnect from error
        # The server learns that its buffer is full in the loop's next turn.
        await asyncio.sleep(0)


class SocketProtocol(WebSocketsSansIOProtocol):
    """uvicorn's protocol with a smaller kernel buffer and its own way to close at the end.

    What was received is taken in parts, some in each turn of the loop: 64 KB can be ten thousand
    frames, and others would wait for all of them.
    """

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._untaken = b""
        self._takes_more = False  # in the next turn

    def data_received(self, data: bytes) -> None:
        self._untaken += data
        if not self._takes_more:
            self._take_some()

    def _take_some(self) -> None:
        self._takes_more = False
        until = time.perf_counter() + _TURN
        at = 0
        while at < len(self._untaken) and not self.transport.is_closing():
            part, at = self._untaken[at : at + _PART], at + _PART
            super().data_received(part)
            if time.perf_counter() >= until:
                break
        self._untaken = b"" if self.transport.is_closing() else self._untaken[at:]
        if self._untaken:
            self._takes_more = True
            self._hold()
            self.loop.call_soon(self._take_some)
        elif self.read_paused and self.queue.empty() and not self.transport.is_closing():
            self.read_paused = False
            self.transport.resume_reading()

    def _hold(self) -> None:
        """Read no more before what was received is taken."""
        if not self.read_paused and not self.transport.is_closing():
            self.read_paused = True
            self.transport.pause_reading()

    async def receive(self) -> Any:
        message = await super().receive()
        if self._untaken:
            self._hold()
        return message

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        sending = transport.get_extra_info("socket")
        sending.setsockopt(SOL_SOCKET, SO_SNDBUF, _SEND_BUFFER)

    def handle_connect(self, event: Request) -> None:
        if not event.path.isascii():
            # It would fail later, with a traceback in the log for each attempt.
            self.conn.send_response(self.conn.reject(400, "the address is not ASCII\n"))
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.handshake_complete = self.close_sent = True
            self.transport.close()
            return
        super().handle_connect(event)

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type != "text" or self.close_sent:
            super().send_receive_event_to_app()
            return
        data, self.frames = b"".join(self.frames), []
        try:
            text = data.decode()
        except UnicodeDecodeError:
            # RFC 6455, 8.1. The library's own way logs a traceback for each of these, and fails
            # when the client's close came with it.
            if self.conn.state is State.OPEN:
                self.conn.fail(CloseCode.INVALID_DATA)
            self.handle_parser_exception()
            return
        self.queue.put_nowait({"type": "websocket.receive", "text": text})
        if not self.read_paused:
            self.read_paused = True
            self.transport.pause_reading()

    async def send(self, message: Any) -> None:
        if not self.handshake_complete and self.transport.is_closing():
            raise ClientDisconnected  # else it is an error in the log that nobody was accepted
        await super().send(message)
        if self.close_sent:  # refused, which is an answer, too
            self.handshake_complete = True

    def handle_ping(self) -> None:
        # An answer would come after our end, or wait for a client that reads none of them. It may
        # answer the last ping alone (RFC 6455, 5.5.3).
        if self.close_sent or not self.writable.is_set():
            self.conn.data_to_send()
        else:
            super().handle_ping()

    def handle_parser_exception(self) -> None:
        """Close: a message is too long or malformed. Also called for each part that follows."""
        if self.close_sent:
            return
        closing = self.conn.close_sent
        assert closing is not None
        self.stop_keepalive()
        self.queue.put_nowait({"type": "websocket.disconnect", "code": closing.code})
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        # The client reads the end, and closes its side when it has sent what it was sending.
        self.transport.write_eof()
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self.close_timer = self.loop.call_later(self.close_timeout, self.transport.abort)

    def shutdown(self) -> None:
        if self.handshake_complete and not self.close_sent and not self.transport.is_closing():
            self.stop_keepalive()
            self.queue.put_nowait({"type": "websocket.disconnect", "code": _GOING_AWAY})
            self.conn.send_close(_GOING_AWAY)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.close()
        else:
            super().shutdown()
        self.loop.call_later(_LINGER, self.transport.abort)
