"""Run commands to their end, wherever the session stands: native shell, ssh, nested shell, REPL.

Rule 1: the end is known by a mark where one can come, by the prompt of a REPL where none can; never
by silence. The result says which.
Rule 2: one run at a time in a session: a second one is told that it is busy. A run that has brought
up something which itself waits for commands (ssh, python) does not count: the next goes in there.
Rule 3: a run whose time is over goes on, and can be waited for by its id.
"""

import asyncio
from typing import Literal

import msgspec

from nacre.core.caller import Caller
from nacre.core.operations import ReadRun
from nacre.core.operations import Run as RunRequest
from nacre.core.results import RunOutcome, RunPage
from nacre.core.state import State
from nacre.core.veil import Veil
from nacre.core.wrapper import report
from nacre.errors import InvalidInput
from nacre.services.host import Host
from nacre.services.ledger import Ledger
from nacre.services.prompts import (
    NEXT_PROMPT,
    await_prompt,
    context_at,
    pattern,
    shown_pattern,
    tell_read,
)
from nacre.services.registry import Registry
from nacre.services.repl import run_in_repl, without_prompt
from nacre.services.run import Run
from nacre.services.sending import START_MARK, Sender, never, pasted
from nacre.services.session import Session
from nacre.services.settling import LOOKS, settle, waits_for_somebody
from nacre.services.states import look

_FISH_READS = 1.5  # seconds after which a line that fish has not started is one it cannot
_INTERRUPTS = 5  # times that Ctrl+C is sent to a shell that waits for the rest of a command

_ERASE_LINE = b"\r\x1b[K"


