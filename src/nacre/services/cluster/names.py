"""The names of sessions, of which the whole cluster has each once; and where a session is.

Rule 1: a name is claimed before its session is made, by creating a key that only one host can
create. The claim goes when the session is no longer listed.
Rule 2: a name whose session has ended is free for a new one, wherever that is made: its host gives
it up when it is asked. The name of a session on a lost host can be taken; should that host come
back, its session of that name is ended (docs/cluster.md).
Rule 3: what is known of each session is in the store under its host, so that it can be listed when
the host is lost.
"""

import asyncio
import base64
import logging
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from typing import Protocol

import msgspec

from nacre.core.cluster.hosts import HostTable
from nacre.core.cluster.messages import Claim
from nacre.core.operations.results import SessionDetails
from nacre.core.operations.steps import kill
from nacre.errors import LimitReached, SessionExists
from nacre.services.cluster.servers.link import ClusterLink
from nacre.services.cluster.servers.store import KeyTaken
from nacre.services.registry.names import check_name, name_from_folder

_log = logging.getLogger("nacre.cluster")

_TRIES = 50


def name_key(name: str) -> str:
    return "n." + base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")


class LocalNames(Protocol):
    def taken(self) -> frozenset[str]:
        """Return the names that sessions of this host have."""


class Names:
    def __init__(
        self,
        host: str,
        link: ClusterLink,
        hosts: HostTable,
        give_up: Callable[[str, str], Awaitable[bool]],
        taken: Callable[[], frozenset[str]],
        promised: Callable[[str], bool],
        most_places: int,
    ) -> None:
        """`give_up` asks a host to give a name up, `taken` returns the names of this host.

        `promised` tells whether a session in the making will have a name.
        """
        self._host = host
        self._link = link
        self._hosts = hosts
        self._give_up = give_up
        self._taken = taken
        self._promised = promised
        self._claiming: Counter[str] = Counter()
        self._most_places = most_places
        self._places: OrderedDict[str, str] = OrderedDict()

    # --- claims ----------------------------------------------------------------------------

    async def claim(self, name: str | None, folder: str) -> str:
        """Claim a name for a new session; without one, a free one made from its folder's.

        Raises SessionExists, InvalidInput for an invalid name, and LimitReached.
        """
        if not await self._link.until_connected():
            # Alone for now: what collides is told when we are back.
            return name if name is not None else name_from_folder(folder, self._taken())
        if name is not None:
            check_name(name)
            if await self._claimed(name):
                return name
            owner = await self.owner(name)
            raise SessionExists(
                f"there is already a session {name!r} on host {owner!r}",
                "choose another name",
                kill(name),
            )
        tried = set(self._taken())
        for _ in range(_TRIES):
            free = name_from_folder(folder, tried)
            if await self._claimed(free, at_once=True):
                return free
            tried.add(free)
        raise LimitReached("no free name was found", "give one")

    async def _claimed(self, name: str, *, at_once: bool = False) -> bool:
        """Return whether the name is ours now. `at_once`: nobody is asked to give it up."""
        self._claiming[name] += 1
        try:
            for _ in range(_TRIES):  # what we read may have changed before we write
                with suppress(KeyTaken):
                    return await self._try_claim(name_key(name), name, at_once=at_once)
        finally:
            self._claiming[name] -= 1
            self._claiming += Counter()  # removes those with a count of zero
        return False

    async def _try_claim(self, key: str, name: str, *, at_once: bool) -> bool:
        """Raises KeyTaken if another host was quicker."""
        ours = msgspec.msgpack.encode(Claim(self._host))
        found = await self._link.store.get(key)
        if found is None:
            await self._link.store.create(key, ours)
            return True
        owner = msgspec.msgpack.decode(found[0], type=Claim).host
        if owner == self._host:
            # Written again: should its last session's name just be given up, one of us fails.
            await self._link.store.replace(key, ours, found[1])
            return True
        if at_once:
            return False
        standing = self._hosts.standing(owner, asyncio.get_running_loop().time())
        gone = standing in (None, "lost", "left")
        if not gone and not await self._give_up(owner, name):
            return False
        await self._link.store.replace(key, ours, found[1])
        return True

    async def release(self, name: str) -> None:
        """Give a name up, if it is ours and no session here has it, or will have it."""
        self._places.pop(name, None)
        found = await self._link.store.get(name_key(name))
        if name in self._claiming or self._promised(name) or name in self._taken():
            return  # another session has got it meanwhile
        if found is not None and msgspec.msgpack.decode(found[0], type=Claim).host == self._host:
            with suppress(KeyTaken):  # another host has just taken it
                await self._link.store.delete(name_key(name), found[1])

    async def owner(self, name: str) -> str | None:
        """Return the host that has claimed a name."""
        found = await self._link.store.get(name_key(name))
        return None if found is None else msgspec.msgpack.decode(found[0], type=Claim).host

    # --- places ----------------------------------------------------------------------------

    async def place(self, reference: str) -> str | None:
        """Return the host of a session by its name or id; None if no host has it.

        Raises OSError without a connection: nobody knows.
        """
        if (known := self._places.get(reference)) is not None:
            return known
        if not await self._link.until_connected():
            raise OSError("no connection to the cluster")
        host = await self.owner(reference)
        if host is None and len(reference) == 8 and reference.isalnum():
            for key, _ in await self._link.store.find(f"s.*.{reference.lower()}"):
                host = key.split(".")[1]
        if host is not None:
            self.remember(reference, host)
        return host

    def remember(self, reference: str, host: str) -> None:
        self._places[reference] = host
        while len(self._places) > self._most_places:
            self._places.popitem(last=False)

    def forget(self, reference: str) -> None:
        self._places.pop(reference, None)

    def forget_host(self, host: str) -> None:
        for reference in [one for one, known in self._places.items() if known == host]:
            del self._places[reference]

    # --- what is known of sessions ---------------------------------------------------------

    async def note(self, details: SessionDetails) -> None:
        data = msgspec.msgpack.encode(details)
        await self._link.store.put(f"s.{self._host}.{details.session_id}", data)

    async def remove(self, identifier: str) -> None:
        await self._link.store.delete(f"s.{self._host}.{identifier}")

    async def remove_unlisted(self, listed: Collection[str]) -> None:
        """Remove what is known of sessions of this host that are no longer there, by their ids."""
        for key, _ in await self._link.store.find(f"s.{self._host}.*"):
            if (identifier := key.rpartition(".")[2]) not in listed:
                await self.remove(identifier)

    async def last_known(self, host: str) -> list[SessionDetails]:
        """Return the sessions of a host as they were when it was last heard."""
        found = []
        for key, data in await self._link.store.find(f"s.{host}.*"):
            try:
                found.append(msgspec.msgpack.decode(data, type=SessionDetails))
            except msgspec.DecodeError as error:
                _log.warning("unreadable session", extra={"key": key, "error": str(error)})
        return sorted(found, key=lambda one: one.created)
