r"""Make nacre's hub connect to one MCP server, and call all of its tools: the official conformance
suite runs this as the client under test, with the server's address as the last word.

    PYTHONPATH=tests conformance client --scenario NAME \
        --command 'python bench/clients/upstream_driver.py'

A login is made where the server wants one; the "person" opens the address without looking.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2

from nacre.cli.setup import login
from nacre.core.upstream.servers import ServerTable
from nacre.errors import NacreError
from nacre.services.dispatch.forwarding.relay import Relay, relayed_by
from nacre.system.upstreams.logins import login_file

from services.upstream.hubs import ME, hub
from upstreams.configs import table


async def accept_defaults(params: Mapping[str, Any]) -> dict[str, Any]:
    """Answer as a host does whose person presses Enter."""
    asked = params.get("requestedSchema", {}).get("properties", {})
    content = {name: one["default"] for name, one in asked.items() if "default" in one}
    return {"action": "accept", "content": content}


def example(schema: dict[str, Any]) -> dict[str, Any]:
    kinds = {"number": 5, "integer": 5, "string": "pearl", "boolean": True}
    wanted = schema.get("properties", {})
    return {name: kinds.get(one.get("type")) for name, one in wanted.items()}


def browse(address: str) -> bool:
    httpx2.get(address, follow_redirects=True)
    return True


async def drive(url: str) -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        async with hub(Path(folder), table("s", url=url)) as house:
            try:
                await house("test_upstream", ME, server="s")
            except NacreError as error:
                print(f"connect: {error.message}", file=sys.stderr)
                if "log in" not in error.message:
                    return 1
                login._open_browser = browse  # nobody is there who could look at it
                file = login_file(os.path.join(folder, "state", "upstream"), "s", url)
                await login.log_in(ServerTable("s", "http", url=url), url, file, browser=True)
                await house("test_upstream", ME, server="s")
            listed = await house("list_upstream_tools", ME, server="s", schemas=True)
            for tool in listed.tools:
                arguments = example(tool.schema or {})
                with relayed_by(Relay(elicit=accept_defaults)):
                    try:
                        await house("call_upstream_tool", ME, tool=tool.name, arguments=arguments)
                    except NacreError as error:
                        print(f"{tool.name}: {error.message}", file=sys.stderr)
                        failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(asyncio.run(drive(sys.argv[-1])))
