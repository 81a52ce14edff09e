"""One configured upstream server: its connections, what is known of it, and how it does.

Rule 1: a connection is made with the first call that needs it, and stays. Callers share one only if
all that they put into it is equal, so nobody acts with another's token.
Rule 2: a server that cannot be reached is not tried for each call: after a failure comes a pause,
longer each time, in which calls fail at once and say why. After it one call tries, the others wait
for what becomes of that.
Rule 3: a call that was sent is not sent again: it may have been done.
"""

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from nacre.core.upstream.servers import Configured, ResolvedServer, ServerTable, WrongTable
from nacre.errors import NacreError, UpstreamUnavailable
from nacre.late_import import import_alone
from nacre.services.upstream.log_ring import LogRing
from nacre.settings.table import Settings
from nacre.system.upstreams.kept import KeptListing, KeptUpstreams
from nacre.system.upstreams.logins import LoginFile

if TYPE_CHECKING:
    from httpx2 import Auth

    from nacre.services.upstream.connections.connection import UpstreamConnection

_log = logging.getLogger("nacre.upstream")

ServerState = Literal["disabled", "idle", "connecting", "connected", "failed"]

_SAMPLES = 200  # calls of which the median is told
_MODULE = "nacre.services.upstream.connections.opening"


@dataclass(slots=True)
class _Trouble:
    """Why connecting with these values failed, and until when nobody tries again."""

    why: str
    count: int
    until: float  # by the loop's clock


@dataclass(slots=True)
class Statistics:
    calls: int = 0
    failures: int = 0
    times: "deque[float]" = field(default_factory=lambda: deque(maxlen=_SAMPLES))

    def note(self, seconds: float, *, failed: bool) -> None:
        self.calls += 1
        self.failures += failed
        self.times.append(seconds * 1000)

    @property
    def p50_ms(self) -> float | None:
        return round(median(self.times), 2) if self.times else None


