"""What viewers on other hosts watch and follow here.

Rule 1: it passes dispatch as a viewer of this host does, with the scope that its own host signed.
Rule 2: no more is sent than the reader has room for (credit). Until it reads on, nothing is taken
from the viewer here, which then sends a fresh snapshot instead of what was missed.
Rule 3: what is done at a stream is done in its order.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec

from nacre.core.cluster.carried import pack_error, pack_value, unpack_value
from nacre.core.cluster.messages import (
    Act,
    Acted,
    Credit,
    HostRestarted,
    OfStream,
    OpenStream,
    StreamEnded,
    StreamItem,
    StreamOpened,
    read_to_stream,
)
from nacre.core.operations.elements import VisualSpan
from nacre.core.operations.follow import Follow
from nacre.core.operations.watch import Find, Look, Numbered, Watch, WatchSession
from nacre.errors import Internal, InvalidInput, NacreError
from nacre.services.cluster.credentials import Believing
from nacre.services.cluster.servers.link import ClusterLink
from nacre.services.dispatch.dispatch import Dispatch
from nacre.system.logs import REQUEST

_log = logging.getLogger("nacre.cluster")

_QUESTIONS: dict[str, type] = {"Look": Look, "Find": Find}


class _ServedStream:
    """One that is open."""

    def __init__(self, reply: str, window: int) -> None:
        self.reply = reply
        self._window = self._room = window
        self.acts: asyncio.Queue[Act] = asyncio.Queue()
        self.task: asyncio.Task[None] | None = None
        self._more = asyncio.Event()

    async def take(self, size: int) -> None:
        """Wait until the reader has room. A longer item than all room goes alone."""
        while self._room < min(size, self._window):
            self._more.clear()
            await self._more.wait()
        self._room -= size

    def give(self, size: int) -> None:
        self._room += size
        self._more.set()


class Streaming:
    def __init__(
        self, host: str, incarnation: str, link: ClusterLink, believing: Believing, window: int
    ) -> None:
        """`window` is how many bytes may be under way to a reader."""
        self._window = window
        self._host = host
        self._incarnation = incarnation
        self._link = link
        self._believing = believing
        self._dispatch: Dispatch | None = None
        self._streams: dict[str, _ServedStream] = {}

    @property
    def count(self) -> int:
        """Return how many streams are open."""
        return len(self._streams)

    async def listen(self, dispatch: Dispatch) -> None:
        self._dispatch = dispatch
        await self._link.subscribe(f"nacre.h.{self._host}.stream.*", self._came, stream=True)

    def end(self) -> None:
        for stream in self._streams.values():
            if stream.task is not None:
                stream.task.cancel()

    def end_of(self, host: str) -> None:
        """End what a lost host watched."""
        for known, stream in list(self._streams.items()):
            if known.startswith(f"{host}/") and stream.task is not None:
                stream.task.cancel()

    def _came(self, subject: str, reply: str, data: bytes, _: str | None) -> None:
        sender = subject.rpartition(".")[2]
        try:
            message = read_to_stream(data)
        except msgspec.DecodeError as error:
            _log.warning("unreadable message", extra={"host": sender, "error": str(error)})
            return
        known = f"{sender}/{message.id}"
        stream = self._streams.get(known)
        if isinstance(message, OpenStream):
            if stream is None and reply.startswith(f"nacre.h.{sender}.shown.{self._host}."):
                self._begin(known, sender, message, reply)
        elif stream is None:
            return
        elif isinstance(message, Act):
            stream.acts.put_nowait(message)
        elif isinstance(message, Credit):
            stream.give(message.size)
        elif stream.task is not None:
            stream.task.cancel()

    def _begin(self, known: str, sender: str, message: OpenStream, reply: str) -> None:
        stream = self._streams[known] = _ServedStream(reply, self._window)
        stream.task = asyncio.create_task(self._serve(stream, sender, message), name="stream")
        stream.task.add_done_callback(lambda _: self._streams.pop(known, None))

    async def _serve(self, stream: _ServedStream, sender: str, message: OpenStream) -> None:
        ended = StreamEnded()
        REQUEST.set(message.request)
        try:
            if message.incarnation != self._incarnation:
                await self._send(stream, HostRestarted(self._incarnation))
                return
            async with self._entered(sender, message) as entered:
                await self._send(stream, StreamOpened())
                acting = asyncio.create_task(self._act_on(stream, entered))
                try:
                    await self._send_items(stream, entered)
                finally:
                    acting.cancel()
        except NacreError as error:
            ended = StreamEnded(pack_error(error))
        except msgspec.ValidationError as error:
            ended = StreamEnded(
                pack_error(InvalidInput(f"what another host asked is not valid: {error}"))
            )
        except Exception:  # noqa: BLE001  # outermost loop of a door: logged, the viewer is told
            _log.exception("a stream for another host failed")
            ended = StreamEnded(pack_error(Internal("unexpected error in another host's daemon")))
        with suppress(OSError):
            await self._send(stream, ended)

    @asynccontextmanager
    async def _entered(self, sender: str, message: OpenStream) -> AsyncIterator[Any]:
        assert self._dispatch is not None
        caller = await self._believing.caller(message.credential, sender)
        if message.kind == "watch":
            watch = msgspec.msgpack.decode(message.params, type=WatchSession)
            async with self._dispatch.watch(caller, watch) as watched:
                yield watched
        else:
            follow = msgspec.msgpack.decode(message.params, type=Follow)
            async with self._dispatch.follow(caller, follow) as followed:
                yield followed

    async def _send_items(self, stream: _ServedStream, entered: Any) -> None:
        async for event in entered:
            kind, data = pack_value(event)
            await stream.take(len(data))
            await self._send(stream, StreamItem(kind, data))

    async def _act_on(self, stream: _ServedStream, watch: Watch) -> None:
        while True:
            act = await stream.acts.get()
            try:
                returned = await _act(watch, act)
            except NacreError as error:
                answer = Acted(act.number, error=pack_error(error))
            except (msgspec.ValidationError, AttributeError) as error:
                told = InvalidInput(f"what another host asked is not valid: {error}")
                answer = Acted(act.number, error=pack_error(told))
            else:
                answer = Acted(act.number)
                if returned is not None:
                    answer = Acted(act.number, *pack_value(returned))
            await self._send(stream, answer)

    async def _send(self, stream: _ServedStream, message: OfStream) -> None:
        data = msgspec.msgpack.encode(message)
        await self._link.publish(stream.reply, data, stream=True)


async def _act(watch: Watch, act: Act) -> Any:
    """Do what a viewer does at its screen. Raises what that raises, and ValidationError."""
    do: dict[str, Callable[[Watch, bytes], Coroutine[Any, Any, Any]]] = {
        "type": _type,
        "look": _look,
        "fit": _fit,
        "refresh": _refresh,
        "status": _show_status,
    }
    if act.what not in do:
        raise msgspec.ValidationError(f"no act {act.what[:40]!r}")
    return await do[act.what](watch, act.data)


async def _type(watch: Watch, data: bytes) -> None:
    typed, at = msgspec.msgpack.decode(data, type=tuple[bytes, Numbered | None])
    await watch.type(typed, at)


async def _look(watch: Watch, data: bytes) -> Any:
    kind, question = msgspec.msgpack.decode(data, type=tuple[str, bytes])
    return await watch.look(unpack_value(_QUESTIONS, kind, question))


async def _fit(watch: Watch, data: bytes) -> None:
    watch.fit(*msgspec.msgpack.decode(data, type=tuple[int, int]))


async def _refresh(watch: Watch, data: bytes) -> None:
    watch.refresh(msgspec.msgpack.decode(data, type=int | None))


async def _show_status(watch: Watch, data: bytes) -> None:
    watch.show_status(msgspec.msgpack.decode(data, type=list[VisualSpan]))
