"""The ledger of runs: which runs there are, in which session, and what is kept of finished ones.

Rule 1: a session's runs form a stack: a run that started a shell can have others inside it.
Rule 2: the number of runs and their bytes on disk are limited; the oldest are removed.
Rule 3: a session's last runs outlive the daemon. Their output is read from the journal again: at
once for a running one, for the others when somebody asks. A thread reads it, never the loop.
"""

import asyncio
import logging
import os
import shutil
from collections import OrderedDict
from contextlib import suppress
from functools import partial

from nacre.core.operations.follow import RunEvent
from nacre.errors import InvalidInput
from nacre.services.dispatch.permit import caller_now
from nacre.services.host.host import Host
from nacre.services.runs.audited_run import audit_run
from nacre.services.runs.kept_run import pack_run, restored_run
from nacre.services.runs.outputs.run_output import RunOutput
from nacre.services.runs.outputs.spool import Spool
from nacre.services.runs.request import Context, RunRequest
from nacre.services.runs.run import TrackedRun
from nacre.services.session.activity import ran_by
from nacre.services.session.record import KeptRun
from nacre.services.session.screen import Lost
from nacre.services.session.session import Session
from nacre.settings.paths import make_private
from nacre.system.storage.segments import Outputs, outputs

_log = logging.getLogger("nacre.runs")

_KEPT_RUNS = 24  # runs of a session that outlive the daemon
_EARLIER_PARTS = 64  # parts of a journal to handle in one turn of the loop


