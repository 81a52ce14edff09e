"""What becomes of connections: a session that the server forgot, too many, and changed lists."""

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from services.upstream.hubs import ME, agent, hub, text_of
from upstreams.configs import odd, table

pytestmark = pytest.mark.anyio

ECHO = {"name": "echo", "inputSchema": {"type": "object"}}


class Forgetful:
    """A server over HTTP, of the older revision, that forgets its session when it is told to."""

    def __init__(self) -> None:
        self.url = ""
        self.sessions = 0
        self.known = ""
        self.calls = 0

    def answer(self, method: str, session: str) -> tuple[int, dict[str, Any] | None]:
        if method == "initialize":
            self.sessions += 1
            self.known = f"session-{self.sessions}"
            server = {"name": "forgetful", "version": "1"}
            offered: dict[str, Any] = {"tools": {}}
            return 200, {
                "protocolVersion": "2025-06-18",
                "capabilities": offered,
                "serverInfo": server,
            }
        if method == "server/discover":
            return 200, None
        if session != self.known:
            return 404, None
        if method == "tools/list":
            return 200, {"tools": [ECHO]}
        self.calls += 1
        return 200, {"content": [{"type": "text", "text": session}]}


@contextmanager
def forgetful() -> Iterator[Forgetful]:
    server = Forgetful()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self.send_error(405)

        do_DELETE = do_GET

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if "id" not in asked:
                self.send_response(202)
                self.send_header("content-length", "0")
                self.end_headers()
                return
            session = self.headers.get("mcp-session-id", "")
            status, result = server.answer(asked["method"], session)
            told = {"result": result}
            if result is None:
                told = {"error": {"code": -32601, "message": "no such method"}}
            body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], **told}).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            if asked["method"] == "initialize":
                self.send_header("mcp-session-id", server.known)
            self.end_headers()
            self.wfile.write(body)

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    thread = threading.Thread(target=listening.serve_forever, args=(0.02,))
    thread.start()
    server.url = f"http://127.0.0.1:{listening.server_address[1]}/mcp"
    try:
        yield server
    finally:
        listening.shutdown()
        thread.join()
        listening.server_close()


async def test_a_session_that_the_server_forgot_is_begun_anew(tmp_path: Path) -> None:
    with forgetful() as server:
        async with hub(tmp_path, table("s", url=server.url)) as house:

            async def call() -> str:
                return text_of(await house("call_upstream_tool", ME, server="s", tool="echo"))

            assert await call() == "session-1"
            server.known = "none"
            assert await call() == "session-2"
            assert server.calls == 2  # what was refused was not done


async def test_with_too_many_connections_the_one_unused_longest_ends(tmp_path: Path) -> None:
    tables = odd("s", env={"TOKEN": "$TOK"})
    async with hub(tmp_path, tables, max_upstream_connections=2) as house:

        async def pid(name: str) -> int:
            caller = agent(name, TOK=f"{name}-token")
            told = await house("call_upstream_tool", caller, server="s", tool="where")
            return int(text_of(told).split()[0])

        anna, bert = await pid("anna"), await pid("bert")
        assert await pid("anna") == anna
        await pid("carl")
        server = house.services.upstreams.hub().server("s")
        assert len(server.connections) == 2
        await asyncio.gather(*server._ending)
        with pytest.raises(ProcessLookupError):
            os.kill(bert, 0)
        assert await pid("anna") == anna
        assert await pid("bert") != bert


async def test_a_server_that_grows_a_tool_is_listed_anew(tmp_path: Path) -> None:
    heard = asyncio.Event()
    async with hub(tmp_path, odd("s", "growing")) as house:
        await house("test_upstream", ME, server="s")
        hub_of = house.services.upstreams.hub()
        hub_of.on_change(lambda: heard.set() if "mcp_s_grown" in hub_of.tools() else None)
        assert "mcp_s_grown" not in hub_of.tools()
        await house("call_upstream_tool", ME, server="s", tool="grow")
        await asyncio.wait_for(heard.wait(), 60)
        assert "mcp_s_grown" in hub_of.tools()
        assert text_of(await house("call_upstream_tool", ME, tool="mcp_s_grown")) == ""