class UpstreamServer:
    def __init__(
        self,
        configured: Configured,
        settings: Settings,
        kept: KeptUpstreams,
        starts: asyncio.Semaphore,
        changed: Callable[[], None],
        updated: Callable[[str, str], None],
    ) -> None:
        self.configured = configured
        self.statistics = Statistics()
        self.log = LogRing(settings.upstream_log_bytes)
        self.listing: KeptListing | None = None
        self._settings = settings
        self._kept = kept
        self._starts = starts
        self._changed = changed
        self._updated = updated
        self._watched: dict[ResolvedServer, Counter[str]] = {}  # URIs of resources
        self.waited_until: float | None = None  # by the loop's clock: how long a list waits for it
        self._open: dict[ResolvedServer, UpstreamConnection] = {}
        self._opening: dict[ResolvedServer, asyncio.Task[UpstreamConnection]] = {}
        self._trouble: dict[ResolvedServer, _Trouble] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._logins: dict[str, Auth] = {}  # by the address
        if isinstance(configured, ServerTable):
            self.listing = kept.listing(configured.fingerprint)

    # --- what is known ---------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self.configured.name

    @property
    def table(self) -> ServerTable:
        """Raises UpstreamUnavailable when its table is wrong, or it is disabled."""
        if isinstance(self.configured, WrongTable):
            raise UpstreamUnavailable(f"{self.name} cannot be used: {self.configured}")
        if not self.configured.enabled:
            raise UpstreamUnavailable(f"{self.name} is disabled", "enable it first")
        return self.configured

    @property
    def state(self) -> ServerState:
        if isinstance(self.configured, WrongTable):
            return "failed"
        if not self.configured.enabled:
            return "disabled"
        if any(one.is_open for one in self._open.values()):
            return "connected"
        if self._opening:
            return "connecting"
        return "failed" if self._trouble else "idle"

    @property
    def error(self) -> str | None:
        if isinstance(self.configured, WrongTable):
            return str(self.configured)
        if self.state != "failed":
            return None
        return next(reversed(self._trouble.values())).why

    @property
    def connections(self) -> list["UpstreamConnection"]:
        return [one for one in self._open.values() if one.is_open]

    @property
    def start_timeout(self) -> float:
        return self.table.start_timeout or self._settings.upstream_start_timeout

    @property
    def call_timeout(self) -> float:
        return self.table.call_timeout or self._settings.upstream_call_timeout

    @property
    def is_used(self) -> bool:
        return isinstance(self.configured, ServerTable) and self.configured.enabled

    def tools(self) -> list[dict[str, Any]]:
        """Return its tools, as it listed them last and its filters let through."""
        if not isinstance(self.configured, ServerTable):
            return []
        offers = self.configured.offers
        return [one for one in (self.listing or KeptListing()).tools if offers(str(one["name"]))]

    # --- connections -----------------------------------------------------------------------

    async def connection(
        self, resolved: ResolvedServer, values: Mapping[str, str], *, probe: bool = False
    ) -> "UpstreamConnection":
        """Return a connection with these values, an open one if there is.

        `probe`: try at once, also in the pause after a failure. Raises UpstreamUnavailable.
        """
        found = self._open.get(resolved)
        if found is not None and found.is_open:
            found.last_used = time.monotonic()
            return found
        opening = self._opening.get(resolved)
        if opening is None:
            if not probe:
                self._require_no_pause(resolved)
            self.log.hide({name: values[name] for name in self.table.variables if name in values})
            opening = asyncio.create_task(
                self._connect(resolved), name=f"open-{self.name}", context=Context()
            )
            self._opening[resolved] = opening
            opening.add_done_callback(lambda _: self._opening.pop(resolved, None))
            self._changed()
        return await asyncio.shield(opening)

    def _require_no_pause(self, resolved: ResolvedServer) -> None:
        left = self.pause_left(resolved)
        if left > 0:
            raise UpstreamUnavailable(
                f"{self.name} is not available: {self._trouble[resolved].why}",
                f"it is tried again in {left:.0f} s; test it to try now",
                server=self.name,
            )

    def pause_left(self, resolved: ResolvedServer) -> float:
        """Return for how many seconds more nobody tries to connect."""
        trouble = self._trouble.get(resolved)
        if trouble is None:
            return 0.0
        return max(0.0, trouble.until - asyncio.get_running_loop().time())

    async def _connect(self, resolved: ResolvedServer) -> "UpstreamConnection":
        try:
            async with self._start_slot():
                module = await asyncio.to_thread(import_alone, _MODULE)
                connection: UpstreamConnection = await module.open_connection(
                    self.table,
                    resolved,
                    self.listing or KeptListing(),
                    self.log,
                    self._settings,
                    self._note_change,
                    self._note_update,
                    lambda url: self._login(url, module.stored_login),
                    self.start_timeout,
                )
        except NacreError as error:
            self._note_trouble(resolved, error.message)
            raise UpstreamUnavailable(
                f"{self.name} is not available: {error.message}", *error.next, server=self.name
            ) from error
        except asyncio.CancelledError:
            raise
        except Exception as error:
            _log.exception("an upstream cannot be connected to", extra={"server": self.name})
            why = "an unexpected error; the daemon's log says which"
            self._note_trouble(resolved, why)
            raise UpstreamUnavailable(f"{self.name} is not available: {why}") from error
        self._trouble.pop(resolved, None)
        connection.last_used = time.monotonic()
        self._open[resolved] = connection
        self.log.note(f"connected: {connection.server}, revision {connection.revision}")
        self._take_listing(connection)
        self._make_room()
        for uri in tuple(self._watched.get(resolved, ())):
            await self._watch_again(connection, uri)
        return connection

    def _login(self, url: str, read: "Callable[[str, LoginFile], Auth | None]") -> "Auth | None":
        """Return what a person's login adds to requests: one for all connections."""
        if url not in self._logins:
            file = self._kept.login(self.name, url)
            if file is None or (found := read(url, file)) is None:
                return None
            self._logins[url] = found
        return self._logins[url]

    @asynccontextmanager
    async def _start_slot(self) -> AsyncIterator[None]:
        """Wait until few others start; hold them up for a moment, not until one that hangs is
        given up.
        """
        await self._starts.acquire()
        share = self._settings.upstream_start_share
        timer = asyncio.get_running_loop().call_later(share, self._starts.release)
        try:
            yield
        finally:
            if timer.when() > asyncio.get_running_loop().time():
                timer.cancel()
                self._starts.release()

    def _note_trouble(self, resolved: ResolvedServer, why: str) -> None:
        before = self._trouble.pop(resolved, None)
        count = 1 if before is None else before.count + 1
        settings = self._settings
        pause = min(settings.upstream_retry * 2 ** min(count - 1, 30), settings.upstream_retry_most)
        until = asyncio.get_running_loop().time() + pause
        self._trouble[resolved] = _Trouble(why, count, until)
        self.log.note(f"cannot connect: {why}")
        self._changed()

    def _note_change(self, connection: "UpstreamConnection") -> None:
        """Its lists have changed, or it is gone."""
        if connection.is_open:
            self._take_listing(connection)
            return
        for resolved, known in list(self._open.items()):
            if known is connection:
                del self._open[resolved]
                self._trouble[resolved] = _Trouble(connection.lost, 0, 0.0)  # tried at once
                if self._watched.get(resolved):
                    self._open_again(resolved)
        self._end_later(connection)
        self._changed()

    def _note_update(self, uri: str) -> None:
        self._updated(self.name, uri)

    # --- watched resources -----------------------------------------------------------------

    async def watch(self, resolved: ResolvedServer, values: Mapping[str, str], uri: str) -> None:
        """Have it tell of updates of a resource. Raises as `connection` does, InvalidInput."""
        connection = await self.connection(resolved, values)
        counts = self._watched.setdefault(resolved, Counter())
        if not counts[uri]:
            await connection.watch(uri, watch=True, within=self.call_timeout)
        counts[uri] += 1

    async def unwatch(self, resolved: ResolvedServer, uri: str) -> None:
        """Stop what `watch` began, once nobody else needs it."""
        counts = self._watched.get(resolved, Counter())
        counts[uri] -= 1
        if counts[uri] > 0:
            return
        del counts[uri]
        connection = self._open.get(resolved)
        if connection is not None and connection.is_open:
            with suppress(NacreError):  # it tells of what nobody hears
                await connection.watch(uri, watch=False, within=self.call_timeout)

    async def _watch_again(self, connection: "UpstreamConnection", uri: str) -> None:
        try:
            await connection.watch(uri, watch=True, within=self.call_timeout)
        except NacreError as error:
            self.log.note(f"a resource is not watched any more: {error.message}")
        self._note_update(uri)  # it may have changed while there was no connection

    def _take_listing(self, connection: "UpstreamConnection") -> None:
        if connection.listing != self.listing:
            self.listing = connection.listing
            if isinstance(self.configured, ServerTable):
                self._kept.keep_listing(self.configured.fingerprint, self.listing)
        self._changed()

    def _open_again(self, resolved: ResolvedServer) -> None:
        """Connect without a call, for those who wait for updates; they get them with the next
        call otherwise.
        """

        async def connect() -> None:
            with suppress(UpstreamUnavailable):
                await self.connection(resolved, {})

        task = asyncio.create_task(connect(), name=f"open-{self.name}", context=Context())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def _make_room(self) -> None:
        """End the connection that was not used longest, if there are too many."""
        if len(self._open) > self._settings.max_upstream_connections:
            oldest = min(self._open, key=lambda one: self._open[one].last_used)
            self._end_later(self._open.pop(oldest))

    def _end_later(self, connection: "UpstreamConnection") -> None:
        task = asyncio.create_task(connection.close(), name=f"end-{self.name}")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def end_soon(self) -> None:
        """Let go of all connections, without waiting for their ends."""
        for connection in self._open.values():
            self._end_later(connection)
        self._open.clear()
        self._trouble.clear()
        self._logins.clear()
        self.waited_until = None
        for task in self._opening.values():
            task.cancel()

    async def end(self) -> None:
        """Return when all of its processes are gone."""
        self.end_soon()
        opening = list(self._opening.values())
        await asyncio.gather(*opening, *self._ending, return_exceptions=True)
