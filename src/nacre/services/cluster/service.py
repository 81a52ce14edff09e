"""The cluster, put together: what the daemon starts, and its operations.

Rule 1: the daemon builds this in a cluster only. Nothing else imports NATS or a key.
Rule 2: what changes in a session is noted in the cluster's store soon after, in order; nobody
waits for that but the claim of a name, and who makes a session: if its host is lost when it was
told to its maker, the others must know that there was one.
Rule 3: when the store takes a note no more, all that wait are forgotten: it is told anew what there
is then (_settle).
"""

import asyncio
import logging
import os
import re
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress

from nacre import __version__
from nacre.core.catalog.caller import Caller
from nacre.core.catalog.metering import Family
from nacre.core.cluster.hosts import Heartbeat, work_together
from nacre.core.operations.follow import Event, RunEvent, SessionEvent
from nacre.core.operations.hosts.cluster import (
    ClusterHost,
    ClusterState,
    DrainHost,
    FindRun,
    FoundRun,
    GetCluster,
    GivenUp,
    GiveUpName,
)
from nacre.core.operations.hosts.piped import EndInput, InputPart, ReadInput
from nacre.core.operations.results import SessionList, Success
from nacre.core.operations.sessions import ListSessions, ManageSession
from nacre.errors import HostUnreachable, NacreError, SessionNotFound
from nacre.services.cluster.all_hosts.everywhere import Everywhere
from nacre.services.cluster.all_hosts.listing import ALL_CHARS
from nacre.services.cluster.between import OURSELVES, between_hosts
from nacre.services.cluster.local import LocalSessions
from nacre.services.cluster.measures import cluster_families
from nacre.services.cluster.mirrored_ports import MirroredPorts
from nacre.services.cluster.names import Names
from nacre.services.cluster.piped.giving import GivenInputs
from nacre.services.cluster.routing import ClusterRouting
from nacre.services.dispatch.dispatch import Dispatch
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.host.wait import set_by
from nacre.services.observe.views import view_details
from nacre.services.session.session import Session

_log = logging.getLogger("nacre.cluster")

_NOTED = frozenset({"created", "ended", "renamed", "restarted", "removed"})


