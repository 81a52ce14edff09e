"""This host as a member of its cluster: it joins, is heard, hears others, and leaves.

Rule 1: without a connection the host works alone, says so among its warnings, and joins as soon as
it can. Its own sessions never need the cluster.
Rule 2: whoever is heard is known. A host that joins asks all others to be heard at once.
Rule 3: a host's name is that of the daemon whose incarnation is in the store, where one alone can
write it. Who has lost it says nothing more under that name, and works alone.
"""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

import msgspec

from nacre import __version__
from nacre.core.cluster.hosts import Heartbeat, HostTable, Standing, work_together
from nacre.core.cluster.messages import HostKey
from nacre.services.cluster.servers.link import ClusterLink
from nacre.services.cluster.servers.store import KeyTaken
from nacre.services.host.wait import bounded, left_after
from nacre.settings.table import Settings

_log = logging.getLogger("nacre.cluster")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0  # seconds between two tries to join
_OVERDUE = 2.5  # heartbeats
_NEVER = 86_400.0  # seconds: nobody is known who could be lost
_GONE = {"lost": "a host is lost", "left": "a host has left"}
_SAME_KEY = 0.25  # seconds that a namesake with our own key is waited for
_LATE = 0.2  # seconds that a timer may be late; more, and the daemon was held up


