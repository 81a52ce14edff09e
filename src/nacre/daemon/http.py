"""HTTP's server, loaded when somebody connects to it, or when nobody asks the daemon for anything.

Rule 1: its libraries take a third of what a daemon's start takes, and many daemons never need them.
Rule 2: nobody is refused meanwhile: sockets listen all the time, and who connects waits in the
kernel's queue while it loads in a thread.
Rule 3: if it cannot be loaded, the daemon's other doors serve, and who connects is told so.
"""

import asyncio
import gc
import logging
import socket
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nacre.daemon.broken_http import BrokenHttp
    from nacre.doors.server import HttpDoor
    from nacre.services.registry.ports import PortPool

_log = logging.getLogger("nacre.daemon")

_BROKEN = (
    "HTTP cannot be served, so the page, REST and MCP over HTTP answer 503: its libraries cannot "
    "be loaded; the daemon's log says what is broken"
)


class LateHttp:
    def __init__(
        self,
        load: Callable[[], Awaitable["HttpDoor"]],
        listeners: Iterable[socket.socket],
        ports: "PortPool",
        broken: Callable[[], "BrokenHttp"],
    ) -> None:
        """`listeners` are the daemon's own, the first one without TLS; `ports` the sessions'.

        `broken` makes what answers there if HTTP cannot be served.
        """
        self._loop = asyncio.get_running_loop()
        self._load = load
        self._wanted = asyncio.Event()
        self._awaited: list[socket.socket] = []
        self._ports: dict[int, socket.socket] = {}
        self._door: HttpDoor | None = None
        self._serving: asyncio.Task[None] | None = None
        self._listeners = list(listeners)
        self._make_broken = broken
        self._broken: BrokenHttp | None = None
        self._refusing: set[asyncio.Task[None]] = set()
        for listener in self._listeners:
            self._await(listener)
        ports.serve_with(self)

    async def wanted(self) -> None:
        """Wait until somebody has connected, or it is loaded for another reason."""
        await self._wanted.wait()

    def want(self) -> None:
        """Load it now."""
        for listener in self._awaited:
            self._loop.remove_reader(listener.fileno())
        self._awaited.clear()
        self._wanted.set()
        if self._serving is None:
            self._serving = self._loop.create_task(self._serve(), name="http")

    def _await(self, listener: socket.socket) -> None:
        self._awaited.append(listener)
        self._loop.add_reader(listener.fileno(), self.want)

    # --- the sessions' ports, until the door serves them

    def open(self, listener: socket.socket) -> None:
        self._ports[listener.getsockname()[1]] = listener
        if self._broken is not None:
            self._refuse(self._broken, listener)
        elif not self._wanted.is_set():
            self._await(listener)

    def close(self, port: int) -> None:
        listener = self._ports.pop(port)
        if self._broken is not None:
            self._broken.close(port)
        if listener in self._awaited:
            self._awaited.remove(listener)
            self._loop.remove_reader(listener.fileno())

    async def _serve(self) -> None:
        try:
            self._door = await self._load()
        except Exception:  # noqa: BLE001  # its libraries are broken: the other doors still serve
            _log.exception("HTTP cannot be served")
            self._broken = self._make_broken()
            for listener in (*self._listeners, *self._ports.values()):
                self._refuse(self._broken, listener)
            return
        gc.freeze()  # what was loaded stays (system/memory.py)
        await self._door.serve()

    def _refuse(self, broken: "BrokenHttp", listener: socket.socket) -> None:
        answers = listener not in self._listeners[1:]
        task = self._loop.create_task(broken.serve(listener, answers=answers))
        self._refusing.add(task)
        task.add_done_callback(self._refusing.discard)

    def warnings(self) -> tuple[str, ...]:
        """Return what people must know of it."""
        return () if self._broken is None else (_BROKEN,)

    async def end(self) -> None:
        """Answer what was asked, then end. What is not loaded yet is not waited for."""
        for listener in self._awaited:
            self._loop.remove_reader(listener.fileno())
        if self._serving is None:
            return
        if self._broken is not None:
            self._broken.end()
        if self._door is None:
            self._serving.cancel()
        else:
            self._door.stop()
        with suppress(asyncio.CancelledError):
            await self._serving
