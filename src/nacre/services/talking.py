"""Type into a session and return the answer: send, send_key.

Rule: they return when the answer is there: at the shell's next prompt, at a REPL's prompt or a
question; else when it has been quiet; at the latest when the time is over.
"""

from nacre.core.caller import Caller
from nacre.core.keys import UnknownKey, parse_key
from nacre.core.operations import Send, SendKey
from nacre.core.results import Pressed, Sent
from nacre.core.state import State
from nacre.errors import InvalidInput
from nacre.services.host import Host
from nacre.services.registry import Registry
from nacre.services.session import Session
from nacre.services.settling import LOOKS, settle, waits_for_somebody
from nacre.services.views import position, text_since

_KEY_EFFECT = 0.1  # seconds that a key has to show its effect; the document's figure


class Talking:
    def __init__(self, registry: Registry, host: Host) -> None:
        self._registry = registry
        self._host = host

    async def send(self, caller: Caller, request: Send) -> Sent:
        session = self._registry.find(request.session)
        session.require_alive()
        if len(request.text.encode(errors="replace")) > self._host.settings.max_input_bytes:
            raise InvalidInput("text is over max_input_bytes; write it to a file instead")
        if request.timeout_ms > self._host.settings.max_wait * 1000:
            raise InvalidInput("timeout_ms is over the setting max_wait")
        text = _encoded(request.text)
        deadline = self._host.loop.time() + request.timeout_ms / 1000
        await self._drawn(session, deadline)
        line, col = position(session), session.terminal.cursor().col
        ended = session.stream.prompting.ended
        session.write(text + b"\r")
        if request.timeout_ms == 0:
            return Sent(output="", lines=0, alive=session.alive)
        await self._answered(session, ended, deadline)
        output = self._within(text_since(session, line, col), request.max_chars)
        return Sent(output=output, lines=len(output.splitlines()), alive=session.alive)

    async def press(self, caller: Caller, request: SendKey) -> Pressed:
        session = self._registry.find(request.session)
        session.require_alive()
        try:
            press = parse_key(request.key)
        except UnknownKey as error:
            raise InvalidInput(str(error)) from error
        line, col = position(session), session.terminal.cursor().col
        generation = session.generation
        prompting = session.stream.prompting
        ended = prompting.ended
        session.write(session.terminal.encode_key(press))

        def at_next_prompt() -> bool:
            return prompting.ended > ended and prompting.phase == "prompt"

        def answered(state: State) -> bool:
            return session.generation > generation and waits_for_somebody(state)

        until = self._host.loop.time() + _KEY_EFFECT
        await settle(session, at_next_prompt, until, asks=answered)
        output = text_since(session, line, col) if session.generation > generation else ""
        return Pressed(output=self._within(output, None), alive=session.alive)

    async def _drawn(self, session: Session, deadline: float) -> None:
        """Let a prompt that is being drawn come first: what is typed into it shows twice."""
        prompting = session.stream.prompting
        if session.marks_itself and prompting.phase in (None, "drawing"):
            await settle(session, lambda: prompting.phase not in (None, "drawing"), deadline)

    async def _answered(self, session: Session, ended: int, deadline: float) -> None:
        """Wait for the next prompt of a shell with marks, else for a question or silence."""
        prompting = session.stream.prompting
        own = prompting.phase == "prompt"  # the shell itself reads it, not what runs in there
        quiet = self._host.settings.send_quiet

        def at_next_prompt() -> bool:
            return prompting.ended > ended and prompting.phase == "prompt"

        def silent(state: State) -> bool:
            if state.state == "needs_input":
                return True
            if session.marks_itself and prompting.ended == ended:
                runs = prompting.phase == "running" and state.state == "running"
                if prompting.phase == "prompt" or (runs and (own or state.sure)):
                    return False  # the shell is about to read it, or it runs: its end is marked
            since = max(session.last_output, session.last_input)
            return self._host.loop.time() - since >= quiet

        # A question is looked for at once, silence when it has lasted long enough.
        looks = (LOOKS[0], LOOKS[1], max(LOOKS[0], quiet - LOOKS[0] - LOOKS[1]), 0.0, 0.0, 1.0)
        await settle(session, at_next_prompt, deadline, asks=silent, looks_at=looks)

    def _within(self, output: str, max_chars: int | None) -> str:
        budget = max_chars or self._host.settings.max_result_chars
        return output if len(output) <= budget else output[-budget:]


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(f"text is not valid: {error}") from error
