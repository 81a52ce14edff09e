"""How long the daemon lives.

Rule: a daemon started on demand is ephemeral: it ends when it had no client for its grace, unless a
session in it is kept. One started by `nacre server` stays until it is told to stop.
"""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from nacre import __version__
from nacre.core.caller import Caller
from nacre.core.operations import (
    GetStatus,
    StopDaemon,
    UpgradeDaemon,
)
from nacre.core.results import (
    Status,
    Success,
)
from nacre.errors import Failed
from nacre.services.registry import Registry
from nacre.system.keeping import Keeping

# Whoever starts a daemon on demand connects within this; if it died instead, nobody will come.
_FIRST_CLIENT = 20.0  # seconds


@dataclass(frozen=True, slots=True)
class Address:
    """Where the daemon listens."""

    port: int
    socket: str
    token_file: str


class Lifecycle:
    def __init__(
        self,
        registry: Registry,
        address: Address,
        keeping: Keeping,
        *,
        ephemeral: bool,
        grace: float,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._registry = registry
        self._address = address
        self._keeping = keeping
        self._ephemeral = ephemeral
        self._grace = grace
        self._clients = 0
        self._started = self._loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self.stopping = asyncio.Event()
        self.interrupted = False  # by a signal: sessions are not over, they are lost
        self.upgrading = False
        if ephemeral:
            self._schedule(max(grace, _FIRST_CLIENT))

    @contextmanager
    def client(self) -> Iterator[None]:
        """Count somebody as a client for as long as this is entered."""
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
        """Begin the grace when nobody is left; called when a client goes or a session ends."""
        if self._ephemeral and self._clients == 0 and self._timer is None:
            self._schedule(self._grace)

    def _schedule(self, delay: float) -> None:
        self._timer = self._loop.call_later(delay, self._grace_over)

    def _grace_over(self) -> None:
        self._timer = None
        if self._clients == 0 and not self._is_kept():
            self.stopping.set()

    def _is_kept(self) -> bool:
        return any(session.identity.keep and session.alive for session in self._registry)

    async def status(self, caller: Caller, request: GetStatus) -> Status:
        return Status(
            pid=os.getpid(),
            port=self._address.port,
            sessions=sum(1 for _ in self._registry),
            version=__version__,
            ephemeral=self._ephemeral,
            uptime=round(self._loop.time() - self._started, 3),
            url=f"http://127.0.0.1:{self._address.port}",
            socket=self._address.socket,
            token_file=self._address.token_file,
            keeper_pid=self._keeping.pid,
        )

    async def stop(self, caller: Caller, request: StopDaemon) -> Success:
        # The answer goes out first: the loop comes to the shutdown after it.
        self._loop.call_soon(self.stopping.set)
        return Success()

    async def upgrade(self, caller: Caller, request: UpgradeDaemon) -> Success:
        """Raises Failed without a keeper, who would start the next daemon."""
        if not self._keeping.alive:
            raise Failed(
                "this daemon has no keeper, so that its sessions would end with it; "
                "'nacre stop' ends both, the next call starts the new version"
            )
        self.upgrading = True
        self._loop.call_soon(self.stopping.set)
        return Success()

    def interrupt(self) -> None:
        """Stop because a signal says so: the machine may be going down."""
        self.interrupted = True
        self.stopping.set()
