"""How long the daemon runs.

Rule: a daemon started on demand is ephemeral: it stops when it had no client for its grace, unless
a session is kept. One started by `nacre server` runs until it is told to stop.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from nacre import __version__
from nacre.core.catalog.caller import Caller
from nacre.core.operations.daemon import GetStatus, StopDaemon, UpgradeDaemon
from nacre.core.operations.results import (
    Status,
    Success,
)
from nacre.errors import Failed
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.bus import Events
from nacre.services.registry.registry import Registry
from nacre.system.keeper.client import Keeping

# A client that starts a daemon on demand connects within this time, unless the client has died.
_FIRST_CLIENT = 20.0  # seconds


class DaemonAddress(Struct, frozen=True):
    """Where the daemon listens."""

    port: int
    socket: str
    token_file: str
    beyond_url: str = ""  # for other machines


class Lifecycle:
    def __init__(
        self,
        registry: Registry,
        address: DaemonAddress,
        keeping: Keeping,
        events: Events[Any],
        *,
        ephemeral: bool,
        grace: float,
        warnings: Callable[[], tuple[str, ...]] = tuple,
        to_come: Callable[[], int] = lambda: 0,
        cgroups: Callable[[], tuple[str, str]] = lambda: ("", ""),
    ) -> None:
        """`warnings` returns what people must know of it now, `cgroups` what they limit.

        `to_come` counts the listed sessions of an earlier daemon that are not recovered yet; when
        they are, `reconsider` is called.
        """
        self._loop = asyncio.get_running_loop()
        self._registry = registry
        self._address = address
        self._keeping = keeping
        self._ephemeral = ephemeral
        self._grace = grace
        self._warnings = warnings
        self._to_come = to_come
        self._cgroups = cgroups
        self._clients = 0
        self._started = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self.stopping = asyncio.Event()
        self.interrupted = False  # by a signal: the sessions are then lost, so they can be restored
        self.upgrading = False
        if ephemeral:
            self._schedule(max(grace, _FIRST_CLIENT))
        events.on_end(self.reconsider)

    @contextmanager
    def client(self) -> Iterator[None]:
        """Count a client while this context is entered."""
        self._clients += 1
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        try:
            yield
        finally:
            self._clients -= 1
            self.reconsider()

    def reconsider(self) -> None:
        """Start the grace if no client is left; called when a client leaves or a session ends."""
        if self._ephemeral and self._clients == 0 and self._timer is None:
            self._schedule(self._grace)

    def _schedule(self, delay: float) -> None:
        self._timer = self._loop.call_later(delay, self._grace_over)

    def _grace_over(self) -> None:
        self._timer = None
        if self._clients == 0 and not self._is_kept():
            self.stopping.set()

    def _is_kept(self) -> bool:
        if self._to_come():
            return True  # one of them may be kept
        return any(session.identity.keep and session.alive for session in self._registry)

    def handlers(self) -> Handlers:
        return (
            Handlers()
            .on(GetStatus, self.status)
            .on(StopDaemon, self.stop)
            .on(UpgradeDaemon, self.upgrade)
        )

    async def status(self, caller: Caller, request: GetStatus) -> Status:
        cgroups, fix = self._cgroups()
        return Status(
            pid=os.getpid(),
            port=self._address.port,
            sessions=self._count(caller),
            version=__version__,
            ephemeral=self._ephemeral,
            uptime=round(self._loop.time() - self._started, 3),
            url=f"http://127.0.0.1:{self._address.port}",
            socket=self._address.socket,
            token_file=self._address.token_file,
            beyond_url=self._address.beyond_url,
            keeper_pid=self._keeping.pid,
            warnings=self._warnings(),
            cgroups=cgroups,
            cgroups_fix=fix,
        )

    def _count(self, caller: Caller) -> int:
        """Return how many sessions there are for this caller."""
        if caller.sessions is None:
            return sum(1 for _ in self._registry) + self._to_come()
        return sum(caller.sees(one.identity.name) for one in self._registry)

    async def stop(self, caller: Caller, request: StopDaemon) -> Success:
        # The answer is sent first; the loop handles the shutdown after it.
        self._loop.call_soon(self.stopping.set)
        return Success()

    async def upgrade(self, caller: Caller, request: UpgradeDaemon) -> Success:
        """Raises Failed without a keeper, which would have to start the next daemon."""
        if not self._keeping.alive:
            raise Failed(
                "this daemon has no keeper, so its sessions would end with it",
                "'nacre stop' stops both, and the next call starts the new version",
            )
        self.upgrading = True
        self._loop.call_soon(self.stopping.set)
        return Success()

    def interrupt(self) -> None:
        """Stop because of a signal: the machine may be shutting down."""
        self.interrupted = True
        self.stopping.set()
