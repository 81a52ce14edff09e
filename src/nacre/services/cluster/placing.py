"""Where a new session is made.

Rule 1: it goes to the host that was asked for; else to the least loaded one with room and the
labels that were asked for. The door's own host counts as any other.
Rule 2: whether there is room is known to the host itself: it refuses what it does not take, and
then another one is asked, if none was named.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from nacre.core.catalog.catalog import Operation
from nacre.errors import BadParameter, HostUnreachable, LimitReached, MayBeDone, NacreError
from nacre.services.cluster.member import Member
from nacre.services.dispatch.call import Call, Onward
from nacre.wording import Omit

MAKING = ("create_session", "start_session", "launch_app")
_NAMED = 20  # hosts in an error
_ELSEWHERE = Omit(("host",), "to let another host take it")


class Placing:
    def __init__(
        self, member: Member, ask: Callable[[str, Call, Operation], Awaitable[Any]]
    ) -> None:
        """`ask` lets a host answer a call."""
        self._member = member
        self._ask = ask

    async def make(self, call: Call, onward: Onward) -> Any:
        operation: Any = call.operation
        wanted, labels = operation.host, operation.labels or ()
        if wanted is not None:
            if wanted == self._member.host and self._member.draining:
                raise self._draining()
            return await self.at(call, onward, wanted)
        if getattr(operation, "port", None) is not None or not self._member.joined:
            return await onward(call)  # a port is one of this host
        refused: NacreError | None = None
        for host in self._candidates(labels):
            try:
                if host == self._member.host:
                    return await onward(call)
                return await self._ask(host, call, operation)
            except MayBeDone:
                raise  # else there might be two of them
            except (LimitReached, HostUnreachable) as error:
                refused = error
        if refused is not None:
            raise refused
        told = f" with the labels {', '.join(labels)}" if labels else ""
        raise LimitReached(
            f"no host{told} has room for a session",
            "end one, or let a host that is draining take them again",
        )

    def admit(self, call: Call) -> None:
        """Refuse a session of another host's caller that there is no room for here."""
        if call.spec.name not in MAKING:
            return
        ours = self._member.heartbeat()
        if ours.draining:
            raise self._draining()
        if not ours.has_room:
            raise LimitReached(
                f"host {ours.host!r} has no room: {ours.sessions} of {ours.capacity} sessions run "
                "there (cluster_capacity)",
                _ELSEWHERE,
            )

    def _draining(self) -> LimitReached:
        host = self._member.host
        return LimitReached(f"host {host!r} is draining: it takes no new sessions", _ELSEWHERE)

    def _candidates(self, labels: tuple[str, ...] | list[str]) -> list[str]:
        now = asyncio.get_running_loop().time()
        ours = self._member.heartbeat()
        found = self._member.hosts.with_room(labels, now)
        if ours.has_room and set(labels) <= set(ours.labels):
            found.append(ours)
        # Of hosts with the same load this one comes first: nothing has to travel.
        found.sort(key=lambda said: (said.load, said.host != ours.host, said.host))
        return [said.host for said in found]

    async def at(self, call: Call, onward: Onward, host: str) -> Any:
        """Let a certain host answer. Raises BadParameter for one that there is not."""
        if host == self._member.host:
            return await onward(call)
        if self._member.hosts.of(host) is None:
            raise self._no_host(host)
        return await self._ask(host, call, call.operation)

    def _no_host(self, host: str) -> BadParameter:
        return BadParameter("host", f"{host[:64]!r} is unknown ({self.there()})")

    def there(self) -> str:
        """Name the hosts that there are."""
        hosts = sorted(
            [
                self._member.host,
                *(one.host for one in self._member.hosts.up(asyncio.get_running_loop().time())),
            ]
        )
        more = f" and {len(hosts) - _NAMED} more" if len(hosts) > _NAMED else ""
        return f"there are: {', '.join(hosts[:_NAMED])}{more}"
