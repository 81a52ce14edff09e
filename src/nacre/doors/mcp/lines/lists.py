"""The lists that a client is given, and told of when they have changed.

Rule: nobody is told of a list that they have already, or get with the answer that is to come.
"""

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

import msgspec

from nacre.core.catalog.caller import Caller
from nacre.doors.mcp.identifiers import Message
from nacre.doors.mcp.lines.wire import LineWire
from nacre.doors.mcp.offer import Offers

EXTENDED = ("tools/list", "prompts/list", "resources/templates/list")  # by servers behind us

Gather = Callable[[Caller], Awaitable[None]]


class ListNews:
    """What one client knows of the lists."""

    def __init__(self, wire: LineWire, offers: Offers) -> None:
        self._wire = wire
        self._selection = offers.selection
        self._ends: list[Callable[[], None]] = []
        self._to_come = 0  # answers with the list of tools
        self._known: object = None  # the edition of the tools that it was told last

    def follow(self, by_library: Callable[[], bool]) -> None:
        """Tell of changes from now on; once is enough.

        Who is served `by_library` too hears of resources from there, also about sessions.
        """
        if self._ends:
            return
        self._ends.append(self._selection.on_change(self._tell_of_tools))
        if (upstream := self._selection.upstream) is not None:

            def tell_of_resources() -> None:
                if not by_library():
                    self._tell("resources")

            self._ends.append(upstream.on_change(partial(self._tell, "prompts"), "prompts"))
            self._ends.append(upstream.on_change(tell_of_resources, "resources"))

    def end(self) -> None:
        for end in self._ends:
            end()

    def answer(self, message: Message, found: Callable[[str], bytes]) -> None:
        self._give(message.method, bytes(message.id), found)

    def answer_later(
        self, message: Message, found: Callable[[str], bytes], gathering: Awaitable[None]
    ) -> Coroutine[Any, Any, None]:
        """Return what answers with the list when what is not known of it yet was gathered."""
        method, raw = message.method, bytes(message.id)
        of_tools = method == "tools/list"
        self._to_come += of_tools

        async def answer() -> None:
            try:
                await gathering
            finally:
                self._to_come -= of_tools
            self._give(method, raw, found)
            await self._wire.drain()

        return answer()

    def _give(self, method: str, raw: bytes, found: Callable[[str], bytes]) -> None:
        if method == "tools/list":
            self._known = self._selection.edition
        self._wire.answer(raw, found(method))

    def _tell_of_tools(self) -> None:
        if not self._to_come and self._known != self._selection.edition:
            self._tell("tools")

    def _tell(self, kind: str) -> None:
        told = f"notifications/{kind}/list_changed"
        self._wire.write(msgspec.json.encode({"jsonrpc": "2.0", "method": told}))
