"""The sessions of all hosts as one list.

Rule 1: hosts come in the order of their names, so that a list, and a page of it, is the same at
every door. Of a lost host the list has what was last known.
Rule 2: only as many hosts are asked as a page has room for, or a thousand of them would be asked
for a page of twenty.
Rule 3: a host that does not answer is named in the hint.
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.operations.results import SessionDetails, SessionList
from nacre.core.operations.sessions import ListSessions
from nacre.errors import HostUnreachable, NacreError
from nacre.services.cluster.asking import Asking
from nacre.services.cluster.member import Member
from nacre.services.cluster.mirrored_ports import MirroredPorts
from nacre.services.cluster.names import Names
from nacre.services.dispatch.call import Call, Onward
from nacre.services.observe.lists import ListPlace, fit_list, fit_page, place_of, read_cursor
from nacre.system.logs import REQUEST
from nacre.wording import Hint, Use, also

_SHORTEST = 200  # characters of a session in a list: an answer has no room for more sessions
ALL_CHARS = 1 << 40  # how much of each is shown is decided when all are there
_TOLD = 200  # characters for the hint
_NAMED = 20  # hosts in a hint


class _HostPart(NamedTuple):
    """What one host has of a page."""

    sessions: list[SessionDetails]
    more: bool


class _AskedPage(NamedTuple):
    """One page that is being made."""

    call: Call
    onward: Onward
    after: ListPlace | None


class Listing:
    def __init__(
        self,
        member: Member,
        asking: Asking,
        names: Names,
        ports: MirroredPorts,
        budget: Callable[[int | None], int],
    ) -> None:
        self._member = member
        self._asking = asking
        self._names = names
        self._ports = ports
        self._budget = budget

    async def page(self, call: Call, onward: Onward) -> SessionList:
        """Raises BadParameter for a cursor that is none."""
        request = call.operation
        assert isinstance(request, ListSessions)
        budget = self._budget(request.max_chars)
        after = None if request.cursor is None else read_cursor(request.cursor)
        most = budget // _SHORTEST + 1
        wanted = most if request.limit is None else min(request.limit, most)
        found, more, silent = await self._collect(_AskedPage(call, onward, after), wanted)
        listed = SessionList(sessions=[])
        if found and (more or request.limit is not None or after is not None):
            listed = fit_page(found, budget - _TOLD, more=more)
        elif found:
            listed = fit_list(found, budget)
        if listed.next_cursor is not None and request.limit is None:
            on = Use("list_sessions", "go on", {"cursor": listed.next_cursor})
            listed = replace(listed, hint=also(listed.hint, Hint("there are more sessions", on)))
        if silent:
            told = f"no answer from {', '.join(silent[:_NAMED])}: their sessions are missing"
            listed = replace(listed, hint=also(listed.hint, told))
        return listed

    async def _collect(
        self, asked: _AskedPage, wanted: int
    ) -> tuple[list[SessionDetails], bool, list[str]]:
        """Return the sessions of a page, whether there may be more, and who did not answer."""
        hosts = [one for one in self._hosts() if asked.after is None or one[0] >= asked.after.host]
        found: list[SessionDetails] = []
        silent: list[str] = []
        while hosts and len(found) < wanted:
            left = wanted - len(found)
            several = list(_enough(hosts, left))
            del hosts[: len(several)]
            parts = await asyncio.gather(
                *(self._part(asked, host, left, lost=lost) for host, _, lost in several),
                return_exceptions=True,
            )
            for (host, _, _), part in zip(several, parts, strict=True):
                if isinstance(part, NacreError | OSError):
                    silent.append(host)
                    continue
                if isinstance(part, BaseException):
                    raise part
                found += part.sessions
                if part.more or len(found) > wanted:
                    return found[:wanted], True, silent
        return found, bool(hosts), silent

    def _hosts(self) -> list[tuple[str, int, bool]]:
        """Return all hosts, how many sessions each has at least, and whether it is lost."""
        now = asyncio.get_running_loop().time()
        ours = self._member.heartbeat()
        others = self._member.hosts.all(now).items()
        known = [(said.host, said.sessions, how == "lost") for said, how in others if how != "left"]
        return sorted([(ours.host, ours.sessions, False), *known])

    async def _part(self, asked: _AskedPage, host: str, limit: int, *, lost: bool) -> _HostPart:
        call, after = asked.call, asked.after
        sees_all = call.caller.sessions is None
        cursor = after.as_cursor() if after is not None and after.host == host else None
        request = ListSessions(limit=limit, cursor=cursor, max_chars=ALL_CHARS)
        if host == self._member.host:
            ours = Call(call.caller, request, call.spec, call.handle, call.tells)
            listed = await asked.onward(ours)
            sessions = [replace(one, host=host) for one in listed.sessions]
            return _HostPart(sessions, listed.next_cursor is not None)
        if not lost:
            try:
                answer = await self._asking.ask(host, call.caller, request, request=REQUEST.get(""))
                return await self._of_host(host, answer.result, whole=cursor is None and sees_all)
            except HostUnreachable:  # perhaps it was lost meanwhile
                if self._member.hosts.standing(host, asyncio.get_running_loop().time()) != "lost":
                    raise
        return await self._last_known(host, call.caller, after, limit)

    async def _of_host(self, host: str, result: Any, *, whole: bool) -> _HostPart:
        """`whole`: what is not in it has gone, unless there is more."""
        more = result.next_cursor is not None
        if whole and not more:
            self._ports.keep_only(host, {one.session_id for one in result.sessions})
        return _HostPart(
            [
                replace(one, host=host, port=await self._ports.of(host, one.session_id))
                for one in result.sessions
            ],
            more,
        )

    async def _last_known(
        self, host: str, caller: Caller, after: ListPlace | None, limit: int
    ) -> _HostPart:
        """Raises OSError without a connection."""
        notice = f"host {host} is lost: this is what was last known"
        known = [
            replace(
                one,
                host=host,
                port=self._ports.known(host, one.session_id),
                running=False,
                alive=False,
                state="lost",
                notice=notice,
            )
            for one in await self._names.last_known(host)
            if caller.sees(one.name)
        ]
        listed = [one for one in known if after is None or place_of(one) > after]
        listed.sort(key=place_of)
        return _HostPart(listed[:limit], len(listed) > limit)


def _enough(hosts: list[tuple[str, int, bool]], wanted: int) -> Iterator[tuple[str, int, bool]]:
    """Return the first hosts that have so many sessions together, as far as is known."""
    for host in hosts:
        yield host
        wanted -= host[1]
        if wanted <= 0:
            return
