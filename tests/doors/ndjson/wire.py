"""A client of the NDJSON door for tests: lines in, lines out."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from nacre.core.catalog.grant import Grant
from nacre.doors.ndjson.door import NdjsonDoor
from nacre.services.wiring import Services
from nacre.settings.table import Settings
from nacre.system.endpoints import listen_ndjson
from nacre.system.peer import Peer

from services.living import PATIENCE, living

TOKEN = "t" * 32


class Tokens:
    """Stands for the daemon's credentials."""

    wrong_token_delay = 0.0

    def grant(self, bearer: str) -> Grant | None:
        return Grant() if bearer == TOKEN else None

    def hold(self, grant: Grant, task: "asyncio.Task[Any]") -> Callable[[], None]:
        return lambda: None

    def note_wrong(self) -> bool:
        return False


class Wire:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.heard: list[Any] = []  # notifications, in their order

    def send(self, method: str, params: Any = None, identifier: Any = "1") -> None:
        message = {"id": identifier, "method": method}
        self.raw(json.dumps(message if params is None else {**message, "params": params}))

    def raw(self, text: str | bytes) -> None:
        data = text.encode() if isinstance(text, str) else text
        self.writer.write(data + b"\n")

    async def receive(self) -> Any:
        """Return the next message; None when the door has closed."""
        async with asyncio.timeout(PATIENCE):
            line = await self.reader.readline()
        return json.loads(line) if line else None

    async def answer(self) -> Any:
        """Return the next response or error; what came before it is in `heard`."""
        while True:
            message = await self.receive()
            if message is None or message["type"] != "notification":
                return message
            self.heard.append(message)

    async def ask(self, method: str, params: Any = None, identifier: Any = "1") -> Any:
        self.send(method, params, identifier)
        return await self.answer()

    async def tool(self, name: str, **args: Any) -> Any:
        """Call a tool; return its result, or the error's message."""
        found = await self.ask("call_tool", {"tool": name, "args": args})
        return found["result"] if found["type"] == "response" else found["error"]

    async def output(self, name: str, **args: Any) -> str:
        found = await self.tool(name, **args)
        assert isinstance(found, dict), found
        assert found["exit_code"] == 0, found
        return str(found["output"])

    async def until(self, event: str) -> Any:
        """Return the next notification of this kind."""
        while True:
            message = await self.receive()
            assert message is not None, f"closed before {event}"
            if message.get("event") == event:
                return message
            self.heard.append(message)


class Opened:
    """A door, and clients of it."""

    def __init__(self, services: Services, port: int, folder: Path) -> None:
        self.services = services
        self.port = port
        self.folder = folder

    @asynccontextmanager
    async def wire(self, host: str = "127.0.0.1") -> AsyncIterator[Wire]:
        reader, writer = await asyncio.open_connection(host, self.port, limit=1 << 26)
        try:
            yield Wire(reader, writer)
        finally:
            writer.transport.abort()


@asynccontextmanager
async def opened(folder: Path, **settings: Any) -> AsyncIterator[Opened]:
    """The NDJSON door of real services; without `ndjson_auth` no token is needed."""
    given = {"ndjson_auth": "off", "ndjson_port": 0, "kill_grace": 0.2, **settings}
    async with living(home=folder, **given) as services:
        from contextlib import nullcontext

        listeners = listen_ndjson(0)
        door = NdjsonDoor(services.dispatch(), Tokens(), Settings(**given), nullcontext, Peer)
        await door.listen(*listeners)
        try:
            yield Opened(services, listeners[0].getsockname()[1], folder)
        finally:
            await door.close()
            await services.catalog.end_all()
