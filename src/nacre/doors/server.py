"""The HTTP server on loopback: REST, MCP, WebSockets, the page, and the sessions' own ports.

Rule: one server answers on all ports, so a session's port costs only a listening socket. Everything
is behind the guard.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple, Protocol

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from nacre.doors.http.arrivals import Arrivals
from nacre.doors.http.credentials import Credentials
from nacre.doors.http.guard import Beyond, Guard, error_response
from nacre.doors.http.limits import GONE, Crowd, Held
from nacre.doors.http.message_log import LoggedRequests
from nacre.doors.http.slashes import shown_path, with_slashes
from nacre.doors.http.sockets import SocketProtocol
from nacre.doors.page import routes as page
from nacre.doors.ports import routes as port
from nacre.doors.ports import silc
from nacre.doors.rest import routes as rest
from nacre.doors.rest.metrics import metrics_route
from nacre.doors.ws import json as ws
from nacre.doors.ws import raw
from nacre.services.dispatch.dispatch import Dispatch
from nacre.settings.table import Settings

_CLOSED = "handler is closed"  # uvloop's words for writing to a connection that has ended
_KEEP_ALIVE = 20.0  # seconds; proxies close connections that are quiet for a minute


class ServedPorts(Protocol):
    """The sessions' sockets: those that are open now and later ones go to the server."""

    def serve_with(self, server: "SessionPorts", /) -> None: ...


class TlsListener(NamedTuple):
    """A socket beyond loopback, and how it is secured."""

    listener: socket.socket
    context: ssl.SSLContext
    served: Beyond


class HttpDoor:
    def __init__(
        self,
        dispatch: Dispatch,
        mcp: ASGIApp,
        listener: socket.socket,
        *,
        credentials: Credentials,
        settings: Settings,
        client: Callable[[], AbstractContextManager[None]],
        ports: ServedPorts,
        peer: Callable[[socket.socket], Held],
        beyond: "TlsListener | None" = None,
        app: Starlette | None = None,
    ) -> None:
        """`app` is what `build_app` made, if that was done before."""
        max_message = settings.max_message_bytes
        self._crowd = Crowd(settings, peer)
        served = {listener.getsockname()[1]}
        if beyond is not None:
            served.add(beyond.served.port)
        daemon = Guard(
            LoggedRequests(
                with_slashes(app or build_app(dispatch, mcp, credentials, settings)), _logged_as
            ),
            credentials=credentials,
            door=_door,
            is_open=_is_open,
            client=client,
            beyond=None if beyond is None else beyond.served,
        )
        sessions = Guard(
            LoggedRequests(
                _without_sockets(port.build_app(dispatch, max_body=max_message)),
                lambda path: "port",
            ),
            credentials=credentials,
            door=lambda path: "port",
            is_open=lambda path: False,
            client=client,
        )
        config = _configure(_by_port(served, daemon, sessions), self._crowd, max_message)
        config.load()
        self._config = config
        self._listener = listener
        self._beyond = beyond
        self._server = uvicorn.Server(config)
        ports.serve_with(SessionPorts(config, self._server.server_state, self._crowd))
        # The daemon handles signals itself.
        vars(self._server)["capture_signals"] = nullcontext

    async def serve(self) -> None:
        """Serve until `stop`."""
        beyond = None
        if self._beyond is not None:
            listener, context, _ = self._beyond
            arrivals = Arrivals(
                listener,
                context,
                self._crowd.settings,
                lambda: self._crowd.protocol(self._config, self._server.server_state, {}),
            )
            beyond = asyncio.create_task(arrivals.serve(), name="connections over TLS")
        try:
            await self._server.serve(sockets=[self._listener])
        finally:
            if beyond is not None:
                beyond.cancel()
                await asyncio.wait((beyond,))
                listener.close()

    def stop(self) -> None:
        self._server.should_exit = True


