"""The daemon: the one place where everything is built and put together.

Rule: sockets listen before the heavy libraries are loaded, so that whoever started the daemon can
send its first request meanwhile.
"""

import asyncio
import importlib
import logging
import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress

from nacre import __version__
from nacre.config import Settings
from nacre.paths import Paths, make_private
from nacre.system.endpoints import (
    listen_local,
    listen_loopback,
    load_token,
    remove_state,
    take_lock,
    write_state,
)
from nacre.system.logs import configure_logs
from nacre.system.pty import raise_descriptor_limit

_log = logging.getLogger("nacre.daemon")

# A daemon on demand may be started while the one before it is still ending its sessions.
_LOCK_PATIENCE = 15.0  # seconds


_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def run_daemon(
    settings: Settings, paths: Paths, *, ephemeral: bool, ready: int | None = None
) -> None:
    """Serve until told to stop; `ready` is a descriptor that is written to once sockets listen.

    Raises DaemonRunning when another daemon holds the lock, InvalidInput for an unsafe token file.
    """
    for folder in (paths.runtime, paths.state, paths.config):
        make_private(folder)
    log_file = paths.log_file if ephemeral else None
    configure_logs(settings.log_level, file=log_file, max_bytes=settings.max_log_bytes)
    lock = take_lock(paths, patience=_LOCK_PATIENCE if ephemeral else 0)
    token = load_token(paths.token_file, settings.token)
    local, loopback = listen_local(paths.socket), listen_loopback(settings.port)
    port = loopback.getsockname()[1]
    write_state(
        paths, {"pid": os.getpid(), "port": port, "version": __version__, "socket": paths.socket}
    )
    # Until the loop can take them, signals wait: one that came now would leave our files behind.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    if ready is not None:
        os.write(ready, b"1")
        os.close(ready)
        if ephemeral:
            _to_log(paths.log_file)
    try:
        import uvloop  # after the sockets listen: it takes 40 ms

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            # A daemon on demand runs in /, where nobody wants to work.
            home = os.path.expanduser("~") if ephemeral else os.getcwd()
            runner.run(_serve(settings, paths, local, loopback, token, home, ephemeral=ephemeral))
    finally:
        remove_state(paths)
        os.close(lock)


def _take_signals(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
    """Stop by signal, but not by one that who started us wanted ignored (nohup, &).

    What a process ignores its children ignore too: Ctrl+C would do nothing in a session. A handler
    that does nothing ignores just as well, and is not inherited.
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
    """Send what libraries print to the log: who started us has stopped reading."""
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.dup2(log, 2)
    os.close(log)


async def _serve(
    settings: Settings,
    paths: Paths,
    local: socket.socket,
    loopback: socket.socket,
    token: str,
    home: str,
    *,
    ephemeral: bool,
) -> None:
    # The SDK takes a second to load; see the rule at the top.
    from nacre.core.operations import GetStatus, StopDaemon
    from nacre.doors.local import LocalDoor, serve_attached, serve_calls
    from nacre.doors.mcp.door import McpDoor
    from nacre.services.build import build_services
    from nacre.services.lifecycle import Address, Lifecycle

    loop = asyncio.get_running_loop()
    services = build_services(
        settings,
        descriptor_limit=raise_descriptor_limit(),
        home=home,
        runtime=paths.runtime,
    )
    address = Address(loopback.getsockname()[1], paths.socket, paths.token_file)
    life = Lifecycle(services.registry, address, ephemeral=ephemeral, grace=settings.grace)
    services.on_session_end(life.reconsider)
    dispatch = services.dispatch({GetStatus: life.status, StopDaemon: life.stop})
    _take_signals(loop, life.stopping.set)

    limit = settings.max_message_bytes
    mcp = McpDoor(dispatch, max_body=limit)
    door = LocalDoor(
        {
            "mcp": lambda hello: mcp.lines(hello.caller(), hello.toolsets, hello.prefix),
            "call": lambda hello: serve_calls(dispatch, hello.caller()),
            "attach": lambda hello: serve_attached(dispatch, hello),
        },
        life.client,
    )
    local_server = await asyncio.start_unix_server(door.connected, sock=local, limit=limit)
    # From here on the first client is served; the rest loads beside it.
    http_module = await loop.run_in_executor(None, importlib.import_module, "nacre.doors.http")
    http = http_module.HttpDoor(
        dispatch, mcp.http, loopback, token=token, max_body=limit, client=life.client
    )
    services.ports.serve_with(http.ports)
    serving = asyncio.create_task(http.serve(), name="http")
    loading = asyncio.create_task(services.engine.load(), name="engine")
    janitor = asyncio.create_task(services.janitor.run(), name="janitor")
    _log.info("ready", extra={"port": address.port, "socket": paths.socket, "version": __version__})

    await life.stopping.wait()
    _log.info("stopping")
    remove_state(paths)  # nobody connects to a daemon that is going
    local_server.close()
    janitor.cancel()
    await loading
    await services.sessions.end_all()
    await door.close()
    await mcp.close()
    services.ports.close()
    http.stop()
    await serving
    with suppress(asyncio.CancelledError):
        await janitor
