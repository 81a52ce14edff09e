"""Watching and following sessions of other hosts, from a door of this one.

Rule 1: the reader gives credit for what it took. Nothing more is under way, so a slow reader costs
neither host memory.
Rule 2: when the host is lost or its daemon restarts, the stream breaks as a connection does: the
viewer connects again, as it does when the daemon of its own host restarts.
"""

import asyncio
import itertools
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec

from nacre.core.catalog.caller import Caller
from nacre.core.cluster.carried import pack_value, unpack_error, unpack_value
from nacre.core.cluster.messages import (
    Act,
    Acted,
    Credit,
    GiveUp,
    HostRestarted,
    OfStream,
    OpenStream,
    StreamEnded,
    StreamItem,
    StreamOpened,
    ToStream,
    read_of_stream,
)
from nacre.core.operations import follow, watch
from nacre.core.operations.elements import VisualSpan
from nacre.core.operations.follow import Event, Follow
from nacre.core.operations.watch import (
    Find,
    Found,
    Lines,
    Look,
    Numbered,
    WatchEvent,
    WatchSession,
)
from nacre.services.cluster.asking import Asking, lost
from nacre.services.cluster.credentials import Vouching
from nacre.services.cluster.servers.link import NO_RESPONDERS, ClusterLink
from nacre.services.host.wait import bounded
from nacre.settings.table import Settings
from nacre.system.logs import REQUEST

_log = logging.getLogger("nacre.cluster")

_KINDS: dict[str, type] = {
    name: one
    for module in (watch, follow)
    for name, one in vars(module).items()
    if isinstance(one, type) and issubclass(one, msgspec.Struct)
}


class Viewing:
    def __init__(
        self, host: str, link: ClusterLink, asking: Asking, signing: Vouching, settings: Settings
    ) -> None:
        self._host = host
        self._link = link
        self._asking = asking
        self._signing = signing
        self._settings = settings
        self._open: dict[str, RemoteStream] = {}
        self._outgoing: asyncio.Queue[tuple[str, ToStream]] = asyncio.Queue()

    @property
    def count(self) -> int:
        """Return how many streams are open."""
        return len(self._open)

    async def listen(self) -> None:
        subject = f"nacre.h.{self._host}.shown.>"
        await self._link.subscribe(subject, self._came, stream=True)

    @asynccontextmanager
    async def stream(
        self, host: str, caller: Caller, request: WatchSession | Follow
    ) -> "AsyncIterator[RemoteStream]":
        """Watch or follow there. Raises what that raises there, and HostUnreachable."""
        identifier = secrets.token_hex(8)
        stream = RemoteStream(host, identifier, self._send)
        self._open[identifier] = stream
        try:
            await self._begin(stream, caller, request)
            yield stream
        finally:
            del self._open[identifier]
            self._send(host, GiveUp(identifier))

    async def _begin(
        self, stream: "RemoteStream", caller: Caller, request: WatchSession | Follow
    ) -> None:
        kind = "watch" if isinstance(request, WatchSession) else "follow"
        if kind == "watch":  # who types from inside of a session may be its agent
            caller = await self._asking.placed(caller)
        opening = OpenStream(
            stream.id,
            self._asking.incarnation_of(stream.host),
            self._signing.credential(caller, stream.host),
            kind,
            msgspec.msgpack.encode(request),
            REQUEST.get(""),
        )
        self._send(stream.host, opening)
        try:
            async with bounded(self._settings.cluster_call_time):
                await stream.opened()
        except TimeoutError as error:
            raise lost(stream.host, begun=False) from error

    def host_lost(self, host: str) -> None:
        for stream in self._open.values():
            if stream.host == host:
                stream.came(StreamEnded(), broken=True)

    def break_all(self) -> None:
        """The connection was lost, and what was under way with it: viewers connect again."""
        for stream in self._open.values():
            stream.came(StreamEnded(), broken=True)

    def _send(self, host: str, message: ToStream) -> None:
        self._outgoing.put_nowait((host, message))

    async def send_all(self) -> None:
        """Send what viewers say, in its order, until this is cancelled."""
        while True:
            host, message = await self._outgoing.get()
            reply = f"nacre.h.{self._host}.shown.{host}.{message.id}"
            to = f"nacre.h.{host}.stream.{self._host}"
            with suppress(OSError):  # then all streams break
                data = msgspec.msgpack.encode(message)
                await self._link.publish(to, data, reply, stream=True)

    def _came(self, subject: str, _: str, data: bytes, status: str | None) -> None:
        host, identifier = subject.rsplit(".", 2)[-2:]
        stream = self._open.get(identifier)
        if stream is None or stream.host != host:
            return
        if status == NO_RESPONDERS:
            stream.came(StreamEnded(), broken=True)
            return
        try:
            stream.came(read_of_stream(data))
        except msgspec.DecodeError as error:
            _log.warning("unreadable item", extra={"host": host, "error": str(error)})


