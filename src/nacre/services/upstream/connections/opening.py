"""How a connection is found: over which transport, in which revision of the protocol.

Rule 1: what worked last is tried first, and only then the other way; so a known server is connected
to without a probe.
Rule 2: a url of transport http falls back to sse when it answers with 400, 404 or 405; one of
transport sse is tried as it is, and then with /sse behind it.
Rule 3: a server that ends instead of answering the probe of the newer revision is started once more
and greeted in the older way.
"""

import os
from collections.abc import Callable, Iterator
from functools import partial

import httpx2

from nacre.core.upstream.servers import ResolvedServer, ServerTable
from nacre.errors import NacreError, UpstreamUnavailable
from nacre.services.host.wait import bounded
from nacre.services.upstream.connections.connection import AnyTransport, UpstreamConnection
from nacre.services.upstream.connections.http_transport import HttpKind, HttpTransport
from nacre.services.upstream.connections.listings import modes
from nacre.services.upstream.connections.program_transport import ProgramTransport
from nacre.services.upstream.connections.stored_login import StoredLogin
from nacre.services.upstream.log_ring import LogRing
from nacre.settings.table import Settings
from nacre.system.upstreams.kept import KeptListing
from nacre.system.upstreams.logins import LoginFile
from nacre.system.upstreams.program import start_program

_OTHER_WAY = (400, 404, 405)  # what a server says that does not know Streamable HTTP

# What a program gets of the daemon's environment; all else is its table's.
_INHERITED = ("HOME", "LOGNAME", "USER", "SHELL", "LANG", "LC_ALL", "TMPDIR", "TZ")


def stored_login(url: str, file: LoginFile) -> httpx2.Auth | None:
    """Return what adds the tokens of a login to requests; None where nobody has logged in."""
    return StoredLogin(url, file) if file.read() is not None else None


Changed = Callable[[UpstreamConnection], None]


async def open_connection(
    table: ServerTable,
    resolved: ResolvedServer,
    known: KeptListing,
    log: LogRing,
    settings: Settings,
    changed: Changed,
    updated: Callable[[str], None],
    login: Callable[[str], httpx2.Auth | None],
    within: float,
) -> UpstreamConnection:
    """Connect in time, `within` seconds. Raises UpstreamUnavailable."""
    last: UpstreamConnection | None = None
    failure: NacreError | None = None
    try:
        async with bounded(within):
            for make in _ways(table, resolved, known, log, settings, login):
                for mode in modes(known):
                    last = UpstreamConnection(
                        table.name,
                        make(),
                        mode,
                        log,
                        changed,
                        updated,
                        settings,
                        known.discovered,
                    )
                    try:
                        await last.open()
                        return last
                    except UpstreamUnavailable as error:
                        failure = error
                        if _is_final(last.transport):
                            raise
                        if mode == "auto" and isinstance(last.transport, HttpTransport):
                            break  # the probe has tried both revisions
    except TimeoutError:
        why = f"it did not start within {within:g} s"
        if last is not None and last.transport.garbage:
            why += f"; it printed on its standard output: {last.transport.garbage}"
        if said := log.last():
            why += f"; it said: {said}"
        raise UpstreamUnavailable(
            log.hidden(why), "raise start_timeout in its table if it needs longer"
        ) from None
    assert failure is not None
    raise failure


def _is_final(transport: AnyTransport) -> bool:
    """Return whether no other way would help."""
    if isinstance(transport, ProgramTransport):
        return transport.pid is None or bool(transport.broken)
    if transport.kind == "http":
        return not any(status in _OTHER_WAY for status in transport.statuses)
    return any(status in (401, 403) for status in transport.statuses)


def _ways(
    table: ServerTable,
    resolved: ResolvedServer,
    known: KeptListing,
    log: LogRing,
    settings: Settings,
    login: Callable[[str], httpx2.Auth | None],
) -> Iterator[Callable[[], AnyTransport]]:
    most = settings.upstream_message_bytes
    if table.transport == "stdio":
        env = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        env |= {"PATH": resolved.path or os.environ.get("PATH", os.defpath), **dict(resolved.env)}
        argv = (resolved.command, *resolved.args)
        yield lambda: ProgramTransport(
            lambda: start_program(argv, cwd=resolved.cwd, env=env), log, most
        )
        return
    url, headers, connect = resolved.url, dict(resolved.headers), settings.upstream_connect
    own = any(name.lower() == "authorization" for name in headers)
    auth = None if own else login(url)
    by_events: tuple[tuple[HttpKind, str], ...] = (("sse", url), ("sse", _with_sse(url)))
    tries = by_events if table.transport == "sse" else (("http", url), *by_events)
    if known.transport == "sse":
        tries = (*by_events, *(one for one in tries if one not in by_events))
    for kind, address in tries:
        yield partial(HttpTransport, kind, address, headers, most, connect, auth)


def _with_sse(url: str) -> str:
    base, mark, query = url.partition("?")
    return f"{base.rstrip('/')}/sse{mark}{query}"
