"""The daemon: the one place where everything is built and put together.

Rule: sockets listen before the heavy libraries are loaded, so that the client can already send its
first request.
"""

import asyncio
import gc
import importlib
import logging
import os
import signal
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from nacre import __version__
from nacre.client.lock import is_lock_of
from nacre.errors import Internal
from nacre.settings.paths import Paths, make_private
from nacre.settings.table import Settings
from nacre.system.cgroups.groups import SessionGroups
from nacre.system.endpoints import (
    listen_beyond,
    listen_local,
    listen_loopback,
    listen_ndjson,
    load_tls,
    load_token,
    remove_state,
    take_lock,
    write_state,
)
from nacre.system.keeper.client import Keeping, descriptor_limit
from nacre.system.keeper.keeper import UPGRADE
from nacre.system.keeper.succession import Succession
from nacre.system.logs import configure_logs, redact_logs
from nacre.system.presence import Presence
from nacre.system.processes.pty import raise_descriptor_limit, require_descriptors
from nacre.system.tokens import TokenStore, load_page_key

if TYPE_CHECKING:
    import ssl

    from nacre.doors.http.credentials import Credentials
    from nacre.doors.local.askpass import AskpassDoor
    from nacre.doors.local.socket import LocalDoor
    from nacre.doors.mcp.late import LateMcpDoor
    from nacre.doors.ndjson.door import NdjsonDoor
    from nacre.doors.server import HttpDoor, TlsListener
    from nacre.services.audit.audit import Audit
    from nacre.services.daemon.lifecycle import Lifecycle
    from nacre.services.dispatch.dispatch import Dispatch
    from nacre.services.registry.ports import PortPool
    from nacre.services.wiring import Services

_log = logging.getLogger("nacre.daemon")

# A daemon on demand may start while the one before it is still ending its sessions.
_LOCK_PATIENCE = 15.0  # seconds


_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def run_daemon(
    settings: Settings,
    paths: Paths,
    keeping: Keeping,
    *,
    ephemeral: bool,
    ready: int | None = None,
) -> None:
    """Serve until told to stop. `ready` is a descriptor to write to when the sockets listen.

    What the keeper holds from an earlier daemon is taken over: lock, sockets, sessions.
    Raises DaemonRunning when another daemon holds the lock, InvalidInput for an unsafe token file.
    """
    umask = os.umask(0o077)  # whatever we write is for nobody else; sessions get the user's
    make_private(paths.state)
    kept = keeping.take()
    _make_folders(paths, again="local" in kept)
    log_file = paths.log_file if ephemeral else None
    configure_logs(
        settings.log_level,
        file=log_file,
        max_bytes=settings.max_log_bytes,
        form=settings.log_format,
    )
    lock = _lock(keeping, kept, paths, patience=_LOCK_PATIENCE if ephemeral else 0)
    token = load_token(paths.token_file, settings.token)
    tokens = TokenStore(paths.tokens_file, time.time, settings.max_tokens)
    page_key = load_page_key(paths.page_key_file)
    beyond = _beyond(settings, keeping, kept, tokens)
    local = _listener(keeping, kept, "local", lambda: listen_local(paths.socket))
    loopback = _listener(keeping, kept, "loopback", lambda: listen_loopback(settings.port))
    ndjson = _ndjson_listeners(keeping, kept, settings)
    port = loopback.getsockname()[1]
    state = {"pid": os.getpid(), "port": port, "version": __version__, "socket": paths.socket}
    if ndjson:
        state["ndjson_port"] = ndjson[0].getsockname()[1]
    write_state(paths, state)
    # Block signals until the loop handles them: one that came now would leave our files behind.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    if ready is not None:
        os.write(ready, b"1")
        os.close(ready)
    if ephemeral:
        _to_log(paths.log_file)
    try:
        import uvloop  # after the sockets listen: it takes 40 ms

        from nacre.system.memory import share_arenas

        share_arenas()
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            # A daemon on demand runs in /, where nobody wants to work.
            home = os.path.expanduser("~") if ephemeral else os.getcwd()
            serving = _Serving(
                settings,
                paths,
                keeping,
                kept,
                lock,
                local,
                loopback,
                ndjson,
                token,
                tokens,
                page_key,
                beyond,
                state,
                home,
                umask,
                ephemeral,
            )
            runner.run(serving.serve())
        keeping.leave(0)
    finally:
        remove_state(paths)


def _make_folders(paths: Paths, *, again: bool) -> None:
    """Make what is private. A daemon that is started `again` has its socket: the rest can wait."""
    for folder in (paths.runtime, paths.config):
        try:
            make_private(folder)
        except OSError as error:
            if folder == paths.runtime and not again:
                raise Internal(
                    f"{folder} cannot be made: {error.strerror or error}; make space there, or "
                    "set NACRE_HOME to a folder of yours"
                ) from error
            if error.strerror is None:  # it is another user's
                raise