class RemoteStream:
    """A stream of another host, as the doors of this one know it (Watch and EventStream)."""

    def __init__(self, host: str, identifier: str, send: Callable[[str, ToStream], None]) -> None:
        self.host = host
        self.id = identifier
        self._send = send
        self._items: asyncio.Queue[StreamItem | StreamEnded] = asyncio.Queue()
        self._begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._acts: dict[int, asyncio.Future[Acted]] = {}
        self._numbers = itertools.count(1)
        self._broken = False

    async def opened(self) -> None:
        await self._begun

    def came(self, message: OfStream, *, broken: bool = False) -> None:
        if isinstance(message, HostRestarted):
            message, broken = StreamEnded(), True
        if isinstance(message, StreamOpened):
            if not self._begun.done():
                self._begun.set_result(None)
        elif isinstance(message, Acted):
            if (waiting := self._acts.pop(message.number, None)) is not None and not waiting.done():
                waiting.set_result(message)
        elif isinstance(message, StreamItem):
            self._items.put_nowait(message)
        else:
            self._end(message, broken=broken)

    def _end(self, message: StreamEnded, *, broken: bool) -> None:
        self._broken = self._broken or broken
        if not self._begun.done():
            error = message.error
            told = lost(self.host, begun=False) if error is None else unpack_error(error)
            self._begun.set_exception(told)
        for waiting in self._acts.values():
            if not waiting.done():
                waiting.set_exception(lost(self.host, begun=True))
        self._acts.clear()
        self._items.put_nowait(message)

    # --- what doors use --------------------------------------------------------------------

    async def __aiter__(self) -> AsyncIterator[Any]:
        """Raises ConnectionResetError when the host is gone, as if the daemon here had died."""
        while True:
            item = await self._items.get()
            if isinstance(item, StreamEnded):
                if item.error is not None:
                    raise unpack_error(item.error)
                if self._broken:
                    raise ConnectionResetError(f"host {self.host} is gone")
                return
            self._send(self.host, Credit(self.id, len(item.data)))
            event: WatchEvent | Event = unpack_value(_KINDS, item.kind, item.data)
            yield event

    def fit(self, rows: int, cols: int) -> None:
        self._act_only("fit", (rows, cols))

    def refresh(self, history: int | None = None) -> None:
        self._act_only("refresh", history)

    def show_status(self, line: Sequence[VisualSpan]) -> None:
        self._act_only("status", list(line))

    async def type(self, data: bytes, at: Numbered | None = None) -> None:
        await self._act("type", (data, at))

    async def look(self, question: Look | Find) -> Lines | Found:
        acted = await self._act("look", pack_value(question))
        found: Lines | Found = unpack_value(_KINDS, acted.kind, acted.data)
        return found

    def _act_only(self, what: str, data: Any) -> None:
        act = Act(self.id, next(self._numbers), what, msgspec.msgpack.encode(data))
        self._send(self.host, act)

    async def _act(self, what: str, data: Any) -> Acted:
        """Raises what it raises there, and HostUnreachable."""
        if self._broken:
            raise lost(self.host, begun=False)
        number = next(self._numbers)
        waiting: asyncio.Future[Acted] = asyncio.get_running_loop().create_future()
        self._acts[number] = waiting
        self._send(self.host, Act(self.id, number, what, msgspec.msgpack.encode(data)))
        acted = await waiting
        if acted.error is not None:
            raise unpack_error(acted.error)
        return acted