class Cluster:
    """What a host does in its cluster. Its events are those of its sessions, and of their runs."""

    kinds = frozenset({"sessions", "runs"})

    def __init__(self, local: LocalSessions, host: Host, key_file: str) -> None:
        settings = host.settings
        self.name = settings.cluster_host or own_name()
        self._local = local
        self._registry = local.registry
        self._host = host
        self._between = between_hosts(self.name, local, settings, key_file)
        self._member = self._between.member
        self._asking = self._between.asking
        self._settling = asyncio.Event()
        self._promised: Counter[str] = Counter()  # names that sessions in the making will have
        self._tasks: list[asyncio.Task[None]] = []
        self._to_note: asyncio.Queue[Callable[[], Awaitable[None]]] = asyncio.Queue()
        self._reached: set[asyncio.Event] = set()  # of those who wait until theirs was noted
        self.names = Names(
            self.name,
            self._between.link,
            self._member.hosts,
            self._ask_for_name,
            local.names,
            lambda name: name in self._promised,
            settings.cluster_known_places,
        )
        self._inputs = GivenInputs()
        kept = os.path.join(os.path.dirname(key_file), "cluster.ports")
        ports = self._ports = MirroredPorts(
            local.ports, settings.cluster_ports, kept, settings.cluster_lost_time
        )
        self._everywhere = Everywhere(
            self._member, self._between.viewing, self._asking, ports, self.hosts
        )
        self.routing = ClusterRouting(
            self._between, self.names, local, self._everywhere.follow, ports, self._inputs, host
        )
        self._connect()

    def _connect(self) -> None:
        """Let what happens between hosts be known here, and what happens here between them."""
        member, host = self._member, self._host
        self._between.link.when_cut = self._between.viewing.break_all
        member.when_heard = self._heard
        member.when_lost = self._lost
        member.when_restarted = self._restarted
        member.when_changed = self._changed
        self._asking.when_nobody = member.doubt
        host.names.others = self
        if host.audit is not None:
            host.audit.tells_requests = True
        host.warnings.add_source(member.warnings)

    def start(self, dispatch: Dispatch) -> None:
        """Join from now on, as soon as that can be done."""

        async def listen() -> None:
            await self._asking.listen()
            await self._between.viewing.listen()
            await self._between.serving.listen(dispatch)
            await self._between.streaming.listen(dispatch)

        async def join() -> None:
            await self._member.join(listen)
            self._member.when_back = self._settling.set
            while True:
                self._settling.clear()
                if await self._settle(dispatch):
                    await self._settling.wait()
                else:
                    # No event tells that the store takes it again.
                    await asyncio.sleep(self._host.settings.cluster_settle_time)

        self._host.events.add(self)
        self._ports.open_again()
        self._tasks = [
            asyncio.create_task(self._save_ports(), name="mirrored ports"),
            asyncio.create_task(
                self._ports.free_gone(self._host.settings.cluster_settle_time, self._listed),
                name="ports of sessions that are gone",
            ),
            asyncio.create_task(join(), name="join"),
            asyncio.create_task(self._note_all(), name="cluster notes"),
            asyncio.create_task(self._between.viewing.send_all(), name="viewers"),
        ]

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._between.serving.end()
        self._between.streaming.end()
        with suppress(OSError):
            self._ports.save()
        await self._member.leave()

    def families(self) -> Iterator[Family]:
        """Return what /metrics has of the cluster."""
        return cluster_families(self._between, self._host.loop.time())

    def handlers(self) -> Handlers:
        return (
            Handlers()
            .on(GetCluster, self.status)
            .on(DrainHost, self.drain)
            .on(FindRun, self.find_run)
            .on(GiveUpName, self.give_up_name)
            .on(ReadInput, self.read_input)
            .on(EndInput, self.end_input)
        )

    # --- operations ------------------------------------------------------------------------

    async def status(self, caller: Caller, request: GetCluster) -> ClusterState:
        return ClusterState(
            clustered=True,
            host=self.name,
            joined=self._member.joined,
            problem=None if self._member.joined else self._member.problem,
            hosts=self.hosts(),
        )

    def hosts(self) -> list[ClusterHost]:
        ours = _shown(self._member.heartbeat(), "up", here=True)
        others = self._member.hosts.all(self._host.loop.time())
        hosts = [ours, *(_shown(said, standing) for said, standing in others.items())]
        return sorted(hosts, key=lambda one: one.host)

    async def drain(self, caller: Caller, request: DrainHost) -> Success:
        try:
            await self._member.drain(draining=request.draining)
        except OSError as error:
            raise HostUnreachable(f"the cluster cannot be told: {error}") from error
        return Success()

    async def find_run(self, caller: Caller, request: FindRun) -> FoundRun:
        return FoundRun(found=self._local.has_run(request.run_id))

    async def give_up_name(self, caller: Caller, request: GiveUpName) -> GivenUp:
        """Give the name of an ended session up, as to a new session here."""
        if request.name in self._promised:
            return GivenUp(given_up=False)
        try:
            session = self._registry.find(request.name)
        except SessionNotFound:
            return GivenUp(given_up=True)
        if session.identity.name != request.name or session.alive or session.supervisor.is_busy:
            return GivenUp(given_up=False)
        self._registry.unlist(session)
        return GivenUp(given_up=True)

    async def read_input(self, caller: Caller, request: ReadInput) -> InputPart:
        return await self._inputs.read(request.name, caller.via, request.position)

    async def end_input(self, caller: Caller, request: EndInput) -> Success:
        self._inputs.end(request.name, caller.via)
        return Success()

    # --- names -----------------------------------------------------------------------------

    async def claim(self, name: str | None, folder: str) -> str:
        if name is not None:
            self._promised[name] += 1  # before others can ask for it
        try:
            claimed = await self.names.claim(name, folder)
        except BaseException as error:
            self._keep_promise(name)
            if not isinstance(error, OSError):
                raise
            raise HostUnreachable(
                f"the cluster cannot say whether the name is free: {error}", "try again"
            ) from error
        if name is None:
            self._promised[claimed] += 1
        return claimed

    def _keep_promise(self, name: str | None) -> None:
        """A name that was promised to a new session is its own now, or free again."""
        if name is not None and self._promised[name] > 0:
            self._promised[name] -= 1
            self._promised += Counter()  # removes those with a count of zero

    def release(self, name: str, *, promised: bool = True) -> None:
        if promised:
            self._keep_promise(name)
        self._to_note.put_nowait(lambda: self.names.release(name))

    async def _ask_for_name(self, host: str, name: str) -> bool:
        try:
            answer = await self._asking.ask(host, OURSELVES, GiveUpName(name=name))
        except NacreError:
            return False
        assert isinstance(answer.result, GivenUp)
        return answer.result.given_up

    async def _settle(self, dispatch: Dispatch) -> bool:
        """Bring the cluster's store up to date. Return whether that went well."""
        await self._local.recovering.every_session()
        try:
            await self._member.renew()
            await self.names.remove_unlisted({one.identity.id for one in self._registry})
            await self._settle_names(dispatch)
        except OSError as error:
            _log.warning("the cluster's store is not up to date", extra={"error": str(error)})
            return False
        if not self._settling.is_set():  # else there is more to note meanwhile
            await self._member.say_settled()
        return True

    async def _settle_names(self, dispatch: Dispatch) -> None:
        """Tell the cluster of the sessions that are here: those of a daemon that died, for example.

        A session whose name was given to another meanwhile is ended: callers were told that it is
        lost, and what they type by its name is for the other one.
        """
        for session in list(self._registry):
            name = session.identity.name
            owner = await self.names.owner(name)
            if owner in (None, self.name):
                await self.names.claim(name, "")
                await self.names.note(view_details(session, self._host.loop.time()))
                continue
            _log.warning(
                "a session is ended: its name is another host's",
                extra={"session": name, "host": owner},
            )
            with suppress(NacreError):  # somebody has just ended it
                await dispatch(OURSELVES, ManageSession(session=session.identity.id, action="kill"))

    # --- what others are told --------------------------------------------------------------

    def happened(self, kind: str, session: Session | None, event: Event) -> None:
        """Note what changes in sessions; end the input of runs that are over."""
        if isinstance(event, RunEvent):
            if event.status == "ended":
                self._between.serving.fed.ended(event.run_id)
            return
        if session is None or not isinstance(event, SessionEvent) or event.change not in _NOTED:
            return
        name, identifier = session.identity.name, session.identity.id
        if event.change in ("created", "renamed"):
            self._keep_promise(name)
        if event.change == "removed":
            self._to_note.put_nowait(lambda: self.names.remove(identifier))
            self._to_note.put_nowait(lambda: self.names.release(name))
        else:
            details = view_details(session, self._host.loop.time())
            self._to_note.put_nowait(lambda: self.names.note(details))

    async def noted(self) -> None:
        if not self._member.joined:
            return  # the store is told of it when we are back
        reached = asyncio.Event()

        async def reach() -> None:
            reached.set()

        self._reached.add(reached)
        self._to_note.put_nowait(reach)
        try:
            await set_by(reached, self._host.loop.time() + self._host.settings.cluster_lost_time)
        finally:
            self._reached.discard(reached)

    async def _note_all(self) -> None:
        while True:
            work = await self._to_note.get()
            try:
                await work()
            except OSError:
                while not self._to_note.empty():
                    self._to_note.get_nowait()
                for waiting in self._reached:
                    waiting.set()
                self._member.settled = False
                self._settling.set()  # then what is missing is noted

    async def _save_ports(self) -> None:
        while True:
            with suppress(OSError):
                self._ports.save()
            await asyncio.sleep(self._host.settings.cluster_heartbeat)  # few writes for many ports

    async def _listed(self, host: str) -> set[str]:
        """Return the ids of a host's sessions. Raises what asking raises."""
        answer = await self._asking.ask(host, OURSELVES, ListSessions(max_chars=ALL_CHARS))
        assert isinstance(answer.result, SessionList)
        return {one.session_id for one in answer.result.sessions}

    def _changed(self) -> None:
        self._host.warnings.changed()
        self._everywhere.hosts_changed()

    def _heard(self, host: str) -> None:
        self._asking.host_heard(host)
        self._everywhere.host_heard(host)

    def _restarted(self, host: str) -> None:
        """Whoever watched or asked through its last daemon is gone."""
        self._between.streaming.end_of(host)
        self._between.serving.end_of(host)
        self._inputs.end_of(host)

    def _lost(self, host: str) -> None:
        self.names.forget_host(host)
        self._asking.host_lost(host)
        self._between.viewing.host_lost(host)
        self._restarted(host)


def own_name() -> str:
    """Return the machine's name, as a host of a cluster can be called."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", socket.gethostname().partition(".")[0])
    return name.strip("-")[:63] or "host"


def _shown(said: Heartbeat, standing: str, *, here: bool = False) -> ClusterHost:
    return ClusterHost(
        host=said.host,
        state=standing,
        here=here,
        sessions=said.sessions,
        capacity=said.capacity,
        draining=said.draining,
        labels=list(said.labels),
        version=said.version,
        compatible=work_together(said.version, __version__),
    )
