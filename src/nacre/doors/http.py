"""The HTTP server on loopback: REST, its description, and MCP, all behind the guard."""

import socket
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from nacre.doors import rest
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
            ],
            exception_handlers={404: rest.not_found, 405: rest.wrong_method},
        )
        guarded = Guard(
            app,
            token=token,
            port=listener.getsockname()[1],
            open_paths=("/", rest.DOCS_PATH, rest.OPENAPI_PATH),
            client=client,
        )
        config = uvicorn.Config(
            guarded,
            http="httptools",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self._listener = listener
        self._server = uvicorn.Server(config)
        # Signals are the daemon's own business.
        vars(self._server)["capture_signals"] = nullcontext

    async def serve(self) -> None:
        """Serve until `stop`."""
        await self._server.serve(sockets=[self._listener])

    def stop(self) -> None:
        self._server.should_exit = True


async def _home(request: Request) -> Response:
    return RedirectResponse(rest.DOCS_PATH)
