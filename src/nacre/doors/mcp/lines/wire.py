"""One client's lines, both ways.

Rule 1: one message per line. A line that is too long is refused, and the connection stays open.
Rule 2: a client that has gone is no error: nobody gets its answers.
Rule 3: from a client that does not read its answers no further line is read.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import msgspec

from nacre.doors.http.long_lines import LineTooLong, read_line, skip_line
from nacre.doors.http.message_log import log_message
from nacre.doors.mcp.identifiers import INVALID_REQUEST

NULL = b"null"


class LineWire:
    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, longest: int
    ) -> None:
        """A line may have `longest` bytes."""
        self._reader = reader
        self._writer = writer
        self._longest = longest

    async def lines(self) -> AsyncIterator[bytes]:
        """Return each line that is not blank, until the client is gone."""
        while True:
            await self.drain()
            try:
                line = await read_line(self._reader, self._longest)
            except LineTooLong as long:
                if long.rest:
                    await skip_line(self._reader)
                self.refuse(INVALID_REQUEST, "the message is over max_message_bytes")
                continue
            except ConnectionError:
                return
            if line.strip():
                yield line
            if not line.endswith(b"\n"):
                return

    def answer(self, raw: bytes, result: bytes) -> None:
        self.write(b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (raw, result))

    def refuse(self, code: int, message: str, raw: bytes = NULL, data: Any = None) -> None:
        """Answer with an error of the protocol."""
        error = {"code": code, "message": message} | ({"data": data} if data else {})
        self.write(b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (raw, msgspec.json.encode(error)))

    def write(self, line: bytes) -> None:
        log_message("mcp", "sent", line)
        if not self._writer.is_closing():
            self._writer.write(line + b"\n")

    async def drain(self) -> None:
        with suppress(ConnectionError):  # it left; what is read next is its end
            await self._writer.drain()
