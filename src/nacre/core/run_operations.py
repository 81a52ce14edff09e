"""The operations that know when something is done: runs, answers, states, waits."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.core.caller import Scope
from nacre.core.catalog import Operation, operation
from nacre.core.parameters import MaxChars, SessionRef
from nacre.core.results import Pressed, RunOutcome, RunPage, Sent, SessionState, WaitOutcome


@operation(
    "run",
    "POST /sessions/{session}/run",
    result=RunOutcome,
    scope=Scope.DRIVE,
    destructive=True,
    types=True,
)
class Run(Operation, frozen=True, kw_only=True):
    """Run a command and return its output and exit code when it has ended, not when it is silent.

    Works in the native shell, after ssh, su or docker exec, in nested shells (by a wrapper) and in
    REPLs (exit_code is null there). When it has not ended by timeout_ms it goes on; the result says
    what it waits for.
    """

    session: SessionRef
    command: Annotated[str, Meta(description="Command to execute; may have several lines.")]
    timeout_ms: Annotated[int, Meta(ge=0, description="Max wait time in milliseconds.")] = 60_000
    max_chars: MaxChars | None = None


@operation("read_run", "GET /runs/{run_id}", result=RunPage, scope=Scope.OBSERVE, idempotent=True)
class ReadRun(Operation, frozen=True, kw_only=True):
    """Read the whole output of a run page by page."""

    run_id: Annotated[str, Meta(description="The run_id that run returned.")]
    offset: Annotated[int, Meta(ge=0, description="First line, from zero.")] = 0
    limit: Annotated[int, Meta(ge=1, le=10_000, description="Lines at most.")] = 1000
    max_chars: MaxChars | None = None


@operation(
    "send",
    "POST /sessions/{session}/send",
    result=Sent,
    scope=Scope.DRIVE,
    destructive=True,
    types=True,
)
class Send(Operation, frozen=True, kw_only=True):
    """Send text with Enter, wait for the answer, and return what was printed since.

    Returns at the shell's next prompt, a REPL's prompt or a question, else when it is quiet; at the
    latest after timeout_ms. timeout_ms 0 returns at once.
    """

    session: SessionRef
    text: Annotated[str, Meta(description="Text to send; Enter is added.")]
    timeout_ms: Annotated[int, Meta(ge=0, description="Max wait time in milliseconds.")] = 5000
    max_chars: MaxChars | None = None


@operation(
    "send_key",
    "POST /sessions/{session}/key",
    result=Pressed,
    scope=Scope.DRIVE,
    destructive=True,
    types=True,
)
class SendKey(Operation, frozen=True, kw_only=True):
    """Press one key and return what was printed since: ctrl+c, enter, up, f5, or a character."""

    session: SessionRef
    key: Annotated[str, Meta(description="Key name, modifier combination or single character.")]


@operation(
    "get_status",
    "GET /sessions/{session}/status",
    result=SessionState,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class GetSessionStatus(Operation, frozen=True, kw_only=True):
    """Tell what a session is doing: at its prompt, running, waiting for input (which), ended."""

    session: SessionRef


@operation("wait_for", "POST /wait", result=WaitOutcome, scope=Scope.OBSERVE, idempotent=True)
class WaitFor(Operation, frozen=True, kw_only=True):
    """Wait until one condition comes true, in any or all of several sessions.

    Conditions: text or regex on the screen or in new output, quiet, a run that has ended, a state,
    the exit of the process, the cursor at a position. With after_generation only what came later
    counts.
    """

    session: SessionRef | None = None
    sessions: Annotated[list[str | int], Meta(description="Several sessions.")] | None = None
    match: Annotated[Literal["any", "all"], Meta(description="Any or all of the sessions.")] = "any"
    text: Annotated[str, Meta(min_length=1, description="Text to appear.")] | None = None
    regex: Annotated[str, Meta(min_length=1, description="Regular expression to match.")] | None = (
        None
    )
    quiet_ms: Annotated[int, Meta(ge=0, description="Silence in ms.")] | None = None
    run_id: Annotated[str, Meta(description="A run that is to end.")] | None = None
    state: (
        Annotated[
            list[Literal["prompt", "running", "needs_input", "exited"]],
            Meta(min_length=1, description="States, any of them."),
        ]
        | None
    ) = None
    exit: Annotated[bool, Meta(description="The process is to end.")] = False
    cursor: Annotated[list[int], Meta(description="[row, col] of the cursor.")] | None = None
    after_generation: (
        Annotated[int, Meta(ge=0, description="Only after newer output than this.")] | None
    ) = None
    timeout_ms: Annotated[int, Meta(ge=0, description="Deadline in ms.")] = 30_000
