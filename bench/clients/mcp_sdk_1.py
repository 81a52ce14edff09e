"""The official Python SDK, version 1: most hosts in Python use it still."""

from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

from answering import Host, handed_on, serve
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


class Sdk(Host):
    async def open(self, server: dict[str, Any]) -> dict[str, Any]:
        self._stack = AsyncExitStack()
        if "url" in server:
            target: Any = streamablehttp_client(server["url"], headers=server["headers"])
        else:
            command, *args = server["command"]
            target = stdio_client(
                StdioServerParameters(command=command, args=args, env=server["env"])
            )
        read, write, *_ = await self._stack.enter_async_context(target)
        self._session = await self._stack.enter_async_context(ClientSession(read, write))
        begun = await self._session.initialize()
        return {"revision": begun.protocolVersion, "instructions": begun.instructions}

    async def close(self) -> None:
        await self._stack.aclose()

    async def tools(self) -> dict[str, Any]:
        return {"names": [tool.name for tool in (await self._session.list_tools()).tools]}

    async def call(
        self, tool: str, arguments: dict[str, Any], patience: float | None, progress: bool
    ) -> dict[str, Any]:
        told: list[str | None] = []

        async def note(_: float, __: float | None, message: str | None) -> None:
            told.append(message)

        result = await self._session.call_tool(
            tool,
            arguments,
            read_timeout_seconds=None if patience is None else timedelta(seconds=patience),
            progress_callback=note if progress else None,
        )
        return handed_on(
            result.content, result.structuredContent, error=result.isError, progress=len(told)
        )

    async def resources(self) -> list[str] | None:
        return [str(found.uri) for found in (await self._session.list_resources()).resources]

    async def read(self, uri: str) -> str | None:
        found: Any = await self._session.read_resource(uri)  # type: ignore[arg-type]
        return str(found.contents[0].text)

    async def prompts(self) -> list[str] | None:
        return [prompt.name for prompt in (await self._session.list_prompts()).prompts]

    async def prompt(self, name: str) -> str | None:
        found: Any = await self._session.get_prompt(name)
        return str(found.messages[0].content.text)


serve(Sdk())
