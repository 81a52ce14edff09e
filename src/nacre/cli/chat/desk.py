"""The desk: every tool call of a chat passes it, whether a model or the person makes it.

Rule 1: the person's own call (`/call`) is not asked about. A model's is, unless an answer of this
chat or a rule of the policy allows it.
Rule 2: an upstream server's own words about its tools (that one only reads, say) allow nothing.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from nacre.cli.chat.apis.events import ModelTool
from nacre.cli.chat.face import Choice, Face
from nacre.cli.chat.permission import Permissions, meant, shown, suggested, written
from nacre.cli.chat.rules import Rules
from nacre.cli.chat.toolbox import Outcome, Toolbox
from nacre.client.calls import Client
from nacre.errors import InvalidInput, NacreError

DENIED = (
    "The person did not allow this call. Do not try it again in another form: ask them, or find "
    "another way."
)
# Tools that drive a terminal, which is worth seeing meanwhile.
_DRIVING = frozenset(("run", "type", "wait"))


class Desk:
    def __init__(
        self,
        box: Toolbox,
        face: Face,
        rules: Rules,
        connects_to: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        """`connects_to` tells which server a call of this tool has to connect to first."""
        self._connects_to = connects_to
        self._box = box
        self._face = face
        self._rules = rules
        self.permissions = Permissions()

    async def tools(self) -> list[ModelTool]:
        return await self._box.tools()

    def forget_tools(self) -> None:
        self._box.forget_tools()

    async def call(self, name: str, arguments: dict[str, Any]) -> Outcome:
        """Do what a model wants, if it may."""
        if name not in {tool.name for tool in await self._box.tools()}:
            return Outcome(f"there is no tool {name}", failed=True)
        if not await self._allowed(*meant(name, arguments)):
            return Outcome(DENIED, failed=True)
        return await self.call_freely(name, arguments)

    async def call_freely(self, name: str, arguments: dict[str, Any]) -> Outcome:
        """Do what the person wants."""
        tool = meant(name, arguments)[0]
        if tool.startswith("mcp_") and (server := await asyncio.to_thread(self._connects_to, tool)):
            self._face.say(f"[Connects to {server}]")
        self._face.say(f"[Calls {shown(written(name, arguments))}]")
        call = self._box.call(name, arguments)
        if name not in _DRIVING:
            return await call
        session = arguments.get("session")
        outcome: Outcome = await self._face.watching(
            session if isinstance(session, str) else None, call
        )
        return outcome

    async def _allowed(self, name: str, arguments: dict[str, Any]) -> bool:
        if self.permissions.allows(name, arguments) or await self._rules.allow(name, arguments):
            return True
        choice, pattern = await self._face.choose(
            shown(written(name, arguments)), suggested(name, arguments)
        )
        match choice:
            case "exact":
                self.permissions.allow_exactly(name, arguments)
            case "pattern":
                self.permissions.allow(pattern)
            case "exact always" | "pattern always":
                self._save(choice, name, arguments, pattern)
        return choice != "deny"

    def _save(self, choice: Choice, name: str, arguments: dict[str, Any], pattern: str) -> None:
        """Save a rule. What cannot be one counts for this chat: the person has said yes."""
        try:
            if choice == "exact always":
                self._face.say(self._rules.save_exactly(name, arguments))
            else:
                self._face.say(self._rules.save(pattern))
        except InvalidInput as error:
            self._face.complain(f"{error}; it is allowed in this chat")
            if choice == "exact always":
                self.permissions.allow_exactly(name, arguments)
            else:
                self.permissions.allow(pattern)


def unconnected(tool: str) -> str | None:
    """Return the server of a tool if the call has to connect to it; None where it need not."""
    with suppress(NacreError), Client.open(told=False) as client:
        server: str = client.ask("describe_upstream_tool", tool=tool)["server"]
        states = {one["name"]: one["state"] for one in client.ask("list_upstreams")["servers"]}
        return server if states.get(server) != "connected" else None
    return None
