"""Session ports: which one a session gets, and the socket that holds it.

Rule 1: a claimed port listens at once and until it is released, so no other program can take it in
between.
Rule 2: loopback only.
Rule 3: connections wait in the kernel's queue until a door serves the port.
Rule 4: a released port refuses connections at once, although the keeper still has its duplicate of
the socket. Only on macOS, where the kernel cannot stop a socket that several processes share, does
the duplicate listen until the keeper has closed it.
"""

import errno
import socket
from contextlib import suppress
from typing import Protocol

from nacre.core.operations.steps import END_ONE
from nacre.errors import BadParameter, InvalidInput, LimitReached
from nacre.system.keeper.client import Keeping
from nacre.wording import Omit

_LAST = 65535
_BACKLOG = 64  # connections that may wait for one session; more are refused by the kernel

# Another program listens there, or we are not allowed to use the port.
_TAKEN = (errno.EADDRINUSE, errno.EACCES)

_NEXT_FREE = Omit(("port",), "for the next free one")


class PortServer(Protocol):
    """The server of the ports: it is told of each socket that opens, and before it closes."""

    def open(self, listener: socket.socket) -> None: ...

    def close(self, port: int) -> None: ...


class PortPool:
    def __init__(self, first: int, keeping: Keeping | None = None) -> None:
        self._first = first
        self._keeping = keeping or Keeping(None)
        self._listeners: dict[int, socket.socket] = {}
        self._server: PortServer | None = None

    def serve_with(self, server: PortServer) -> None:
        """Give all sockets to this server, those that are open now and later ones."""
        self._server = server
        for listener in self._listeners.values():
            server.open(listener)

    def claim(self, port: int | None = None) -> int:
        """Listen on the requested port, or on the next free one.

        Raises InvalidInput when the requested port is taken or out of range, and LimitReached when
        no port or no descriptor is left.
        """
        listener = self._next_free() if port is None else self._asked_for(port)
        claimed: int = listener.getsockname()[1]
        self._listeners[claimed] = listener
        self._keeping.keep(f"ports/{claimed}", listener.fileno())
        if self._server is not None:
            self._server.open(listener)
        return claimed

    def keep_all(self) -> None:
        """Give all sockets to a keeper that has none of them yet."""
        for port, listener in self._listeners.items():
            self._keeping.keep(f"ports/{port}", listener.fileno())

    def adopt(self, listener: socket.socket) -> None:
        """Take over a socket that an earlier daemon listened on."""
        self._listeners[listener.getsockname()[1]] = listener

    def claim_again(self, port: int) -> int:
        """Listen on the port that a session had, or on another one if that is taken."""
        if port in self._listeners:
            return port
        try:
            return self.claim(port)
        except InvalidInput:
            return self.claim()

    def release(self, port: int) -> None:
        """Free a port. When this returns, another program may listen on it."""
        listener = self._listeners.pop(port, None)
        if listener is None:
            return
        # First, so that no later daemon gets a socket that no longer listens.
        self._keeping.drop(f"ports/{port}")
        # Before the server closes it: afterwards its number may belong to another file.
        with suppress(OSError):  # macOS supports this for connections only (ENOTCONN)
            listener.shutdown(socket.SHUT_RDWR)
        if self._server is not None:
            self._server.close(port)
        listener.close()

    def close(self) -> None:
        """Free all ports."""
        for port in list(self._listeners):
            self.release(port)

    def _next_free(self) -> socket.socket:
        for port in range(self._first, _LAST + 1):
            if port not in self._listeners and (listener := _listen(port)):
                return listener
        raise LimitReached("no free port for another session", END_ONE)

    def _asked_for(self, port: int) -> socket.socket:
        if not self._first <= port <= _LAST:
            raise BadParameter("port", f"must be {self._first} to {_LAST}, not {port}", _NEXT_FREE)
        listener = None if port in self._listeners else _listen(port)
        if listener is None:
            raise BadParameter("port", f"{port} is taken", _NEXT_FREE)
        return listener


def _listen(port: int) -> socket.socket | None:
    """Return None if the port is taken. Raises LimitReached if no descriptor is left."""
    try:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    except OSError as error:
        raise LimitReached(f"no socket for another session ({error})", END_ONE) from error
    try:
        # A port whose last connections still linger (TIME_WAIT) is free.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno in _TAKEN:
            return None
        raise
    listener.setblocking(False)
    return listener