def _lock(keeping: Keeping, kept: dict[str, int], paths: Paths, *, patience: float) -> int:
    """Return the lock that an earlier daemon took, if its folder still exists, or take it."""
    if (kept_lock := kept.pop("lock", None)) is not None:
        if is_lock_of(paths, kept_lock):
            return kept_lock
        os.close(kept_lock)
    lock = take_lock(paths, patience=patience, successor=kept_lock is not None)
    keeping.keep("lock", lock)
    return lock


def _listener(
    keeping: Keeping, kept: dict[str, int], key: str, listen: Callable[[], socket.socket]
) -> socket.socket:
    """Use the socket that an earlier daemon listened on, or listen on a new one."""
    if (descriptor := kept.pop(key, None)) is not None:
        return socket.socket(fileno=descriptor)
    listener = listen()
    keeping.keep(key, listener.fileno())
    return listener


def _beyond(
    settings: Settings, keeping: Keeping, kept: dict[str, int], tokens: TokenStore
) -> "tuple[socket.socket, ssl.SSLContext] | None":
    """Listen for other machines, if the settings say so. Raises InvalidInput if that is unsafe."""
    if settings.host is None:
        if (descriptor := kept.pop("beyond", None)) is not None:
            os.close(descriptor)
            keeping.drop("beyond")
        return None
    known = settings.token is not None or bool(tokens.all())
    context = load_tls(settings, any_token=known)
    host, port = settings.host, settings.host_port
    return _listener(keeping, kept, "beyond", lambda: listen_beyond(host, port)), context


def _ndjson_listeners(
    keeping: Keeping, kept: dict[str, int], settings: Settings
) -> list[socket.socket]:
    """Return the sockets of the NDJSON door, those of an earlier daemon first; none if it is off.

    Raises Internal when the port is taken.
    """
    found = [socket.socket(fileno=kept.pop(key)) for key in sorted(kept) if key[:7] == "ndjson/"]
    if not settings.ndjson_enabled:
        for listener in found:
            listener.close()
        keeping.drop("ndjson/")
        return []
    found = found or listen_ndjson(settings.ndjson_port)
    for index, listener in enumerate(found):
        keeping.keep(f"ndjson/{index}", listener.fileno())
    return found


