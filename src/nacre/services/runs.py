"""Run commands to their end, wherever the session stands: native shell, ssh, nested shell, REPL.

Rule 1: the end is known by a mark where one can come, by the prompt of a REPL where none can; never
by silence. The result says which.
Rule 2: one run at a time in a session: a second one is told that it is busy. A run that has brought
up something which itself waits for commands (ssh, python) does not count: the next goes in there.
Rule 3: a run whose time is over goes on, and can be waited for by its id.
"""

import asyncio
import os
import re
from collections import OrderedDict
from functools import partial
from typing import Literal

import msgspec

from nacre.core.caller import Caller
from nacre.core.events import RunEvent
from nacre.core.operations import ReadRun
from nacre.core.operations import Run as RunRequest
from nacre.core.results import RunOutcome, RunPage
from nacre.core.state import State, asks_for_line
from nacre.core.veil import Veil
from nacre.core.wrapper import report
from nacre.errors import InvalidInput
from nacre.services.host import Host
from nacre.services.kept import KeptRun
from nacre.services.registry import Registry
from nacre.services.run import Run
from nacre.services.sending import START_MARK, Sender, never, pasted
from nacre.services.session import Session
from nacre.services.settling import LOOKS, settle, waits_for_somebody
from nacre.services.spool import Spool
from nacre.services.states import line_before_cursor, look
from nacre.system.journal import outputs

_INTERRUPT_EFFECT = 0.3  # seconds that a program has to end after a key, before it counts as busy
_REPL_LOOKS = (0.01, 0.01, 0.03, 0.2, 1.0)  # seconds: a REPL's prompt is on the screen or it is not
_FISH_READS = 1.5  # seconds after which a line that fish has not started is one it cannot
_NEXT_PROMPT = 1.0  # seconds that a shell has to draw its prompt
_INTERRUPTS = 5  # times that Ctrl+C is sent to a shell that waits for the rest of a command
_PROMPT_LOOKS = (0.0005, 0.001, 0.004, 0.03, 0.2)  # seconds; a prompt follows a run at once


_CONTINUATION = re.compile(r"\s*[.\-|>]+\s*")  # python's ..., sqlite's ...>

_KEPT_RUNS = 24  # of a session, that a daemon's death does not lose

_ERASE_LINE = b"\r\x1b[K"


