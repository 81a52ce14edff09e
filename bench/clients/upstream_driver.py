r"""Make nacre's hub connect to one MCP server, and call all of its tools: the official conformance
suite runs this as the client under test, with the server's address as the last word.

    PYTHONPATH=tests conformance client --scenario NAME \
        --command 'python bench/clients/upstream_driver.py'

A login is made where the server wants one; the "person" opens the address without looking.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import httpx2

from nacre.cli.setup import login
from nacre.core.upstream.servers import ServerTable
from nacre.errors import NacreError
from nacre.services.dispatch.forwarding.relay import Relay, relayed_by
from nacre.settings.table import Settings
from nacre.system.upstreams.logins import login_file

from services.upstream.hubs import ME, hub
from upstreams.configs import table

T = TypeVar("T")

LOGINS = 2  # a person does not log in more often for one call
CLIENT = "https://conformance-test.local/client-metadata.json"  # what the suite expects


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


def client_keys() -> dict[str, Any]:
    """Return how we are registered at the scenario's server beforehand, if we are."""
    told = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    return {key: told[key] for key in ("client_id", "client_secret") if key in told}


class Person:
    """Who does what an error says: logs in, if that is what it is about, and not for ever."""

    def __init__(self, folder: str, url: str) -> None:
        keys = client_keys()
        table = ServerTable("s", "http", url=url, **keys)
        secrets = keys.get("client_id", ""), keys.get("client_secret", "")
        self._server = login.RemoteServer(table, url, {}, *secrets)
        self._file = login_file(os.path.join(folder, "state", "upstream"), "s", url)
        self._logins = 0

    async def does(self, ask: Callable[[], Awaitable[T]], again: Callable[[], Awaitable[Any]]) -> T:
        while True:
            try:
                return await ask()
            except NacreError as error:
                print(error.message, file=sys.stderr)
                if "log in" not in error.message or self._logins == LOGINS:
                    raise
                self._logins += 1
                settings = Settings(upstream_client_url=CLIENT)
                await login.log_in(self._server, self._file, settings, browser=True)
                await again()


async def drive(url: str) -> int:
    login._open_browser = browse  # nobody is there who could look at it
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        person = Person(folder, url)
        async with hub(Path(folder), table("s", url=url, **client_keys())) as house:

            async def again() -> None:
                await house("reload_upstreams", ME, server="s")

            await person.does(lambda: house("test_upstream", ME, server="s"), again)
            listed = await house("list_upstream_tools", ME, server="s", schemas=True)
            for tool in listed.tools:
                asked = {"tool": tool.name, "arguments": example(tool.schema or {})}
                with relayed_by(Relay(elicit=accept_defaults)):
                    try:
                        await person.does(
                            lambda asked=asked: house("call_upstream_tool", ME, **asked), again
                        )
                    except NacreError:
                        failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(asyncio.run(drive(sys.argv[-1])))
