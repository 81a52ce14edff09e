"""The HTTP server on loopback: REST, its description, MCP, and the sessions' own ports.

Rule: one server speaks on all ports; a session's port costs a listening socket and nothing that
runs. Everything stands behind the guard.
"""

import asyncio
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from nacre.doors import port, rest, silc
from nacre.doors.guard import Guard
from nacre.services.dispatch import Dispatch


class HttpDoor:
    def __init__(
        self,
        dispatch: Dispatch,
        mcp: ASGIApp,
        listener: socket.socket,
        *,
        token: str,
        max_body: int,
        client: Callable[[], AbstractContextManager[None]],
    ) -> None:
        app = Starlette(
            routes=[
                Route("/mcp", mcp),
                Route("/", _home),
                *rest.build_routes(dispatch, max_body=max_body),
                *silc.build_routes(dispatch, max_body=max_body),
            ],
            exception_handlers={404: rest.not_found, 405: rest.wrong_method},
        )
        daemon = Guard(
            app,
            token=token,
            door=lambda path: "mcp" if path.startswith("/mcp") else "rest",
            open_paths=("/", rest.DOCS_PATH, rest.OPENAPI_PATH),
            client=client,
        )
        sessions = Guard(
            port.build_app(dispatch, max_body=max_body),
            token=token,
            door=lambda path: "port",
            open_paths=(),
            client=client,
        )
        config = uvicorn.Config(
            _by_port(listener.getsockname()[1], daemon, sessions),
            http=HttpToolsProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        config.load()
        self._listener = listener
        self._server = uvicorn.Server(config)
        self.ports = SessionPorts(config, self._server.server_state)
        # Signals are the daemon's own business.
        vars(self._server)["capture_signals"] = nullcontext

    async def serve(self) -> None:
        """Serve until `stop`."""
        await self._server.serve(sockets=[self._listener])

    def stop(self) -> None:
        self._server.should_exit = True


class SessionPorts:
    """Serve sessions' ports with the connections, limits and shutdown of the one server."""

    def __init__(self, config: uvicorn.Config, state: ServerState) -> None:
        self._loop = asyncio.get_running_loop()
        self._config = config
        self._state = state
        self._opening: dict[int, asyncio.Task[None]] = {}
        self._servers: dict[int, asyncio.Server] = {}

    def open(self, listener: socket.socket) -> None:
        port: int = listener.getsockname()[1]
        self._opening[port] = self._loop.create_task(self._open(port, listener))

    async def _open(self, port: int, listener: socket.socket) -> None:
        self._servers[port] = await self._loop.create_server(self._connection, sock=listener)

    def close(self, port: int) -> None:
        """Stop listening; what is being answered is answered, then its connection ends."""
        self._opening.pop(port).cancel()
        if server := self._servers.pop(port, None):
            server.close()
        for connection in list(self._state.connections):
            if isinstance(connection, HttpToolsProtocol) and connection.server:
                _, connected = connection.server
                if connected == port:
                    connection.shutdown()

    def _connection(self) -> asyncio.Protocol:
        return HttpToolsProtocol(self._config, self._state, app_state={})


def _by_port(daemon_port: int, daemon: ASGIApp, sessions: ASGIApp) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        serving = daemon if scope["server"][1] == daemon_port else sessions
        await serving(scope, receive, send)

    return app


async def _home(request: Request) -> Response:
    return RedirectResponse(rest.DOCS_PATH)
