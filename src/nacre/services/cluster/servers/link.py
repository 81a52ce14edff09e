"""Our connection to the cluster's NATS servers. It and store.py alone know their library.

Rule 1: subjects begin with the host that reads them (`nacre.h.HOST…`), and end with the host that
writes. So a server's permissions keep a host from reading what is for others, and from speaking in
another's name (docs/cluster.md).
Rule 2: there are two connections: what streams to viewers does not hold up calls. What is longer
than a server takes at once goes in parts.
Rule 3: a lost connection is no error: the library connects again, to another server if there is
one, and what is published meanwhile waits (within its own bound).
Rule 4: who leaves waits for no server, and leaves nothing behind. What the library raises then
stops nobody, and its tries to connect again end with the connection (`_tries_on`).
"""

import asyncio
import binascii
import itertools
import logging
import math
import secrets
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import AuthorizationError
from nats.errors import Error as NatsError
from nkeys import NkeysError

from nacre.services.cluster.servers.reasons import check_files, reason, refused, tls_context
from nacre.services.cluster.servers.store import Store, open_store
from nacre.services.host.wait import bounded, left_after
from nacre.settings.table import Settings

_log = logging.getLogger("nacre.cluster")

NO_RESPONDERS = "503"
_FOREVER = -1
_PART = 256 * 1024  # bytes: a server takes a megabyte at once by default
_MOST_UNDONE = 256  # messages of which some parts are missing
Take = Callable[[str, str, bytes, str | None], None]  # subject, reply subject, data, status


class _Undone(NamedTuple):
    """A message of which parts are missing."""

    total: int
    parts: dict[int, bytes]


