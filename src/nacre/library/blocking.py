"""The sockets of the client without asyncio.

Rule 1: `ask` is a coroutine that never waits for a loop: it blocks. So the same client serves both
faces, and `finish` runs it to its end without a loop.
Rule 2: one question at a time: a second thread waits for the answer to the first.
"""

import json
import socket
import threading
from collections.abc import Coroutine, Iterator
from contextlib import closing, contextmanager
from typing import Any, TypeVar

from nacre.client.greeting import check_greeting, greeting, was_stopped
from nacre.errors import DaemonRestarted, DaemonUnreachable
from nacre.library.address import Address, LocalAddress, WebAddress
from nacre.library.answers import DaemonSocket, ends_output, event_of, result_of

_GREETING_PATIENCE = 60.0  # seconds; as the command line's
T = TypeVar("T")


def finish(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        value: T = end.value
        return value
    coroutine.close()
    raise AssertionError("it waited for a loop")


class BlockingLocal:
    """By the Unix socket; it connects with the first question, and again after a crash."""

    def __init__(self, address: LocalAddress, *, person: bool) -> None:
        self._address = address
        self._person = person
        self._connection: socket.socket | None = None
        self._turn = threading.Lock()

    def _open(self) -> socket.socket:
        connection = self._address.connect()
        connection.settimeout(_GREETING_PATIENCE)
        self._answers = connection.makefile("rb")
        try:
            connection.sendall(greeting("call", person=self._person))
            check_greeting(self._answers.readline())
        except OSError as error:
            connection.close()
            raise DaemonUnreachable(f"the daemon does not answer: {error}; try again") from error
        except BaseException:
            connection.close()
            raise
        connection.settimeout(None)
        return connection

    async def ask(self, operation: str, params: dict[str, Any], *, reads: bool) -> dict[str, Any]:
        request = json.dumps({"id": 1, "operation": operation, "params": params})
        with self._turn:
            try:
                line = self._exchange(request.encode() + b"\n")
            except DaemonRestarted:
                if not reads:
                    raise
                line = self._exchange(request.encode() + b"\n")
        return result_of(json.loads(line))

    def _exchange(self, request: bytes) -> bytes:
        if self._connection is None:
            self._connection = self._open()
        line = b""
        try:
            self._connection.sendall(request)
            line = self._answers.readline()
        except ConnectionError:
            pass
        except BaseException:  # an interrupt: its answer must not be taken for the next one's
            self._drop()
            raise
        if not line.endswith(b"\n"):
            self._drop()
            raise lost(self._address)
        return line

    def _drop(self) -> None:
        if self._connection is not None:
            self._answers.close()
            self._connection.close()
            self._connection = None

    async def close(self) -> None:
        with self._turn:
            self._drop()


class BlockingWeb:
    """By a WebSocket, to a daemon at an address."""

    def __init__(self, address: WebAddress) -> None:
        self._address = address
        self._socket: Any = None
        self._turn = threading.Lock()

    async def ask(self, operation: str, params: dict[str, Any], *, reads: bool) -> dict[str, Any]:
        from websockets.exceptions import ConnectionClosed

        with self._turn:
            if self._socket is None:
                self._socket = _opened(self._address)
                self._socket.recv()  # who it is
            try:
                self._socket.send(json.dumps({"id": 1, "method": operation, "params": params}))
                return result_of(json.loads(self._socket.recv()))
            except ConnectionClosed as error:
                self._socket = None
                raise lost(self._address) from error
            except BaseException as error:
                if not isinstance(error, Exception):  # an interrupt, as above
                    self._socket.close()
                    self._socket = None
                raise

    async def close(self) -> None:
        with self._turn:
            if self._socket is not None:
                self._socket.close()
                self._socket = None


def _opened(address: WebAddress) -> Any:
    """Return an open WebSocket. Raises DaemonUnreachable."""
    from websockets.exceptions import WebSocketException
    from websockets.sync.client import connect

    try:
        # It is entered, and left by close(): it outlives this function.
        return connect(
            address.url, additional_headers=address.headers, max_size=None, compression=None
        ).__enter__()
    except (OSError, WebSocketException) as error:
        raise refused(address, error) from error


@contextmanager
def told_when_lost(address: WebAddress) -> Iterator[None]:
    """Raise DaemonRestarted where a WebSocket breaks."""
    from websockets.exceptions import ConnectionClosed

    try:
        yield
    except ConnectionClosed as error:
        raise lost(address) from error


def follow(address: WebAddress, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the events of a subscription, until it ends or the caller goes on."""
    with told_when_lost(address), closing(_opened(address)) as opened:
        opened.send(json.dumps({"id": 1, "method": "subscribe", "params": request}))
        for message in opened:
            if (event := event_of(json.loads(message))) is not None:
                if event["event"] == "unsubscribed":
                    return
                yield event


def output(address: WebAddress, session: str | int) -> Iterator[bytes]:
    """Yield the bytes of a session's terminal, until its program ends."""
    with told_when_lost(address), closing(_opened(address.raw(session))) as opened:
        for message in opened:
            if isinstance(message, bytes):
                yield message
            elif ends_output(json.loads(message)):
                return


def blocking(address: Address, *, person: bool) -> DaemonSocket:
    if isinstance(address, WebAddress):
        return BlockingWeb(address)
    return BlockingLocal(address, person=person)


def refused(address: WebAddress, error: Exception) -> DaemonUnreachable:
    return DaemonUnreachable(
        f"the daemon at {address.url} does not let us in: {error}; check the address and the token"
    )


def lost(address: Address) -> DaemonUnreachable:
    if isinstance(address, LocalAddress) and was_stopped(address.paths):
        return DaemonUnreachable("the daemon was stopped before it answered")
    return DaemonRestarted(
        "the daemon closed the connection before it answered: it was restarted or stopped; "
        "sessions that still run are there: try again"
    )