class Ledger:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._runs: OrderedDict[str, TrackedRun] = OrderedDict()
        self._stacks: dict[str, list[TrackedRun]] = {}  # by session id, the innermost last
        self._last: dict[str, TrackedRun] = {}  # by session id
        self._kept: dict[str, OrderedDict[str, bytes]] = {}  # by session id, then packed by run id
        self._reading: dict[str, asyncio.Task[None]] = {}  # reads of journals, by run id
        self.removing: set[asyncio.Future[None]] = set()  # files of runs that are too old
        host.events.on_end(self.sessions_ended)

    # --- what there is ---------------------------------------------------------------------

    def all(self) -> list[TrackedRun]:
        """All known runs, the oldest first."""
        return list(self._runs.values())

    def find(self, run_id: str) -> TrackedRun:
        """Raises InvalidInput for a run that is unknown or too old."""
        run = self._runs.get(run_id)
        if run is None:
            raise InvalidInput(
                f"no run {run_id!r}: it is unknown, or too old",
                "take the id from the answer to the command",
            )
        return run

    def session_of(self, run_id: str) -> Session | None:
        """Return a run's session; None for a run that is unknown or too old."""
        run = self._runs.get(run_id)
        return None if run is None else run.session

    def of_session(self, identifier: str) -> list[TrackedRun]:
        """Return the known runs of a session, the oldest first."""
        return [run for run in self._runs.values() if run.session.identity.id == identifier]

    async def with_output(self, run_id: str) -> TrackedRun:
        """Find a run, with all of its output. Raises InvalidInput as `find` does."""
        run = self.find(run_id)
        if run.output.is_behind:
            await asyncio.shield(self._read_earlier(run, run.state.last))
        return run

    def innermost(self, session: Session) -> TrackedRun | None:
        """Return the innermost run of the session, if any; it may be over."""
        stack = self._stacks.get(session.identity.id)
        return stack[-1] if stack else None

    def last(self, session: Session) -> TrackedRun | None:
        """Return the run that was started last."""
        return self._last.get(session.identity.id)

    # --- from begin to end -----------------------------------------------------------------

    def begin(
        self, session: Session, context: Context, command: str, *, told: bool = True
    ) -> TrackedRun:
        """Add a run, which follows the session's output from now on, and send an event.

        What is typed into another program is no command: there is no event for it, and it is not
        kept for the next daemon.
        """
        identifier = session.identity.id
        stack = self._stacks.setdefault(identifier, [])
        request = RunRequest(
            context,
            self._host.loop.time(),
            outer=frozenset(outer.request.nonce for outer in stack),
            typed_ahead=_typed_since(self._last.get(identifier)),
        )
        if stack:
            request.came_with = stack[-1].output.last
        if (before := self._last.get(identifier)) is not None:
            request.before = (before.request.group, before.request.prompt)
        output = RunOutput(session.terminal.cols, self._host.settings.run_memory_bytes)
        run = self._within_bounds(TrackedRun(session, request, output))
        run.state.interrupts = session.input.interrupts
        stack.append(run)
        self._last[identifier] = run
        if told:
            request.command, request.caller = command, caller_now()
            self._follow(run, command)
        else:
            session.stream.taps.append(run.tap)
        while len(self._runs) > self._host.settings.max_runs:
            _, oldest = self._runs.popitem(last=False)
            self._remove_file(oldest)
        if told:
            request.by = ran_by(request.caller)
            entry = session.activity.run_begins(run.id, command, request.by)
            self._tell(
                session, RunEvent(status="started", run_id=run.id, command=command, entry=entry)
            )
            self._keep(run)
        return run

    def drop_ended(self, session: Session) -> None:
        """Take finished runs off the session's stack; they can still be read."""
        stack = self._stacks.get(session.identity.id, [])
        while stack and stack[-1].done:
            _release(stack.pop())

    def sessions_ended(self) -> None:
        """End the runs of sessions whose child is gone; called when a child has ended."""
        for stack in list(self._stacks.values()):
            if stack and not stack[-1].session.alive:
                self._end_with_session(stack[-1].session)

    def _end_with_session(self, session: Session) -> None:
        assert session.ending is not None
        for run in reversed(self._stacks.get(session.identity.id, ())):
            run.shell_is_gone(session.ending.exit_code, session.ended_at)
        self.drop_ended(session)

    def forget_session(self, identifier: str) -> None:
        self._stacks.pop(identifier, None)
        self._last.pop(identifier, None)
        self._kept.pop(identifier, None)

    def _follow(self, run: TrackedRun, command: str | None) -> None:
        run.session.stream.taps.append(run.tap)
        run.session.stream.tracked += 1
        run.when_done = partial(self._tell_end, run, command)

    def _tell_end(self, run: TrackedRun, command: str | None) -> None:
        run.session.stream.tracked -= 1
        started = run.request.started
        lasted = (run.state.ended or started) - started
        event = RunEvent(
            status="ended",
            run_id=run.id,
            command=command,
            exit_code=run.exit_code,
            duration_ms=round(lasted * 1000),
            entry=run.session.activity.run_ends(run.id, run.exit_code),
        )
        self._tell(run.session, event)
        if run.output.spool is not None:
            # Who reads or searches it next does not wait until its lines are counted.
            self._host.loop.run_in_executor(None, _look_through, run.output.spool)
        if self._host.audit is not None:
            audit_run(self._host.audit, run)

    def _tell(self, session: Session, event: RunEvent) -> None:
        self._host.events.tell("runs", session, lambda: event)

    # --- past a daemon's death -------------------------------------------------------------

    def _keep(self, run: TrackedRun) -> None:
        """Store this session's runs for the next daemon, now and whenever this run changes."""
        session = run.session
        kept = self._kept.setdefault(session.identity.id, OrderedDict())

        def put_down() -> None:
            kept[run.id] = pack_run(run)
            session.stream.keep_runs(list(kept.values()))

        run.when_changed = partial(session.stream.keep_later, put_down)
        while len(kept) >= _KEPT_RUNS:
            kept.popitem(last=False)
        put_down()

    def restore(
        self, session: Session, kept: list[KeptRun], journaled: int, lost: Lost | None = None
    ) -> None:
        """Take over an earlier daemon's runs, before more output of the session is shown.

        What came after the generation `journaled` will be seen once more, but for what is lost.
        """
        memory = self._host.settings.run_memory_bytes
        for one in kept:
            run = self._within_bounds(restored_run(one, session, memory))
            self._last[session.identity.id] = run
            run.reopen(journaled, lost)
            if self._has_earlier(run):
                run.output.fall_behind()
            if run.done:
                run.output.close()
            else:
                self._go_on(run, journaled)
            self._keep(run)

    def _go_on(self, run: TrackedRun, journaled: int) -> None:
        if run.output.is_behind:
            self._read_earlier(run, journaled)
        self._stacks.setdefault(run.session.identity.id, []).append(run)
        run.session.stream.scanner.accept(run.request.nonce)
        self._follow(run, None)
        if (command := run.request.command) is not None:
            run.session.activity.run_goes_on(run.id, command, run.request.by, run.state.first)

    def settle_restored(self, session: Session) -> None:
        """End runs whose end was known before and was not seen again."""
        for run in list(self._stacks.get(session.identity.id, ())):
            run.settle_again()
        if not session.alive:
            self._end_with_session(session)
        self.drop_ended(session)

    def _has_earlier(self, run: TrackedRun) -> bool:
        """Return whether the journal has some of its output."""
        began = run.state.started_by_mark or run.request.context == "repl"
        return began and self._host.journal_of(run.session.identity.id) is not None

    def _read_earlier(self, run: TrackedRun, until: int | None) -> "asyncio.Task[None]":
        """Read a run's output that an earlier daemon saw from the journal, up to a generation."""
        task = self._reading.get(run.id)
        if task is None:
            task = self._host.loop.create_task(self._catch_up(run, until))
            self._reading[run.id] = task
            task.add_done_callback(lambda _: self._reading.pop(run.id, None))
        return task

    async def _catch_up(self, run: TrackedRun, until: int | None) -> None:
        folder = self._host.journal_of(run.session.identity.id)
        assert folder is not None
        read = partial(_read_outputs, folder, run.state.first, until)
        parts, whole, begin = await self._host.loop.run_in_executor(None, read)
        if not whole:
            run.output.lose_beginning(begin, run.state.begun)
        for at in range(0, len(parts), _EARLIER_PARTS):
            run.output.record_earlier(parts[at : at + _EARLIER_PARTS])
            await asyncio.sleep(0)  # let others run
        run.output.catch_up()

    # --- bounds ----------------------------------------------------------------------------

    def _within_bounds(self, run: TrackedRun) -> TrackedRun:
        """Add a run by its id; output that does not fit into memory goes to disk."""
        if self._host.runtime is not None and self._host.settings.max_run_bytes:
            run.output.on_overflow = partial(self._spool, run)
        self._runs[run.id] = run
        return run

    def remove_files(self) -> None:
        """Delete the output of all runs on disk: at the end, and what an earlier daemon left."""
        if self._host.runtime is not None:
            shutil.rmtree(os.path.join(self._host.runtime, "runs"), ignore_errors=True)

    def _remove_file(self, run: TrackedRun) -> None:
        """In a thread: to delete a quarter of a gigabyte would hold the loop for 30 ms."""
        if run.output.spool:
            removing = self._host.loop.run_in_executor(None, run.output.spool.remove)
            self.removing.add(removing)
            removing.add_done_callback(self.removing.discard)

    def _spool(self, run: TrackedRun) -> Spool | None:
        """Give a run a file for output that does not fit into memory; old files are removed."""
        assert self._host.runtime is not None
        folder = os.path.join(self._host.runtime, "runs")
        settings = self._host.settings
        spools = (known.output.spool for known in self._runs.values())
        used = sum(spool.size for spool in spools if spool)
        for known in list(self._runs.values()):
            if used <= settings.max_runs_bytes - settings.max_run_bytes:
                break
            if (spool := known.output.spool) and known.done:
                used -= spool.size
                del self._runs[known.id]
                self._remove_file(known)
        path = os.path.join(folder, run.id)
        try:
            make_private(folder)  # the runtime folder may have been deleted
            return Spool(path, settings.max_run_bytes, run.output.cols)
        except OSError as error:  # head and tail are kept all the same
            _log.warning("no file for the output of a run", extra={"error": str(error)})
            return None


def _release(run: TrackedRun) -> None:
    """Stop a run from following the output, and forget its nonce."""
    stream = run.session.stream
    if run.tap in stream.taps:
        stream.taps.remove(run.tap)
    stream.scanner.refuse(run.request.nonce)
    run.let_go()


def _look_through(spool: Spool) -> None:
    with suppress(OSError):  # it has aged out meanwhile; who reads it is told
        spool.look_through(finished=True)


def _typed_since(before: TrackedRun | None) -> bool:
    """Return whether something was typed into a session since the run before this one ended.

    If that was not even started, some of its own line may be left.
    """
    if before is None or not before.done:
        return False
    return before.session.inputs > before.state.inputs or not before.was_started


def _read_outputs(folder: str, after: int, until: int | None) -> Outputs:
    try:
        return outputs(folder, after, until)
    except OSError:  # later output is still recorded
        _log.exception("the journal in %s cannot be read", folder)
        return Outputs([], whole=False)
