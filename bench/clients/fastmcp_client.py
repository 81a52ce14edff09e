"""fastmcp's client."""

from typing import Any

from answering import Host, handed_on, serve
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport


class FastMcp(Host):
    async def open(self, server: dict[str, Any]) -> dict[str, Any]:
        if "url" in server:
            target: Any = StreamableHttpTransport(server["url"], headers=server["headers"])
        else:
            command, *args = server["command"]
            target = StdioTransport(command, args, env=server["env"], keep_alive=False)
        self._client = Client(target)
        await self._client.__aenter__()
        begun: Any = self._client.initialize_result
        return {
            "revision": str(getattr(begun, "protocol_version", "?")),
            "instructions": getattr(begun, "instructions", None),
        }

    async def close(self) -> None:
        await self._client.__aexit__(None, None, None)

    async def tools(self) -> dict[str, Any]:
        return {"names": [tool.name for tool in await self._client.list_tools()]}

    async def call(
        self, tool: str, arguments: dict[str, Any], patience: float | None, progress: bool
    ) -> dict[str, Any]:
        told: list[str | None] = []

        async def note(_: float, __: float | None, message: str | None) -> None:
            told.append(message)

        result: Any = await self._client.call_tool(
            tool, arguments, timeout=patience, progress_handler=note if progress else None
        )
        return handed_on(
            result.content, result.structured_content, error=result.is_error, progress=len(told)
        )

    async def resources(self) -> list[str] | None:
        return [str(found.uri) for found in await self._client.list_resources()]

    async def read(self, uri: str) -> str | None:
        found: Any = await self._client.read_resource(uri)
        return str(found[0].text)

    async def prompts(self) -> list[str] | None:
        return [prompt.name for prompt in await self._client.list_prompts()]

    async def prompt(self, name: str) -> str | None:
        found: Any = await self._client.get_prompt(name)
        return str(found.messages[0].content.text)


serve(FastMcp())
