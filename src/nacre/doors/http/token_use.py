"""Who is connected with which token: how often they may ask, and what ends with the token.

Rule 1: a connection ends when its token is revoked or expires. A request is cut off in the middle,
a WebSocket is closed with 4401.
Rule 2: a token that asks too often is told when to come again; others do not notice.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

CUT = "nacre.cut"  # in the scope of a request: it closes the connection

_CLOSED = 4401  # as sockets.py makes them: 4000 and the HTTP status
_SPAN = 60.0  # seconds that the rate is counted by


class TokenUse:
    """`clock` counts seconds; a token may ask `rate` times a minute, 0: without limit."""

    def __init__(self, clock: Callable[[], float], rate: int) -> None:
        self._clock = clock
        self._rate = rate
        self._open: dict[str, set[asyncio.Task[Any]]] = {}
        self._left: dict[str, tuple[float, float]] = {}  # requests left, and when that was so

    def seconds_to_wait(self, token: str) -> float:
        """Count a request; return 0, or after how many seconds there is room for it."""
        if not self._rate:
            return 0.0
        now = self._clock()
        left, then = self._left.get(token, (float(self._rate), now))
        left = min(float(self._rate), left + (now - then) * self._rate / _SPAN)
        if left < 1:
            return (1 - left) * _SPAN / self._rate
        self._left[token] = (left - 1, now)
        return 0.0

    def end(self, token: str) -> None:
        """End everything that was opened with this token."""
        self._left.pop(token, None)
        for task in self._open.get(token, ()):
            task.cancel()

    def hold(
        self, token: str, task: "asyncio.Task[Any]", seconds: float | None
    ) -> Callable[[], None]:
        """End a connection's task with its token, which is valid for so many seconds more.

        Returns what forgets the connection.
        """
        expiry = None
        if seconds is not None:
            expiry = asyncio.get_running_loop().call_later(max(0.0, seconds), task.cancel)
        self._open.setdefault(token, set()).add(task)

        def forget() -> None:
            if expiry is not None:
                expiry.cancel()
            self._open[token].discard(task)
            if not self._open[token]:
                del self._open[token]

        return forget

    async def serve(
        self,
        app: ASGIApp,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        token: str,
        seconds: float | None,
    ) -> None:
        """Serve as long as the token is valid, which it is for so many seconds more."""
        started = False

        async def sent(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        async def answer() -> None:
            await app(scope, receive, sent)

        task = asyncio.get_running_loop().create_task(answer())
        forget = self.hold(token, task, seconds)
        try:
            await asyncio.shield(task)
        except BaseException:
            if not task.cancelling():  # it failed, or it is we who are cancelled: the server stops
                task.cancel()
                raise
            # However it took that: a call that ends with its token fails.
            await _cut_off(scope, receive, send, started=started)
        finally:
            forget()


async def _cut_off(scope: Scope, receive: Receive, send: Send, *, started: bool) -> None:
    if scope["type"] == "websocket":
        with suppress(RuntimeError, OSError):
            await send({"type": "websocket.close", "code": _CLOSED})
        return
    if not started:
        body = b'{"error":{"code":"FORBIDDEN","message":"the token was revoked or has expired"}}'
        headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        return
    if CUT in scope:
        scope[CUT]()
        while (await receive())["type"] != "http.disconnect":
            pass
