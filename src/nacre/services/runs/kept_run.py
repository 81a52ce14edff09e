"""A run for the next daemon: packed into the session's record, and unpacked again.

Its output is not included: the journal has it, between two generations.
"""

import time

import msgspec

from nacre.core.shell.dialects import dialect_named
from nacre.core.terminal.repl_cut import ReplCut
from nacre.services.runs.ending import RunEnd
from nacre.services.runs.outputs.run_output import RunOutput
from nacre.services.runs.request import RunRequest
from nacre.services.runs.run import TrackedRun
from nacre.services.runs.run_state import RunState
from nacre.services.session.record import KeptRun
from nacre.services.session.session import Session

_COMMAND = 400  # characters of a running command that the next daemon's audit has


def pack_run(run: TrackedRun) -> bytes:
    """Return what the next daemon must know about it."""
    request, state, end = run.request, run.state, run.state.end
    epoch = _epoch(run.session)
    return msgspec.json.encode(
        KeptRun(
            id=request.id,
            nonce=request.nonce,
            context=request.context,
            cols=run.output.cols,
            started=epoch + request.started,
            first=state.first,
            last=state.last,
            begun=state.begun,
            over=state.over,
            ended=None if state.ended is None else epoch + state.ended,
            exit_code=run.exit_code,
            ended_by=run.ended_by,
            folder=_text(end.folder) if end is not None and end.folder else None,
            host=end.host if end is not None else None,
            recording=run.output.recording,
            starts_by_wrapper=request.starts_by_wrapper,
            started_by_mark=state.started_by_mark,
            outer=list(request.outer),
            kind=request.dialect.name,
            pid=request.pid,
            program=request.program,
            shell_id=_text(state.shell_id),
            prompt=_text(request.prompt),
            command=request.command[:_COMMAND] if request.command and end is None else None,
            by=request.by if end is None else None,
        )
    )


def restored_run(kept: KeptRun, session: Session, memory: int) -> TrackedRun:
    """Return an earlier daemon's run, without its output."""
    epoch = _epoch(session)
    run = TrackedRun(session, _request(kept, epoch), RunOutput(kept.cols, memory))
    run.state = _state(kept, epoch)
    run.output.recording = kept.recording
    if kept.started_by_mark:
        run.expect_shells_own()
    if kept.context == "repl":
        rows = session.terminal.rows
        run.output.cut = ReplCut(rows, kept.cols, kept.program, kept.prompt)
        run.output.cut.at_prompt = kept.ended_by == "prompt"
    return run


def _request(kept: KeptRun, epoch: float) -> RunRequest:
    return RunRequest(
        context=kept.context,
        started=kept.started - epoch,
        id=kept.id,
        nonce=kept.nonce,
        outer=frozenset(kept.outer),
        starts_by_wrapper=kept.starts_by_wrapper,
        dialect=dialect_named(kept.kind),
        pid=kept.pid,
        program=kept.program,
        prompt=kept.prompt,
        command=kept.command,
        by=kept.by,
    )


def _state(kept: KeptRun, epoch: float) -> RunState:
    state = RunState(
        started_by_mark=kept.started_by_mark,
        restored=True,
        shell_id=kept.shell_id,
        first=kept.first,
        last=kept.last,
        begun=kept.begun,
        over=kept.over,
    )
    if kept.ended is not None:
        state.end = RunEnd(kept.ended_by or "mark", kept.exit_code, kept.folder, kept.host)
        state.ended = kept.ended - epoch
    return state


def _epoch(session: Session) -> float:
    """Return when the loop's clock was zero; it starts again with every boot."""
    return time.time() - session.now


def _text(text: str) -> str:
    """Return a folder's name as text; it may be bytes that are not text."""
    return text.encode(errors="surrogateescape").decode(errors="replace")
