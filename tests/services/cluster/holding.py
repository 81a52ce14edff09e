"""A proxy before a server, which holds the server's goodbye back: a server that is very slow."""

import socket
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import TracebackType

_HEAD = 5  # bytes of a record of TLS: its kind, the version, and how long the rest is
_KINDS = range(20, 24)  # no text of NATS begins so
_GOODBYE = 24  # bytes of an alert, as it is sent


class HoldingProxy:
    """Passes on what both say, but no alert of TLS 1.3 and no end from the server."""

    def __init__(self, to: int) -> None:
        self._to = to
        self._open = ExitStack()
        self._threads: list[threading.Thread] = []
        self._listener = self._open.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.port: int = self._listener.getsockname()[1]
        self._start(self._accept)

    def __enter__(self) -> "HoldingProxy":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join()  # then there is no further connection
        self._open.close()
        for thread in self._threads[1:]:
            thread.join()

    def _start(self, work: Callable[..., None], *given: socket.socket) -> None:
        thread = threading.Thread(target=work, args=given)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):  # the listener is shut
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._to))
                for one in (client, server):
                    self._open.callback(one.close)
                    self._open.callback(_shut, one)
                self._start(self._pass_on, client, server)
                self._start(self._pass_back, server, client)

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(65536):
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)

    def _pass_back(self, server: socket.socket, client: socket.socket) -> None:
        """NATS speaks without TLS first."""
        undone = b""
        with suppress(OSError):
            while data := server.recv(65536):
                undone += data
                while undone:
                    length = len(undone)
                    if undone[0] in _KINDS:
                        if length < _HEAD:
                            break
                        length = _HEAD + int.from_bytes(undone[3:_HEAD], "big")
                    if length > len(undone):
                        break
                    record, undone = undone[:length], undone[length:]
                    if length != _GOODBYE:
                        client.sendall(record)


def _shut(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
