"""MCP over HTTP for the official client: Streamable HTTP, and the older HTTP with events.

Rule 1: which statuses the server answered with is noted, for whoever tries the other way or says
what went wrong. Addresses and headers may hold secrets: neither is ever part of a message or a log.
Rule 2: the library writes addresses to its logs; those are turned off.
"""

import asyncio
import logging
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from types import TracebackType
from typing import Any, Literal

import httpx2
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from nacre.services.upstream.connections.stored_login import lacking_scope

HttpKind = Literal["http", "sse"]

_FOR_EVER = 7 * 86_400.0  # seconds: a stream of events is silent while there is nothing to tell
_SESSION = "mcp-session-id"
_TALKATIVE = ("httpx2", "httpcore2", "mcp.client", "mcp.client.sse", "mcp.client.streamable_http")


def silence() -> None:
    """Keep the library from writing addresses and messages to our log."""
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


class HttpTransport:
    """A connection over HTTP, as the client's transport."""

    garbage = broken = ""

    def __init__(
        self,
        kind: HttpKind,
        url: str,
        headers: dict[str, str],
        most: int,
        connect: float,
        auth: httpx2.Auth | None = None,
    ) -> None:
        self.kind = kind
        self._url = url
        self._headers = headers
        self._most = most
        self._connect = connect  # seconds; how long an answer takes is the call's
        self._auth = auth
        self._stack = AsyncExitStack()
        self.ended = asyncio.Event()
        self.statuses: list[int] = []  # the last ones that were errors
        self._lacks = False  # a request was refused for want of a right
        self.forgotten = False  # the server does not know our session any more
        self._failure = ""

    async def __aenter__(self) -> tuple[Any, Any]:
        silence()
        opened: AbstractAsyncContextManager[Any]
        if self.kind == "sse":
            opened = sse_client(
                self._url,
                headers=self._headers,
                timeout=self._connect,
                sse_read_timeout=_FOR_EVER,
                httpx_client_factory=self._client,
                auth=self._auth,
            )
        else:
            client = self._client(self._headers, None, self._auth)
            await self._stack.enter_async_context(client)
            opened = streamable_http_client(
                self._url, http_client=client, max_sse_event_size=self._most
            )
        try:
            reading, writing = await self._stack.enter_async_context(opened)
        except BaseException:
            await self._stack.aclose()
            raise
        return _WatchedStream(reading, self.ended), writing

    def _client(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        patience = timeout or httpx2.Timeout(self._connect, read=_FOR_EVER)
        client = create_mcp_http_client(headers=headers, timeout=patience, auth=auth)
        client.event_hooks["response"].append(self._note)
        return client

    async def _note(self, response: httpx2.Response) -> None:
        own = self.kind == "sse" or response.request.url == httpx2.URL(self._url)
        if response.status_code == 404 and _SESSION in response.request.headers:
            self.forgotten = True  # what the protocol says a server answers to an old session
        if own and lacking_scope(response) is not None:
            self._lacks = True
        if response.status_code >= 400 and own:  # others are those of a login's servers
            self.statuses = [*self.statuses[-4:], response.status_code]

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        try:
            return await self._stack.__aexit__(kind, error, trace)
        finally:
            self.ended.set()

    @property
    def wants_login(self) -> bool:
        """Whether it refused a request for want of a token, and none is configured."""
        configured = any(name.lower() == "authorization" for name in self._headers)
        return not configured and self.statuses[-1:] == [401]

    def take_lack(self) -> bool:
        """Return whether a request was refused for want of a right, and forget it."""
        lacked, self._lacks = self._lacks, False
        return lacked

    def explain(self, error: BaseException) -> str:
        """Say why it failed, without the address."""
        if self.statuses:
            return f"it answered with HTTP status {self.statuses[-1]}"
        if isinstance(error, httpx2.TimeoutException):
            return "it does not answer"
        if isinstance(error, httpx2.ConnectError):
            return "it cannot be connected to: nothing listens there, or the name is not known"
        if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
            return "its url is none"
        if isinstance(error, httpx2.HTTPError):
            return f"HTTP failed ({type(error).__name__})"
        return ""

    async def how_it_ended(self) -> str:
        return self.explain(RuntimeError()) or (
            "it closed the connection" if self.ended.is_set() else ""
        )


class _WatchedStream:
    """The library's stream of messages, which also says when it has ended."""

    def __init__(self, stream: Any, ended: asyncio.Event) -> None:
        self._stream = stream
        self._ended = ended

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> Any:
        return await self._stream.receive()

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> "_WatchedStream":
        return self

    async def __anext__(self) -> Any:
        try:
            return await self._stream.__anext__()
        except BaseException:
            self._ended.set()
            raise

    async def __aenter__(self) -> "_WatchedStream":
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> Any:
        return await self._stream.__aexit__(kind, error, trace)
