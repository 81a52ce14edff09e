"""Several requests at once on one connection; the answers come as they are ready.

Rule: a wait for an answer can be ended from outside, by a byte in a pipe: for a signal.
"""

import selectors
import socket
from typing import Any

from nacre.client.calls import AnsweredError, Client, decode_answer, encode_request

_READ = 65_536  # bytes at once


class OpenCalls:
    def __init__(self, client: Client, wake: socket.socket) -> None:
        """`wake` becomes readable when a wait is to end."""
        self._client = client
        self._connection = client.connection
        self._wake = wake
        self._unread = b""
        self._asked = 0
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._connection, selectors.EVENT_READ)
        self._selector.register(wake, selectors.EVENT_READ)

    def ask(self, operation: str, params: dict[str, Any], **beside: Any) -> int:
        """Send a request; return its number. Raises as Client.call does.

        `beside` is what the door itself takes (doors/local/socket.py).
        """
        self._asked += 1
        request = {"id": self._asked, "operation": operation, "params": params, **beside}
        try:
            self._connection.sendall(encode_request(request))
        except OSError as error:
            raise self._client.lost(error) from None
        return self._asked

    def next_answer(self) -> dict[str, Any] | None:
        """Return the next message, or None if the wait was ended. Raises as Client.call does."""
        while b"\n" not in self._unread:
            ready = {key.fileobj for key, _ in self._selector.select()}
            if self._wake in ready:
                self._wake.recv(_READ)
                return None
            try:
                data = self._connection.recv(_READ)
            except OSError as error:
                raise self._client.lost(error) from None
            if not data:
                raise self._client.lost()
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return decode_answer(line)

    def close(self) -> None:
        self._selector.close()
        self._client.close()


def result_of(answer: dict[str, Any]) -> dict[str, Any]:
    """Raises AnsweredError."""
    if "error" in answer:
        raise AnsweredError(answer["error"])
    result: dict[str, Any] = answer["result"]
    return result
