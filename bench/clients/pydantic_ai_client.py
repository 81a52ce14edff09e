"""pydantic-ai: tools as its agents call them; ModelRetry is what its model is told as an error."""

from typing import Any

from answering import Host, serve
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from pydantic_ai.exceptions import ModelRetry
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import BinaryContent, ToolReturnPart


class PydanticAi(Host):
    async def open(self, server: dict[str, Any]) -> dict[str, Any]:
        if "url" in server:
            target: Any = StreamableHttpTransport(server["url"], headers=server["headers"])
        else:
            command, *args = server["command"]
            target = StdioTransport(command, args, env=server["env"], keep_alive=False)
        self._set: Any = MCPToolset(Client(target), cache_tools=False)
        await self._set.__aenter__()
        begun: Any = self._set.client.initialize_result
        revision = getattr(begun, "protocol_version", None) or "?"
        return {"revision": str(revision), "instructions": self._set.instructions}

    async def close(self) -> None:
        await self._set.__aexit__(None, None, None)

    async def tools(self) -> dict[str, Any]:
        return {"names": [tool.name for tool in await self._set.list_tools()]}

    async def call(
        self, tool: str, arguments: dict[str, Any], patience: float | None, progress: bool
    ) -> dict[str, Any]:
        try:
            result = await self._set.direct_call_tool(tool, arguments)
        except ModelRetry as retry:
            return _told(str(retry), 0, error=True)
        items = result if isinstance(result, list) else [result]
        images = [item for item in items if isinstance(item, BinaryContent)]
        rest = [item for item in items if not isinstance(item, BinaryContent)]
        texts = [ToolReturnPart(tool_name=tool, content=item).model_response_str() for item in rest]
        return _told("\n".join(texts), len(images), error=False)

    async def resources(self) -> list[str] | None:
        return [str(found.uri) for found in await self._set.list_resources()]

    async def read(self, uri: str) -> str | None:
        return str(await self._set.read_resource(uri))

    async def prompts(self) -> list[str] | None:
        return [prompt.name for prompt in await self._set.list_prompts()]

    async def prompt(self, name: str) -> str | None:
        return str(await self._set.get_prompt(name))


def _told(text: str, images: int, *, error: bool) -> dict[str, Any]:
    # It takes what is structured where all else is text; the model sees that once.
    return {"text": text, "images": images, "structured": 0, "error": error, "progress": None}


serve(PydanticAi())
