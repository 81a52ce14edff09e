"""Following all sessions of all hosts: the list of the web page, and of who else wants all.

Rule 1: the first event has the sessions of all hosts that are up, each with its host. A host that
comes later, or comes back, is followed from then on, and its sessions are told as new ones.
Rule 2: the sessions of a lost host are told as changed: they are shown as lost, and stay.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.operations.follow import (
    ApprovalEvent,
    DaemonEvent,
    Event,
    EventStream,
    Follow,
    HostsEvent,
    SessionEvent,
    Summary,
    SyncAll,
)
from nacre.core.operations.hosts.cluster import ClusterHost
from nacre.core.operations.safety.approvals import Approval, ApprovalList, ListApprovals
from nacre.errors import NacreError
from nacre.services.cluster.asking import Asking
from nacre.services.cluster.member import Member
from nacre.services.cluster.mirrored_ports import MirroredPorts
from nacre.services.cluster.viewing import Viewing

_log = logging.getLogger("nacre.cluster")

_MOST_WAITING = 1000  # events, after which the slowest part waits


class Everywhere:
    def __init__(
        self,
        member: Member,
        viewing: Viewing,
        asking: Asking,
        ports: MirroredPorts,
        hosts: Callable[[], list[ClusterHost]],
    ) -> None:
        """`hosts` returns the hosts as callers are told of them."""
        self._ports = ports
        self._hosts = hosts
        self._member = member
        self._viewing = viewing
        self._asking = asking
        self._followers: set[_FollowsAll] = set()

    @asynccontextmanager
    async def follow(
        self, caller: Caller, request: Follow, ours: EventStream
    ) -> AsyncIterator[EventStream]:
        """Follow all hosts; `ours` are the events of this one."""
        follower = _FollowsAll(
            self._member,
            self._viewing,
            self._asking,
            self._ports,
            self._hosts,
            caller,
            request,
        )
        self._followers.add(follower)
        try:
            await follower.begin(ours)
            yield follower
        finally:
            self._followers.discard(follower)
            follower.end()

    def host_heard(self, host: str) -> None:
        for follower in self._followers:
            follower.follow_host(host)

    def hosts_changed(self) -> None:
        """A host has come, gone, or is another one in what it says of itself."""
        for follower in self._followers:
            follower.tell_hosts()


class _FollowsAll:
    """One stream made of those of all hosts."""

    def __init__(
        self,
        member: Member,
        viewing: Viewing,
        asking: Asking,
        ports: MirroredPorts,
        hosts: Callable[[], list[ClusterHost]],
        caller: Caller,
        request: Follow,
    ) -> None:
        self._asking = asking
        self._ports = ports
        self._hosts = hosts
        self._member = member
        self._viewing = viewing
        self._caller = caller
        self._request = request
        self._events: asyncio.Queue[Event | None] = asyncio.Queue(_MOST_WAITING)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._shown: dict[str, dict[str, Summary]] = {}  # of each host, by id
        self._asked: dict[str, dict[str, Approval]] = {}  # questions that were told, by host and id
        self._warnings: dict[str, tuple[str, ...]] = {}  # by host
        self._first: list[Summary] | None = []  # until the first event is out
        self._begun = asyncio.Event()  # it is out

    async def begin(self, ours: EventStream) -> None:
        """Begin with the sessions of all hosts that answer soon."""
        here = self._member.host
        first: list[asyncio.Future[None]] = []
        loop = asyncio.get_running_loop()
        hosts = [said.host for said in self._member.hosts.up(loop.time())]
        for host in hosts:
            begun = loop.create_future()
            first.append(begun)
            self._tasks[host] = asyncio.create_task(self._of_host(host, begun))
        begun = loop.create_future()
        self._tasks[here] = asyncio.create_task(self._pass_on(here, ours, begun))
        await asyncio.wait([*first, begun], timeout=self._member.patience)
        assert self._first is not None
        sessions, self._first = self._first, None
        await self._events.put(SyncAll(sessions=sorted(sessions, key=lambda one: one.created)))
        self._begun.set()
        self.tell_hosts()

    def tell_hosts(self) -> None:
        """Tell of the hosts, if that is followed. Who sees some sessions alone is told of none."""
        wanted = "hosts" in self._request.events and self._caller.sessions is None
        if wanted and self._begun.is_set():
            # Without room it is left out: the next one has all of it again.
            with suppress(asyncio.QueueFull):
                self._events.put_nowait(HostsEvent(hosts=self._hosts()))

    def end(self) -> None:
        for task in self._tasks.values():
            task.cancel()

    def follow_host(self, host: str) -> None:
        """Follow a host that is new, or back."""
        task = self._tasks.get(host)
        if self._first is None and (task is None or task.done()):
            begun = asyncio.get_running_loop().create_future()
            self._tasks[host] = asyncio.create_task(self._of_host(host, begun))

    async def __aiter__(self) -> AsyncIterator[Event]:
        number = 0
        while True:
            event = await self._events.get()
            if event is None:
                return
            number += 1
            event.seq = number
            yield event

    async def _of_host(self, host: str, begun: "asyncio.Future[None]") -> None:
        try:
            async with self._viewing.stream(host, self._caller, self._request) as stream:
                await self._pass_on(host, stream, begun)
        except (NacreError, OSError) as error:
            _log.info("a host is not followed", extra={"host": host, "error": str(error)})
        finally:
            if not begun.done():
                begun.set_result(None)
        await self._tell_lost(host)

    async def _pass_on(self, host: str, stream: Any, begun: "asyncio.Future[None]") -> None:
        async for event in stream:
            if isinstance(event, SyncAll):
                await self._sync(host, event)
                if not begun.done():
                    begun.set_result(None)
                continue
            await self._begun.wait()  # the first event has all sessions
            if isinstance(event, SessionEvent):
                event = self._noted(host, event)
            elif isinstance(event, ApprovalEvent):
                event = self._noted_question(host, event)
            elif isinstance(event, DaemonEvent):
                event = self._warned(host, event.warnings)
            await self._events.put(event)
        if host == self._member.host:
            await self._events.put(None)

    async def _sync(self, host: str, event: SyncAll) -> None:
        sessions = {one.session_id: self._placed(host, one) for one in event.sessions}
        before, self._shown[host] = self._shown.get(host, {}), sessions
        asked = await self._questions(host)
        if self._first is not None:
            self._first += sessions.values()
            return
        for question in asked:
            await self._events.put(ApprovalEvent(status="asked", approval=question))
        for gone in before.keys() - sessions.keys():
            await self._tell(before[gone], "removed")
        for one in sessions.values():
            await self._tell(one, "restarted" if one.session_id in before else "created")

    async def _questions(self, host: str) -> list[Approval]:
        """Return what people are asked there, if that is followed: a sync does not have it."""
        if host == self._member.host or "approvals" not in self._request.events:
            return []
        try:
            answer = await self._asking.ask(host, self._caller, ListApprovals())
        except NacreError:
            return []
        assert isinstance(answer.result, ApprovalList)
        asked = [replace(one, host=host) for one in answer.result.approvals]
        self._asked[host] = {one.id: one for one in asked}
        return asked

    def _noted(self, host: str, event: SessionEvent) -> SessionEvent:
        """Return the event with the session's host; remember what it shows, should that be lost."""
        shown, identifier = self._shown.setdefault(host, {}), event.session_id or ""
        if event.details is None:
            shown.pop(identifier, None)
            self._ports.release(host, identifier)
            return event
        details = shown[identifier] = self._placed(host, event.details)
        return replace(event, details=details)

    def _placed(self, host: str, one: Summary) -> Summary:
        """Return a session with its host, and the port that it has here."""
        if host == self._member.host:
            return replace(one, host=host)
        return replace(one, host=host, port=self._ports.known(host, one.session_id))

    def _noted_question(self, host: str, event: ApprovalEvent) -> ApprovalEvent:
        asked = replace(event.approval, host=host)
        open_there = self._asked.setdefault(host, {})
        if event.status in ("asked", "left"):
            open_there[asked.id] = asked
        else:
            open_there.pop(asked.id, None)
        return replace(event, approval=asked)

    def _warned(self, host: str, warnings: tuple[str, ...]) -> DaemonEvent:
        """Return the warnings of all hosts: those of this one first, the others with their host."""
        self._warnings[host] = warnings
        here = self._member.host
        told = [*self._warnings.get(here, ())]
        for other in sorted(self._warnings.keys() - {here}):
            told += [f"host {other}: {one}" for one in self._warnings[other]]
        return DaemonEvent(warnings=tuple(told))

    async def _tell_lost(self, host: str) -> None:
        if self._warnings.get(host):
            await self._events.put(self._warned(host, ()))
        for asked in self._asked.pop(host, {}).values():  # nobody can answer it now
            await self._events.put(ApprovalEvent(status="expired", approval=asked))
        notice = f"host {host} is lost: this is what was last known"
        for one in self._shown.get(host, {}).values():
            lost = replace(one, running=False, alive=False, state="lost", notice=notice)
            with suppress(asyncio.QueueFull):
                await self._tell(lost, "ended")

    async def _tell(self, one: Summary, change: Any) -> None:
        details = None if change == "removed" else one
        event = SessionEvent(
            session=one.name, session_id=one.session_id, change=change, details=details
        )
        await self._events.put(event)
