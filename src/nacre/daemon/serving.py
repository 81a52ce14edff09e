"""The daemon while its loop runs: services are built, doors opened, and in the end all is closed.

Rule 1: the first client is served while sessions are recovered and the rest loads.
Rule 2: in the end nobody can connect before sessions end, and nothing closes that still answers.
"""

import asyncio
import gc
import logging
import os
import signal
import socket
from collections.abc import Awaitable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from msgspec import Struct

from nacre import __version__
from nacre.daemon.doors import broken_http, load_http, local_door, open_askpass, open_ndjson
from nacre.daemon.ending import LastSteps
from nacre.daemon.http import LateHttp
from nacre.daemon.listeners import Listeners
from nacre.daemon.signals import ignored_signals, take_signals
from nacre.settings.paths import Paths
from nacre.settings.table import Settings
from nacre.system.cgroups.groups import SessionGroups
from nacre.system.keeper.client import Keeping, descriptor_limit
from nacre.system.keeper.keeper import UPGRADE
from nacre.system.keeper.succession import Succession
from nacre.system.logs import redact_logs
from nacre.system.memory import collect_rarely
from nacre.system.presence import Presence
from nacre.system.processes.pty import raise_descriptor_limit
from nacre.system.tokens import TokenStore

if TYPE_CHECKING:
    from nacre.doors.http.credentials import Credentials
    from nacre.doors.local.askpass import AskpassDoor
    from nacre.doors.local.socket import LocalDoor
    from nacre.doors.mcp.late import LateMcpDoor
    from nacre.doors.ndjson.door import NdjsonDoor
    from nacre.services.audit.audit import Audit
    from nacre.services.daemon.lifecycle import Lifecycle
    from nacre.services.dispatch.dispatch import Dispatch
    from nacre.services.wiring import Services

_log = logging.getLogger("nacre.daemon")

_GRACES = 4  # hangup, kill, the last output, the reaping: each waits for kill_grace at most


class Keys(NamedTuple):
    """What callers over HTTP and NDJSON are let in by."""

    token: str
    tokens: TokenStore
    page_key: bytes


class _Early(NamedTuple):
    """What the first client needs."""

    mcp: "LateMcpDoor"
    local: "LocalDoor"
    askpass: "AskpassDoor"
    presence: Presence
    succession: Succession


class _Late(NamedTuple):
    """What is loaded while the first client is served."""

    ndjson: "NdjsonDoor | None"
    http: LateHttp
    loading: "asyncio.Task[None]"  # of the engine
    janitor: "asyncio.Task[None]"


