"""Which host a call goes to, and how answers of several become one.

Rule 1: a session of this host is found first, without a question to anybody. `host/name` names the
host, too. A port is one of this host, which may stand for a session of another one.
Rule 2: lists (all_hosts/listing.py) and new sessions (placing.py) are for the whole cluster.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Protocol
from urllib.parse import urlencode

from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import Operation
from nacre.core.operations.apps.programs import AppLaunched
from nacre.core.operations.follow import EventStream, Follow
from nacre.core.operations.results import SessionCreated, SessionDetails, SessionStarted
from nacre.core.operations.sessions import ListSessions
from nacre.core.operations.steps import LIST_SESSIONS
from nacre.errors import (
    HostUnreachable,
    MayBeDone,
    NacreError,
    SessionNotFound,
)
from nacre.services.cluster.all_hosts.joined import JoinedWait
from nacre.services.cluster.all_hosts.listing import Listing
from nacre.services.cluster.all_hosts.people import QuestionsEverywhere
from nacre.services.cluster.all_hosts.searching import SearchingAll
from nacre.services.cluster.between import BetweenHosts
from nacre.services.cluster.mirrored_ports import MirroredPorts
from nacre.services.cluster.names import Names
from nacre.services.cluster.piped.giving import GivenInputs
from nacre.services.cluster.placing import MAKING, Placing
from nacre.services.dispatch.call import Call, Onward
from nacre.services.dispatch.forwarding.relay import relay_of_call, relayed_by
from nacre.services.host.host import Host
from nacre.system.logs import REQUEST

# What is about all hosts, unless it names a session.
_OF_ALL = frozenset(
    {*MAKING, "list_sessions", "search", "list_approvals", "answer_approval", "drain_host"}
)
_NAMED = 20  # hosts in an error
# Results that say where their session is. The host of a RunOutcome is another matter: its shell's.
_PLACED = SessionDetails | SessionCreated | SessionStarted | AppLaunched
Everywhere = Callable[[Caller, Follow, EventStream], AbstractAsyncContextManager[EventStream]]


class Here(Protocol):
    """The sessions of this host."""

    async def has(self, reference: str | int) -> bool:
        """Tell whether a session is here; one of an earlier daemon is waited for."""

    def has_run(self, run_id: str) -> bool: ...

    def has_question(self, identifier: str) -> bool: ...


class ClusterRouting:
    def __init__(
        self,
        between: BetweenHosts,
        names: Names,
        here: Here,
        everywhere: Everywhere,
        ports: MirroredPorts,
        inputs: GivenInputs,
        host: Host,
    ) -> None:
        member, asking = between.member, between.asking
        most_places = host.settings.cluster_known_places
        self._member = member
        self._asking = asking
        self._names = names
        self._here = here
        self._viewing = between.viewing
        self._everywhere = everywhere
        self._listing = Listing(member, asking, names, ports, host.budget)
        self._most_runs = most_places
        self._runs: OrderedDict[str, str] = OrderedDict()  # their hosts
        self._ports = ports
        self._inputs = inputs
        self._placing = Placing(member, self._ask)
        self.admit = self._placing.admit
        self._searching = SearchingAll(member, asking, host.budget)
        self._questions = QuestionsEverywhere(member.host, asking, here, self._ask_all, most_places)

    async def route(self, call: Call, onward: Onward) -> Any:
        name = call.spec.name
        if name in ("watch", "follow"):
            return await self._stream(call, onward)
        if name in _OF_ALL and getattr(call.operation, "session", None) is None:
            await self._member.until_met()
        if name in MAKING:
            return await self._placing.make(call, partial(self._here_with_host, onward))
        if name == "list_sessions" and getattr(call.operation, "session", None) is None:
            return await self._listing.page(call, onward)
        if name == "search" and getattr(call.operation, "session", None) is None:
            return await self._searching.search(call, onward)
        given = {one: getattr(call.operation, one) for one in call.spec.references}
        if given.get("sessions"):
            return await self._of_several(call, onward, given["sessions"])
        if given.get("session") is not None:
            return await self._of_one(call, onward, given["session"])
        if given.get("run_id") is not None:
            return await self._of_run(call, onward, given["run_id"])
        if name == "list_approvals":
            return await self._questions.list(call, onward)
        if name == "answer_approval":
            host = await self._questions.place(call.operation.id, call.caller)  # type: ignore[attr-defined]
            return await (onward(call) if host is None else self._ask(host, call, call.operation))
        if name == "drain_host":
            return await self._placing.at(call, onward, call.operation.host)  # type: ignore[attr-defined]
        return await onward(call)

    # --- streams ---------------------------------------------------------------------------

    async def _stream(self, call: Call, onward: Onward) -> Any:
        assert call.stack is not None
        request: Any = call.operation
        if request.session is None:
            ours = await onward(call)
            return await call.stack.enter_async_context(
                self._everywhere(call.caller, request, ours)
            )
        host, inner = await self._find(request.session)
        if host is None:
            call.operation = replace(request, session=inner)
            return await onward(call)
        call.host = host
        there = self._viewing.stream(host, call.caller, replace(request, session=inner))
        return await call.stack.enter_async_context(there)

    # --- one session -----------------------------------------------------------------------

    async def _of_one(self, call: Call, onward: Onward, reference: str | int) -> Any:
        host, inner = await self._find(reference)
        if host is None:
            if inner != reference:
                call.operation = replace(call.operation, session=inner)
            return await self._here_with_host(onward, call)
        if call.spec.name == "open_page":
            return await self._page(host, inner, call, onward)
        operation = replace(call.operation, session=inner)
        try:
            return await self._ask(host, call, operation)
        except (SessionNotFound, HostUnreachable) as error:
            # Its name may be another session's since we asked where it is.
            self._names.forget(str(inner))
            if isinstance(error, SessionNotFound):
                self._ports.release(host, str(inner))
            again = await self._other_place(reference, host, error)
            return await self._ask(again, call, operation)

    async def _page(self, host: str, reference: str | int, call: Call, onward: Onward) -> Any:
        """Return an address of this host's page: that of the session's host may be out of reach."""
        asked = ListSessions(session=reference)
        found = (await self._asking.ask(host, call.caller, asked)).result
        call.operation = replace(call.operation, session=None)
        page = await onward(call)
        return replace(page, url=f"{page.url}&{urlencode({'session': found.name})}")  # type: ignore[attr-defined]

    async def _other_place(self, reference: str | int, host: str, error: NacreError) -> str:
        """Return another host that has a session by now. Raises the error if there is none.

        Nor is another one asked for what the first may have done.
        """
        if isinstance(error, MayBeDone):
            raise error
        try:
            again, _ = await self._find(reference)
        except HostUnreachable:
            raise error from None
        if again in (None, host):
            raise error
        assert again is not None
        return again

    async def _find(self, reference: str | int) -> tuple[str | None, str | int]:
        """Return the host of a session, None for this one, and how it is called there."""
        host, slash, inner = str(reference).partition("/")
        if slash:
            if host == self._member.host:
                return None, inner
            await self._member.until_met()
            if self._member.hosts.of(host) is None:
                raise SessionNotFound(
                    f"no host {host[:64]!r} ({self._placing.there()})", LIST_SESSIONS
                )
            return host, inner
        if str(reference).isdigit():
            if (known := self._ports.session(int(reference))) is None:
                return None, reference
            await self._member.until_met()
            return known
        if await self._here.has(reference):
            return None, reference
        await self._member.until_met()
        place = await self._place(str(reference))
        return (None if place == self._member.host else place), reference

    async def _place(self, reference: str) -> str | None:
        """Return the host of a session. Raises HostUnreachable if nobody can know it now."""
        try:
            found = await self._names.place(reference)
            if found is None:
                found = await self._told_late(reference)
        except OSError as error:
            raise HostUnreachable(
                f"no session {reference[:64]!r} on this host, and the others cannot be asked: "
                f"{error}",
                "try again when it is in its cluster again",
            ) from error
        return found

    async def _told_late(self, reference: str) -> str | None:
        """Wait for hosts that have sessions of which the servers do not know yet. Raises OSError.

        A host that was alone has made them meanwhile, or one that has just started.
        """
        if not self._member.hosts.unsettled(_now()):
            return None
        late = await self._member.until_told()
        found = await self._names.place(reference)
        if found is None and late:
            raise HostUnreachable(
                f"no session {reference[:64]!r} is known, but not all sessions of "
                f"{', '.join(late[:_NAMED])} are known yet",
                "try again in a moment",
            )
        return found

    # --- runs ------------------------------------------------------------------------------

    async def _of_run(self, call: Call, onward: Onward, run_id: str) -> Any:
        if self._here.has_run(run_id):
            return await onward(call)
        host = self._runs.get(run_id)
        if host is None:
            host = await self._host_of_run(run_id, call)
        if host is None:
            return await onward(call)
        return await self._ask(host, call, call.operation)

    async def _host_of_run(self, run_id: str, call: Call) -> str | None:
        """Ask all hosts for a run that nobody asked for here."""
        from nacre.core.operations.hosts.cluster import FindRun

        async def ask(host: str) -> str | None:
            answer = await self._asking.ask(host, call.caller, FindRun(run_id=run_id))
            return host if answer.result.found else None  # type: ignore[attr-defined]

        await self._member.until_met()
        answers = await self._ask_all(ask)
        return next((one for one in answers if isinstance(one, str)), None)

    # --- several sessions ------------------------------------------------------------------

    async def _of_several(self, call: Call, onward: Onward, references: list[str | int]) -> Any:
        """Wait on several hosts at once: the first that matches, or all of them (match=all)."""
        joined = JoinedWait(wants_all=getattr(call.operation, "match", "any") == "all")
        for one in references:
            await joined.add(one, self._find)
        asked = call.operation

        async def ask(host: str | None, sessions: list[str | int]) -> Any:
            operation = replace(asked, sessions=sessions)
            if host is not None:
                return await self._ask(host, call, operation)
            if len(joined.parts) == 1:
                call.operation = operation
                return await onward(call)
            return await onward(Call(call.caller, operation, call.spec, call.handle, call.tells))

        return await joined.answer(ask)

    # --- asking ----------------------------------------------------------------------------

    async def _ask_all(self, ask: Callable[[str], Awaitable[Any]]) -> list[Any]:
        """Ask all hosts that are up; one that cannot be reached answers with its error."""
        hosts = [said.host for said in self._member.hosts.up(_now())]
        return await asyncio.gather(*map(ask, hosts), return_exceptions=True)

    async def _ask(self, host: str | None, call: Call, operation: Operation) -> Any:
        assert host is not None
        call.host = host
        relay = relay_of_call()
        given = ""
        if relay is not None and relay.input_of is not None:
            given = self._inputs.give(relay.input_of, host)
        if relay is not None and relay.begun is not None:
            told = relay.begun

            def begun(run_id: str) -> None:
                self._remember_run(run_id, host)
                told(run_id)

            relay = replace(relay, begun=begun)
        try:
            with relayed_by(relay):
                answer = await self._asking.ask(
                    host,
                    call.caller,
                    operation,
                    tells=call.tells,
                    request=REQUEST.get(""),
                    fed=given,
                )
        except NacreError:
            self._inputs.end(given)  # else its host ends it with the run
            raise
        call.told = answer.told
        call.notices += answer.notices
        self._note(host, answer.result)
        return await self._with_port(host, answer.result)

    async def _here_with_host(self, onward: Onward, call: Call) -> Any:
        return _with_host(self._member.host, await onward(call))

    async def _with_port(self, host: str, result: Any) -> Any:
        """Return the result with its host, and a port of this one, if it has one."""
        result = _with_host(host, result)
        if not (isinstance(getattr(result, "port", None), int) and hasattr(result, "session_id")):
            return result
        return replace(result, port=await self._ports.of(host, result.session_id))

    def _note(self, host: str, result: object) -> None:
        """Remember where a new session and a new run are."""
        if hasattr(result, "session_id"):
            for name in ("session", "name", "session_id"):
                if isinstance(made := getattr(result, name, None), str):
                    self._names.remember(made, host)
        if isinstance(run_id := getattr(result, "run_id", None), str):
            self._remember_run(run_id, host)

    def _remember_run(self, run_id: str, host: str) -> None:
        self._runs[run_id] = host
        while len(self._runs) > self._most_runs:
            self._runs.popitem(last=False)


def _with_host(host: str, result: Any) -> Any:
    """Return what is known of a session, or of a new one, with its host."""
    return replace(result, host=host) if isinstance(result, _PLACED) else result


def _now() -> float:
    return asyncio.get_running_loop().time()
