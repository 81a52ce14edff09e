"""openai-agents: tools as an agent of that SDK calls them, with its own words for errors."""

import json
from typing import Any

from agents import Agent, RunContextWrapper
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp, MCPUtil
from agents.tool import default_tool_error_function
from agents.tool_context import ToolContext
from answering import Host, serve


class OpenAiAgents(Host):
    async def open(self, server: dict[str, Any]) -> dict[str, Any]:
        if "url" in server:
            params: Any = {"url": server["url"], "headers": server["headers"]}
            self._server: Any = MCPServerStreamableHttp(params, client_session_timeout_seconds=60)
        else:
            command, *args = server["command"]
            params = {"command": command, "args": args, "env": server["env"]}
            self._server = MCPServerStdio(params, client_session_timeout_seconds=60)
        await self._server.connect()
        begun = self._server.server_initialize_result
        revision = getattr(begun, "protocol_version", None) or getattr(
            begun, "protocolVersion", None
        )
        return {"revision": str(revision or "?"), "instructions": begun and begun.instructions}

    async def close(self) -> None:
        await self._server.cleanup()

    async def tools(self) -> dict[str, Any]:
        agent: Any = Agent(name="bench", mcp_servers=[self._server])
        found = await MCPUtil.get_function_tools(
            self._server, False, RunContextWrapper(None), agent
        )
        self._tools: dict[str, Any] = {tool.name: tool for tool in found}
        # The agent may ask for strict schemas: that conversion must not fail either.
        await MCPUtil.get_function_tools(self._server, True, RunContextWrapper(None), agent)
        return {"names": list(self._tools)}

    async def call(
        self, tool: str, arguments: dict[str, Any], patience: float | None, progress: bool
    ) -> dict[str, Any]:
        # By default it is 5 s, and the session has it from its beginning.
        self._server.session._session_read_timeout_seconds = patience or 60
        given = json.dumps(arguments)
        context: Any = ToolContext(
            context=None, tool_name=tool, tool_call_id="1", tool_arguments=given
        )
        result = await self._tools[tool].on_invoke_tool(context, given)
        items = result if isinstance(result, list) else [result]
        parts = [
            item if isinstance(item, dict) else {"type": "text", "text": str(item)}
            for item in items
        ]
        texts = [part["text"] for part in parts if part["type"] == "text"]
        hidden = default_tool_error_function(context, RuntimeError())
        return {
            "text": "\n".join(texts),
            "images": sum(part["type"] == "image" for part in parts),
            "structured": 0,  # left out unless use_structured_content is set
            # The SDK has no mark for an error. Its own text stands for what was raised.
            "error": texts[:1] == [hidden] or '"code":"' in "".join(texts),
            "hidden": texts[:1] == [hidden],
            "progress": None,
        }

    async def resources(self) -> list[str] | None:
        listed = await self._server.list_resources()
        return [str(found.uri) for found in listed.resources]

    async def read(self, uri: str) -> str | None:
        return str((await self._server.read_resource(uri)).contents[0].text)

    async def prompts(self) -> list[str] | None:
        return [prompt.name for prompt in (await self._server.list_prompts()).prompts]

    async def prompt(self, name: str) -> str | None:
        return str((await self._server.get_prompt(name)).messages[0].content.text)


serve(OpenAiAgents())