class NameTaken(OSError):
    """Another host of the cluster has this one's name."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"another host in it has the name {host!r}: give this one another (cluster_host)"
        )


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
        self.settled = False  # the servers' store has all sessions of this host
        self.clock: Callable[[], float | None] = _untold  # of what this host signs
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
        self._unsure: set[str] = set()  # hosts that have started again: theirs may be others
        self._tasks: list[asyncio.Task[None]] = []
        self._heard = asyncio.Event()
        self._next_word = asyncio.Event()  # of any host
        self._met = asyncio.Event()  # the other hosts are known, or cannot be for now
        self._namesake = asyncio.Event()  # another daemon was heard under our name
        self._has_name = False
        self._yielded = False  # another daemon has got our name once
        self._listens = False
        self._loop: asyncio.AbstractEventLoop | None = None

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
        with suppress(OSError):  # it has just ended: _stay joins again
            await self._link.publish("nacre.who", b"")
            await self.be_heard()
        self._tasks += [
            asyncio.create_task(self._meet(), name="meet"),
            asyncio.create_task(self._beat(), name="heartbeat"),
            asyncio.create_task(self._look(), name="hosts"),
            asyncio.create_task(self._stay(), name="stay"),
        ]
        _log.info("joined the cluster", extra={"host": self.host})
        self.when_changed()

    async def _take_name(self) -> None:
        """Take the name of this host. Raises NameTaken if another host is heard under it."""
        if not self._listens:
            self._listens = True  # also after the connection was opened again
            await self._link.subscribe("nacre.hb.*", self._took_heartbeat, early=True)
        while True:
            found = await self._stored()
            if found is not None and found[0].incarnation != self.incarnation:
                await self._until_silent(found[0])
                self.draining = found[0].draining
            try:
                await self._write_key(found)
            except KeyTaken:  # another one was quicker: look who that is
                continue
            return

    async def _until_silent(self, known: HostKey) -> None:
        """Raise NameTaken if the daemon that has our name is heard.

        Mostly that is the last daemon of this host, which is gone: then it has the same key, and
        it is not waited long. Two machines from one image have the same key, too.
        """
        patience = self._settings.cluster_heartbeat * _OVERDUE
        if known.public_key == self._public_key and not self._yielded:
            patience = min(patience, _SAME_KEY)
        self._namesake.clear()
        await self._link.publish("nacre.who", b"")
        with suppress(TimeoutError):
            async with bounded(patience):
                await self._namesake.wait()
                raise NameTaken(self.host)

    async def renew(self) -> None:
        """Write what others must know of us again, should the store be new.

        Raises OSError, and NameTaken if another host has got our name: then we give it up.
        """
        await self._link.renew_store()
        await self._write_if_ours()

    def clock_of(self, host: str) -> float | None:
        """Return the time by a host's own clock; None if it has not told it."""
        return self.hosts.clock_of(host, self._now())

    async def _write_if_ours(self) -> None:
        while True:
            found = await self._stored()
            if found is not None and found[0].incarnation != self.incarnation:
                await self._give_name_up()
                raise NameTaken(self.host)
            with suppress(KeyTaken):
                return await self._write_key(found)

    async def _defend(self) -> None:
        """Another daemon is heard under our name: who is in the store keeps it."""
        with suppress(OSError):
            found = await self._stored()
            if found is not None and found[0].incarnation != self.incarnation:
                await self._give_name_up()

    async def _give_name_up(self) -> None:
        if self._has_name:
            self._has_name, self._yielded, self._told = False, True, str(NameTaken(self.host))
            _log.warning("another host has got our name", extra={"host": self.host})
            await self._link.close()
            self._link.closed.set()  # join again, when the name is free

    async def _stored(self) -> tuple[HostKey, int] | None:
        """Return what the store has under our name, and its revision."""
        found = await self._link.store.get(f"h.{self.host}")
        return found and (msgspec.msgpack.decode(found[0], type=HostKey), found[1])

    async def _write_key(self, found: tuple[HostKey, int] | None) -> None:
        """Raises KeyTaken if somebody has written it since it was `found`."""
        name = f"h.{self.host}"
        key = msgspec.msgpack.encode(HostKey(self._public_key, self.draining, self.incarnation))
        if found is None:
            await self._link.store.create(name, key)
        else:
            await self._link.store.replace(name, key, found[1])

    async def _connect(self) -> None:
        """Return when this host is in its cluster; say meanwhile why it is not."""
        pause = _FIRST_PAUSE
        while True:
            try:
                await self._link.connect()
                await self._take_name()
                await self._link.resume()
            except Exception as error:  # noqa: BLE001  # whatever its library raises: try again
                before, self._told = self._told, str(error) or type(error).__name__
                await self._link.close()
                self._met.set()
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
            self._has_name = False
            self.when_changed()
            await self._connect()
            self._reconnected()

    async def leave(self) -> None:
        """Tell the others that this host goes: for cluster_lost_time, then it counts as lost."""
        for task in self._tasks:
            task.cancel()
        if self._has_name:
            await left_after(self._settings.cluster_lost_time, self._say_farewell())
        await self._link.close()

    async def _say_farewell(self) -> None:
        await self.be_heard(leaving=True)
        await self._link.flush()

    async def drain(self, *, draining: bool) -> None:
        self.draining = draining
        await self._write_if_ours()
        await self.be_heard()
        self.when_changed()

    async def be_heard(self, *, leaving: bool = False) -> None:
        """Raises OSError without a connection."""
        if not self._has_name:
            return
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
            settled=self.settled,
            clock=self.clock(),
        )

    async def say_settled(self) -> None:
        """The servers' store has all sessions of this host."""
        self.settled = True
        await self._say()

    async def until_met(self) -> None:
        """Wait until a new daemon has heard the hosts that there are, or cannot join for now."""
        if not self._met.is_set():
            with suppress(TimeoutError):
                async with bounded(self._settings.cluster_call_time):
                    await self._met.wait()

    async def _meet(self) -> None:
        """Hear all hosts that the store knows, or those of them that speak."""
        with suppress(OSError, TimeoutError):
            async with bounded(self._settings.cluster_heartbeat * _OVERDUE):
                known = {key[2:] for key, _ in await self._link.store.find("h.*")} - {self.host}
                while any(self.hosts.of(host) is None for host in known):
                    await self._next_word.wait()
        self._met.set()

    async def until_told(self) -> list[str]:
        """Wait until all hosts have told their sessions; return those that have not in time."""
        with suppress(TimeoutError):
            async with bounded(self._settings.cluster_call_time):
                while self.hosts.unsettled(self._now()):
                    await self._next_word.wait()
        return self.hosts.unsettled(self._now())

    async def key_of(self, host: str) -> bytes | None:
        """Return the public key of a host. Raises OSError if nobody tells it.

        While the servers do not answer, a host that has started again counts as the one it was.
        """
        known = self._keys.get(host)
        if known is not None and host not in self._unsure:
            return known
        try:
            found = await self._link.store.get(f"h.{host}")
        except OSError:
            if known is None:
                raise
            return known
        if found is None:
            return None
        self._unsure.discard(host)
        self._keys[host] = msgspec.msgpack.decode(found[0], type=HostKey).public_key
        return self._keys[host]

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
                if self._has_name:
                    self._spawn(self._defend())
            return
        before = self.hosts.of(sender)
        if before is None or before.incarnation != said.incarnation:
            self._unsure.add(sender)
            if before is not None:
                self.when_restarted(sender)
        changed = self.hosts.hear(said, self._now())
        if changed:
            self._next_word.set()
            self._next_word = asyncio.Event()
        self.when_heard(sender)
        if changed:
            self._heard.set()
            self.when_changed()

    def _was_asked(self, *_: object) -> None:
        self._spawn(self._say())

    def _reconnected(self) -> None:
        self.settled = False  # sessions may have come while we were away
        if self.joined:
            self._spawn(self._say())
            self.when_back()
        self.when_changed()

    async def _say(self) -> None:
        with suppress(OSError):
            await self.be_heard()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks = [one for one in self._tasks if not one.done()] + [task]

    def _now(self) -> float:
        if self._loop is None:  # asking for it costs a system call each time
            self._loop = asyncio.get_running_loop()
        return self._loop.time()


def _nothing() -> None:
    return None


def _untold() -> None:
    return None


def _ignore(_: str) -> None:
    return None
