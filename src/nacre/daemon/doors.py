"""The doors of the daemon: how each is opened, and all are closed.

Rule: a door is imported when it is opened. HTTP's server loads in a thread, and a door that the
settings leave shut is not loaded at all.
"""

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING

from nacre.daemon.listeners import Listeners
from nacre.late_import import import_alone
from nacre.settings.paths import Paths
from nacre.settings.table import Settings
from nacre.system.processes.pty import require_descriptors

if TYPE_CHECKING:
    import ssl

    from nacre.daemon.broken_http import BrokenHttp
    from nacre.doors.http.credentials import Credentials
    from nacre.doors.local.askpass import AskpassDoor
    from nacre.doors.local.socket import LocalDoor
    from nacre.doors.mcp.late import LateMcpDoor
    from nacre.doors.ndjson.door import NdjsonDoor
    from nacre.doors.server import HttpDoor, TlsListener
    from nacre.services.dispatch.dispatch import Dispatch
    from nacre.services.registry.ports import PortPool

_log = logging.getLogger("nacre.daemon")

Client = Callable[[], AbstractContextManager[None]]  # counts one, as long as it is entered


def local_door(
    dispatch: "Dispatch", mcp: "LateMcpDoor", settings: Settings, client: Client
) -> "LocalDoor":
    from nacre.doors.local.attach import serve_attached
    from nacre.doors.local.socket import Hello, LocalDoor, Serve, serve_calls

    # Not calls of the command line: they are short, and `nacre kill` is what helps.
    async def open_mcp(hello: Hello) -> Serve:
        require_descriptors(settings.descriptor_reserve)
        return mcp.lines(hello.caller(), hello.toolsets, hello.prefix)

    async def open_calls(hello: Hello) -> Serve:
        return serve_calls(dispatch, hello, settings)

    async def open_attached(hello: Hello) -> Serve:
        require_descriptors(settings.descriptor_reserve)
        return serve_attached(dispatch, hello, settings.max_message_bytes)

    doors = {"mcp": open_mcp, "call": open_calls, "attach": open_attached}
    return LocalDoor(doors, client, settings)


async def open_askpass(dispatch: "Dispatch", settings: Settings, paths: Paths) -> "AskpassDoor":
    from nacre.doors.local.askpass import AskpassDoor, write_program

    door = AskpassDoor(dispatch)
    if settings.askpass != "off":
        try:
            write_program(paths)
            await door.listen(paths)
        except OSError as error:  # a full disk: sudo and ssh ask at the terminal then
            _log.warning("askpass cannot be offered", extra={"error": str(error)})
    return door


async def open_ndjson(
    dispatch: "Dispatch",
    credentials: "Credentials",
    settings: Settings,
    client: Client,
    listeners: Listeners,
) -> "NdjsonDoor | None":
    """Open the NDJSON door, if it is wanted; else it is not even loaded."""
    if not listeners.ndjson:
        return None
    from nacre.doors.ndjson.door import NdjsonDoor
    from nacre.system.peer import Peer

    door = NdjsonDoor(dispatch, credentials, settings, client, Peer)
    await door.listen(*listeners.ndjson)
    return door


async def load_http(
    dispatch: "Dispatch",
    mcp: "LateMcpDoor",
    credentials: "Credentials",
    settings: Settings,
    client: Client,
    ports: "PortPool",
    listeners: Listeners,
) -> "HttpDoor":
    """Load the server in a thread: it takes a quarter of a second."""
    from nacre.system.peer import Peer

    loop = asyncio.get_running_loop()
    module = await loop.run_in_executor(None, import_alone, "nacre.doors.server")
    app = await loop.run_in_executor(None, module.build_app, dispatch, mcp, credentials, settings)
    beyond = listeners.beyond
    door: HttpDoor = module.HttpDoor(
        dispatch,
        mcp,
        listeners.loopback,
        credentials=credentials,
        settings=settings,
        client=client,
        ports=ports,
        peer=Peer,
        app=app,
        beyond=None if beyond is None else _tls_listener(module, settings, *beyond),
    )
    return door


def broken_http(settings: Settings) -> "BrokenHttp":
    from nacre.daemon.broken_http import BrokenHttp

    return BrokenHttp(settings.header_time)


def _tls_listener(
    module: ModuleType, settings: Settings, listener: socket.socket, context: "ssl.SSLContext"
) -> "TlsListener":
    port = listener.getsockname()[1]
    given = (settings.host_names or "").split(",")
    names = frozenset(name.strip().lower() for name in given if name.strip())
    _log.info("serving other machines", extra={"host": settings.host, "port": port})
    made: TlsListener = module.TlsListener(listener, context, module.Beyond(port, names))
    return made
