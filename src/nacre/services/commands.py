"""Type and wait, as wsh's callers do it: await_quiesce and run_command.

Rule: run_command returns at the command's end mark where the shell marks its commands, and by
silence only where no mark can come.
"""

import asyncio
from collections.abc import Callable
from typing import Literal

from nacre.core.caller import Caller
from nacre.core.operations import AwaitQuiesce, GetScreen, RunCommand
from nacre.core.quiesce import Quiesce
from nacre.core.results import CommandOutcome, Quiesced, Screen
from nacre.core.state import State
from nacre.errors import Failed, InvalidInput
from nacre.services.host import Host
from nacre.services.input import input_bytes
from nacre.services.registry import Registry
from nacre.services.run import head_and_tail
from nacre.services.session import Session
from nacre.services.settling import settle, waits_for_somebody
from nacre.services.states import look
from nacre.services.views import position, text_since, view_screen
from nacre.services.waits import await_quiet, timed_out


class Commands:
    def __init__(self, registry: Registry, host: Host) -> None:
        self._registry = registry
        self._host = host

    async def quiesce(self, caller: Caller, request: AwaitQuiesce) -> Quiesced:
        session = self._registry.find(request.session)
        await await_quiet(session, self._wait(request, request.last_generation))
        return Quiesced(generation=session.hand_out())

    async def run(self, caller: Caller, request: RunCommand) -> CommandOutcome:
        """Type as it is, and return at the command's end mark; by silence where none can come."""
        session = self._registry.find(request.session)
        wait = self._wait(request, request.last_generation)
        data = input_bytes(request.input, "utf8", self._host.settings.max_input_bytes)
        session.require_alive()
        marked = await self._at_prompt(session, wait.started + wait.max_wait)
        line, col = position(session), session.terminal.cursor().col
        has_enter = data.endswith((b"\r", b"\n"))
        ended = session.stream.prompting.ended
        session.write(data if has_enter else data + b"\r")
        ended_by: Literal["mark", "quiet", "needs_input"] = "quiet"
        try:
            if marked:
                ended_by = await self._await_mark(session, wait, ended)
            else:
                ended_by = await self._await_mark_or_quiet(session, wait, ended)
        except Failed as failure:
            # The caller reasons about the failure by what stood on the screen.
            failure.details["screen"] = self._screen_of(session, request)
            failure.details["output"] = self._output(session, line, col, request)
            failure.details["state"] = look(session)
            raise
        return CommandOutcome(
            screen=self._screen_of(session, request),
            generation=session.hand_out(),
            output=self._output(session, line, col, request),
            exit_code=session.stream.prompting.exit_code if ended_by == "mark" else None,
            cwd=session.cwd,
            ended_by=ended_by,
            state=look(session) if ended_by == "needs_input" else None,
            hint=None if has_enter else "input did not end with Enter: one was added",
        )

    async def _at_prompt(self, session: Session, deadline: float) -> bool:
        """Return whether the shell marks its prompts and is at one; a starting shell is awaited."""
        prompting = session.stream.prompting
        if session.marks_itself and prompting.phase in (None, "drawing"):
            await settle(session, lambda: prompting.phase == "prompt", deadline)
        return prompting.phase == "prompt"

    async def _await_mark(
        self, session: Session, wait: Quiesce, ended: int
    ) -> Literal["mark", "needs_input"]:
        prompting = session.stream.prompting

        def asks(state: State) -> bool:
            # At its own prompt the shell has not yet read what was typed.
            return prompting.phase != "prompt" and waits_for_somebody(state)

        over = _over(session, wait, ended)
        how, _ = await settle(session, over, wait.started + wait.max_wait, asks=asks)
        if how == "exit":
            session.require_alive()
        if how == "deadline":
            raise timed_out(session, wait.max_wait)
        return "mark" if how == "done" else "needs_input"

    async def _await_mark_or_quiet(
        self, session: Session, wait: Quiesce, ended: int
    ) -> Literal["mark", "quiet"]:
        """What runs there got an answer: it may end by it, and that is marked."""
        over = _over(session, wait, ended)
        quiet = asyncio.create_task(await_quiet(session, wait))
        mark = asyncio.create_task(_until(session, over, wait.started + wait.max_wait))
        try:
            await asyncio.wait((quiet, mark), return_when=asyncio.FIRST_COMPLETED)
            if over():
                return "mark"
            session.require_alive()  # it was, when it was typed into
            await quiet
            return "quiet"
        finally:
            quiet.cancel()
            mark.cancel()
            await asyncio.gather(quiet, mark, return_exceptions=True)

    def _output(self, session: Session, line: int, col: int, request: RunCommand) -> str:
        lines = text_since(session, line, col).split("\n")
        return head_and_tail(lines, self._host.budget(request.max_chars))[0]

    def _screen_of(self, session: Session, request: RunCommand) -> Screen:
        screen = GetScreen(session=0, format=request.format)
        return view_screen(session, screen, self._host.budget(request.max_chars))

    def _wait(self, request: AwaitQuiesce | RunCommand, after: int | None) -> Quiesce:
        longest = self._host.settings.max_wait
        for name, value in (
            ("timeout_ms", request.timeout_ms),
            ("max_wait_ms", request.max_wait_ms),
        ):
            if value > longest * 1000:
                raise InvalidInput(
                    f"{name} may be at most {round(longest * 1000)} (setting max_wait); "
                    "wait several times with last_generation instead"
                )
        now = self._host.loop.time()
        return Quiesce(
            started=now,
            quiet=request.timeout_ms / 1000,
            max_wait=request.max_wait_ms / 1000,
            after_generation=after,
            # What was silent before a command was sent says nothing about the command.
            since=now if isinstance(request, RunCommand) else float("-inf"),
        )


def _over(session: Session, wait: Quiesce, ended: int) -> Callable[[], bool]:
    """Return whether a command has ended since, and the shell is at its next prompt."""

    def over() -> bool:
        newer = wait.after_generation is None or session.generation > wait.after_generation
        return (
            newer
            and session.stream.prompting.ended > ended
            and session.stream.prompting.phase == "prompt"
        )

    return over


async def _until(session: Session, holds: Callable[[], bool], deadline: float) -> None:
    loop = asyncio.get_running_loop()
    while not holds() and session.alive and loop.time() < deadline:
        await session.next_change(deadline, output=True)
