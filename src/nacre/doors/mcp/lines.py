"""MCP as newline-delimited JSON over a stream: what `nacre mcp` pipes to the daemon.

Rule 1: one message per line. A line that is not a JSON-RPC message is answered with an error, and
the connection stays open.
Rule 2: after a handshake, the answers that never change and the calls of tools are given here: they
need no library, which takes a second to load and half a millisecond a call. All else, and whoever
begins in another way, is the library's (library/loop.py); it is loaded when it is needed.
Rule 3: a client without a handshake gets these answers too, and may shake hands after them: hosts
probe with server/discover, and fall back to initialize when the answer takes them too long.
Rule 4: when the client closes its side, open requests have a moment to be answered, so that a
script that pipes its requests in and closes still gets its answers. A client that has gone is no
error: nobody gets its answers.
Rule 5: from a client that does not read its answers no further line is read.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import msgspec

from nacre.core.catalog.caller import Caller
from nacre.core.operations.safety.approvals import Answer, Approval
from nacre.doors.http.message_log import log_message
from nacre.doors.mcp.elicitation import CREATE, answer_of, form_of, limited, offers
from nacre.doors.mcp.halves import LATER, answer_halves
from nacre.doors.mcp.identifiers import (
    UNREADABLE,
    Message,
    echo,
    is_request,
    misfit,
    read_message,
)
from nacre.doors.mcp.offer import Offers
from nacre.doors.mcp.sampling import CREATE_MESSAGE, message_of, offers_sampling, sampled_of
from nacre.doors.mcp.server import CallTool, ProtocolError
from nacre.doors.mcp.standing import MODERN_REVISIONS, Standing
from nacre.services.dispatch.asking import asked_by
from nacre.services.dispatch.forwarding.relay import Relay, relayed_by
from nacre.services.dispatch.sampling import ModelPrompt, Sampled, sampled_by
from nacre.settings.table import Settings

LAST_ANSWERS = 1.0  # seconds for open requests after the client closed its side

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
UNSUPPORTED_REVISION = -32022

# Lines that wait while the library is loaded; further ones stay in the client's socket.
_WAITING_LINES = 100

_NULL = b"null"

_LISTS = ("tools/list", "prompts/list", "resources/templates/list")  # what servers behind us extend


LineQueue = asyncio.Queue[bytes | None]  # None: nothing follows


@dataclass(frozen=True, slots=True)
class Served:
    """What the clients of one selection get."""

    offers: Offers
    call_tool: CallTool
    library: Callable[["LineConnection", LineQueue], Awaitable[None]]  # serves the rest
    gather: Callable[[Caller], Awaitable[None]] | None = None  # waits for tools not known yet

    @property
    def standing(self) -> Standing:
        return self.offers.now.standing


class _Asked(msgspec.Struct, frozen=True):
    """A request as its handler sees it; see server.Context."""

    lifespan_context: Caller
    meta: dict[str, Any] | None
    session: "_Progress"
    request: None = None


@dataclass(frozen=True, slots=True)
class _Progress:
    """Tells who asked with a token how its request goes on."""

    connection: "LineConnection"
    token: Any

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        known = {"progress": progress, "total": total, "message": message}
        told = {name: value for name, value in known.items() if value is not None}
        params = {"progressToken": self.token, **told}
        body = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
        self.connection.write(msgspec.json.encode(body))
        await self.connection.drain()


class _Call(msgspec.Struct, frozen=True):
    """The parameters of tools/call."""

    name: str
    arguments: dict[str, Any] | None = None
    meta: dict[str, Any] | None = msgspec.field(name="_meta", default=None)


class _Paged(msgspec.Struct, frozen=True):
    """The parameters of a list, of which there is one page."""

    cursor: str | None = None
    meta: dict[str, Any] | None = msgspec.field(name="_meta", default=None)


class _Client(msgspec.Struct, frozen=True):
    name: str
    version: str


class _Envelope(msgspec.Struct, frozen=True):
    """What a request without a handshake says of its client."""

    revision: str = msgspec.field(name="io.modelcontextprotocol/protocolVersion")
    capabilities: dict[str, Any] = msgspec.field(name="io.modelcontextprotocol/clientCapabilities")
    client: _Client | None = msgspec.field(name="io.modelcontextprotocol/clientInfo", default=None)


class _Enveloped(msgspec.Struct, frozen=True):
    """The parameters of such a request, of which there is one page."""

    meta: _Envelope = msgspec.field(name="_meta")
    cursor: str | None = None


class _Handshake(msgspec.Struct, frozen=True, rename="camel"):
    protocol_version: str
    capabilities: dict[str, Any]
    client_info: _Client
    meta: dict[str, Any] | None = msgspec.field(name="_meta", default=None)


class _Response(msgspec.Struct, frozen=True):
    """An answer to a request of ours; without a result it is an error."""

    id: str | int
    result: dict[str, Any] | None = None


class _Cancelled(msgspec.Struct, frozen=True, rename="camel"):
    request_id: str | int


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
        # The client's own lines that say of which revision it is: the library needs them, too.
        self._handshake: list[bytes] = []
        self._probe: list[bytes] = []
        self._served = served
        self._reader = reader
        self._writer = writer
        self._running: set[asyncio.Task[None]] = set()
        self._free = asyncio.Semaphore(settings.max_requests)  # further calls wait
        self._open = asyncio.Semaphore(settings.max_waiting_requests)  # further lines wait unread
        self._by_id: dict[str | int, asyncio.Task[None]] = {}  # to cancel them by
        self._for_library: LineQueue | None = None
        self._elicits = self._samples = False
        self._may_elicit, self._may_sample = settings.elicitation, settings.sampling
        # To the host's person, or to its model.
        self._questions: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._asked = 0
        self._deaf: list[Callable[[], None]] = []  # end that it hears of changed lists
        self._listing = 0  # answers with the list of tools that are to come
        self._listed: object = None  # the edition of the tools that it was told last
        self._relay: Relay | None = None  # what the host takes of servers behind us

    @property
    def opening(self) -> list[bytes]:
        """What the client began with, and has an answer to."""
        return self._handshake or self._probe

    async def serve(self) -> None:
        """Serve until the client is gone."""
        async with asyncio.TaskGroup() as self._group:
            try:
                async for line in self._lines():
                    await self._take(line)
                if self._for_library is not None:
                    await self._for_library.put(None)
                if self._running:
                    await asyncio.wait(self._running, timeout=LAST_ANSWERS)
            finally:
                for end in self._deaf:
                    end()
                for task in self._running:
                    task.cancel()

    # --- in --------------------------------------------------------------------------------

    async def _lines(self) -> AsyncIterator[bytes]:
        while True:
            await self.drain()
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as end:
                if end.partial.strip():
                    yield end.partial
                return
            except asyncio.LimitOverrunError as over:
                await self._skip_line(over.consumed)
                self.refuse(INVALID_REQUEST, "the message is over max_message_bytes")
                continue
            except ConnectionError:
                return
            if line.strip():
                yield line

    async def _skip_line(self, size: int) -> None:
        while True:
            await self._reader.readexactly(size)
            try:
                await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as over:
                size = over.consumed
            except asyncio.IncompleteReadError:
                return
            else:
                return

    async def _take(self, line: bytes) -> None:
        log_message("received", line)
        message = read_message(line)
        if message is None:
            self.refuse_line(line)
            return
        if problem := misfit(message):
            self.refuse(INVALID_REQUEST, problem, echo(message.id))
            return
        if not message.method and self._questions and self._take_response(line):
            return
        if self._handshake:
            done = await self._answer(message, line)
        elif self._for_library is not None:
            done = False
        else:
            done = self._open_up(message, line)
        if not done:
            await self._hand_on(line)

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
            asked = msgspec.json.decode(message.params, type=_Enveloped)
        except UNREADABLE:
            return False
        if asked.meta.revision not in MODERN_REVISIONS:
            known = {"supported": MODERN_REVISIONS, "requested": asked.meta.revision}
            why = "Unsupported protocol version"  # the library's words
            self.refuse(UNSUPPORTED_REVISION, why, message.id, known)
        elif asked.cursor is not None:
            return False
        elif message.method in _LISTS:
            self._answer_list(message, lambda method: self._served.standing.modern[method])
        else:
            self.answer(message.id, found)
        self._probe = [line]
        return True

    def _shake_hands(self, message: Message, line: bytes) -> bool:
        try:
            given = msgspec.json.decode(message.params, type=_Handshake)
        except UNREADABLE:
            return False
        self._handshake = [line]
        self._elicits = self._may_elicit and offers(given.capabilities)
        self._samples = self._may_sample and offers_sampling(given.capabilities)
        said = given.client_info
        self.caller = replace(self.caller, client=f"{said.name} {said.version}".strip())
        elicits, samples = offers(given.capabilities), offers_sampling(given.capabilities)
        forward = partial(partial, self._forward)
        self._relay = Relay(
            elicit=limited(given.capabilities, forward(CREATE)) if elicits else None,
            sample=forward(CREATE_MESSAGE) if samples else None,
        )
        self.answer(message.id, self._served.standing.initialize(given.protocol_version))
        # From now on: the bridge repeats the handshake to the next daemon, but not the list.
        if not self._deaf:
            self._hear_lists()
        return True

    def _hear_lists(self) -> None:
        selection = self._served.offers.selection
        self._deaf.append(selection.on_change(self._tell_of_tools))
        if (upstream := selection.upstream) is not None:
            for kind in ("prompts", "resources"):
                self._deaf.append(upstream.on_change(partial(self._tell_of, kind), kind))

    def _tell_of(self, kind: str) -> None:
        # Who has listed resources is told of them by the library, also about sessions.
        if kind == "prompts" or self._for_library is None:
            told = f"notifications/{kind}/list_changed"
            self.write(msgspec.json.encode({"jsonrpc": "2.0", "method": told}))

    def _tell_of_tools(self) -> None:
        if self._listing or self._listed == self._served.offers.selection.edition:
            return  # it has that list already, or gets it with its answer
        self.write(b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}')

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
        if found is None or not _is_plain(message):
            return False
        if message.method in _LISTS:
            self._answer_list(message, lambda method: self._served.standing.lists[method])
        else:
            self.answer(message.id, found)
        return True

    def _answer_list(self, message: Message, found: Callable[[str], bytes]) -> None:
        """Answer with a list, after a moment if something of it is not known yet."""
        gather, selection = self._served.gather, self._served.offers.selection
        method, of_tools = message.method, message.method == "tools/list"
        if gather is None:
            self._listed = selection.edition if of_tools else self._listed
            self.answer(message.id, found(method))
            return

        self._listing += of_tools

        async def answer(raw: bytes) -> None:
            try:
                await gather(self.caller)
            finally:
                self._listing -= of_tools
            self._listed = selection.edition if of_tools else self._listed
            self.answer(raw, found(method))
            await self.drain()

        task = self._group.create_task(answer(bytes(message.id)))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def _note(self, message: Message, line: bytes) -> bool:
        """Take note of a notification; return whether the library need not know of it."""
        if message.method == "notifications/initialized" and self._for_library is None:
            self._handshake[1:] = [line]
        elif message.method == "notifications/cancelled":
            with suppress(*UNREADABLE):
                wanted = msgspec.json.decode(message.params, type=_Cancelled).request_id
                if task := self._by_id.get(wanted):
                    task.cancel()
                    return True
        return self._for_library is None

    # --- calls -----------------------------------------------------------------------------

    async def _begin(self, message: Message) -> bool:
        try:
            call = msgspec.json.decode(message.params, type=_Call)
            identifier = msgspec.json.decode(message.id, type=str | int)
        except UNREADABLE:
            return False
        if call.meta is not None and LATER in call.meta:
            return False
        await self._open.acquire()
        task = self._group.create_task(self._call(bytes(message.id), call))
        self._running.add(task)
        self._by_id[identifier] = task

        def forget(_: object) -> None:
            self._open.release()
            self._running.discard(task)
            if self._by_id.get(identifier) is task:
                del self._by_id[identifier]

        task.add_done_callback(forget)
        return True

    async def _call(self, raw: bytes, call: _Call) -> None:
        token = call.meta.get("progressToken") if call.meta else None
        meta = None if token is None else {"progress_token": token}
        asked = _Asked(self.caller, meta, _Progress(self, token))
        asking = self._ask_person if self._elicits else None
        sampling = self._ask_model if self._samples else None
        async with self._free:
            try:
                with asked_by(asking), sampled_by(sampling), relayed_by(self._relay):
                    shaped = await self._served.call_tool(asked, call)
                shaped.pop("resultType", None)  # a word of a later revision than these
                self.answer(raw, msgspec.json.encode(shaped))
            except ProtocolError as error:
                self.refuse(error.code, error.message, raw, error.data)
            await self.drain()

    # --- the host's person, and its model ----------------------------------------------------

    async def _ask_person(self, approval: Approval) -> Answer | None:
        """Let the host ask its user; None when they gave no answer."""
        return answer_of(await self._ask("approval", CREATE, form_of(approval)), approval)

    async def _ask_model(self, prompt: ModelPrompt) -> Sampled | None:
        """Let the host ask its model; None when it gave no answer."""
        return sampled_of(await self._ask("sampling", CREATE_MESSAGE, message_of(prompt)))

    async def _forward(self, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """Ask the host what a server behind us asks; None for an error."""
        return await self._ask("upstream", method, dict(params)) or None

    async def _ask(self, kind: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request to the host, and return its result; an error's is empty."""
        self._asked += 1
        identifier = f"nacre-{kind}-{self._asked}"
        answered: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._questions[identifier] = answered
        body = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
        try:
            self.write(msgspec.json.encode(body))
            await self.drain()
            return await answered
        finally:
            del self._questions[identifier]
            if not answered.done():  # somebody else has answered, or nobody did in time
                params = {"requestId": identifier, "reason": "the question is over"}
                note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                self.write(msgspec.json.encode(note))

    def _take_response(self, line: bytes) -> bool:
        """Take the host's answer to one of our questions; return False for what is none."""
        try:
            response = msgspec.json.decode(line, type=_Response)
        except UNREADABLE:
            return False
        question = self._questions.get(str(response.id))
        if question is None:
            return False
        if not question.done():
            question.set_result(response.result or {})  # an error is no answer
        return True

    # --- out -------------------------------------------------------------------------------

    def answer(self, raw: bytes, result: bytes) -> None:
        self.write(b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (raw, result))

    def refuse(self, code: int, message: str, raw: bytes = _NULL, data: Any = None) -> None:
        error = {"code": code, "message": message} | ({"data": data} if data else {})
        self.write(b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (raw, msgspec.json.encode(error)))

    def refuse_line(self, line: bytes) -> None:
        """Say what is wrong with a line that is no message."""
        try:
            found = msgspec.json.decode(line)
        except UNREADABLE:
            if (halved := answer_halves(line, self._served.standing.offered)) is not None:
                self.write(halved.answer)
            else:
                self.refuse(PARSE_ERROR, "not valid JSON; send one JSON-RPC message a line")
            return
        request = found.get("id") if isinstance(found, dict) else None
        raw = msgspec.json.encode(request) if isinstance(request, str | int | float) else _NULL
        self.refuse(INVALID_REQUEST, "not a JSON-RPC 2.0 message", raw)

    def write(self, line: bytes) -> None:
        log_message("sent", line)
        if not self._writer.is_closing():
            self._writer.write(line + b"\n")

    async def drain(self) -> None:
        with suppress(ConnectionError):  # it left; what is read next is its end
            await self._writer.drain()

    # --- the library -----------------------------------------------------------------------

    async def _hand_on(self, line: bytes) -> None:
        if self._for_library is None:
            self._for_library = LineQueue(_WAITING_LINES)
            self._group.create_task(self._serve_by_library(self._for_library))
        await self._for_library.put(line)

    async def _serve_by_library(self, lines: LineQueue) -> None:
        await self._served.library(self, lines)


def _is_plain(message: Message) -> bool:
    """Whether a request asks for nothing beyond what it names."""
    if not message.params:
        return True
    try:
        paged = msgspec.json.decode(message.params, type=_Paged)
    except UNREADABLE:
        return False
    return paged.cursor is None and LATER not in (paged.meta or {})