class Runs:
    def __init__(self, registry: Registry, host: Host) -> None:
        self._registry = registry
        self._host = host
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._stacks: dict[str, list[Run]] = {}  # by session id, the innermost last
        self._last: dict[str, Run] = {}  # by session id
        self._locked: set[str] = set()  # sessions in which a call is under way
        self._kept: dict[str, OrderedDict[str, bytes]] = {}  # by session id, packed, by run id
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
        self._stacks.pop(identifier, None)
        self._last.pop(identifier, None)
        self._kept.pop(identifier, None)
        self._sender.forget_session(identifier)

    def is_locked(self, session: Session) -> bool:
        return session.identity.id in self._locked

    def find(self, run_id: str) -> Run:
        """Raises InvalidInput for a run that is unknown or aged out."""
        run = self._runs.get(run_id)
        if run is None:
            raise InvalidInput(f"no run {run_id!r}: it is unknown, or it has aged out")
        if run.stale:
            self._catch_up(run)
        return run

    async def read(self, caller: Caller, request: ReadRun) -> RunPage:
        run = self.find(request.run_id)
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
        state = await self._ready(session, max(deadline, now + _NEXT_PROMPT))
        if not session.alive:
            session.require_alive()
        self._drop_ended(session)
        context = self._context(session, state)
        if context is None:
            status: Literal["busy", "error"] = "busy" if state.state == "running" else "error"
            return self._refusal(status, session, state.hint, state)
        run = self._begin(session, context)
        run.when_done = partial(self._tell_end, run, command)
        self._tell(session, RunEvent(status="started", run_id=run.id, command=command))
        try:
            if context == "native":
                await self._sender.native(session, run, command)
            elif context == "wrapped":
                await self._sender.wrapped(session, run, command, deadline)
            else:
                return await self._run_in_repl(session, run, command, request, deadline)
            return await self._finish(session, run, request, deadline)
        finally:
            run.waited_for = False

    async def _ready(self, session: Session, deadline: float) -> State:
        """Wait for the prompt that is about to come: of a shell that starts or just ended a run."""
        prompting = session.stream.prompting

        def at_prompt() -> bool:
            return prompting.phase in ("prompt", "continuation")

        integrated = session.marks_itself
        if integrated and prompting.phase in (None, "drawing"):
            await settle(session, at_prompt, deadline, asks=_takes_commands)
        state = look(session)
        soon = min(deadline, session.last_input + _INTERRUPT_EFFECT)
        looks_at: tuple[float, ...] = LOOKS
        if (ended := self._ended_at(session)) is not None:
            soon, looks_at = min(deadline, max(soon, ended + _NEXT_PROMPT)), _PROMPT_LOOKS
        if state.state == "running" and session.generation == 0:
            soon = deadline
        if not _takes_commands(state) and self._host.loop.time() < soon:
            await settle(session, at_prompt, soon, asks=_takes_commands, looks_at=looks_at)
            state = look(session)
        return self._reading(session, state)

    def _ended_at(self, session: Session) -> float | None:
        """When the last run ended, if it has: a prompt follows it at once."""
        run = self._last.get(session.identity.id)
        return run.ended if run is not None else None

    def _reading(self, session: Session, state: State) -> State:
        """Tell the `read` of a wrapped command from the prompt: dash reads both alike."""
        stack = self._stacks.get(session.identity.id)
        if state.state != "prompt" or not stack or stack[-1].done:
            return state
        run, facts = stack[-1], session.facts()
        if run.context != "wrapped" or facts is None or not facts.canonical:
            return state
        line = line_before_cursor(session).rstrip()
        if facts.pid != run.pid or line[-1:] == run.prompt.rstrip()[-1:]:
            return state
        return asks_for_line(state, line)

    def _context(
        self, session: Session, state: State
    ) -> Literal["native", "wrapped", "repl"] | None:
        if state.state == "prompt":
            native = (
                session.stream.prompting.phase == "prompt"
                and state.program == session.launch.program
            )
            return "native" if native and session.launch.is_shell else "wrapped"
        if state.asks == "repl":
            return "repl"
        return None

    def _begin(self, session: Session, context: Literal["native", "wrapped", "repl"]) -> Run:
        settings = self._host.settings
        run = Run(session, context, settings.run_memory_bytes)
        run.waited_for = True
        if self._host.runtime is not None and settings.max_run_bytes:
            run.on_overflow = partial(self._spool, run)
        self._runs[run.id] = run
        stack = self._stacks.setdefault(session.identity.id, [])
        run.outer = frozenset(outer.nonce for outer in stack)
        stack.append(run)
        run.before = self._last.get(session.identity.id)
        if run.before is not None:
            run.before.before = None  # no chain of all that ever ran
        self._last[session.identity.id] = run
        session.stream.taps.append(run.tap)
        session.stream.tracked += 1
        self._keep(run)
        while len(self._runs) > settings.max_runs:
            _, oldest = self._runs.popitem(last=False)
            self._forget(oldest)
        return run

    def _tell(self, session: Session, event: RunEvent) -> None:
        self._host.events.tell("runs", session, lambda: event)

    def _tell_end(self, run: Run, command: str | None = None) -> None:
        run.session.stream.tracked -= 1
        lasted = (run.ended or run.started) - run.started
        event = RunEvent(
            status="ended",
            run_id=run.id,
            command=command,
            exit_code=run.exit_code,
            duration_ms=round(lasted * 1000),
        )
        self._tell(run.session, event)

    # --- past a daemon's death -------------------------------------------------------------

    def _keep(self, run: Run) -> None:
        """Leave this session's runs for the next daemon, now and whenever this one changes."""
        session = run.session
        kept = self._kept.setdefault(session.identity.id, OrderedDict())

        def put_down() -> None:
            kept[run.id] = run.kept()
            session.stream.keep_runs(list(kept.values()))

        run.when_changed = put_down
        while len(kept) >= _KEPT_RUNS:
            kept.popitem(last=False)
        put_down()

    def restore(self, session: Session, kept: list[KeptRun], journaled: int) -> None:
        """Take over a former daemon's runs, before anything more of the session is shown.

        What of them came after the generation `journaled` will be seen once more.
        """
        memory = self._host.settings.run_memory_bytes
        for one in kept:
            run = Run.restored(one, session, memory)
            if self._host.runtime is not None and self._host.settings.max_run_bytes:
                run.on_overflow = partial(self._spool, run)
            self._runs[run.id] = run
            self._last[session.identity.id] = run
            run.reopen(journaled)
            if not run.done:
                self._catch_up(run)
                self._stacks.setdefault(session.identity.id, []).append(run)
                session.stream.scanner.accept(run.nonce)
                session.stream.taps.append(run.tap)
                session.stream.tracked += 1
                run.when_done = partial(self._tell_end, run)
            self._keep(run)

    def settle_restored(self, session: Session) -> None:
        """End those again whose end was known before, and could not be seen again."""
        for run in list(self._stacks.get(session.identity.id, ())):
            run.settle_again()
        self._drop_ended(session)

    def _catch_up(self, run: Run) -> None:
        """Take a run's output so far from the journal."""
        run.stale = False
        folder = self._host.journal_of(run.session.identity.id)
        if folder is None or not (run.started_by_mark or run.context == "repl"):
            return
        for data in outputs(folder, run.first, run.last):
            run.record(data)
        if run.done and run.spool is not None:
            run.spool.finish()

    def _spool(self, run: Run) -> Spool | None:
        """Give a run that prints more than fits into memory a file; the oldest files make room."""
        assert self._host.runtime is not None
        folder = os.path.join(self._host.runtime, "runs")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        settings = self._host.settings
        used = sum(known.spool.size for known in self._runs.values() if known.spool)
        for known in list(self._runs.values()):
            if used <= settings.max_runs_bytes - settings.max_run_bytes:
                break
            if known.spool and known.done:
                used -= known.spool.size
                del self._runs[known.id]
                self._forget(known)
        return Spool(os.path.join(folder, run.id), settings.max_run_bytes)

    def _forget(self, run: Run) -> None:
        if run.spool:
            run.spool.remove()

    def _drop_ended(self, session: Session) -> None:
        stack = self._stacks.get(session.identity.id, [])
        while stack and stack[-1].done:
            self._release(stack.pop())

    def _release(self, run: Run) -> None:
        if run.tap in run.session.stream.taps:
            run.session.stream.taps.remove(run.tap)
        run.session.stream.scanner.refuse(run.nonce)

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
            state = self._reading(session, state)
            await self._ask_whether_over(session, run, state)
        budget = self._host.budget(request.max_chars)
        if how == "exit":
            ending = session.ending
            run.finish("exit", ending.exit_code if ending else None)
        if run.done:
            self._drop_ended(session)
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
        same = _pattern(line_before_cursor(session)) == _pattern(run.prompt)
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
        self._drop_ended(session)
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
        prompt = _pattern(line_before_cursor(session))
        run.recording = True
        session.recorder.flush()  # no mark will tell the next daemon where its output begins
        run.first = before = session.generation
        run.when_changed()
        # A block that ends indented is closed by an empty line.
        closing = "\r" if "\n" in command and command.rpartition("\n")[2][:1].isspace() else ""
        session.write(f"{command}\r{closing}".replace("\n", "\r").encode())

        def asks(state: State) -> bool:
            return session.generation != before and waits_for_somebody(state)

        how, state = await settle(
            session, lambda: run.done, deadline, asks=asks, looks_at=_REPL_LOOKS
        )
        at_prompt = state is not None and state.asks == "repl"
        if how == "needs_input" and at_prompt and _pattern(line_before_cursor(session)) == prompt:
            run.finish("prompt", None)
        budget = self._host.budget(request.max_chars)
        if how == "exit":
            run.finish("exit", session.ending.exit_code if session.ending else None)
        if run.done:
            self._drop_ended(session)
            outcome = run.outcome("completed", budget)
            return msgspec.structs.replace(
                outcome,
                output=_without_prompt(outcome.output, command, prompt),
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
        stack = self._stacks.get(session.identity.id)
        return RunOutcome(
            output="",
            exit_code=None,
            status=status,
            run_id=stack[-1].id if stack else None,
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


def _takes_commands(state: State) -> bool:
    return state.state == "prompt" or state.asks == "repl"


def _pattern(prompt: str) -> str:
    """A prompt may count: In [3]: is the same prompt as In [4]:."""
    return re.sub(r"\d+", "0", prompt.strip())


def _without_prompt(output: str, command: str, prompt: str) -> str:
    """Take the echoed input and the prompt at the end off a REPL's output."""
    lines = output.split("\n")
    for typed in command.split("\n"):
        if lines and lines[0].rstrip().endswith(typed.rstrip()):
            lines.pop(0)
    if "\n" in command and lines and _CONTINUATION.fullmatch(lines[0]):
        lines.pop(0)
    if lines and _pattern(lines[-1]) == prompt:
        lines.pop()
    return "\n".join(lines)


def _first_within(lines: list[str], budget: int) -> list[str]:
    used = 0
    for index, line in enumerate(lines):
        used += len(line) + 1
        if used > budget + 1:
            return lines[: max(1, index)]
    return lines
