"""The official Python SDK, version 2."""

from contextlib import AsyncExitStack
from typing import Any

import httpx2
from answering import Host, handed_on, serve
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


class Sdk(Host):
    async def open(self, server: dict[str, Any]) -> dict[str, Any]:
        self._stack = AsyncExitStack()
        if "url" in server:
            http = httpx2.AsyncClient(headers=server["headers"], timeout=60)
            await self._stack.enter_async_context(http)
            target: Any = streamable_http_client(server["url"], http_client=http)
        else:
            command, *args = server["command"]
            target = StdioServerParameters(command=command, args=args, env=server["env"])
        self._client = await self._stack.enter_async_context(Client(target))
        return {
            "revision": self._client.protocol_version,
            "instructions": self._client.instructions,
        }

    async def close(self) -> None:
        await self._stack.aclose()

    async def tools(self) -> dict[str, Any]:
        return {"names": [tool.name for tool in (await self._client.list_tools()).tools]}

    async def call(
        self, tool: str, arguments: dict[str, Any], patience: float | None, progress: bool
    ) -> dict[str, Any]:
        told: list[str | None] = []

        async def note(_: float, __: float | None, message: str | None) -> None:
            told.append(message)

        result: Any = await self._client.call_tool(
            tool,
            arguments,
            read_timeout_seconds=patience,
            progress_callback=note if progress else None,
        )
        return handed_on(
            result.content,
            result.structured_content,
            error=bool(result.is_error),
            progress=len(told),
        )

    async def resources(self) -> list[str] | None:
        return [str(found.uri) for found in (await self._client.list_resources()).resources]

    async def read(self, uri: str) -> str | None:
        found: Any = await self._client.read_resource(uri)
        return str(found.contents[0].text)

    async def prompts(self) -> list[str] | None:
        return [prompt.name for prompt in (await self._client.list_prompts()).prompts]

    async def prompt(self, name: str) -> str | None:
        found: Any = await self._client.get_prompt(name)
        return str(found.messages[0].content.text)


serve(Sdk())
