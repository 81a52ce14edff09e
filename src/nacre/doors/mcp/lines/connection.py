"""One client of MCP over lines: what it asks for, and who answers it.

Rule 1: a line that is not a JSON-RPC message is answered with an error, and the connection stays
open.
Rule 2: after a handshake, the answers that never change and the calls of tools are given here: they
need no library, which takes a second to load and half a millisecond a call. All else, and whoever
begins in another way, is the library's (library/loop.py); it is loaded when it is needed.
Rule 3: a client without a handshake gets these answers too, and may shake hands after them: hosts
probe with server/discover, and fall back to initialize when the answer takes them too long.
Rule 4: when the client closes its side, open requests have a moment to be answered, so that a
script that pipes its requests in and closes still gets its answers.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from nacre.client.upstream_values import NEW_VALUES
from nacre.core.catalog.caller import Caller
from nacre.doors.http.message_log import log_message
from nacre.doors.mcp.halves import LATER, answer_halves
from nacre.doors.mcp.identifiers import (
    INVALID_REQUEST,
    PARSE_ERROR,
    UNREADABLE,
    Message,
    echo,
    is_request,
    misfit,
    read_message,
    refusal,
)
from nacre.doors.mcp.lines.lists import EXTENDED, Gather, ListNews
from nacre.doors.mcp.lines.messages import (
    CallParams,
    CancelledParams,
    EnvelopedParams,
    HandshakeParams,
    NewValuesParams,
    is_plain,
)
from nacre.doors.mcp.lines.questions import HostQuestions
from nacre.doors.mcp.lines.wire import LineWire
from nacre.doors.mcp.offer import Offers
from nacre.doors.mcp.server import CallTool, ProtocolError
from nacre.doors.mcp.standing import MODERN_REVISIONS, Standing
from nacre.services.dispatch.answers.delivery import delivered
from nacre.services.dispatch.asking import asked_by
from nacre.services.dispatch.forwarding.relay import relayed_by
from nacre.services.dispatch.log import unexpected
from nacre.services.dispatch.sampling import sampled_by
from nacre.settings.table import Settings

_log = logging.getLogger("nacre.mcp")

INTERNAL_ERROR = -32603

LAST_ANSWERS = 1.0  # seconds for open requests after the client closed its side

UNSUPPORTED_REVISION = -32022

# Lines that wait while the library is loaded; further ones stay in the client's socket.
_WAITING_LINES = 100

LineQueue = asyncio.Queue[bytes | None]  # None: nothing follows


class Served(Struct, frozen=True):
    """What the clients of one selection get."""

    offers: Offers
    call_tool: CallTool
    library: Callable[["LineConnection", LineQueue], Awaitable[None]]  # serves the rest
    gather: Gather | None = None  # waits for tools not known yet

    @property
    def standing(self) -> Standing:
        return self.offers.now.standing


class _Asked(msgspec.Struct, frozen=True):
    """A request as its handler sees it; see server.Context."""

    lifespan_context: Caller
    meta: dict[str, Any] | None
    session: "_Progress"
    request: None = None


class _Progress(Struct, frozen=True):
    """Tells who asked with a token how its request goes on."""

    wire: LineWire
    token: Any

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        known = {"progress": progress, "total": total, "message": message}
        told = {name: value for name, value in known.items() if value is not None}
        params = {"progressToken": self.token, **told}
        body = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
        self.wire.write(msgspec.json.encode(body))
        await self.wire.drain()


class LineConnection:
    """One client's connection."""

    def __init__(
        self,
        served: Served,
        caller: Caller,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        settings: Settings,
    ) -> None:
        self.caller = caller
        self.wire = LineWire(reader, writer, settings.max_message_bytes)
        # The client's own lines that say of which revision it is: the library needs them, too.
        self._handshake: list[bytes] = []
        self._probe: list[bytes] = []
        self._served = served
        self._host = HostQuestions(self.wire, settings)
        self._lists = ListNews(self.wire, served.offers)
        self._running: set[asyncio.Task[None]] = set()
        self._free = asyncio.Semaphore(settings.max_requests)  # further calls wait
        self._open = asyncio.Semaphore(settings.max_waiting_requests)  # further lines wait unread
        self._large = asyncio.Lock()  # for the one large answer at a time
        self._by_id: dict[str | int, asyncio.Task[None]] = {}  # to cancel them by
        self._for_library: LineQueue | None = None

    @property
    def opening(self) -> list[bytes]:
        """What the client began with, and has an answer to."""
        return self._handshake or self._probe

    async def serve(self) -> None:
        """Serve until the client is gone."""
        async with asyncio.TaskGroup() as self._group:
            try:
                async for line in self.wire.lines():
                    await self._take(line)
                if self._for_library is not None:
                    await self._for_library.put(None)
                if self._running:
                    await asyncio.wait(self._running, timeout=LAST_ANSWERS)
            finally:
                self._lists.end()
                for task in self._running:
                    task.cancel()

    async def _take(self, line: bytes) -> None:
        log_message("mcp", "received", line)
        message = read_message(line)
        if message is None:
            self.refuse_line(line)
            return
        if problem := misfit(message):
            self.wire.refuse(INVALID_REQUEST, problem, echo(message.id))
            return
        if not message.method and self._host.take(line):
            return
        if message.method == NEW_VALUES:
            self._take_values(message)
            return
        if self._handshake:
            done = await self._answer(message, line)
        elif self._for_library is not None:
            done = False
        else:
            done = self._open_up(message, line)
        if not done:
            await self._hand_on(line)

    def _take_values(self, message: Message) -> None:
        """Take other values of variables: the config names others. Those who call have them too."""
        values = self.caller.values
        with suppress(*UNREADABLE):
            given = msgspec.json.decode(message.params, type=NewValuesParams)
            if isinstance(values, dict):  # the bridge's own; see doors/local/socket.py
                values.clear()
                values.update(given.values)

    def refuse_line(self, line: bytes) -> None:
        """Say what is wrong with a line that is no message."""
        refused = refusal(line)
        halved = None
        if refused.code == PARSE_ERROR:
            halved = answer_halves(line, self._served.standing.offered)
        if halved is not None:
            self.wire.write(halved.answer)
        else:
            self.wire.refuse(refused.code, refused.problem, refused.id)

    # --- the beginning -----------------------------------------------------------------------

    def _open_up(self, message: Message, line: bytes) -> bool:
        """Answer what comes before it is known whether the client shakes hands."""
        if message.method == "initialize" and is_request(message):
            return self._shake_hands(message, line)
        if message.method == "notifications/cancelled":
            return True  # all that was asked for so far is answered
        found = self._served.standing.modern.get(message.method)
        if found is None or not is_request(message):
            return False
        try:
            asked = msgspec.json.decode(message.params, type=EnvelopedParams)
        except UNREADABLE:
            return False
        if asked.meta.revision not in MODERN_REVISIONS:
            known = {"supported": MODERN_REVISIONS, "requested": asked.meta.revision}
            why = "Unsupported protocol version"  # the library's words
            self.wire.refuse(UNSUPPORTED_REVISION, why, message.id, known)
        elif asked.cursor is not None:
            return False
        elif message.method in EXTENDED:
            self._answer_list(message, lambda method: self._served.standing.modern[method])
        else:
            self.wire.answer(message.id, found)
        self._probe = [line]
        return True

    def _shake_hands(self, message: Message, line: bytes) -> bool:
        try:
            given = msgspec.json.decode(message.params, type=HandshakeParams)
        except UNREADABLE:
            return False
        self._handshake = [line]
        self._host.learn(given.capabilities)
        said = given.client_info
        self.caller = replace(self.caller, client=f"{said.name} {said.version}".strip())
        self.wire.answer(message.id, self._served.standing.initialize(given.protocol_version))
        # From now on: the bridge repeats the handshake to the next daemon, but not the list.
        self._lists.follow(lambda: self._for_library is not None)
        return True

    # --- after the handshake -----------------------------------------------------------------

    async def _answer(self, message: Message, line: bytes) -> bool:
        """Do what is asked for; return False for what is the library's to answer."""
        if not is_request(message):
            return self._note(message, line)
        if message.method == "tools/call":
            return await self._begin(message)
        if message.method == "ping":
            found: bytes | None = b"{}"
        else:
            found = self._served.standing.lists.get(message.method)
        if found is None or not is_plain(message):
            return False
        if message.method in EXTENDED:
            self._answer_list(message, lambda method: self._served.standing.lists[method])
        else:
            self.wire.answer(message.id, found)
        return True

    def _answer_list(self, message: Message, found: Callable[[str], bytes]) -> None:
        """Answer with a list, after a moment if something of it is not known yet."""
        if (gather := self._served.gather) is None:
            self._lists.answer(message, found)
        else:
            self._spawn(self._lists.answer_later(message, found, gather(self.caller)))

    def _note(self, message: Message, line: bytes) -> bool:
        """Take note of a notification; return whether the library need not know of it."""
        if message.method == "notifications/initialized" and self._for_library is None:
            self._handshake[1:] = [line]
        elif message.method == "notifications/cancelled":
            with suppress(*UNREADABLE):
                wanted = msgspec.json.decode(message.params, type=CancelledParams).request_id
                if task := self._by_id.get(wanted):
                    task.cancel()
                    return True
        return self._for_library is None

    async def _begin(self, message: Message) -> bool:
        try:
            call = msgspec.json.decode(message.params, type=CallParams)
            identifier = msgspec.json.decode(message.id, type=str | int)
        except UNREADABLE:
            return False
        if call.meta is not None and LATER in call.meta:
            return False
        await self._open.acquire()
        task = self._spawn(self._call(bytes(message.id), call))
        self._by_id[identifier] = task

        def forget(_: object) -> None:
            self._open.release()
            if self._by_id.get(identifier) is task:
                del self._by_id[identifier]

        task.add_done_callback(forget)
        return True

    async def _call(self, raw: bytes, call: CallParams) -> None:
        token = call.meta.get("progressToken") if call.meta else None
        meta = None if token is None else {"progress_token": token}
        asked = _Asked(self.caller, meta, _Progress(self.wire, token))
        async with self._free:
            await self._deliver(raw, call, asked)

    async def _deliver(self, raw: bytes, call: CallParams, asked: _Asked) -> None:
        host = self._host
        with delivered(self._large):
            try:
                with asked_by(host.asking), sampled_by(host.sampling), relayed_by(host.relay):
                    shaped = await self._served.call_tool(asked, call)
                shaped.pop("resultType", None)  # a word of a later revision than these
                self.wire.answer(raw, msgspec.json.encode(shaped))
            except ProtocolError as error:
                self.wire.refuse(error.code, error.message, raw, error.data)
            except Exception:  # noqa: BLE001  # the other calls of this host go on
                failure = unexpected(_log, "an answer cannot be written as JSON")
                told = self._served.offers.now.words.error(failure)
                self.wire.refuse(INTERNAL_ERROR, told["message"], raw, told)
            await self.wire.drain()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Work beside the reading; at the end it has a moment."""
        task = self._group.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    # --- the library -----------------------------------------------------------------------

    async def _hand_on(self, line: bytes) -> None:
        if self._for_library is None:
            self._for_library = LineQueue(_WAITING_LINES)
            self._group.create_task(self._serve_by_library(self._for_library))
        await self._for_library.put(line)

    async def _serve_by_library(self, lines: LineQueue) -> None:
        await self._served.library(self, lines)
