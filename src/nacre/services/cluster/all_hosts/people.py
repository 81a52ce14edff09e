"""What people are asked, on all hosts: who is at any door sees all of it, and answers it there.

Rule: an answer goes to the host that asks, which alone knows what it is bound to, and which refuses
who is no person.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.operations.safety.approvals import Approval, ApprovalList, ListApprovals
from nacre.services.cluster.asking import Asking
from nacre.services.dispatch.call import Call, Onward
from nacre.system.logs import REQUEST

_Found = list[Approval]
AskAll = Callable[[Callable[[str], Awaitable[Any]]], Awaitable[list[Any]]]


class QuestionsOfHost(Protocol):
    def has_question(self, identifier: str) -> bool: ...


class QuestionsEverywhere:
    def __init__(
        self, host: str, asking: Asking, here: QuestionsOfHost, ask_all: AskAll, most: int
    ) -> None:
        """`most` is how many questions' hosts are remembered."""
        self._host = host
        self._asking = asking
        self._here = here
        self._ask_all = ask_all
        self._most = most
        self._places: OrderedDict[str, str] = OrderedDict()

    async def list(self, call: Call, onward: Onward) -> ApprovalList:
        ours: ApprovalList = await onward(call)
        here = [replace(one, host=self._host) for one in ours.approvals]
        found = [*here, *await self._of_others(call.caller)]
        return ApprovalList(approvals=sorted(found, key=lambda one: one.asked))

    async def place(self, identifier: str, caller: Caller) -> str | None:
        """Return the host that asks this; None: it is this one, or nobody asks it."""
        if self._here.has_question(identifier):
            return None
        if identifier not in self._places:
            await self._of_others(caller)
        return self._places.get(identifier)

    async def _of_others(self, caller: Caller) -> "_Found":
        """Return what is asked on the hosts that answer soon."""

        async def ask(host: str) -> "_Found":
            answer = await self._asking.ask(host, caller, ListApprovals(), request=REQUEST.get(""))
            assert isinstance(answer.result, ApprovalList)
            return [replace(one, host=host) for one in answer.result.approvals]

        found = [
            one for answer in await self._ask_all(ask) if isinstance(answer, list) for one in answer
        ]
        for one in found:
            assert isinstance(one.host, str)
            self._places[one.id] = one.host
        while len(self._places) > self._most:
            self._places.popitem(last=False)
        return found
