"""The operations send and send_key: type into a session, and return its answer.

Rule: they return when the answer is complete: at the next prompt of a shell or REPL, at a question,
or else when the session is quiet, but never later than the timeout.
"""

from typing import TypeVar

from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.keys.names import UnknownKey, parse_key
from nacre.core.operations.results import Pressed, Sent
from nacre.core.operations.runs import Send, SendKey
from nacre.core.shell.marks import Prompt
from nacre.core.shell.state import State
from nacre.core.shell.typed import is_empty
from nacre.core.text.budget import json_chars, json_size, last_text
from nacre.errors import BadParameter, InvalidInput
from nacre.services.dispatch.handlers import Handlers
from nacre.services.dispatch.permit import type_into
from nacre.services.host.host import Host
from nacre.services.host.wait import refuse_longer_waits
from nacre.services.observe.first_prompt import after_first_prompt
from nacre.services.observe.settle import LOOKS, settle, waits_for_somebody
from nacre.services.observe.state import look
from nacre.services.observe.views import position, text_since
from nacre.services.registry.registry import Registry
from nacre.services.runs.prompt import has_read_all, leave_vi_commands
from nacre.services.session.session import Session
from nacre.wording import Hint, Use

_COUNTS = 50  # characters of an answer's counts of lines
_FACTS = 100  # characters of the other fields of what read_output returns
_KEY_EFFECT = 0.1  # seconds for a key to show its effect; SILC's figure

AnsweredT = TypeVar("AnsweredT", Sent, Pressed)


class Sends:
    def __init__(self, registry: Registry, host: Host) -> None:
        self._registry = registry
        self._host = host

    def handlers(self) -> Handlers:
        return Handlers().on(Send, self.send).on(SendKey, self.press)

    async def send(self, caller: Caller, request: Send) -> Sent:
        session = self._registry.find(request.session)
        session.require_alive()
        if len(request.text.encode(errors="replace")) > self._host.settings.max_input_bytes:
            raise BadParameter("text", "is over max_input_bytes", "write it to a file instead")
        refuse_longer_waits(self._host, "timeout_ms", request.timeout_ms)
        text = _encoded(request.text)
        deadline = self._host.loop.time() + request.timeout_ms / 1000
        async with after_first_prompt(session, text + b"\r", self._host) as driven:
            if driven:  # by a person meanwhile: its time starts again
                deadline = self._host.loop.time() + request.timeout_ms / 1000
            await leave_vi_commands(session, request.text)
            line, col = position(session), session.terminal.cursor().col
            place, generation = session.stream.prompting.place, session.hand_out()
            await type_into(session, text + b"\r")
        if request.timeout_ms == 0:
            return Sent(output="", lines=0, alive=session.alive, generation=generation)
        await self._answered(session, place, deadline, request.text)
        facts = Sent(
            output="",
            lines=0,
            alive=session.alive,
            generation=session.hand_out(),
            state=look(session),
        )
        kept = self._within(session, facts, *text_since(session, line, col), request.max_chars)
        return replace(kept, lines=len(kept.output.splitlines()))

    async def press(self, caller: Caller, request: SendKey) -> Pressed:
        session = self._registry.find(request.session)
        session.require_alive()
        try:
            press = parse_key(request.key)
        except UnknownKey as error:
            raise InvalidInput(str(error)) from error
        line, col = position(session), session.terminal.cursor().col
        generation = session.hand_out()
        prompting = session.stream.prompting
        ended = prompting.ended
        await type_into(session, session.terminal.encode_key(press))

        def at_next_prompt() -> bool:
            return prompting.ended > ended and prompting.phase == "prompt"

        def answered(state: State) -> bool:
            if session.generation == generation or not waits_for_somebody(state):
                return False
            # A shell may still draw its prompt anew, as after ctrl+c.
            return state.state != "prompt" or has_read_all(session)

        until = self._host.loop.time() + _KEY_EFFECT
        await settle(session, at_next_prompt, until, asks=answered)
        since = text_since(session, line, col) if session.generation > generation else ("", 0)
        facts = Pressed(
            output="", alive=session.alive, generation=session.hand_out(), state=look(session)
        )
        return self._within(session, facts, *since, None)

    async def _answered(self, session: Session, before: Prompt, deadline: float, text: str) -> None:
        """Wait for the next prompt of a shell with marks, else for a question or quiet."""
        prompting, ended = session.stream.prompting, before.ended
        several = "\n" in text.strip()
        own = prompting.phase == "prompt"  # the shell itself reads it, not a program in it
        quiet = self._host.settings.send_quiet

        def at_next_prompt() -> bool:
            if prompting.phase != "prompt":
                return False
            if prompting.ended == ended:
                # Without hooks, and for an empty line in fish, no end is told; a prompt is drawn.
                unmarked = prompting.hurt or is_empty(text)
                return unmarked and prompting.shown > before.shown and has_read_all(session)
            return not several or has_read_all(session)  # the first line's end is not the last's

        def silent(state: State) -> bool:
            if state.state == "needs_input":
                return True
            if session.marks_itself and prompting.ended == ended:
                runs = prompting.phase == "running" and state.state == "running"
                if prompting.phase == "prompt" or (runs and (own or state.sure)):
                    return False  # the shell will read it, or runs it: its end is marked
            since = session.last_active
            return self._host.loop.time() - since >= quiet

        # Check for a question at once, for quiet when it has lasted long enough.
        looks = (LOOKS[0], LOOKS[1], max(LOOKS[0], quiet - LOOKS[0] - LOOKS[1]), 0.0, 0.0, 1.0)
        await settle(session, at_next_prompt, deadline, asks=silent, looks_at=looks)

    def _within(
        self, session: Session, facts: AnsweredT, output: str, dropped: int, max_chars: int | None
    ) -> AnsweredT:
        """Add the last lines that fit, and how many are left out; one that is longer is cut."""
        budget = self._host.budget(max_chars) - _COUNTS
        lines = output.split("\n") if output else []
        kept, omitted = last_text(lines, budget - json_size(facts))
        if omitted:
            told = replace(facts, hint=_earlier(session, output, len(lines), omitted))
            kept, omitted = last_text(lines, budget - json_size(told))
            facts = replace(facts, hint=_earlier(session, output, len(lines), omitted))
        return replace(facts, output="\n".join(kept), omitted_lines=dropped + omitted)


def _earlier(session: Session, output: str, lines: int, omitted: int) -> Hint:
    size = json_chars(output) + _COUNTS + _FACTS
    params = {"session": session.identity.name, "lines": lines, "max_chars": size}
    return Hint(f"{omitted} earlier lines are left out", Use("read_output", "read them", params))


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise BadParameter("text", f"is not valid: {error}") from error