def build_app(
    dispatch: Dispatch, mcp: ASGIApp, credentials: Credentials, settings: Settings
) -> Starlette:
    """Return what answers at the daemon's own ports; a thread may do it, which takes 50 ms."""
    max_message = settings.max_message_bytes
    return Starlette(
        routes=[
            Route("/mcp", mcp),
            *page.build_routes(credentials),
            *rest.build_routes(dispatch, max_body=max_message),
            metrics_route(dispatch),
            *silc.build_routes(dispatch, max_body=max_message),
            ws.build_route(dispatch, settings),
            raw.build_route(dispatch, settings),
            WebSocketRoute("/{path:path}", _no_socket),
        ],
        exception_handlers={404: rest.not_found, 405: rest.wrong_method},
    )


def _configure(app: ASGIApp, crowd: Crowd, max_message: int) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=crowd.protocol,  # type: ignore[arg-type]  # not a class, but called as one
        ws=SocketProtocol,
        ws_max_size=max_message,
        ws_per_message_deflate=False,  # on loopback it costs more than it saves
        # Pings keep ssh or a proxy from closing a quiet socket. A pong has no deadline: it is
        # not read while a request waits its turn.
        ws_ping_interval=_KEEP_ALIVE,
        ws_ping_timeout=None,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )


class SessionPorts:
    """Serve the sessions' ports, with the limits and the shutdown of the one server."""

    def __init__(self, config: uvicorn.Config, state: ServerState, crowd: Crowd) -> None:
        self._loop = asyncio.get_running_loop()
        self._config = config
        self._state = state
        self._crowd = crowd
        self._opening: dict[int, asyncio.Task[None]] = {}
        self._servers: dict[int, asyncio.Server] = {}

    def open(self, listener: socket.socket) -> None:
        port: int = listener.getsockname()[1]
        self._opening[port] = self._loop.create_task(self._open(port, listener))

    async def _open(self, port: int, listener: socket.socket) -> None:
        self._servers[port] = await self._loop.create_server(self._connection, sock=listener)

    def close(self, port: int) -> None:
        """Stop listening. Open requests are still answered, then their connections end."""
        self._opening.pop(port).cancel()
        if server := self._servers.pop(port, None):
            server.close()
        for connection in list(self._state.connections):
            if isinstance(connection, HttpToolsProtocol) and connection.server:
                _, connected = connection.server
                if connected == port:
                    connection.shutdown()

    def _connection(self) -> asyncio.Protocol:
        return self._crowd.protocol(self._config, self._state, app_state={})


def _by_port(daemon_ports: set[int], daemon: ASGIApp, sessions: ASGIApp) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        serving = daemon if scope["server"][1] in daemon_ports else sessions
        try:
            await serving(scope, receive, send)
        except (ClientDisconnect, RuntimeError) as error:
            # It left in the middle of its request, or of its answer: that is no error of ours.
            left = isinstance(error, ClientDisconnect) or _CLOSED in str(error)
            if not (left and GONE in scope and scope[GONE]()):
                raise

    return app


def _without_sockets(app: ASGIApp) -> ASGIApp:
    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            message = "a session's port has no WebSocket; the daemon's port has: /ws/raw/{session}"
            await error_response("UNKNOWN_OPERATION", message)(scope, receive, send)
        else:
            await app(scope, receive, send)

    return serve


def _door(path: str) -> str:
    first = path.lstrip("/").partition("/")[0]
    return first if first in ("mcp", "ws") else "rest"


def _logged_as(path: str) -> str:
    logins = (page.LOGIN_PATH, page.TICKET_PATH)
    return "page" if page.is_page(path) or path in logins else _door(path)


def _is_open(path: str) -> bool:
    return page.is_page(path) or path in (page.LOGIN_PATH, rest.DOCS_PATH, rest.OPENAPI_PATH)


async def _no_socket(websocket: WebSocket) -> None:
    message = f"no WebSocket {shown_path(websocket.url.path)}; there are {ws.PATH} and {raw.PATH}"
    await websocket.send_denial_response(error_response("UNKNOWN_OPERATION", message))
