"""Connections over TLS until their handshake is done: how many there are, and for how long.

Rule 1: who has not shaken hands is nobody yet, and on a network anybody may connect. So these count
by themselves (`max_unknown_connections`), and the oldest goes when there are more: the library
would count them only after their handshake.
Rule 2: a handshake has `header_time`, as the head of a request.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress

from nacre.settings.table import Settings

_log = logging.getLogger("nacre.http")

_AGAIN = 1.0  # seconds until it accepts again when there are no descriptors, as asyncio's servers


class Arrivals:
    def __init__(
        self,
        listener: socket.socket,
        context: ssl.SSLContext,
        settings: Settings,
        protocol: Callable[[], asyncio.Protocol],
    ) -> None:
        """`protocol` makes what a connection gets when its handshake is done."""
        self._listener = listener
        self._context = context
        self._settings = settings
        self._protocol = protocol
        self._arriving: dict[asyncio.Task[None], socket.socket] = {}  # the oldest first

    async def serve(self) -> None:
        """Accept until this is cancelled."""
        loop = asyncio.get_running_loop()
        self._listener.setblocking(False)
        try:
            while True:
                try:
                    connection, _ = await loop.sock_accept(self._listener)
                except OSError as error:
                    _log.warning("cannot accept a connection", extra={"error": str(error)})
                    await asyncio.sleep(_AGAIN)  # no event tells that a descriptor is free
                    continue
                self._arrive(connection)
        finally:
            for connection in self._arriving.values():
                _cut(connection)

    def _arrive(self, connection: socket.socket) -> None:
        most = self._settings.max_unknown_connections
        while len(self._arriving) >= most:
            oldest = next(iter(self._arriving))
            reason = f"over {most} connections have not shaken hands (max_unknown_connections)"
            _log.warning("refused a connection", extra={"reason": reason})
            _cut(self._arriving.pop(oldest))
        task = asyncio.create_task(self._shake_hands(connection))
        self._arriving[task] = connection
        task.add_done_callback(lambda _: self._arriving.pop(task, None))

    async def _shake_hands(self, connection: socket.socket) -> None:
        seconds = self._settings.header_time
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                self._protocol,
                connection,
                ssl=self._context,
                ssl_handshake_timeout=seconds,
                ssl_shutdown_timeout=seconds,
            )
        except OSError as error:  # it left, speaks no TLS, or was too slow
            _log.debug("no handshake", extra={"error": str(error)})
            connection.close()


def _cut(connection: socket.socket) -> None:
    """End a connection whose descriptor is the loop's: its handshake then fails."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
