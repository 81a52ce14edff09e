"""langchain-mcp-adapters: tools as an agent of LangChain calls them."""

from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

from answering import Host, serve
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.prompts import load_mcp_prompt
from langchain_mcp_adapters.resources import load_mcp_resources
from langchain_mcp_adapters.tools import load_mcp_tools


class LangChain(Host):
    async def open(self, server: dict[str, Any]) -> dict[str, Any]:
        self._stack = AsyncExitStack()
        if "url" in server:
            target: Any = {"transport": "streamable_http", **server}
        else:
            command, *args = server["command"]
            target = {"transport": "stdio", "command": command, "args": args, "env": server["env"]}
        client = MultiServerMCPClient({"nacre": target})
        session = client.session("nacre", auto_initialize=False)
        self._session = await self._stack.enter_async_context(session)
        begun = await self._session.initialize()
        self._tools: dict[str, Any] = {}
        return {"revision": begun.protocolVersion, "instructions": begun.instructions}

    async def close(self) -> None:
        await self._stack.aclose()

    async def tools(self) -> dict[str, Any]:
        self._tools = {tool.name: tool for tool in await load_mcp_tools(self._session)}
        return {"names": list(self._tools)}

    async def call(
        self, tool: str, arguments: dict[str, Any], patience: float | None, progress: bool
    ) -> dict[str, Any]:
        # The adapter has no time-out for one call: the session's own is set.
        session: Any = self._session
        session._session_read_timeout_seconds = timedelta(seconds=patience) if patience else None
        asked = {"type": "tool_call", "id": "1", "name": tool, "args": arguments}
        message = await self._tools[tool].ainvoke(asked)
        blocks = message.content
        if isinstance(blocks, str):
            blocks = [{"type": "text", "text": blocks}]
        texts = [block["text"] for block in blocks if block["type"] == "text"]
        return {
            "text": "\n".join(texts),
            "images": sum(block["type"] in ("image", "image_url") for block in blocks),
            "structured": 0,  # an artefact, which the model does not see
            "error": message.status == "error",
            "progress": None,
        }

    async def resources(self) -> list[str] | None:
        listed = await self._session.list_resources()
        return [str(found.uri) for found in listed.resources]

    async def read(self, uri: str) -> str | None:
        return (await load_mcp_resources(self._session, uris=[uri]))[0].as_string()

    async def prompts(self) -> list[str] | None:
        return [prompt.name for prompt in (await self._session.list_prompts()).prompts]

    async def prompt(self, name: str) -> str | None:
        return str((await load_mcp_prompt(self._session, name))[0].content)


serve(LangChain())
