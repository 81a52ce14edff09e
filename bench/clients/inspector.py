"""The Inspector's command line: each order is a process and a connection of its own."""

import asyncio
import json
import os
import sys
from typing import Any

from answering import Host, serve

NODE, INSPECTOR = sys.argv[1:]


class Inspector(Host):
    async def open(self, server: dict[str, Any]) -> dict[str, Any]:
        if "url" in server:
            headers = [f"{name}: {value}" for name, value in server["headers"].items()]
            self._target = [server["url"], "--transport", "http", "--header", *headers]
        else:
            given = [f"{name}={value}" for name, value in server["env"].items()]
            settings = [word for pair in given for word in ("-e", pair)]
            self._target = [*server["command"], *settings]
        return {"revision": "?", "instructions": None}

    async def tools(self) -> dict[str, Any]:
        # With --strict, what other hosts would refuse in a schema is an error.
        listed = await self._ask("tools/list", "--strict")
        return {"names": [tool["name"] for tool in listed["tools"]]}

    async def call(
        self, tool: str, arguments: dict[str, Any], patience: float | None, progress: bool
    ) -> dict[str, Any]:
        given = ["--tool-name", tool, "--tool-args-json", json.dumps(arguments)]
        async with asyncio.timeout(patience):
            result = await self._ask("tools/call", *given)
        blocks = result["content"]
        structured = result.get("structuredContent")
        return {
            "text": "\n".join(block["text"] for block in blocks if block["type"] == "text"),
            "images": sum(block["type"] == "image" for block in blocks),
            "structured": 0 if structured is None else len(json.dumps(structured)),
            "error": bool(result.get("isError")),
            "progress": None,
        }

    async def resources(self) -> list[str] | None:
        return [found["uri"] for found in (await self._ask("resources/list"))["resources"]]

    async def read(self, uri: str) -> str | None:
        found = await self._ask("resources/read", "--uri", uri)
        return str(found["contents"][0]["text"])

    async def prompts(self) -> list[str] | None:
        return [prompt["name"] for prompt in (await self._ask("prompts/list"))["prompts"]]

    async def prompt(self, name: str) -> str | None:
        found = await self._ask("prompts/get", "--prompt-name", name)
        return str(found["messages"][0]["content"]["text"])

    async def _ask(self, method: str, *options: str) -> Any:
        asked = [NODE, INSPECTOR, "--cli", *self._target, "--method", method, *options]
        process = await asyncio.create_subprocess_exec(
            *asked,
            "--format",
            "json",
            env=os.environ,
            stdin=asyncio.subprocess.DEVNULL,  # ours has the orders
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            said, complaint = await process.communicate()
        except asyncio.CancelledError:
            process.terminate()
            await process.wait()
            raise
        for line in complaint.decode().splitlines():
            print(line)
        if not said.strip():
            raise RuntimeError(complaint.decode().strip())
        found = json.loads(said)
        return found.get("result", found)


serve(Inspector())