class Serving(Struct, frozen=True):
    """What exists before the loop runs, and how it is served."""

    settings: Settings
    paths: Paths
    keeping: Keeping
    kept: dict[str, int]
    lock: int
    listeners: Listeners
    keys: Keys
    state: dict[str, Any]  # of the state file
    home: str
    umask: int  # of the user
    ephemeral: bool

    async def serve(self) -> bool:
        """Serve until the end, or until an upgrade hands over to the next daemon.

        Return whether all has ended then. What has not would hold the end of the process up.
        """
        from nacre.doors.http.credentials import Credentials

        loop = asyncio.get_running_loop()
        services = await self._build()
        life = self._lifecycle(services)
        token, tokens, page_key = self.keys
        credentials = Credentials(token, loop.time, self.settings, page_key=page_key, tokens=tokens)
        credentials.when_login = services.note_login
        dispatch = self._dispatch(services, life, credentials)
        ignored = ignored_signals()
        take_signals(loop, life.interrupt)
        if services.cluster is not None:
            services.cluster.start(dispatch)
        early = await self._open_early(services, life, dispatch, ignored)
        self.keeping.ready(self._log_of_starter())
        collect_rarely()
        recovering = asyncio.create_task(self._recover(services, life), name="recovery")
        late = await self._open_late(services, life, dispatch, credentials, early.mcp, recovering)
        if os.geteuid() == 0:
            _log.warning("running as root, and so will every session: create a user for nacre")
        port, path = self.listeners.port, self.paths.socket
        _log.info("ready", extra={"port": port, "socket": path, "version": __version__})

        await life.stopping.wait()
        if life.upgrading:
            self._make_way(services)
        _log.info("stopping")
        early.succession.end()
        early.presence.end()  # so that nobody connects to a daemon that is stopping
        late.janitor.cancel()
        early.mcp.give_up()
        ending = LastSteps(self.settings.end_time)
        await asyncio.wait((recovering,))  # what is not recovered could not be ended
        await ending.until("recovery", recovering)
        await ending.until("loading", late.loading)
        await self._end(ending, services, interrupted=life.interrupted)
        await _close(ending, services, early, late)
        services.close_audit("stop")
        await ending.rest()
        return ending.complete

    async def _open_early(
        self,
        services: "Services",
        life: "Lifecycle",
        dispatch: "Dispatch",
        ignored: list[signal.Signals],
    ) -> _Early:
        from nacre.doors.mcp.late import LateMcpDoor

        hub = services.upstreams.hub
        mcp = LateMcpDoor(dispatch, self.settings, services.catalog, hub, self.paths)
        local = local_door(dispatch, mcp, self.settings, life.client)
        askpass = await open_askpass(dispatch, self.settings, self.paths)
        presence = self._presence(local)
        await presence.begin()
        succession = self._succession(services, presence, ignored)
        return _Early(mcp, local, askpass, presence, succession)

    async def _open_late(
        self,
        services: "Services",
        life: "Lifecycle",
        dispatch: "Dispatch",
        credentials: "Credentials",
        mcp: "LateMcpDoor",
        recovering: "asyncio.Task[None]",
    ) -> _Late:
        settings, listeners, ports = self.settings, self.listeners, services.ports
        load = partial(
            load_http, dispatch, mcp, credentials, settings, life.client, ports, listeners
        )
        http = LateHttp(load, listeners.of_http, ports, partial(broken_http, settings))
        services.host.warnings.add_source(http.warnings)
        mcp.when_leisure(http.want)
        await _either(recovering, http.wanted())
        ndjson = await open_ndjson(dispatch, credentials, settings, life.client, listeners)
        gc.freeze()  # what was loaded since
        loading = asyncio.create_task(_load_engine(services, mcp), name="engine")
        janitor = asyncio.create_task(_clean(services), name="janitor")
        return _Late(ndjson, http, loading, janitor)

    def _make_way(self, services: "Services") -> NoReturn:
        """End like a crash: the keeper holds everything that must survive."""
        _log.info("making way for the next daemon")
        services.sessions.put_down_all()
        services.close_audit("upgrade")
        self.keeping.leave(UPGRADE)
        os._exit(UPGRADE)

    async def _end(self, ending: LastSteps, services: "Services", *, interrupted: bool) -> None:
        if services.cluster is not None:
            await ending.step("cluster", services.cluster.stop())
        if interrupted:
            services.sessions.put_down_all()  # the next daemon lists them as lost
        settings = self.settings
        most = _GRACES * settings.kill_grace + settings.review_stop_time
        await ending.step("sessions", services.sessions.end_all(), more=most)
        await ending.step("commands", services.catalog.end_all(), more=most)
        await ending.step("upstream", services.upstreams.end_all())
        await ending.step("search", services.searching.end())
        services.ledger.remove_files()

    # --- what it is made of

    async def _build(self) -> "Services":
        """Build the services, which know of the sessions of an earlier daemon."""
        from nacre.services.wiring import build_services

        audit = self._audit()
        services = build_services(
            self.settings,
            descriptor_limit=descriptor_limit() or raise_descriptor_limit(),
            home=self.home,
            runtime=self.paths.runtime,
            journals=self.paths.journals,
            keeping=self.keeping,
            audit=audit,
            umask=self.umask,
            config=self.paths.config,
            own=self.paths,
            layers=self.paths.layers,
            askpass=(self.paths.askpass_file, self.paths.askpass_socket),
            groups=SessionGroups(self.settings, self._processes),
        )
        services.host.secrets.learn_value(self.keys.token, "nacre's token")
        redact_logs(services.host.secrets.redaction_of_logs().text)
        started = {"event": "start", "pid": os.getpid(), "version": __version__}
        audit.record("daemon", None, None, started)
        services.ledger.remove_files()  # recovery writes those anew that are still needed
        self.keeping.listen(asyncio.get_running_loop())
        services.recovery.find(self.kept)
        if not services.recovery.is_over:
            await services.engine.load()
        return services

    def _audit(self) -> "Audit":
        from nacre.services.audit.audit import Audit
        from nacre.system.storage.audit_log import AuditLog, RotationLimits

        settings = self.settings
        limits = RotationLimits(settings.audit_file_bytes, settings.audit_files, settings.audit_age)
        open_log = partial(AuditLog, self.paths.audit, limits)
        return Audit(asyncio.get_running_loop(), settings, open_log)

    def _processes(self) -> tuple[int, ...]:
        keeper = self.keeping.pid
        return (os.getpid(),) if keeper is None else (os.getpid(), keeper)

    def _lifecycle(self, services: "Services") -> "Lifecycle":
        from nacre.services.daemon.lifecycle import DaemonAddress, Lifecycle

        paths = self.paths
        return Lifecycle(
            services.registry,
            DaemonAddress(
                self.listeners.port,
                paths.socket,
                paths.token_file,
                self.listeners.beyond_url(self.settings),
            ),
            self.keeping,
            services.host.events,
            ephemeral=self.ephemeral,
            grace=self.settings.grace,
            warnings=services.host.warnings,
            to_come=lambda: services.recovery.listed,
            cgroups=services.host.groups.describe,
        )

    def _dispatch(
        self, services: "Services", life: "Lifecycle", credentials: "Credentials"
    ) -> "Dispatch":
        """Return the one path to all operations, with those of the daemon itself."""
        from nacre.services.daemon.metrics import Metrics
        from nacre.services.daemon.page import Pages
        from nacre.services.daemon.tokens import Tokens
        from nacre.services.dispatch.authorise import Authorise

        lifetime, port = self.settings.code_lifetime, self.listeners.port
        pages = Pages(services.registry, port, credentials.new_code, lifetime, life.client)
        authorise = Authorise(self.keys.tokens)

        def end(token: str) -> None:
            credentials.use.end(token)
            authorise.end(token)

        tokens = Tokens(self.keys.tokens, end, services.host.audit)
        metrics = Metrics(services.registry, services.host.calls, services.cluster)
        more = (life, pages, tokens, metrics)
        return services.dispatch(*(one.handlers() for one in more), authorise=authorise)

    def _presence(self, door: "LocalDoor") -> Presence:
        def serve(listener: socket.socket) -> Awaitable[asyncio.Server]:
            limit = self.settings.read_ahead_bytes  # not of a line, which may be longer
            return asyncio.start_unix_server(door.connected, sock=listener, limit=limit)

        return Presence(
            self.paths,
            self.keeping,
            self.listeners.local,
            self.lock,
            self.state,
            self.keys.token if self.settings.token is None else None,
            serve,
            check_every=self.settings.home_check,
        )

    def _succession(
        self, services: "Services", presence: Presence, ignored: list[signal.Signals]
    ) -> Succession:
        def hand_over() -> None:
            self.keeping.keep("lock", presence.lock)
            self.keeping.keep("local", presence.listener.fileno())
            self.listeners.keep(self.keeping)
            services.keep_all()
            self.keeping.ready(self._log_of_starter())

        return Succession(
            self.keeping,
            hand_over,
            open_files=services.host.descriptor_limit,
            umask=self.umask,
            ignored=ignored,
            wanted=self.settings.keeper,
        )

    def _log_of_starter(self) -> str | None:
        return self.paths.log_file if self.ephemeral else None

    async def _recover(self, services: "Services", life: "Lifecycle") -> None:
        await services.host.groups.prepare()
        await services.recovery.rebuild()
        life.reconsider()
        await services.catalog.recover()
        await services.reviews.remove_orphans(self.paths.layers)


async def _either(task: "asyncio.Task[None]", other: Coroutine[Any, Any, None]) -> None:
    """Wait for one of the two: what it takes to load more would hold up who waits for sessions."""
    waiting = asyncio.create_task(other)
    await asyncio.wait((task, waiting), return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()


async def _load_engine(services: "Services", mcp: "LateMcpDoor") -> None:
    await mcp.settle()  # its first clients need no engine yet
    await services.engine.load()


async def _clean(services: "Services") -> None:
    await services.recovery.every_session()
    await services.janitor.run()


async def _close(ending: LastSteps, services: "Services", early: _Early, late: _Late) -> None:
    await ending.step("local door", early.local.close())
    await ending.step("askpass", early.askpass.close())
    if late.ndjson is not None:
        await ending.step("ndjson", late.ndjson.close())
    await ending.step("mcp", early.mcp.close())
    services.ports.close()
    await ending.step("http", late.http.end())
