"""Take a call to the host of the cluster that has the session it is about.

Rule 1: this step is there in a cluster only. What came from another host stays here: it was
routed.
Rule 2: what stays here passes the other steps. What goes to another host passes them all there,
with the caller that this host has signed for.
"""

from typing import Any, Protocol

from nacre.services.dispatch.call import Call, Onward


class Routing(Protocol):
    async def route(self, call: Call, onward: Onward) -> Any:
        """Answer a call: by another host, by several, or by passing it on."""

    def admit(self, call: Call) -> None:
        """Refuse what another host sent here and this one does not take. Raises LimitReached."""


class Route:
    def __init__(self, routing: Routing) -> None:
        self._routing = routing

    async def __call__(self, call: Call, onward: Onward) -> Any:
        if call.caller.via:
            self._routing.admit(call)
            return await onward(call)
        return await self._routing.route(call, onward)
