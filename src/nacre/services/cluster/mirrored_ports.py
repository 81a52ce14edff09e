"""Ports of this host for sessions of other hosts: what a caller is told as such a session's port.

A session's own port listens on the loopback of its own host, where a caller of this one cannot
reach it; and a session here may have the same number. So each door's host has a port of its own for
it, which takes the same requests.

Rule 1: a port is opened when the session is first shown to a caller, up to `most`; without room
the caller is told 0, and uses the name. It stays the same until the session is gone; the next
daemon opens it again, unless another program has taken it meanwhile.
Rule 2: when there is no room, hosts are asked which of their sessions are gone: nobody tells of
that by itself. The session that is shown waits for that, and gets a port that was freed so. If
nothing was freed, they are not asked again before a pause.
Rule 3: nothing is said of a port of another host: here it would mean another session.
"""

import asyncio
import logging
import os
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress

import msgspec

from nacre.errors import NacreError
from nacre.services.host.wait import bounded
from nacre.services.registry.ports import PortPool

_log = logging.getLogger("nacre.cluster")

NONE = 0


class MirroredPorts:
    def __init__(self, pool: PortPool, most: int, file: str, patience: float) -> None:
        """`file` is where the next daemon finds them.

        `patience` is how many seconds a caller waits for a port that has to be freed.
        """
        self._patience = patience
        self._pool = pool
        self._file = file
        self._changed = False
        self._most = most
        self._ports: dict[tuple[str, str], int] = {}  # by host and id of the session
        self._sessions: dict[int, tuple[str, str]] = {}
        self._wanted = asyncio.Event()  # there is no room for a session that is shown
        self._looked = asyncio.Event()  # hosts have told what is gone
        self._rests = False  # they are not to be asked for now

    @property
    def _is_full(self) -> bool:
        return len(self._ports) >= self._most

    async def of(self, host: str, session_id: str) -> int:
        """Return the port for a session of another host; it is opened if there is room."""
        known = self.known(host, session_id)
        if known != NONE:
            return known
        if self._is_full and self._most:
            if not (self._rests or self._wanted.is_set()):
                self._looked.clear()
            self._wanted.set()
            try:
                async with bounded(self._patience):
                    await self._looked.wait()
            except TimeoutError:
                self._looked.set()  # nobody else waits for that look: a list has many sessions
        return self._open(host, session_id)

    def _open(self, host: str, session_id: str) -> int:
        known = self.known(host, session_id)  # by another caller meanwhile
        if known != NONE or self._is_full:
            return known
        try:
            port = self._pool.claim()
        except NacreError:  # no port or no descriptor is left
            return NONE
        self._note(host, session_id, port)
        return port

    def open_again(self) -> None:
        """Open the ports that the last daemon had. What is gone is freed by the next list."""
        try:
            with open(self._file, "rb") as file:
                kept = msgspec.json.decode(file.read(), type=list[tuple[str, str, int]])
        except FileNotFoundError:
            return
        except (OSError, msgspec.DecodeError) as error:
            _log.warning("ports of other hosts' sessions are new", extra={"error": str(error)})
            return
        for host, session_id, port in kept[: self._most]:
            with suppress(NacreError):  # another program has it
                self._note(host, session_id, self._pool.claim(port))

    def save(self) -> None:
        """Write what has changed. Raises OSError."""
        if self._changed:
            self._changed = False
            kept = [(host, one, port) for (host, one), port in self._ports.items()]
            with open(f"{self._file}.new", "wb") as file:
                file.write(msgspec.json.encode(kept))
            os.replace(f"{self._file}.new", self._file)

    def _note(self, host: str, session_id: str, port: int) -> None:
        self._ports[host, session_id] = port
        self._sessions[port] = host, session_id
        self._changed = True

    def known(self, host: str, session_id: str) -> int:
        """Return the port that is open for a session."""
        return self._ports.get((host, session_id), NONE)

    def session(self, port: int) -> tuple[str, str] | None:
        """Return host and id of the session behind a port; None if it is none of these."""
        return self._sessions.get(port)

    def release(self, host: str, session_id: str) -> None:
        if (port := self._ports.pop((host, session_id), None)) is not None:
            del self._sessions[port]
            self._changed = True
            self._pool.release(port)

    async def free_gone(
        self, pause: float, listed: Callable[[str], Awaitable[Collection[str]]]
    ) -> None:
        """Free ports of sessions that are gone, each time that one is wanted, until cancelled.

        `listed` returns the ids of a host's sessions; it may raise NacreError.
        """
        while True:
            await self._wanted.wait()
            self._looked.clear()
            before = len(self._ports)
            shown: dict[str, set[str]] = defaultdict(set)  # what comes while a host is asked stays
            for host, identifier in self._ports:
                shown[host].add(identifier)
            asked = (self._free_gone_of(host, known, listed) for host, known in shown.items())
            await asyncio.gather(*asked)
            self._wanted.clear()  # who came meanwhile waited for the same
            self._looked.set()
            if len(self._ports) >= before:
                self._rests = True
                await asyncio.sleep(pause)
                self._rests = False

    async def _free_gone_of(
        self, host: str, shown: set[str], listed: Callable[[str], Awaitable[Collection[str]]]
    ) -> None:
        with suppress(NacreError):
            for identifier in shown.difference(await listed(host)):
                self.release(host, identifier)

    def keep_only(self, host: str, identifiers: Collection[str]) -> None:
        """Free the ports of those sessions of a host that are gone."""
        for at, identifier in list(self._ports):
            if at == host and identifier not in identifiers:
                self.release(at, identifier)
