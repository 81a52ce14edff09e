"""The operations run and read_run: run a command to its end, whatever the session is doing.

A run takes these steps: the prompt at which it is sent (prompt.py), its entry in the ledger
(ledger.py), the delivery to the shell (delivery.py, repl.py), the wait for its end (run_wait.py).

Rule 1: the end is known by a mark if one can come, else by the prompt of a REPL, never by quiet.
The result says which.
Rule 2: one run at a time in a session; a second one gets the status busy. A run that started
something which takes commands itself (ssh, python) does not count: the next run goes in there.
Rule 3: after its timeout a run continues, and callers can wait for it by its id.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Literal, TypeVar

from msgspec.structs import replace

from nacre.core.catalog.caller import Caller
from nacre.core.operations.results import RunOutcome, RunPage
from nacre.core.operations.runs import ReadRun, Run
from nacre.core.operations.steps import interrupt, wait_for_run
from nacre.core.shell.state import State
from nacre.core.text.budget import first_text, json_size
from nacre.core.text.pattern import RE2, LineFinder, PatternError
from nacre.core.text.redaction import redact_lines
from nacre.errors import BadParameter, ControlHeld, InvalidInput, PolicyDenied
from nacre.services.dispatch.forwarding.relay import relay_of_call
from nacre.services.dispatch.handlers import Handlers
from nacre.services.dispatch.permit import turn
from nacre.services.host.host import Host
from nacre.services.host.wait import refuse_longer_waits
from nacre.services.observe.settle import LOOKS
from nacre.services.observe.state import look
from nacre.services.registry.registry import Registry
from nacre.services.runs.ask_shell import state_told, state_told_of
from nacre.services.runs.delivery import Delivery
from nacre.services.runs.ledger import Ledger
from nacre.services.runs.outputs.finding import Search, SearchOutcome, search_lines
from nacre.services.runs.piped_input import piped_input
from nacre.services.runs.prompt import (
    NEXT_PROMPT,
    await_prompt,
    context_at,
    has_read_all,
    is_half_drawn,
    tell_read_soon,
)
from nacre.services.runs.run import TrackedRun
from nacre.services.runs.run_wait import IncompleteCommand, RunWait
from nacre.services.session.session import Session
from nacre.wording import Higher, Hint, also

_LONGER_RUNS = "a command that takes longer goes on, and its answer says how to wait for it"
_FOUND_FACTS = 300  # characters of the other fields of an answer with what was found
_ALONE = Hint("the lines around the match are left out", Higher("max_chars", "get them"))
_AROUND = 64  # lines around a page that are looked at for keys that begin or end outside of it
_READERS = 2  # threads that read outputs at once: a search may take its time

ReadT = TypeVar("ReadT")


class Runs:
    def __init__(self, registry: Registry, ledger: Ledger, host: Host) -> None:
        self._registry = registry
        self._ledger = ledger
        self._host = host
        self._readers = asyncio.Semaphore(_READERS)
        self._locked: set[str] = set()  # sessions with a call in progress
        self.delivery = Delivery(host)
        self.wait = RunWait(ledger, host)

    def handlers(self) -> Handlers:
        return Handlers().on(Run, self.run).on(ReadRun, self.read)

    # --- the operations --------------------------------------------------------------------

    async def run(self, caller: Caller, request: Run) -> RunOutcome:
        session = self._registry.find(request.session)
        session.require_alive()
        command = self._checked(request)
        if session.identity.id in self._locked:
            return self._refusal("busy", session, "another run is under way in this session")
        before = session.generation
        with self.lock(session):
            outcome = await self._run(session, command, request)
        if request.since_generation is None:
            return outcome
        return replace(outcome, changed_before=before > request.since_generation)

    async def run_script(
        self, session: Session, command: str, shown: str, timeout_ms: int, max_chars: int
    ) -> RunOutcome:
        """Run a command of nacre's own for a call, in a shell and not in a REPL.

        People and the audit are shown other words. Who calls this holds the session's lock.
        """
        request = Run(
            session=session.identity.id,
            command=command,
            timeout_ms=timeout_ms,
            max_chars=max_chars,
        )
        return await self._run(session, command, request, shown)

    async def read(self, caller: Caller, request: ReadRun) -> RunPage:
        run = await self._ledger.with_output(request.run_id)
        if request.find is not None:
            return await self._find(run, request, request.find)
        lines, total = await self._page(run, request.offset, request.limit)
        facts = RunPage(
            run_id=run.id,
            offset=request.offset,
            lines=len(lines),
            total_lines=total,
            finished=run.done,
            exit_code=run.exit_code,
            lost_bytes=run.output.lost + run.output.lost_before,
            output="",
        )
        if (missing := run.output.missing) is not None:
            facts = replace(facts, hint=missing)
        budget = self._host.budget(request.max_chars)
        kept = first_text(lines, budget - json_size(facts))
        if kept != lines[: len(kept)]:  # not even one line fits
            told = f"line {request.offset} is cut: it is too long for the answer"
            facts = replace(facts, hint=Hint(told, Higher("max_chars", "get it whole")))
            kept = first_text(lines, budget - json_size(facts))
        return replace(facts, output="\n".join(kept), lines=len(kept))

    async def _page(self, run: TrackedRun, offset: int, limit: int) -> tuple[list[str], int]:
        spool = run.output.spool
        if spool is None:
            await run.output.prepare(self._host.renderers)
            lines = redact_lines(run.output.lines())
            return lines[offset : offset + limit], len(lines)

        def page() -> tuple[list[str], int]:
            output, total = spool.look_through(finished=run.done)
            above = min(offset, _AROUND)
            lines = redact_lines(output.page(offset - above, above + limit + _AROUND))
            return lines[above : above + limit], total

        return await self._beside(run, page)

    async def _find(self, run: TrackedRun, request: ReadRun, wanted: str) -> RunPage:
        """Search from a line on, within the time and the budget of an answer."""
        settings = self._host.settings
        search = Search(
            _finder(wanted, settings.max_pattern_chars, regex=request.regex),
            request.context,
            request.max_matches,
            self._host.budget(request.max_chars) - _FOUND_FACTS,
            settings.find_time,
        )
        spool = run.output.spool

        if spool is None:
            await run.output.prepare(self._host.renderers)
        lines = run.output.lines() if spool is None else []

        def find() -> tuple[SearchOutcome, int]:
            if spool is None:
                return search_lines(search, lines, request.offset), len(lines)
            output, total = spool.look_through(finished=run.done)
            texts = output.texts(request.offset, search.finder.needles)
            return search.run(texts, output.page, total), total

        found, total = await self._beside(run, find)
        return RunPage(
            run_id=run.id,
            output="",
            offset=request.offset,
            lines=len(found.lines),
            total_lines=total,
            finished=run.done,
            exit_code=run.exit_code,
            lost_bytes=run.output.lost + run.output.lost_before,
            hint=also(run.output.missing, _ALONE if found.alone else None),
            next_offset=found.next_offset,
            matches=found.lines,
        )

    async def _beside(self, run: TrackedRun, read: Callable[[], ReadT]) -> ReadT:
        """Read in a thread; the others have threads left. Raises InvalidInput for an old run."""
        async with self._readers:
            try:
                context = copy_context()  # what it cuts is redacted for this call
                return await self._host.loop.run_in_executor(None, context.run, read)
            except FileNotFoundError:
                self._ledger.find(run.id)  # it has aged out meanwhile
                raise

    # --- sessions --------------------------------------------------------------------------

    def is_locked(self, session: Session) -> bool:
        return session.identity.id in self._locked

    def keeps_others_out(self, session: Session, state: State) -> bool:
        """Whether a run has not ended, and no other can start; also one whose call timed out."""
        run = self._ledger.innermost(session)
        if self.is_locked(session) or run is None or run.done or not session.alive:
            return self.is_locked(session)
        return context_at(session, state) is None or self.wait.goes_on(run, state)

    @contextmanager
    def lock(self, session: Session) -> Iterator[None]:
        """Let nobody else begin a command in a session meanwhile."""
        self._locked.add(session.identity.id)
        try:
            yield
        finally:
            self._locked.discard(session.identity.id)

    def forget_session(self, identifier: str) -> None:
        self._ledger.forget_session(identifier)
        self.delivery.forget_session(identifier)
        self.wait.forget_session(identifier)

    async def revisit(self, run: TrackedRun) -> None:
        """Find out whether an unattended run is over although no mark said so, as after Ctrl+C."""
        session = run.session
        quiet = self._host.loop.time() - session.last_active
        if run.done or not session.alive or self.is_locked(session) or quiet < sum(LOOKS[:2]):
            return
        with self.lock(session):
            state = look(session)
            self.wait.note_prompt(run, state)
            await self.delivery.leave_unread(run, self._host.loop.time())
            await self.wait.ask_whether_over(run, state)
            if run.may_be_unsent and state.state == "prompt" and has_read_all(session):
                run.prompt_is_back()  # its shell has nothing left to read, and ran nothing
                self._ledger.drop_ended(session)

    # --- one run ---------------------------------------------------------------------------

    async def _run(
        self, session: Session, command: str, request: Run, shown: str | None = None
    ) -> RunOutcome:
        now = self._host.loop.time()
        deadline = now + request.timeout_ms / 1000
        # Wait for a prompt that is about to come, even if the timeout is zero.
        soon = max(deadline, now + NEXT_PROMPT)
        state = await await_prompt(session, self._ledger.last(session), soon)
        while await turn(session):  # a person drove it meanwhile: its time starts again
            now = self._host.loop.time()
            deadline, soon = now + request.timeout_ms / 1000, now + NEXT_PROMPT
            state = await await_prompt(session, self._ledger.last(session), max(deadline, soon))
        innermost = self._ledger.innermost(session)
        if state.unmarked and innermost is not None and not innermost.done:
            state = await state_told_of(innermost, max(deadline, soon))
        elif state.unmarked or is_half_drawn(session, state):
            state = await state_told(session, max(deadline, soon))
        state = await tell_read_soon(session, innermost, state)
        if not session.alive:
            session.require_alive()
        self.wait.note_prompt(innermost, state)
        if innermost is not None and await self.delivery.leave_unread(innermost, soon):
            state = await await_prompt(session, innermost, soon)
        if innermost is not None and self.wait.goes_on(innermost, state):
            await self.wait.ask_whether_over(innermost, state)
        self._ledger.drop_ended(session)
        if self.wait.goes_on(self._ledger.innermost(session), state):
            return self._refusal("busy", session, None, state)
        context = context_at(session, state)
        if context is None:
            status: Literal["busy", "error"] = "busy" if state.state == "running" else "error"
            return self._refusal(status, session, state.hint, state)
        if context == "repl" and shown is not None:
            return self._refusal("error", session, "a REPL is there, not a shell", state)
        fed_by = piped_input(session, context) if shown is None else None
        run = self._ledger.begin(session, context, shown or command)
        run.request.shown, run.request.fed_by = shown, fed_by
        relay = None if shown is not None else relay_of_call()  # nobody follows a script of ours
        if relay is not None and relay.begun is not None:
            relay.begun(run.id)
        budget = self._host.budget(request.max_chars)
        try:
            if context == "repl":
                return await self.wait.in_repl(run, command, deadline, budget)
            await self._deliver(run, command, deadline)
            return await self.wait.in_shell(run, deadline, budget)
        except IncompleteCommand as incomplete:
            return self._refusal("error", session, str(incomplete))

    async def _deliver(self, run: TrackedRun, command: str, deadline: float) -> None:
        try:
            if run.request.context == "native":
                await self.delivery.native(run.session, run, command)
            else:
                await self.delivery.wrapped(run.session, run, command, deadline)
        except (ControlHeld, PolicyDenied):
            self._give_up(run)
            raise

    def _give_up(self, run: TrackedRun) -> None:
        """A person took over before the command was typed to its end: it will not run."""
        run.session.stream.lift_veil()
        run.prompt_is_back()
        self._ledger.drop_ended(run.session)

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
            hint=hint or _running(session, run),
        )

    def _checked(self, request: Run) -> str:
        command = _without_line_ends(request.command)
        if not command.strip():
            raise BadParameter("command", "is empty", "give the command that is to run")
        if "\0" in command:
            raise InvalidInput("a NUL character cannot be part of a command")
        if len(command.encode(errors="replace")) > self._host.settings.max_input_bytes:
            raise BadParameter(
                "command", "is over max_input_bytes", "write it to a file and run that"
            )
        refuse_longer_waits(self._host, "timeout_ms", request.timeout_ms, _LONGER_RUNS)
        return command


def _without_line_ends(text: str) -> str:
    """Leave out the line ends around a command; the last line may be continued by nothing."""
    command = text.strip("\r\n")
    backslashes = len(command) - len(command.rstrip("\\"))
    continued = backslashes % 2 == 1 and text.rstrip("\r\n") != text
    return command[:-1] if continued else command


def _finder(wanted: str, most: int, *, regex: bool) -> LineFinder:
    """`most` is how many characters it may have."""
    if len(wanted) > most:
        raise BadParameter("find", f"must be at most {most} characters (max_pattern_chars)")
    if "\n" in wanted or "\r" in wanted:
        raise BadParameter("find", "is looked for in each line", "leave out the line's end")
    try:
        return LineFinder(wanted, regex=regex)
    except PatternError as error:
        raise BadParameter("find", f"is not valid: {error}", RE2) from error


def _running(session: Session, run: TrackedRun | None) -> Hint:
    name = session.identity.name
    wait = "wait for it" if run is None else wait_for_run(name, run.id)
    return Hint("a command is running", wait, interrupt(name))
