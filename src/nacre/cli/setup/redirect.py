"""Where a browser is sent back to after a login: a port of this machine, open for that login alone.

Rule 1: only an answer with the state of this login counts; others are refused.
Rule 2: where no browser can reach the port, a person pastes the code, or the address it ended at.
"""

import asyncio
import sys
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

from nacre.errors import InvalidInput

_LONGEST = 16_384  # bytes of a request that brings the code

_DONE = "<!doctype html><meta charset=utf-8><title>nacre</title><p>Logged in. You can close this."
_FAILED = "<!doctype html><meta charset=utf-8><title>nacre</title><p>The login was refused."


class LoginRedirect:
    """The port that a browser is sent back to, and the line that a person may paste instead."""

    def __init__(self, patience: float) -> None:
        """`patience`: seconds for the person at the browser."""
        self._patience = patience
        self._found: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None
        self._state = ""
        self.url = ""

    @classmethod
    async def open(cls, patience: float, port: int = 0) -> "LoginRedirect":
        """`port` 0: any that is free. Raises InvalidInput for one that is taken."""
        self = cls(patience)
        try:
            self._server = await asyncio.start_server(
                self._serve, "127.0.0.1", port, limit=_LONGEST
            )
        except OSError as error:
            raise InvalidInput(
                f"the port {port} of its callback_port cannot be opened: {error.strerror}",
                "end what uses it, or register and configure another one",
            ) from error
        port = self._server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/callback"
        return self

    def expect(self, address: str) -> None:
        self._state = parse_qs(urlsplit(address).query).get("state", [""])[0]

    async def answer(self) -> dict[str, Any]:
        """Return code, state and issuer. Raises TimeoutError, ValueError for a refusal."""
        loop = asyncio.get_running_loop()
        descriptor = sys.stdin.fileno() if sys.stdin.isatty() else None
        if descriptor is not None:
            loop.add_reader(descriptor, self._paste)
        try:
            async with asyncio.timeout(self._patience):
                return await self._found
        finally:
            if descriptor is not None:
                loop.remove_reader(descriptor)

    def _paste(self) -> None:
        line = sys.stdin.readline().strip()
        if not line:
            return
        if "code=" in line or "error=" in line:
            self._take(urlsplit(line).query or line)
        else:  # the code alone: it belongs to this login
            self._give({"code": line, "state": self._state})

    def _take(self, query: str) -> bool:
        """Take what a query says; return whether it is a code for this login."""
        given = {key: values[0] for key, values in parse_qs(query).items()}
        if "error" in given:
            why = given.get("error_description") or given["error"]
            if not self._found.done() and given.get("state") == self._state:
                self._found.set_exception(ValueError(f"the server says: {why}"))
            return False
        if not given.get("code") or given.get("state") != self._state:
            return False
        self._give({key: given[key] for key in ("code", "state", "iss") if key in given})
        return True

    def _give(self, answer: dict[str, Any]) -> None:
        if not self._found.done():
            self._found.set_result(answer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        status, text = "404 Not Found", ""
        with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, _, rest = head.partition(" ")
            target = urlsplit(rest.partition(" ")[0])
            if method == "GET" and target.path == "/callback":
                taken = self._take(target.query)
                status, text = ("200 OK", _DONE) if taken else ("400 Bad Request", _FAILED)
            body = text.encode()
            answer = (
                f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            )
            writer.write(answer.encode() + body)
            await writer.drain()
        writer.close()

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                await self._server.wait_closed()
