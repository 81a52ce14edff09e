"""The MCP door, whose library takes a second of a processor to load.

Rule 1: it is loaded for the first client that wants it, or when the daemon has had time for
everything else: sessions of a daemon before, and clients that need none of it, come first.
Rule 2: it is loaded once, beside what goes on; a client that leaves meanwhile does not stop it.
"""

import asyncio
import importlib
from typing import TYPE_CHECKING

from nacre.config import Settings
from nacre.services.dispatch import Dispatch

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from nacre.doors.mcp.door import McpDoor

_LEISURE = 3.0  # seconds after the daemon's start, in which it is mostly asked the most


class LateMcpDoor:
    """As an ASGI application it is what serves /mcp."""

    def __init__(self, dispatch: Dispatch, settings: Settings) -> None:
        self._dispatch = dispatch
        self._settings = settings
        self._loop = asyncio.get_running_loop()
        self._loading: asyncio.Task[McpDoor] | None = None
        self._leisure = self._loop.call_later(_LEISURE, self._load)

    async def door(self) -> "McpDoor":
        return await asyncio.shield(self._load())

    async def settle(self) -> None:
        """Wait for it, if it is being loaded."""
        if self._loading is not None:
            await asyncio.wait([self._loading])

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        await (await self.door()).http(scope, receive, send)

    async def close(self) -> None:
        self._leisure.cancel()
        await self.settle()
        # A library that could not be loaded was told to whoever wanted it; the end goes on.
        if self._loading is not None and self._loading.exception() is None:
            await self._loading.result().close()

    def _load(self) -> "asyncio.Task[McpDoor]":
        if self._loading is None:
            self._leisure.cancel()
            self._loading = self._loop.create_task(self._build(), name="mcp")
        return self._loading

    async def _build(self) -> "McpDoor":
        name = "nacre.doors.mcp.door"
        module = await self._loop.run_in_executor(None, importlib.import_module, name)
        door: McpDoor = module.McpDoor(self._dispatch, self._settings)
        return door
