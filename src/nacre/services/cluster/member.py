"""This host as a member of its cluster: it joins, is heard, hears others, and leaves.

Rule 1: without a connection the host works alone, says so among its warnings, and joins as soon as
it can. Its own sessions never need the cluster.
Rule 2: whoever is heard is known. A host that joins asks all others to be heard at once.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec

from nacre import __version__
from nacre.core.cluster.hosts import Heartbeat, HostTable, Standing, work_together
from nacre.core.cluster.messages import HostKey
from nacre.services.cluster.servers.link import ClusterLink
from nacre.services.host.wait import bounded
from nacre.settings.table import Settings

_log = logging.getLogger("nacre.cluster")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0  # seconds between two tries to join
_OVERDUE = 2.5  # heartbeats
_NEVER = 86_400.0  # seconds: nobody is known who could be lost
_GONE = {"lost": "a host is lost", "left": "a host has left"}
_LATE = 0.2  # seconds that a timer may be late; more, and the daemon was held up


class NameTaken(Exception):
    """Another host of the cluster has this one's name."""


class Member:
    def __init__(
        self,
        host: str,
        settings: Settings,
        link: ClusterLink,
        public_key: bytes,
        running: Callable[[], int],
    ) -> None:
        """`running` counts the sessions that run here."""
        self.host = host
        self.incarnation = secrets.token_hex(6)
        self.draining = False
        self.hosts = HostTable(settings.cluster_heartbeat * _OVERDUE, settings.cluster_lost_time)
        self._told = ""  # why the last try to join failed
        self.when_heard: Callable[[str], None] = _ignore
        self.when_lost: Callable[[str], None] = _ignore
        self.when_changed: Callable[[], None] = _nothing
        self.when_back: Callable[[], None] = _nothing  # others may have taken us for lost
        self.when_restarted: Callable[[str], None] = _ignore  # what its last daemon did is over
        self._settings = settings
        self._link = link
        self._public_key = public_key
        self._running = running
        self._keys: dict[str, bytes] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._heard = asyncio.Event()
        self._namesake = asyncio.Event()  # another daemon was heard under our name
        self._has_name = False
        self._listens = False

    @property
    def patience(self) -> float:
        """Return how many seconds are waited for hosts that do not answer."""
        return self._settings.cluster_lost_time

    @property
    def problem(self) -> str:
        """Return why this host is not in its cluster."""
        return self._told or self._link.problem or "its servers were not reached yet"

    @property
    def joined(self) -> bool:
        return self._has_name and self._link.connected

    def warnings(self) -> tuple[str, ...]:
        if self.joined:
            return tuple(
                f"host {said.host} has nacre {said.version}, and this one {__version__}: they do "
                "not work together; upgrade the older one"
                for said in self.hosts.up(self._now())
                if not work_together(said.version, __version__)
            )
        return (f"this host is not in its cluster, and works alone: {self.problem}",)

    async def join(self, when_joined: Callable[[], Awaitable[None]]) -> None:
        """Join, as soon as that can be done."""
        await self._connect()
        self._link.when_changed = self._reconnected
        await self._link.subscribe("nacre.who", self._was_asked)
        await when_joined()
        await self._link.publish("nacre.who", b"")
        await self.be_heard()
        self._tasks = [
            asyncio.create_task(self._beat(), name="heartbeat"),
            asyncio.create_task(self._look(), name="hosts"),
            asyncio.create_task(self._stay(), name="stay"),
        ]
        _log.info("joined the cluster", extra={"host": self.host})
        self.when_changed()

    async def _take_name(self) -> None:
        """Take the name of this host. Raises NameTaken if another host is heard under it.

        A host has a key of its own. Only where the key is another one is it waited for a word.
        """
        if not self._listens:
            self._listens = True  # also after the connection was opened again
            await self._link.subscribe("nacre.hb.*", self._took_heartbeat)
        found = await self._link.store.get(f"h.{self.host}")
        if found is not None:
            known = msgspec.msgpack.decode(found[0], type=HostKey)
            if known.public_key != self._public_key:
                self._namesake.clear()
                await self._link.publish("nacre.who", b"")
                with suppress(TimeoutError):
                    async with bounded(self._settings.cluster_heartbeat * _OVERDUE):
                        await self._namesake.wait()
                        raise NameTaken(
                            f"another host in it has the name {self.host!r}: give this one "
                            "another (cluster_host)"
                        )
            self.draining = known.draining
        await self._write_key()

    async def renew(self) -> None:
        """Write what others must know of us again, should the store be new. Raises OSError."""
        await self._link.renew_store()
        await self._write_key()

    async def _connect(self) -> None:
        """Return when this host is in its cluster; say meanwhile why it is not."""
        pause = _FIRST_PAUSE
        while True:
            try:
                await self._link.connect()
                await self._take_name()
            except Exception as error:  # noqa: BLE001  # whatever its library raises: try again
                before, self._told = self._told, str(error) or type(error).__name__
                await self._link.close()
                if before != self._told:
                    _log.warning("cannot join the cluster", extra={"error": self._told})
                    self.when_changed()
            else:
                self._told, self._has_name = "", True
                return
            await asyncio.sleep(pause)  # there is no event for "a server has started"
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _stay(self) -> None:
        """Join again when the servers have ended the connection for good."""
        while True:
            await self._link.closed.wait()
            self.when_changed()
            await self._connect()
            self._reconnected()

    async def leave(self) -> None:
        """Tell the others that this host goes."""
        for task in self._tasks:
            task.cancel()
        if self._has_name:
            with suppress(OSError):
                await self.be_heard(leaving=True)
                await self._link.flush()
        await self._link.close()

    async def drain(self, *, draining: bool) -> None:
        self.draining = draining
        await self._write_key()
        await self.be_heard()
        self.when_changed()

    async def be_heard(self, *, leaving: bool = False) -> None:
        """Raises OSError without a connection."""
        said = msgspec.msgpack.encode(self.heartbeat(leaving=leaving))
        await self._link.publish(f"nacre.hb.{self.host}", said)

    def heartbeat(self, *, leaving: bool = False) -> Heartbeat:
        settings = self._settings
        labels = (one.strip() for one in settings.cluster_labels.split(","))
        return Heartbeat(
            host=self.host,
            incarnation=self.incarnation,
            version=__version__,
            sessions=self._running(),
            capacity=settings.cluster_capacity or settings.max_sessions,
            draining=self.draining,
            leaving=leaving,
            labels=tuple(filter(None, labels)),
        )

    async def key_of(self, host: str) -> bytes | None:
        """Return the public key of a host."""
        if (known := self._keys.get(host)) is not None:
            return known
        found = await self._link.store.get(f"h.{host}")
        if found is None:
            return None
        self._keys[host] = msgspec.msgpack.decode(found[0], type=HostKey).public_key
        return self._keys[host]

    async def _write_key(self) -> None:
        key = HostKey(self._public_key, self.draining)
        await self._link.store.put(f"h.{self.host}", msgspec.msgpack.encode(key))

    async def _beat(self) -> None:
        while True:
            began = self._now()
            await asyncio.sleep(self._settings.cluster_heartbeat)  # this is the beat itself
            self._excuse(self._now() - began - self._settings.cluster_heartbeat)
            with suppress(OSError):
                await self.be_heard()

    async def _look(self) -> None:
        """Notice when a host becomes suspect, or lost."""
        known: dict[str, Standing] = {}
        while True:
            began = self._now()
            left = self.hosts.next_standing(began)
            self._heard.clear()
            with suppress(TimeoutError):
                async with bounded(_NEVER if left is None else left + 0.001):
                    await self._heard.wait()
            if left is not None:
                self._excuse(self._now() - began - left)
            standings = {one.host: how for one, how in self.hosts.all(self._now()).items()}
            for host, how in standings.items():
                if how in _GONE and known.get(host) not in _GONE:
                    _log.warning(_GONE[how], extra={"host": host})
                    self.when_lost(host)
            if standings != known:
                self.when_changed()
            known = standings

    def doubt(self, host: str) -> None:
        """A call found nobody there: the host is suspect from now on."""
        if self.hosts.doubt(host):
            self._heard.set()
            self.when_changed()

    def _excuse(self, late: float) -> None:
        """Count no silence while this daemon itself was held up: what was said waits to be read."""
        if late > _LATE:
            self.hosts.excuse(late)
        if late > self._settings.cluster_lost_time / 2:
            self.when_back()

    def _took_heartbeat(self, subject: str, _: str, data: bytes, __: str | None) -> None:
        sender = subject.rpartition(".")[2]
        try:
            said = msgspec.msgpack.decode(data, type=Heartbeat)
        except msgspec.DecodeError:
            return
        if said.host != sender:
            return
        if sender == self.host:
            if said.incarnation != self.incarnation and not said.leaving:
                self._namesake.set()
            return
        before = self.hosts.of(sender)
        if before is None or before.incarnation != said.incarnation:
            self._keys.pop(sender, None)
            if before is not None:
                self.when_restarted(sender)
        changed = self.hosts.hear(said, self._now())
        self.when_heard(sender)
        if changed:
            self._heard.set()
            self.when_changed()

    def _was_asked(self, *_: object) -> None:
        self._spawn()

    def _reconnected(self) -> None:
        if self.joined:
            self._spawn()
            self.when_back()
        self.when_changed()

    def _spawn(self) -> None:
        async def say() -> None:
            with suppress(OSError):
                await self.be_heard()

        task = asyncio.create_task(say())
        self._tasks = [one for one in self._tasks if not one.done()] + [task]

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def _nothing() -> None:
    return None


def _ignore(_: str) -> None:
    return None
