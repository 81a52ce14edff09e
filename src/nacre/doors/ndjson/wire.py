"""One NDJSON client's lines, both ways.

Rule 1: from a client that does not read its answers nothing more is read, and no more than one
answer waits for it; what it cannot take in time (unread_time) closes it.
Rule 2: a client that asks for one thing at a time gets one message at a time: the next one is sent
when it has read the one before. The document's Node client loses what shares a read.

Rule 2 asks the kernel again and again, for there is no event to wait for. That the other side has
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
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Protocol

from nacre.doors.http.long_lines import skip_line
from nacre.doors.http.message_log import log_message
from nacre.doors.ndjson.messages import failure
from nacre.errors import InvalidInput
from nacre.settings.table import Settings

_log = logging.getLogger("nacre.ndjson")

_LOOK, _LONGEST_LOOK = 0.0001, 0.01  # seconds between two looks whether a client has read


class Reads(Protocol):
    """What knows of a client on this machine (system/peer.py)."""

    def has_read(self, sent: int) -> bool | None:
        """Return whether it has read all of the bytes that we ever sent; None: nobody knows."""

    def close(self) -> None: ...


class NdjsonWire:
    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        peer: Reads,
        settings: Settings,
        heard: Callable[[], None],
    ) -> None:
        """`heard` is called when a line has come, or the end."""
        self.leaving = asyncio.Event()  # the context has ended: no further line is read
        self.unanswered = 0  # requests without their response
        self._reader = reader
        self._writer = writer
        self._peer = peer
        self._settings = settings
        self._heard = heard
        self._loop = asyncio.get_running_loop()
        self._turn = asyncio.Lock()  # one message at a time waits for a client that does not read
        self._sent = 0  # bytes
        self._came = asyncio.Event()  # a line: who asks has mostly read what came before
        self._first = True  # no line has come yet, but for empty ones

    @property
    def is_behind(self) -> bool:
        """Whether a message waits for the client to read."""
        return self._turn.locked()

    def close(self) -> None:
        self._peer.close()

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield lines until the client has closed its side, or its context has ended."""
        leaving = asyncio.ensure_future(self.leaving.wait())
        reading: asyncio.Future[bytes | None] | None = None
        try:
            while True:
                reading = asyncio.ensure_future(self._line())
                await asyncio.wait((reading, leaving), return_when=asyncio.FIRST_COMPLETED)
                if not reading.done():
                    return
                line = reading.result()
                self._came.set()
                self._heard()
                if line is None:
                    return
                if line.strip():
                    self._first = False
                    log_message("ndjson", "received", line)
                    yield line
        finally:
            leaving.cancel()
            if reading is not None:  # also when the door is closed just as the client leaves
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)

    async def _line(self) -> bytes | None:
        """Return the next line; None at the end. One that is too long is answered and skipped.

        If it is the first one, it is the end: nobody knows that it is a JSON object (client.py).
        """
        try:
            return await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as end:
            return end.partial or None  # the last line may go without its end
        except asyncio.LimitOverrunError as over:
            await skip_line(self._reader, over.consumed)
            most = self._settings.ndjson_max_line_bytes
            why = f"Line too long: at most {most} bytes (ndjson_max_line_bytes)"
            await self.send(failure(None, why, InvalidInput.code))
            return None if self._first else b"\n"

    async def respond(self, message: bytes) -> None:
        """Write what answers a request. Raises ConnectionError."""
        await self.send(message)
        self.unanswered -= 1

    async def send(self, message: bytes) -> None:
        """Write a message, and wait for a client that does not read. Raises ConnectionError."""
        async with self._turn:
            if self.unanswered <= 1:  # who asks for more at once tells its answers apart
                await self._until_read()
            if self._writer.is_closing():
                raise ConnectionResetError
            log_message("ndjson", "sent", message)
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
