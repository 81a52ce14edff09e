"""The exit code of `nacre run` and `nacre wait --run`: the command's own, if it has one.

Rule: a run whose exit code nobody knows is no success. Only a REPL has none by its nature.
"""

from typing import Any

from nacre.errors import WIRE, Busy, NotAtPrompt, SessionExited

_FAILED = {
    "timeout": WIRE["TIMEOUT"].exit,
    "busy": WIRE[Busy.code].exit,
    "error": WIRE[NotAtPrompt.code].exit,
}


def exit_code_of(run: dict[str, Any]) -> int:
    """Return the exit code for what a run came to."""
    if run["status"] != "completed":
        return _FAILED.get(run["status"], WIRE["FAILED"].exit)
    code: int | None = run["exit_code"]
    if code is not None:
        return code
    if run.get("context") == "repl":
        return 0
    return WIRE[SessionExited.code if run.get("ended_by") == "exit" else "FAILED"].exit


def missing_code(run: dict[str, Any]) -> str | None:
    """Return why a run that has ended has no exit code, in words; None if it has one."""
    if run["status"] != "completed" or run["exit_code"] is not None:
        return None
    if run.get("context") == "repl":
        return "there is no exit code: it ran in a REPL"
    if run.get("ended_by") == "exit":
        return "there is no exit code: its session or shell was ended before it"
    return "its exit code is not known"