class ClusterLink:
    def __init__(self, settings: Settings, host: str) -> None:
        self._settings = settings
        self._host = host
        self._client = Client()
        self._streams = Client()
        self._undone: OrderedDict[str, _Undone] = OrderedDict()
        self._undone_bytes = 0
        self._store: Store | None = None
        self.sent = self.received = 0  # bytes, without what NATS adds
        self.reconnects = 0
        self.problem = ""  # why the last try to connect failed
        self.closed = asyncio.Event()  # the servers have ended it: it must be opened again
        self._leaving = False
        self._kept: set[Client] = set()  # connections that are opened, or open again
        self._cut_at = -math.inf
        self._back = asyncio.Event()  # since it was cut
        self._subscribed: dict[tuple[str, Take, bool], bool] = {}  # whether it is early
        self.when_changed: Callable[[], None] = _nothing
        self.when_cut: Callable[[], None] = _nothing  # what was under way may be lost

    @property
    def connected(self) -> bool:
        return self._store is not None and bool(self._client.is_connected)

    async def connect(self) -> None:
        """Connect once, to the first server that answers. Raises OSError; then try again.

        What was subscribed to early before is subscribed to again.
        """
        settings = self._settings
        check_files(settings)
        options: dict[str, Any] = {"reconnect_time_wait": 0.1}  # seconds
        if settings.cluster_credentials:
            options["user_credentials"] = settings.cluster_credentials
        if settings.cluster_nkey:
            options["nkeys_seed"] = settings.cluster_nkey
        if settings.cluster_tls_ca or settings.cluster_tls_cert:
            options["tls"] = tls_context(settings)
        self._leaving = False
        client = await self._open(options)
        try:
            store = await open_store(client, settings)
            self._streams = await self._open(options)
        except BaseException:
            await self._end(client)
            raise
        self._client, self._store, self.problem = client, store, ""
        self.closed.clear()
        await self._listen_again(early=True)

    async def resume(self) -> None:
        """Subscribe to the rest of what was subscribed to before: this host has its name."""
        await self._listen_again(early=False)

    async def _listen_again(self, *, early: bool) -> None:
        for subscription, is_early in self._subscribed.items():
            if is_early is early:
                await self._listen(*subscription)

    async def _open(self, options: dict[str, Any]) -> Client:
        """Return a connection. The library itself would try for ever, and say nothing."""
        servers = self._settings.cluster.split(",")
        failed: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        tries = itertools.count(1)

        async def note(error: Exception) -> None:
            self._tries_on(client)
            self._note(error)
            if next(tries) >= len(servers) and not failed.done():
                failed.set_result(error)

        client = Client()
        self._kept.add(client)
        opening = asyncio.create_task(self._connected(client, servers, note, options))
        try:
            await asyncio.wait((opening, failed), return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not opening.done():
                self._kept.discard(client)
                opening.cancel()
                await asyncio.wait((opening,), timeout=self._settings.cluster_lost_time)
                await self._end(client, at_once=True)
        if opening.cancelled() or not opening.done():
            raise OSError(self._why(failed.result()))
        if (error := opening.exception()) is not None:
            await self._end(client, at_once=True)
            raise OSError(self._why(error)) from error
        return client

    def _tries_on(self, client: Client) -> None:
        """Raise CancelledError in the library's task that tries to connect to the servers again.

        It does not look whether the connection was closed meanwhile; and when it is cancelled in
        the moment that a try fails, it goes on for ever (asyncio.wait_for before Python 3.12).
        """
        if client not in self._kept:
            _abort(client)
            raise asyncio.CancelledError

    async def _connected(
        self, client: Client, servers: list[str], note: Any, options: dict[str, Any]
    ) -> None:
        async def connected_again() -> None:
            self._tries_on(client)
            await self._changed()

        await client.connect(
            servers,
            name=f"nacre {self._host}",
            inbox_prefix=f"_INBOX_{self._host}",
            max_reconnect_attempts=_FOREVER,
            connect_timeout=2,
            ping_interval=2,
            max_outstanding_pings=2,
            allow_reconnect=True,
            error_cb=note,
            closed_cb=self._ended,
            disconnected_cb=self._cut,
            reconnected_cb=connected_again,
            **options,
        )

    async def renew_store(self) -> None:
        """Make the store anew if a server has come back without it. Raises OSError."""
        self._store = await open_store(self._client, self._settings)

    async def close(self) -> None:
        self._leaving = True
        if self._store is None:  # never connected: the library refuses to close that
            return
        await asyncio.gather(self._end(self._streams), self._end(self._client))

    async def _end(self, client: Client, *, at_once: bool = False) -> None:
        """Close a connection, with what still is to be sent; `at_once`: without that.

        After `cluster_lost_time` the others take this host for lost anyway.
        """
        self._kept.discard(client)
        if at_once:
            _abort(client)
        error = await left_after(self._settings.cluster_lost_time, client.close())
        _abort(client)
        if error is not None:
            # It writes to connections that are gone, for example, and then raises RuntimeError.
            _log.debug("closing a connection", extra={"error": repr(error)})

    # --- messages --------------------------------------------------------------------------

    async def publish(
        self, subject: str, data: bytes, reply: str = "", *, stream: bool = False
    ) -> None:
        """Send a message, in parts if it is long. Raises OSError when there is no connection."""
        client = self._streams if stream else self._client
        self.sent += len(data)
        try:
            if len(data) <= _PART:
                await client.publish(subject, data, reply)
                return
            count, name = -(-len(data) // _PART), secrets.token_hex(8)
            for index in range(count):
                part = data[index * _PART : (index + 1) * _PART]
                headers = {"Part": f"{name} {index} {count}"}
                await client.publish(subject, part, reply, headers=headers)
        except (NatsError, RuntimeError) as error:  # uvloop's, for a connection that has ended
            raise OSError(f"no connection to the cluster: {error}") from error

    async def flush(self) -> None:
        """Wait until the servers have what was published. Raises OSError."""
        try:
            await self._client.flush()
        except (NatsError, RuntimeError) as error:
            raise OSError(f"no connection to the cluster: {error}") from error

    async def subscribe(
        self, subject: str, take: Take, *, stream: bool = False, early: bool = False
    ) -> None:
        """Take what comes, also after the connection was opened again.

        `early`: at once then; else when this host has its name again. Before that, what comes is
        for another one.
        """
        self._subscribed[subject, take, stream] = early
        with suppress(NatsError):  # it has just ended: then with the next one
            await self._listen(subject, take, stream)

    async def _listen(self, subject: str, take: Take, stream: bool) -> None:
        async def came(message: Msg) -> None:
            headers = message.headers or {}
            self.received += len(message.data)
            data: bytes | None = message.data
            if (part := headers.get("Part")) is not None:
                data = self._whole(f"{message.subject} {part}", message.data)
            if data is not None:
                take(message.subject, message.reply, data, headers.get("Status"))

        await (self._streams if stream else self._client).subscribe(subject, cb=came)

    def _whole(self, part: str, data: bytes) -> bytes | None:
        """Return a message whose last part this is; None if some are still to come."""
        key, index, count = part.rsplit(" ", 2)
        if not (index.isdigit() and count.isdigit() and int(index) < int(count)):
            return None
        undone = self._undone.setdefault(key, _Undone(int(count), {}))
        if int(index) not in undone.parts:
            undone.parts[int(index)] = data
            self._undone_bytes += len(data)
        if len(undone.parts) < undone.total:
            # What is dropped is asked for again. Nobody sends what is longer than all room.
            while self._undone and (
                len(self._undone) > _MOST_UNDONE
                or self._undone_bytes > self._settings.cluster_parts_bytes
            ):
                self._drop(next(iter(self._undone)))
            return None
        return b"".join(part for _, part in sorted(self._drop(key).items()))

    def _drop(self, key: str) -> dict[int, bytes]:
        parts = self._undone.pop(key).parts
        self._undone_bytes -= sum(map(len, parts.values()))
        return parts

    @property
    def store(self) -> Store:
        """What all hosts know. Raises OSError before there was a connection."""
        if self._store is None:
            raise OSError("no connection to the cluster yet")
        return self._store

    async def until_connected(self) -> bool:
        """Tell whether there is a connection; one that was just cut is waited for.

        Else a call would fail because one server of several has died.
        """
        left = self._cut_at + self._settings.cluster_lost_time - self._now()
        if not self.connected and left > 0:
            with suppress(TimeoutError):
                async with bounded(left):
                    await self._back.wait()
        return self.connected

    async def _cut(self) -> None:
        self._cut_at = self._now()
        self._back.clear()
        self.when_cut()
        self.when_changed()

    async def _ended(self) -> None:
        """The library gives a connection up that the servers have ended: who expired, for one."""
        if not self._leaving and self._store is not None and not self.closed.is_set():
            self.closed.set()
            for client in (self._streams, self._client):
                self._kept.discard(client)
                if not client.is_closed:
                    await self._end(client)
            self.when_cut()

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _note(self, error: Exception) -> None:
        before, self.problem = self.problem, self._why(error)
        if self.problem != before:  # it tries ten times a second
            _log.info("connection to the cluster", extra={"error": self.problem})

    def _why(self, error: BaseException) -> str:
        if isinstance(error, AuthorizationError) or "authorization" in str(error).lower():
            return refused(self._settings)
        if isinstance(error, NkeysError | binascii.Error):
            return "cluster_nkey or cluster_credentials: the file has no valid NKey seed"
        return reason(error, self._settings)

    async def _changed(self) -> None:
        self.reconnects += 1
        self._back.set()
        self.problem = ""
        self.when_changed()


def _abort(client: Client) -> None:
    """Close the socket: over TLS the library waits for the server's goodbye, for half a minute.

    If it is cancelled meanwhile, it takes the connection for closed, and leaves it open.
    """
    writer = getattr(getattr(client, "_transport", None), "_bare_io_writer", None)
    if writer is not None:
        writer.transport.abort()


def _nothing() -> None:
    return None