class Runs:
    def __init__(self, registry: Registry, ledger: Ledger, host: Host) -> None:
        self._registry = registry
        self._ledger = ledger
        self._host = host
        self._locked: set[str] = set()  # sessions in which a call is under way
        self._sender = Sender(host)

    # --- the operation ---------------------------------------------------------------------

    async def run(self, caller: Caller, request: RunRequest) -> RunOutcome:
        session = self._registry.find(request.session)
        session.require_alive()
        command = self._checked(request)
        if session.identity.id in self._locked:
            return self._refusal("busy", session, "another run is under way in this session")
        self._locked.add(session.identity.id)
        try:
            return await self._run(session, command, request)
        finally:
            self._locked.discard(session.identity.id)

    def forget_session(self, identifier: str) -> None:
        self._ledger.forget_session(identifier)
        self._sender.forget_session(identifier)

    def is_locked(self, session: Session) -> bool:
        return session.identity.id in self._locked

    async def read(self, caller: Caller, request: ReadRun) -> RunPage:
        run = self._ledger.find(request.run_id)
        budget = self._host.budget(request.max_chars)
        lines, total = await self._page(run, request.offset, request.limit)
        kept = _first_within(lines, budget)
        return RunPage(
            run_id=run.id,
            output="\n".join(kept),
            offset=request.offset,
            lines=len(kept),
            total_lines=total,
            finished=run.done,
            exit_code=run.exit_code,
            lost_bytes=run.spool.lost if run.spool else 0,
        )

    async def _page(self, run: Run, offset: int, limit: int) -> tuple[list[str], int]:
        spool = run.spool
        if spool is None:
            text, _ = run.text(1 << 60)
            lines = text.split("\n") if text else []
            return lines[offset : offset + limit], len(lines)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            None, lambda: spool.page(offset, limit, run.cols, finished=run.done)
        )

    # --- one run ---------------------------------------------------------------------------

    async def _run(self, session: Session, command: str, request: RunRequest) -> RunOutcome:
        now = self._host.loop.time()
        deadline = now + request.timeout_ms / 1000
        # The prompt that is about to come is waited for also by who wants to wait for nothing else.
        soon = max(deadline, now + NEXT_PROMPT)
        state = await await_prompt(session, self._ledger.last(session), soon)
        state = tell_read(session, self._ledger.innermost(session), state)
        if not session.alive:
            session.require_alive()
        self._ledger.drop_ended(session)
        context = context_at(session, state)
        if context is None:
            status: Literal["busy", "error"] = "busy" if state.state == "running" else "error"
            return self._refusal(status, session, state.hint, state)
        run = self._ledger.begin(session, context, command)
        if context == "repl":
            return await self._run_in_repl(session, run, command, request, deadline)
        if context == "native":
            await self._sender.native(session, run, command)
        else:
            await self._sender.wrapped(session, run, command, deadline)
        return await self._finish(session, run, request, deadline)

    # --- waiting ---------------------------------------------------------------------------

    async def _finish(
        self, session: Session, run: Run, request: RunRequest, deadline: float
    ) -> RunOutcome:
        prompting = session.stream.prompting

        def incomplete() -> bool:
            return run.context == "native" and prompting.phase == "continuation"

        def asks(state: State) -> bool:
            # Until it has started, the prompt is still the one that it was typed at.
            return waits_for_somebody(state) and (run.started_by_mark or state.state != "prompt")

        def unread() -> bool:
            """fish marks no continuation: it shows the line again and waits for the rest."""
            typed = run.context == "native" and not run.starts_by_wrapper
            return typed and not run.started_by_mark and session.launch.program == "fish"

        soon = deadline
        if unread():
            soon = min(deadline, self._host.loop.time() + _FISH_READS)
        how, state = await settle(session, lambda: run.done or incomplete(), soon, asks=asks)
        if how == "deadline" and soon < deadline and not unread():
            how, state = await settle(session, lambda: run.done, deadline, asks=asks)
        if incomplete() or (how == "deadline" and unread() and soon < deadline):
            return await self._take_back(session, run)
        if how == "needs_input" and state is not None:
            state = tell_read(session, self._ledger.innermost(session), state)
            await self._ask_whether_over(session, run, state)
        budget = self._host.budget(request.max_chars)
        if how == "exit":
            ending = session.ending
            run.finish("exit", ending.exit_code if ending else None)
        if run.done:
            self._ledger.drop_ended(session)
            outcome = run.outcome("completed", budget)
            if run.ended_by == "exit":
                ended = "the shell that it ran in has ended"
                if not session.alive:
                    ended = f"the session's process has ended ({session.ending})"
                return msgspec.structs.replace(outcome, hint=ended)
            return outcome
        session.stream.lift_veil()
        return self._unfinished(run, how, state, budget)

    async def revisit(self, run: Run) -> None:
        """Find out whether a run that was left is over although no mark said so: after Ctrl+C."""
        session = run.session
        quiet = self._host.loop.time() - max(session.last_output, session.last_input)
        if run.done or not session.alive or self.is_locked(session) or quiet < sum(LOOKS[:2]):
            return
        self._locked.add(session.identity.id)
        try:
            await self._ask_whether_over(session, run, look(session))
        finally:
            self._locked.discard(session.identity.id)

    async def _ask_whether_over(self, session: Session, run: Run, state: State) -> None:
        """Ask the shell itself, but only where the very prompt stands that the run was sent at."""
        if run.context != "wrapped" or not run.shell_id or run.elsewhere:
            return
        if state.program != run.program:  # `exec bash`
            return
        same = shown_pattern(session) == pattern(run.prompt)
        if state.state != "prompt" or not run.prompt.strip() or not same:
            return
        run.recording = False
        session.stream.hide_echo(Veil(run.nonce, _ERASE_LINE, "E"))
        session.write(pasted(session, report(run.kind, run.nonce)), recorded=b"")
        until = self._host.loop.time() + START_MARK
        await settle(session, lambda: run.done or run.elsewhere, until, asks=never)
        session.stream.lift_veil()
        run.recording = not run.done

    async def _take_back(self, session: Session, run: Run) -> RunOutcome:
        """The shell asks for the rest of a command that has none: leave it as it was."""
        generation = session.generation
        is_fish = session.launch.program == "fish"  # which marks no end of what never ran

        def back() -> bool:
            ended = session.generation > generation if is_fish else run.done
            return ended and session.stream.prompting.phase == "prompt"

        for _ in range(_INTERRUPTS):  # a key that comes before the shell listens is lost
            session.write(b"\x03")
            until = self._host.loop.time() + START_MARK / _INTERRUPTS
            how, _ = await settle(session, back, until, asks=never)
            if how == "done":
                break
        run.finish("prompt", None)
        self._ledger.drop_ended(session)
        hint = "the command is incomplete (an open quote, bracket or block); nothing was run"
        return self._refusal("error", session, hint)

    def _unfinished(self, run: Run, how: str, state: State | None, budget: int) -> RunOutcome:
        waits = how == "needs_input"
        hint = state.hint if state is not None and state.hint else None
        if state is not None and state.state == "prompt":
            hint = "it brought up a shell: the next run goes in there, exit leaves it"
        if hint is None:
            hint = (
                f"it goes on: wait for it with wait_for(run_id={run.id!r}), "
                "read it with read, or interrupt it with ctrl+c"
            )
        return msgspec.structs.replace(
            run.outcome("timeout", budget, state),
            ended_by="needs_input" if waits else "deadline",
            hint=hint,
        )

    # --- REPLs -----------------------------------------------------------------------------

    async def _run_in_repl(
        self, session: Session, run: Run, command: str, request: RunRequest, deadline: float
    ) -> RunOutcome:
        prompt = shown_pattern(session)
        how, state = await run_in_repl(session, run, command, prompt, deadline)
        budget = self._host.budget(request.max_chars)
        if how == "exit":
            run.finish("exit", session.ending.exit_code if session.ending else None)
        if run.done:
            self._ledger.drop_ended(session)
            outcome = run.outcome("completed", budget)
            return msgspec.structs.replace(
                outcome,
                output=without_prompt(outcome.output, command, prompt),
                hint="a REPL gives no exit code",
            )
        return self._unfinished(run, how, state, budget)

    # --- refusals --------------------------------------------------------------------------

    def _refusal(
        self,
        status: Literal["busy", "error"],
        session: Session,
        hint: str | None,
        state: State | None = None,
    ) -> RunOutcome:
        run = self._ledger.innermost(session)
        return RunOutcome(
            output="",
            exit_code=None,
            status=status,
            run_id=run.id if run is not None else None,
            cwd=session.cwd,
            state=state or look(session),
            hint=hint or "a command is running: wait for it, or interrupt it with ctrl+c",
        )

    def _checked(self, request: RunRequest) -> str:
        command = request.command.strip("\r\n")
        if not command.strip():
            raise InvalidInput("command is empty")
        if "\0" in command:
            raise InvalidInput("a NUL character cannot be part of a command")
        if len(command.encode(errors="replace")) > self._host.settings.max_input_bytes:
            raise InvalidInput("command is over max_input_bytes; write it to a file and run that")
        if request.timeout_ms > self._host.settings.max_wait * 1000:
            raise InvalidInput("timeout_ms is over the setting max_wait; wait again by run_id")
        return command


def _first_within(lines: list[str], budget: int) -> list[str]:
    used = 0
    for index, line in enumerate(lines):
        used += len(line) + 1
        if used > budget + 1:
            return lines[: max(1, index)]
    return lines
