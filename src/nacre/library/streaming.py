"""The sockets of the client with asyncio: many questions at once on one connection.

Rule: an answer finds its question by its id. When the connection breaks, all that wait are told.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from itertools import count
from typing import Any

from nacre.client.greeting import check_greeting, greeting
from nacre.errors import DaemonRestarted
from nacre.library.address import Address, LocalAddress, WebAddress
from nacre.library.answers import DaemonSocket, ends_output, event_of, result_of
from nacre.library.blocking import lost, refused, told_when_lost

_LONGEST = 1 << 31  # bytes of one answer


class _Questions:
    """The questions without an answer yet."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._open: dict[int, asyncio.Future[dict[str, Any]]] = {}

    def begin(self) -> tuple[int, asyncio.Future[dict[str, Any]]]:
        number = next(self._numbers)
        future = asyncio.get_running_loop().create_future()
        self._open[number] = future
        return number, future

    def end(self, number: int) -> None:
        self._open.pop(number, None)

    def answered(self, answer: dict[str, Any]) -> None:
        future = self._open.get(answer.get("id", 0))
        if future is not None and not future.done():
            future.set_result(answer)

    def fail(self, error: Exception) -> None:
        for future in self._open.values():
            if not future.done():
                future.set_exception(error)


class StreamingLocal:
    def __init__(self, address: LocalAddress, *, person: bool) -> None:
        self._address = address
        self._person = person
        self._opening = asyncio.Lock()
        self._waiting = _Questions()
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None

    async def _open(self) -> asyncio.StreamWriter:
        async with self._opening:
            if self._writer is not None:
                return self._writer
            connection = await asyncio.to_thread(self._address.connect)
            connection.setblocking(False)
            reader, writer = await asyncio.open_unix_connection(sock=connection, limit=_LONGEST)
            try:
                writer.write(greeting("call", person=self._person))
                check_greeting(await reader.readline())
            except BaseException:
                writer.close()
                raise
            self._reading = asyncio.create_task(self._read(reader, self._waiting))
            self._writer = writer
            return writer

    async def _read(self, reader: asyncio.StreamReader, waiting: _Questions) -> None:
        with suppress(ConnectionError):
            while (line := await reader.readline()).endswith(b"\n"):
                waiting.answered(json.loads(line))
        self._lose()
        waiting.fail(lost(self._address))

    def _lose(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
            self._waiting = _Questions()

    async def ask(self, operation: str, params: dict[str, Any], *, reads: bool) -> dict[str, Any]:
        try:
            return await self._ask(operation, params)
        except DaemonRestarted:
            if not reads:
                raise
            return await self._ask(operation, params)

    async def _ask(self, operation: str, params: dict[str, Any]) -> dict[str, Any]:
        writer = self._writer or await self._open()
        waiting = self._waiting
        number, answer = waiting.begin()
        try:
            request = {"id": number, "operation": operation, "params": params}
            writer.write(json.dumps(request).encode() + b"\n")
            return result_of(await answer)
        finally:
            waiting.end(number)

    async def close(self) -> None:
        self._lose()
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading


class StreamingWeb:
    def __init__(self, address: WebAddress) -> None:
        self._address = address
        self._opening = asyncio.Lock()
        self._waiting = _Questions()
        self._socket: Any = None
        self._reading: asyncio.Task[None] | None = None

    async def ask(self, operation: str, params: dict[str, Any], *, reads: bool) -> dict[str, Any]:
        from websockets.exceptions import ConnectionClosed

        opened = self._socket or await self._open()
        waiting = self._waiting
        number, answer = waiting.begin()
        try:
            await opened.send(json.dumps({"id": number, "method": operation, "params": params}))
            return result_of(await answer)
        except ConnectionClosed as error:
            raise lost(self._address) from error
        finally:
            waiting.end(number)

    async def _open(self) -> Any:
        async with self._opening:
            if self._socket is None:
                self._socket = await _opened(self._address)
                await self._socket.recv()  # who it is
                self._reading = asyncio.create_task(self._read(self._socket, self._waiting))
            return self._socket

    async def _read(self, opened: Any, waiting: _Questions) -> None:
        from websockets.exceptions import ConnectionClosed

        with suppress(ConnectionClosed):
            async for message in opened:
                waiting.answered(json.loads(message))
        self._socket, self._waiting = None, _Questions()
        waiting.fail(lost(self._address))

    async def close(self) -> None:
        if self._socket is not None:
            await self._socket.close()
        if self._reading is not None:
            await self._reading


async def _opened(address: WebAddress) -> Any:
    """Return an open WebSocket. Raises DaemonUnreachable."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import WebSocketException

    try:
        # It is entered, and left by close(): it outlives this function.
        return await connect(
            address.url, additional_headers=address.headers, max_size=None, compression=None
        ).__aenter__()
    except (OSError, WebSocketException) as error:
        raise refused(address, error) from error


async def follow(address: WebAddress, request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """Yield the events of a subscription, until it ends or the caller goes on."""
    with told_when_lost(address):
        async with aclosing(_Closing(await _opened(address))) as opened:
            subscribe = {"id": 1, "method": "subscribe", "params": request}
            await opened.socket.send(json.dumps(subscribe))
            async for message in opened.socket:
                if (event := event_of(json.loads(message))) is not None:
                    if event["event"] == "unsubscribed":
                        return
                    yield event


async def output(address: WebAddress, session: str | int) -> AsyncIterator[bytes]:
    """Yield the bytes of a session's terminal, until its program ends."""
    with told_when_lost(address):
        async with aclosing(_Closing(await _opened(address.raw(session)))) as opened:
            async for message in opened.socket:
                if isinstance(message, bytes):
                    yield message
                elif ends_output(json.loads(message)):
                    return


class _Closing:
    """A WebSocket as contextlib.aclosing takes it."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket

    async def aclose(self) -> None:
        await self.socket.close()


def streaming(address: Address, *, person: bool) -> DaemonSocket:
    if isinstance(address, WebAddress):
        return StreamingWeb(address)
    return StreamingLocal(address, person=person)
