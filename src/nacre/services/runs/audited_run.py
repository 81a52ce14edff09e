"""A run that is over, for the audit and the log of executions."""

from functools import partial
from typing import Any

from nacre.services.audit.audit import Audit
from nacre.services.audit.executions import ExecutionStatus
from nacre.services.runs.run import TrackedRun


def audit_run(audit: Audit, run: TrackedRun) -> None:
    """Record how a run ended: once, also if an earlier daemon saw a part of it."""
    command = run.request.command
    if command is None:
        return  # it was over before this daemon began, and is recorded already
    audit.record("run", run.session.identity, run.request.caller, partial(_fields, audit, run))
    if audit.executions is not None:
        audit.executions.add(
            command, _status(run), exit_code=run.exit_code, duration_ms=run.duration_ms
        )


def _fields(audit: Audit, run: TrackedRun) -> dict[str, Any]:
    told = audit.text(run.request.command or "")
    asked_in = run.request.asked_in if audit.tells_requests else ""
    asked = {"request": asked_in} if asked_in else {}  # it may have ended in another call
    return {
        **asked,
        "command": told.pop("text"),
        **told,
        "run_id": run.id,
        "exit_code": run.exit_code,
        "ended_by": run.ended_by,
        "ms": run.duration_ms,
    }


def _status(run: TrackedRun) -> ExecutionStatus:
    """A REPL knows no exit codes; elsewhere an unknown one is no success."""
    if run.exit_code is None:
        return "success" if run.request.context == "repl" else "failed"
    return "failed" if run.exit_code else "success"