def _take_signals(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
    """Stop by a signal, except one that our starter wanted ignored (nohup, &).

    Children inherit ignored signals, so Ctrl+C would do nothing in a session. A handler that does
    nothing is not inherited.
    """
    for number in _SIGNALS:
        ignored = signal.getsignal(number) is signal.SIG_IGN
        loop.add_signal_handler(number, _nothing if ignored else stop)
    for number in (signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def _nothing() -> None:
    return None


def _to_log(path: str) -> None:
    """Send what libraries print to the log: our starter has stopped reading."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    try:
        log = os.open(path, flags, 0o600)
    except OSError:  # a full or read-only disk
        log = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    os.dup2(log, 2)
    os.close(log)


def _dispatch(
    services: "Services",
    life: "Lifecycle",
    credentials: "Credentials",
    store: TokenStore,
    port: int,
) -> "Dispatch":
    """Return the one path to all operations, with those of the daemon itself."""
    from nacre.services.daemon.metrics import Metrics
    from nacre.services.daemon.page import Pages
    from nacre.services.daemon.tokens import Tokens

    lifetime = services.host.settings.code_lifetime
    pages = Pages(services.registry, port, credentials.new_code, lifetime, life.client)
    tokens = Tokens(store, credentials.use.end, services.host.audit)
    metrics = Metrics(services.registry, services.host.calls)
    more = (life, pages, tokens, metrics)
    return services.dispatch(*(one.handlers() for one in more))


def _local_door(
    dispatch: "Dispatch",
    mcp: "LateMcpDoor",
    settings: Settings,
    client: Callable[[], AbstractContextManager[None]],
) -> "LocalDoor":
    from nacre.doors.local.attach import serve_attached
    from nacre.doors.local.socket import Hello, LocalDoor, Serve, serve_calls

    # Not calls of the command line: they are short, and `nacre kill` is what helps.
    async def open_mcp(hello: Hello) -> Serve:
        require_descriptors(settings.descriptor_reserve)
        return mcp.lines(hello.caller(), hello.toolsets, hello.prefix)

    async def open_calls(hello: Hello) -> Serve:
        return serve_calls(dispatch, hello, settings.max_requests)

    async def open_attached(hello: Hello) -> Serve:
        require_descriptors(settings.descriptor_reserve)
        return serve_attached(dispatch, hello)

    doors = {"mcp": open_mcp, "call": open_calls, "attach": open_attached}
    return LocalDoor(doors, client, settings.unread_time)


@dataclass(frozen=True, slots=True)
class _Serving:
    """What exists before the loop runs, and how it is served."""

    settings: Settings
    paths: Paths
    keeping: Keeping
    kept: dict[str, int]
    lock: int
    local: socket.socket
    loopback: socket.socket
    ndjson: list[socket.socket]
    token: str
    tokens: TokenStore
    page_key: bytes
    beyond: "tuple[socket.socket, ssl.SSLContext] | None"  # what other machines reach
    state: dict[str, Any]  # of the state file
    home: str
    umask: int  # of the user
    ephemeral: bool

    async def serve(self) -> None:
        """Serve until the end, or until an upgrade hands over to the next daemon."""
        from nacre.doors.http.credentials import Credentials
        from nacre.doors.mcp.late import LateMcpDoor
        from nacre.services.daemon.lifecycle import DaemonAddress, Lifecycle

        loop, settings, paths = asyncio.get_running_loop(), self.settings, self.paths
        services = await self._build()
        address = DaemonAddress(self.loopback.getsockname()[1], paths.socket, paths.token_file)
        life = Lifecycle(
            services.registry,
            address,
            self.keeping,
            services.host.events,
            ephemeral=self.ephemeral,
            grace=settings.grace,
            warnings=services.host.warnings,
            to_come=lambda: services.recovery.listed,
            cgroups=services.host.groups.describe,
        )
        credentials = Credentials(
            self.token, loop.time, settings, page_key=self.page_key, tokens=self.tokens
        )
        credentials.when_login = services.note_login
        dispatch = _dispatch(services, life, credentials, self.tokens, address.port)
        ignored = [number for number in _SIGNALS if signal.getsignal(number) is signal.SIG_IGN]
        _take_signals(loop, life.interrupt)

        mcp = LateMcpDoor(dispatch, settings, services.catalog, services.upstreams.hub)
        door = _local_door(dispatch, mcp, settings, life.client)
        askpass = await self._open_askpass(dispatch)
        presence = self._presence(door)
        await presence.begin()
        succession = self._succession(services, presence, ignored)
        self.keeping.ready(paths.log_file if self.ephemeral else None)
        # From here on the first client is served while sessions are recovered and the rest loads.
        recovering = asyncio.create_task(self._recover(services, life), name="recovery")
        await self._until_http_is_wanted(recovering)
        ndjson = await self._open_ndjson(dispatch, credentials, life)
        http = await self._load_http(dispatch, mcp, credentials, life, services.ports)
        gc.freeze()  # what is loaded stays: the collector need not look at it again and again
        serving = asyncio.create_task(http.serve(), name="http")
        await mcp.settle()  # its first clients need no engine yet
        loading = asyncio.create_task(services.engine.load(), name="engine")
        janitor = asyncio.create_task(_clean(services), name="janitor")
        if os.geteuid() == 0:
            _log.warning("running as root, and so will every session: create a user for nacre")
        _log.info(
            "ready", extra={"port": address.port, "socket": paths.socket, "version": __version__}
        )

        await life.stopping.wait()
        if life.upgrading:
            _log.info("making way for the next daemon")
            services.sessions.put_down_all()
            services.close_audit("upgrade")
            self.keeping.leave(UPGRADE)
            os._exit(UPGRADE)  # like a crash: the keeper holds everything that must survive
        _log.info("stopping")
        succession.end()
        presence.end()  # so that nobody connects to a daemon that is stopping
        janitor.cancel()
        await recovering  # what is not recovered could not be ended
        await loading
        if life.interrupted:
            services.sessions.put_down_all()  # the next daemon lists them as lost
        await services.sessions.end_all()
        await services.catalog.end_all()
        await services.upstreams.end_all()
        services.ledger.remove_files()
        await door.close()
        await askpass.close()
        if ndjson is not None:
            await ndjson.close()
        await mcp.close()
        services.ports.close()
        http.stop()
        await serving
        with suppress(asyncio.CancelledError):
            await janitor
        services.close_audit("stop")

    def _presence(self, door: "LocalDoor") -> Presence:
        def serve(listener: socket.socket) -> Awaitable[asyncio.Server]:
            limit = self.settings.max_message_bytes
            return asyncio.start_unix_server(door.connected, sock=listener, limit=limit)

        return Presence(
            self.paths,
            self.keeping,
            self.local,
            self.lock,
            self.state,
            self.token if self.settings.token is None else None,
            serve,
            check_every=self.settings.home_check,
        )

    def _succession(
        self, services: "Services", presence: Presence, ignored: list[signal.Signals]
    ) -> Succession:
        def hand_over() -> None:
            self.keeping.keep("lock", presence.lock)
            self.keeping.keep("local", presence.listener.fileno())
            self.keeping.keep("loopback", self.loopback.fileno())
            if self.beyond is not None:
                self.keeping.keep("beyond", self.beyond[0].fileno())
            for index, listener in enumerate(self.ndjson):
                self.keeping.keep(f"ndjson/{index}", listener.fileno())
            services.keep_all()
            self.keeping.ready(self.paths.log_file if self.ephemeral else None)

        return Succession(
            self.keeping,
            hand_over,
            open_files=services.host.descriptor_limit,
            umask=self.umask,
            ignored=ignored,
            wanted=self.settings.keeper,
        )

    async def _until_http_is_wanted(self, recovering: "asyncio.Task[None]") -> None:
        """Return when a client connects to it, or when all sessions are recovered.

        Its server loads in a thread, which would hold up those who wait for their sessions.
        """
        loop, wanted = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self.loopback.fileno(), wanted.set)
        waiting = asyncio.create_task(wanted.wait())
        try:
            await asyncio.wait((recovering, waiting), return_when=asyncio.FIRST_COMPLETED)
        finally:
            loop.remove_reader(self.loopback.fileno())
            waiting.cancel()

    async def _load_http(
        self,
        dispatch: "Dispatch",
        mcp: "LateMcpDoor",
        credentials: "Credentials",
        life: "Lifecycle",
        ports: "PortPool",
    ) -> "HttpDoor":
        """Load the server in a thread: it takes a quarter of a second."""
        loop = asyncio.get_running_loop()
        module = await loop.run_in_executor(None, importlib.import_module, "nacre.doors.server")
        door: HttpDoor = module.HttpDoor(
            dispatch,
            mcp,
            self.loopback,
            credentials=credentials,
            settings=self.settings,
            client=life.client,
            ports=ports,
            beyond=None if self.beyond is None else self._tls_listener(module, *self.beyond),
        )
        return door

    def _tls_listener(
        self, module: ModuleType, listener: socket.socket, context: "ssl.SSLContext"
    ) -> "TlsListener":
        port = listener.getsockname()[1]
        given = (self.settings.host_names or "").split(",")
        names = frozenset(name.strip().lower() for name in given if name.strip())
        _log.info("serving other machines", extra={"host": self.settings.host, "port": port})
        made: TlsListener = module.TlsListener(listener, context, module.Beyond(port, names))
        return made

    def _audit(self) -> "Audit":
        from nacre.services.audit.audit import Audit
        from nacre.system.storage.audit_log import AuditLog, RotationLimits

        settings = self.settings
        limits = RotationLimits(settings.audit_file_bytes, settings.audit_files, settings.audit_age)
        open_log = partial(AuditLog, self.paths.audit, limits)
        return Audit(asyncio.get_running_loop(), settings, open_log)

    async def _open_ndjson(
        self, dispatch: "Dispatch", credentials: "Credentials", life: "Lifecycle"
    ) -> "NdjsonDoor | None":
        """Open the NDJSON door, if it is wanted; else it is not even loaded."""
        if not self.ndjson:
            return None
        from nacre.doors.ndjson.door import NdjsonDoor
        from nacre.system.peer import Peer

        door = NdjsonDoor(dispatch, credentials, self.settings, life.client, Peer)
        await door.listen(*self.ndjson)
        return door

    async def _open_askpass(self, dispatch: "Dispatch") -> "AskpassDoor":
        from nacre.doors.local.askpass import AskpassDoor, write_program

        door = AskpassDoor(dispatch)
        if self.settings.askpass != "off":
            try:
                write_program(self.paths)
                await door.listen(self.paths)
            except OSError as error:  # a full disk: sudo and ssh ask at the terminal then
                _log.warning("askpass cannot be offered", extra={"error": str(error)})
        return door

    async def _recover(self, services: "Services", life: "Lifecycle") -> None:
        await services.host.groups.prepare()
        await services.recovery.rebuild()
        life.reconsider()
        await services.catalog.recover()
        await services.reviews.remove_orphans(self.paths.layers)

    def _processes(self) -> tuple[int, ...]:
        keeper = self.keeping.pid
        return (os.getpid(),) if keeper is None else (os.getpid(), keeper)

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
        services.host.secrets.learn_value(self.token, "nacre's token")
        redact_logs(services.host.secrets.redaction_of_logs().text)
        started = {"event": "start", "pid": os.getpid(), "version": __version__}
        audit.record("daemon", None, None, started)
        services.ledger.remove_files()  # recovery writes those anew that are still needed
        self.keeping.listen(asyncio.get_running_loop())
        services.recovery.find(self.kept)
        if not services.recovery.is_over:
            await services.engine.load()
        return services


async def _clean(services: "Services") -> None:
    await services.recovery.every_session()
    await services.janitor.run()
