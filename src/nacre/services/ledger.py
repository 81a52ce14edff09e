"""The ledger of runs: which there are, in which session, and what is kept of those that are over.

Rule 1: a session's runs stand in a stack: one that has brought up a shell has others inside of it.
Rule 2: what is kept has bounds: so many runs, so many bytes on disk; the oldest make room.
Rule 3: a session's last runs outlive the daemon. Their output is read from the journal again, when
somebody asks for it.
"""

import os
from collections import OrderedDict
from functools import partial

from nacre.core.events import RunEvent
from nacre.errors import InvalidInput
from nacre.services.host import Host
from nacre.services.kept import KeptRun
from nacre.services.run import Context, Run
from nacre.services.session import Session
from nacre.services.spool import Spool
from nacre.system.journal import outputs

_KEPT_RUNS = 24  # of a session, that a daemon's death does not lose


class Ledger:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._stacks: dict[str, list[Run]] = {}  # by session id, the innermost last
        self._last: dict[str, Run] = {}  # by session id
        self._kept: dict[str, OrderedDict[str, bytes]] = {}  # by session id, packed, by run id

    # --- what there is ---------------------------------------------------------------------

    def all(self) -> list[Run]:
        """The runs that are known, the oldest first."""
        return list(self._runs.values())

    def find(self, run_id: str) -> Run:
        """Raises InvalidInput for a run that is unknown or aged out."""
        run = self._runs.get(run_id)
        if run is None:
            raise InvalidInput(f"no run {run_id!r}: it is unknown, or it has aged out")
        if run.stale:
            self._catch_up(run)
        return run

    def innermost(self, session: Session) -> Run | None:
        """Return the run that the session is in, if any; it may be over."""
        stack = self._stacks.get(session.identity.id)
        return stack[-1] if stack else None

    def last(self, session: Session) -> Run | None:
        """Return the run that was begun last."""
        return self._last.get(session.identity.id)

    # --- from begin to end -----------------------------------------------------------------

    def begin(self, session: Session, context: Context, command: str) -> Run:
        """Enter a run, which follows the session's output from now on, and tell of it."""
        identifier = session.identity.id
        run = self._within_bounds(Run(session, context, self._host.settings.run_memory_bytes))
        stack = self._stacks.setdefault(identifier, [])
        run.outer = frozenset(outer.nonce for outer in stack)
        stack.append(run)
        run.before = self._last.get(identifier)
        if run.before is not None:
            run.before.before = None  # no chain of all that ever ran
        self._last[identifier] = run
        self._follow(run, command)
        self._keep(run)
        while len(self._runs) > self._host.settings.max_runs:
            _, oldest = self._runs.popitem(last=False)
            _forget(oldest)
        self._tell(session, RunEvent(status="started", run_id=run.id, command=command))
        return run

    def drop_ended(self, session: Session) -> None:
        """Take what is over off the session's stack; it stays readable."""
        stack = self._stacks.get(session.identity.id, [])
        while stack and stack[-1].done:
            _release(stack.pop())

    def forget_session(self, identifier: str) -> None:
        self._stacks.pop(identifier, None)
        self._last.pop(identifier, None)
        self._kept.pop(identifier, None)

    def _follow(self, run: Run, command: str | None) -> None:
        run.session.stream.taps.append(run.tap)
        run.session.stream.tracked += 1
        run.when_done = partial(self._tell_end, run, command)

    def _tell_end(self, run: Run, command: str | None) -> None:
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

    def _tell(self, session: Session, event: RunEvent) -> None:
        self._host.events.tell("runs", session, lambda: event)

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
            run = self._within_bounds(Run.restored(one, session, memory))
            self._last[session.identity.id] = run
            run.reopen(journaled)
            if not run.done:
                self._catch_up(run)
                self._stacks.setdefault(session.identity.id, []).append(run)
                session.stream.scanner.accept(run.nonce)
                self._follow(run, None)
            self._keep(run)

    def settle_restored(self, session: Session) -> None:
        """End those again whose end was known before, and could not be seen again."""
        for run in list(self._stacks.get(session.identity.id, ())):
            run.settle_again()
        self.drop_ended(session)

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

    # --- bounds ----------------------------------------------------------------------------

    def _within_bounds(self, run: Run) -> Run:
        """Enter a run by its id; what it prints goes to disk once memory has no room for it."""
        if self._host.runtime is not None and self._host.settings.max_run_bytes:
            run.on_overflow = partial(self._spool, run)
        self._runs[run.id] = run
        return run

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
                _forget(known)
        return Spool(os.path.join(folder, run.id), settings.max_run_bytes)


def _release(run: Run) -> None:
    """Let a run follow the output no longer, and nobody use its nonce."""
    stream = run.session.stream
    if run.tap in stream.taps:
        stream.taps.remove(run.tap)
    stream.scanner.refuse(run.nonce)


def _forget(run: Run) -> None:
    if run.spool:
        run.spool.remove()
