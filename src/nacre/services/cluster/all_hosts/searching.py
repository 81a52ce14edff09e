"""A search over the sessions of all hosts, as one list: the newest hit first.

Rule 1: each host searches its own journals. Of a host that has more hits than it listed, nothing is
said that is older than its last listed one, before it was asked for the next ones.
Rule 2: a host that could not be asked makes the answer incomplete, and is named.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from msgspec.structs import replace

from nacre.core.operations.recordings import SearchResult, SearchSessions, SessionHit
from nacre.core.text.budget import json_size
from nacre.errors import BadParameter, NacreError
from nacre.services.cluster.asking import Asking
from nacre.services.cluster.member import Member
from nacre.services.dispatch.call import Call, Onward
from nacre.system.logs import REQUEST

_HEAD = 400  # characters of an answer beside its hits


class _SearchHost(Protocol):
    async def __call__(self, request: SearchSessions, /) -> SearchResult: ...


class _HostHits:
    """What one host found, page by page."""

    def __init__(self, host: str, search: _SearchHost, request: SearchSessions) -> None:
        self.host = host
        self._search = search
        self._request = request
        self._next: int | None = 0
        self.hits: list[SessionHit] = []
        self.first: SearchResult | None = None
        self.problem = ""

    @property
    def reaches(self) -> float:
        """Return the time before which it may have hits that are not listed yet."""
        return self.hits[-1].time if self._next is not None and self.hits else float("-inf")

    async def more(self) -> None:
        assert self._next is not None
        try:
            found = await self._search(replace(self._request, offset=self._next))
        except BadParameter:  # of the caller, not of this host
            raise
        except NacreError as error:
            self.problem = error.message
            self._next = None
            return
        self.first = self.first or found
        self.hits += [replace(one, host=self.host) for one in found.hits]
        self._next = found.next_offset


class SearchingAll:
    def __init__(self, member: Member, asking: Asking, budget: Callable[[int | None], int]) -> None:
        self._member = member
        self._asking = asking
        self._budget = budget

    async def search(self, call: Call, onward: Onward) -> SearchResult:
        """Raises BadParameter."""
        request = call.operation
        assert isinstance(request, SearchSessions)

        async def here(asked: SearchSessions, /) -> SearchResult:
            inner = Call(call.caller, asked, call.spec, call.handle, call.tells)
            found: SearchResult = await onward(inner)
            return found

        def at(host: str) -> _SearchHost:
            async def there(request: SearchSessions, /) -> SearchResult:
                answer = await self._asking.ask(host, call.caller, request, request=REQUEST.get(""))
                assert isinstance(answer.result, SearchResult)
                return answer.result

            return there

        wanted = request.offset + request.limit
        page = replace(request, limit=min(1000, wanted), max_chars=None)
        parts = [_HostHits(self._member.host, here, page)]
        now = asyncio.get_running_loop().time()
        parts += [_HostHits(said.host, at(said.host), page) for said in self._member.hosts.up(now)]
        await asyncio.gather(*(part.more() for part in parts))
        certain = _certain(parts)
        while len(certain) < wanted and any(part.reaches > float("-inf") for part in parts):
            await max(parts, key=lambda part: part.reaches).more()
            certain = _certain(parts)
        return self._result(request, certain, parts)

    def _result(
        self, request: SearchSessions, certain: list[SessionHit], parts: list[_HostHits]
    ) -> SearchResult:
        room = self._budget(request.max_chars) - _HEAD
        hits: list[SessionHit] = []
        for hit in certain[request.offset : request.offset + request.limit]:
            room -= json_size(hit) + 1
            if room < 0 and hits:
                break
            hits.append(hit)
        answers = [part.first for part in parts if part.first is not None]
        total, reached = sum(one.total for one in answers), request.offset + len(hits)
        since = [one.searched_since for one in answers if one.searched_since is not None]
        missing = [f"{part.host} ({part.problem})" for part in parts if part.problem]
        hints = list(dict.fromkeys(one.hint for one in answers if one.hint))
        if missing:
            hints.append(f"not searched: host {', '.join(missing)}")
        return SearchResult(
            total=total,
            searched_sessions=sum(one.searched_sessions for one in answers),
            complete=not missing and all(one.complete for one in answers),
            searched_since=max(since) if since else None,
            next_offset=reached if hits and total > reached else None,
            hint="; ".join(hints) or None,
            not_searched=tuple(one for each in answers for one in each.not_searched),
            hits=tuple(hits),
        )


def _certain(parts: list[_HostHits]) -> list[SessionHit]:
    """Return the hits that are newer than all that is not listed yet, the newest first."""
    oldest = max(part.reaches for part in parts)
    found = [hit for part in parts for hit in part.hits if hit.time >= oldest]
    return sorted(found, key=lambda hit: -hit.time)
