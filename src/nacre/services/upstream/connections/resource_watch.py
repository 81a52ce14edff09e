"""The resources of one connection whose updates somebody waits for.

Rule 1: a server is asked once for each resource, however many wait for it.
Rule 2: the older revision has a request for it, the newer one a stream; both end here.
Rule 3: a server that does not offer it is not asked: whoever wanted it is told.
"""

import asyncio
from typing import TYPE_CHECKING

import mcp_types as types
from mcp.client.subscriptions import ResourceUpdated
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from nacre.errors import InvalidInput
from nacre.services.upstream.log_ring import LogRing

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp import Client


class ResourceWatch:
    def __init__(self, log: LogRing, updated: "Callable[[str], None]") -> None:
        self._log = log
        self._updated = updated
        self._streams: dict[str, asyncio.Task[None]] = {}  # by URI, of the newer revision

    async def begin(self, client: "Client", uri: str) -> None:
        """Have the server tell of updates. Raises InvalidInput if it does not; MCPError."""
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            offered = client.server_capabilities.resources
            if not (offered and offered.subscribe):
                raise InvalidInput("this server does not tell of changes of its resources")
            params = types.SubscribeRequestParams(uri=uri)
            request = types.SubscribeRequest(params=params)
            await client.session.send_request(request, types.EmptyResult)
        elif uri not in self._streams:
            heard: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._streams[uri] = asyncio.create_task(
                self._listen(client, uri, heard), name="upstream-updates"
            )
            await heard

    async def end(self, client: "Client", uri: str) -> None:
        """Raises MCPError."""
        if (stream := self._streams.pop(uri, None)) is not None:
            stream.cancel()
        elif client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            params = types.UnsubscribeRequestParams(uri=uri)
            request = types.UnsubscribeRequest(params=params)
            await client.session.send_request(request, types.EmptyResult)

    def close(self) -> None:
        for stream in self._streams.values():
            stream.cancel()
        self._streams.clear()

    async def _listen(self, client: "Client", uri: str, heard: "asyncio.Future[None]") -> None:
        try:
            async with client.listen(resource_subscriptions=[uri]) as events:
                if uri not in (events.honored.resource_subscriptions or ()):
                    raise InvalidInput("this server does not tell of changes of this resource")
                heard.set_result(None)
                async for event in events:
                    if isinstance(event, ResourceUpdated):
                        self._updated(uri)  # it may name a part of the resource
        except Exception as error:  # noqa: BLE001  # told to who asked, or in the log
            if not heard.done():
                heard.set_exception(error)
            else:
                self._log.note(f"updates of a resource cannot be heard: {error}")
        finally:
            self._streams.pop(uri, None)
            if not heard.done():
                heard.cancel()
