"""Session ports: which one a session gets, and the socket that holds it.

Rule 1: a claimed port listens at once and until it is released, so that "taken" is a fact and not
a guess: nobody else can come in between.
Rule 2: loopback only.
Rule 3: who connects waits in the kernel's queue until a door serves the port.
"""

import errno
import socket
from typing import Protocol

from nacre.errors import InvalidInput, LimitReached
from nacre.system.keeping import Keeping

_LAST = 65535
_BACKLOG = 64  # connections that may wait for one session; more are refused by the kernel

# Somebody listens there, or it is a port that we may not have.
_TAKEN = (errno.EADDRINUSE, errno.EACCES)


class PortServer(Protocol):
    """Who serves the ports: told of each socket that opens, and before it closes."""

    def open(self, listener: socket.socket) -> None: ...

    def close(self, port: int) -> None: ...


class PortPool:
    def __init__(self, first: int, keeping: Keeping | None = None) -> None:
        self._first = first
        self._keeping = keeping or Keeping(None)
        self._listeners: dict[int, socket.socket] = {}
        self._server: PortServer | None = None

    def serve_with(self, server: PortServer) -> None:
        """Hand each socket to this server from now on, and those that are open already."""
        self._server = server
        for listener in self._listeners.values():
            server.open(listener)

    def claim(self, port: int | None = None) -> int:
        """Take the port that is asked for, else the next free one; listen on it.

        Raises InvalidInput when the asked-for port is taken or is none of the sessions' ports, and
        LimitReached when no port or no descriptor is left.
        """
        listener = self._next_free() if port is None else self._asked_for(port)
        claimed: int = listener.getsockname()[1]
        self._listeners[claimed] = listener
        self._keeping.keep(f"ports/{claimed}", listener.fileno())
        if self._server is not None:
            self._server.open(listener)
        return claimed

    def adopt(self, listener: socket.socket) -> None:
        """Go on with a socket that a former daemon listened on."""
        self._listeners[listener.getsockname()[1]] = listener

    def claim_again(self, port: int) -> int:
        """Take the port that a session had, or another if that is taken by now."""
        if port in self._listeners:
            return port
        try:
            return self.claim(port)
        except InvalidInput:
            return self.claim()

    def release(self, port: int) -> None:
        """Free a port; when this returns, somebody else may listen on it."""
        listener = self._listeners.pop(port, None)
        if listener is None:
            return
        self._keeping.drop(f"ports/{port}")
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
        raise LimitReached("no free port for another session; kill one that is not needed")

    def _asked_for(self, port: int) -> socket.socket:
        if not self._first <= port <= _LAST:
            raise InvalidInput(
                f"session ports are {self._first} to {_LAST}, not {port}; "
                "leave port out for the next free one"
            )
        listener = None if port in self._listeners else _listen(port)
        if listener is None:
            raise InvalidInput(f"port {port} is taken; leave port out for the next free one")
        return listener


def _listen(port: int) -> socket.socket | None:
    """Return None when the port is taken. Raises LimitReached without descriptors."""
    try:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    except OSError as error:
        raise LimitReached(
            f"no socket for another session ({error}); kill one that is not needed"
        ) from error
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
