"""The tools of a chat: those of the daemon, over `nacre mcp`, as any AI host gets them.

Rule 1: a call passes the same plane as everybody's: policy, approval, audit. What the policy asks
comes back as a question of the server (elicitation), which the person at the chat answers.
Rule 2: the bridge outlives daemons. A call that was lost answers with an error; it is not repeated.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from signal import SIGTERM
from typing import Any, NamedTuple

from nacre import __version__
from nacre.cli.chat.apis.events import ModelTool
from nacre.cli.chat.conversation import Image
from nacre.errors import DaemonUnreachable

_PROTOCOL = "2025-11-25"

Question = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


class Outcome(NamedTuple):
    text: str
    failed: bool
    images: tuple[Image, ...] = ()


class Toolbox:
    def __init__(self, process: asyncio.subprocess.Process, question: Question) -> None:
        self._process = process
        self._question = question
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._last_id = 0
        self._tools: list[ModelTool] | None = None
        self._asking: set[asyncio.Task[None]] = set()
        self._gone = False  # nothing more is answered
        self.last_session: str | None = None  # that a tool has answered about

    async def start(self) -> None:
        client = {"name": "nacre-chat", "version": __version__}
        await self._request(
            "initialize",
            protocolVersion=_PROTOCOL,
            capabilities={"elicitation": {}},
            clientInfo=client,
        )
        self._send({"method": "notifications/initialized"})

    async def tools(self) -> list[ModelTool]:
        """Return the tools; they are asked for again when the daemon says that they changed."""
        if self._tools is None:
            found: list[ModelTool] = []
            cursor: dict[str, Any] = {}
            while True:
                page = await self._request("tools/list", **cursor)
                for one in page["tools"]:
                    found.append(
                        ModelTool(one["name"], one.get("description", ""), one["inputSchema"])
                    )
                if not page.get("nextCursor"):
                    break
                cursor = {"cursor": page["nextCursor"]}
            self._tools = found
        return self._tools

    def forget_tools(self) -> None:
        self._tools = None

    async def call(self, name: str, arguments: dict[str, Any]) -> Outcome:
        """Call a tool; when we are cancelled, the call is. A refusal is an outcome that failed."""
        self._last_id += 1
        number = self._last_id
        try:
            result = await self._ask(number, "tools/call", {"name": name, "arguments": arguments})
        except asyncio.CancelledError:
            cancelled = {"requestId": number, "reason": "the person stopped it"}
            self._send({"method": "notifications/cancelled", "params": cancelled})
            raise
        except ServerRefused as error:
            return Outcome(str(error), failed=True)
        told = result.get("_meta", {}).get("nacre/answer", {})
        self.last_session = told.get("session", self.last_session)
        return _outcome(result)

    async def _request(self, method: str, **params: Any) -> dict[str, Any]:
        self._last_id += 1
        return await self._ask(self._last_id, method, params)

    async def _ask(self, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if self._gone:
            raise _gone()
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        try:
            self._send({"id": number, "method": method, "params": params})
            return await answer
        finally:
            self._answers.pop(number, None)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with suppress(ConnectionError):  # the reader hears of its end
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def read(self) -> None:
        """Hand out what the daemon says, until it is gone."""
        assert self._process.stdout is not None
        try:
            while line := await self._process.stdout.readline():
                message = json.loads(line)
                if "method" in message:
                    self._hear(message)
                elif (answer := self._answers.get(message.get("id"))) and not answer.done():
                    if "error" in message:
                        answer.set_exception(ServerRefused(message["error"]["message"]))
                    else:
                        answer.set_result(message["result"])
        except ValueError:  # no JSON, or a line without an end: nothing after it can be read
            pass
        finally:
            self._gone = True
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(_gone())

    def _hear(self, message: dict[str, Any]) -> None:
        if message["method"] == "notifications/tools/list_changed":
            self.forget_tools()
        elif "id" in message:
            task = asyncio.ensure_future(self._reply(message))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)

    async def _reply(self, message: dict[str, Any]) -> None:
        """Answer a question of the server's."""
        if message["method"] == "elicitation/create":
            result = await self._question(message["params"])
            self._send({"id": message["id"], "result": result})
        elif message["method"] == "ping":
            self._send({"id": message["id"], "result": {}})
        else:
            error = {"code": -32601, "message": f"a chat has no {message['method']}"}
            self._send({"id": message["id"], "error": error})


def _gone() -> DaemonUnreachable:
    return DaemonUnreachable("the daemon is gone", "start nacre chat again; --resume goes on")


class ServerRefused(Exception):
    """The daemon answered with a JSON-RPC error."""


def _outcome(result: dict[str, Any]) -> Outcome:
    texts: list[str] = []
    images: list[Image] = []
    for block in result.get("content", ()):
        if block["type"] == "text":
            texts.append(block["text"])
        elif block["type"] == "image":
            images.append(Image(block["mimeType"], block["data"]))
        elif block["type"] == "resource":
            texts.append(block["resource"].get("text", block["resource"]["uri"]))
        elif block["type"] == "resource_link":
            texts.append(block["uri"])
    return Outcome("\n".join(texts), bool(result.get("isError")), tuple(images))


@asynccontextmanager
async def open_toolbox(toolsets: str, longest: int, question: Question) -> AsyncIterator[Toolbox]:
    """Start a bridge, and a daemon if none runs; a line of it has up to `longest` bytes.

    Raises DaemonUnreachable when there is none.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "nacre", "mcp", "--toolsets", toolsets),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=longest,
        env=os.environ,
        start_new_session=True,  # Ctrl+C is for the chat
    )
    box = Toolbox(process, question)
    reading = asyncio.ensure_future(box.read())
    try:
        await box.start()
        yield box
    finally:
        assert process.stdin is not None
        process.stdin.close()
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
        if process.returncode is None:
            # terminate() would reap one that has just ended, and asyncio would complain about that.
            with suppress(ProcessLookupError):
                os.kill(process.pid, SIGTERM)
        await process.wait()
