"""Tell an agent, once, what a person did in the session that it asks about."""

from typing import Any, Protocol

from nacre.core.catalog.caller import Caller
from nacre.services.dispatch.call import Call, HandedOver, Onward, Target


class News(Protocol):
    def untold(self, caller: Caller, target: Target) -> HandedOver | None:
        """Return the hand-over that this caller has not got yet, and note that it has it now."""


class Tell:
    def __init__(self, news: News) -> None:
        self._news = news

    async def __call__(self, call: Call, onward: Onward) -> Any:
        result = await onward(call)
        if call.tells:
            # After the call: a person may have given the session back while it waited.
            for target in call.targets:
                call.told = call.told or self._news.untold(call.caller, target)
        return result
