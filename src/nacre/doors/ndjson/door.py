"""The NDJSON door: commands of the catalog for clients that speak lines of JSON on TCP.

Rule: what a client does not read, or does wrong, ends its own connection at most.
"""

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Any

from nacre.doors.ndjson.client import Guesses, NdjsonClient
from nacre.doors.ndjson.messages import failure
from nacre.doors.ndjson.wire import Reads
from nacre.services.dispatch.dispatch import Dispatch
from nacre.settings.table import Settings

_log = logging.getLogger("nacre.ndjson")

_LINGER = 1.0  # seconds for a client to read its last answers


class NdjsonDoor:
    def __init__(
        self,
        dispatch: Dispatch,
        credentials: Guesses,
        settings: Settings,
        client: Callable[[], AbstractContextManager[None]],
        peer: Callable[[socket.socket], Reads],
    ) -> None:
        self._dispatch = dispatch
        self._credentials = credentials
        self._settings = settings
        self._client = client
        self._peer = peer
        self._connections: set[asyncio.Task[Any]] = set()
        self._servers: list[asyncio.Server] = []

    async def listen(self, *listeners: socket.socket) -> None:
        limit = self._settings.ndjson_max_line_bytes
        for listener in listeners:
            server = await asyncio.start_server(self.connected, sock=listener, limit=limit)
            self._servers.append(server)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        task = asyncio.current_task()
        assert task is not None
        if len(self._connections) >= self._settings.ndjson_max_clients:
            most = self._settings.ndjson_max_clients
            writer.write(failure(None, f"Too many clients: {most} at once", "RESOURCE_LIMIT"))
            await _close(writer)
            return
        self._connections.add(task)
        peer = self._peer(writer.get_extra_info("socket"))
        connection = NdjsonClient(
            self._dispatch, self._credentials, self._settings, reader, writer, peer
        )
        try:
            with self._client():
                await connection.serve()
        except (ConnectionError, asyncio.CancelledError):  # the task ends here in either case
            _log.debug("client left, or the door has closed")
        except Exception:  # noqa: BLE001  # outermost loop of a door: logged, the daemon continues
            _log.exception("connection failed")
        finally:
            self._connections.discard(task)
            await _close(writer)

    async def close(self) -> None:
        for server in self._servers:
            server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError, TimeoutError):
        async with asyncio.timeout(_LINGER):
            await writer.wait_closed()
    writer.transport.abort()  # what a client does not read must not keep the daemon
