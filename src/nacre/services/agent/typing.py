"""The operation type_keys: type text and keys, and return when it is clear what came of them.

Rule 1: what is typed passes the gate and comes in order as with send_keys (apps/typing.py).
Rule 2: it returns at the next prompt, or when somebody is waited for and all of it is drawn. While
a program runs that waits for nobody, quiet means nothing: it returns at the deadline.
"""

from nacre.core.agent.tools import TypeKeys
from nacre.core.catalog.caller import Caller
from nacre.core.keys.items import Item, TypedText, UnknownCombination, parse_item
from nacre.core.operations.results import Sent
from nacre.core.shell.state import State
from nacre.errors import BadParameter
from nacre.services.apps.typing import KeyTyping
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.host.wait import refuse_longer_waits
from nacre.services.observe.settle import LOOKS, settle, waits_for_somebody
from nacre.services.observe.state import look
from nacre.services.observe.views import position, text_since
from nacre.services.registry.registry import Registry
from nacre.services.runs.prompt import has_read_all
from nacre.services.session.session import Session

_NO_EFFECT = 0.5  # seconds after which a key that shows nothing is taken to show nothing

# As models write them, beside the names that send_keys knows.
_ALSO = {"Esc": "Escape", "Return": "Enter", "Del": "Delete", "PgUp": "PageUp", "PgDn": "PageDown"}


class AgentTyping:
    def __init__(self, registry: Registry, host: Host, typing: KeyTyping) -> None:
        self._registry = registry
        self._host = host
        self._typing = typing

    def handlers(self) -> Handlers:
        return Handlers().on(TypeKeys, self.type)

    async def type(self, caller: Caller, request: TypeKeys) -> Sent:
        session = self._registry.find(request.session)
        session.require_alive()
        refuse_longer_waits(self._host, "timeout_ms", request.timeout_ms)
        items = self._items(request)
        line, col = position(session), session.terminal.cursor().col
        ended = session.stream.prompting.ended
        generation = await self._typing.type(session, items, paste=False)
        # From now on: a person may have driven before it was typed.
        deadline = self._host.loop.time() + request.timeout_ms / 1000
        await self._settled(session, ended, generation, deadline)
        output, dropped = text_since(session, line, col)
        return Sent(
            output=output,
            lines=len(output.splitlines()),
            omitted_lines=dropped,
            alive=session.alive,
            generation=generation,
            state=look(session),
        )

    def _items(self, request: TypeKeys) -> list[Item]:
        """Raises BadParameter."""
        try:
            items = [parse_item(_ALSO.get(item, item)) for item in request.keys]
        except UnknownCombination as error:
            raise BadParameter("keys", f"are not valid: {error}") from error
        if request.text:
            items.insert(0, TypedText(request.text))
        size = sum(len(item.text) for item in items if isinstance(item, TypedText))
        if size > self._host.settings.max_input_bytes:
            raise BadParameter("text", "is over max_input_bytes", "write it to a file instead")
        return items

    async def _settled(
        self, session: Session, ended: int, generation: int, deadline: float
    ) -> None:
        """Wait for the next prompt, or until somebody is waited for and all of it is shown."""
        prompting = session.stream.prompting
        quiet = self._host.settings.send_quiet

        def at_next_prompt() -> bool:
            return prompting.ended > ended and prompting.phase == "prompt"

        def shown(state: State) -> bool:
            if not waits_for_somebody(state):
                return False
            if state.state == "prompt" and session.marks_itself and not has_read_all(session):
                return False  # the shell has yet to take it
            silent = self._host.loop.time() - session.last_active
            return silent >= (quiet if session.generation > generation else _NO_EFFECT)

        # A question is looked for when it may have come, and when all that was drawn is drawn.
        soon, late = max(0.0, quiet - sum(LOOKS[:2])), max(0.0, _NO_EFFECT - quiet)
        looks = (LOOKS[0], LOOKS[1], soon, 0.0, 0.0, late, 0.0, 0.0, 1.0)
        await settle(session, at_next_prompt, deadline, asks=shown, looks_at=looks)
