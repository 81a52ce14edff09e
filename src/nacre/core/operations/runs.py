"""The operations that know when something is done: runs, answers, states, waits."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Note, Operation, operation
from nacre.core.catalog.limits import cut_at, milliseconds
from nacre.core.operations.parameters import (
    Format,
    LastGeneration,
    MaxChars,
    MaxWait,
    Quiet,
    SessionRef,
    TimeOut,
)
from nacre.core.operations.results import (
    CommandOutcome,
    Pressed,
    Quiesced,
    RunOutcome,
    RunPage,
    RunPart,
    Sent,
    SessionState,
    WaitOutcome,
)


@operation(
    "run",
    "POST /sessions/{session}/run",
    result=RunOutcome,
    scope=Scope.DRIVE,
    destructive=True,
    types=True,
)
class Run(Operation, frozen=True, kw_only=True):
    """Run a command, wait until it has really ended, and return its output and exit code.

    Works in the native shell, in nested shells, after ssh, su or docker exec (through a wrapper),
    and in REPLs (exit_code is null there). After timeout_ms the command keeps running, and the
    result says what it waits for.
    """

    session: SessionRef
    command: Annotated[str, Meta(description="Command to run; can have several lines.")]
    timeout_ms: TimeOut = 60_000
    max_chars: MaxChars | None = None
    since_generation: (
        Annotated[
            int,
            Meta(
                ge=0,
                description="Generation seen last: changed_before tells whether anything was shown "
                "since, before the command.",
            ),
        ]
        | None
    ) = None


@operation("read_run", "GET /runs/{run_id}", result=RunPage, scope=Scope.OBSERVE, idempotent=True)
class ReadRun(Operation, frozen=True, kw_only=True):
    """Read the whole output of a run, page by page, or find something in it.

    With find, the answer has the lines that match, by their numbers, instead of output; next_offset
    is where to go on.
    """

    run_id: Annotated[str, Meta(description="The run_id from the result of a run.")]
    find: Annotated[str, Meta(min_length=1, description="Text to find in its lines.")] | None = None
    regex: Annotated[bool, Meta(description="find is a regular expression (RE2).")] = False
    context: Annotated[int, cut_at(50, "Lines around each match.")] = 0
    max_matches: Annotated[int, cut_at(1000, "Most lines to find.", least=1)] = 100
    offset: Annotated[int, Meta(ge=0, description="First line, from zero.")] = 0
    limit: Annotated[int, cut_at(10_000, "Most lines to return.", least=1)] = 1000
    max_chars: MaxChars | None = None


@operation(
    "follow_run",
    "GET /runs/{run_id}/follow",
    result=RunPart,
    scope=Scope.OBSERVE,
    idempotent=True,
    asks=True,  # the shell, whether a run that nobody waited for is over
)
class FollowRun(Operation, frozen=True, kw_only=True):
    """Read what a run printed from a byte on, as it was printed; wait for more if there is none.

    Returns as soon as there is something new, the run has ended, or its program waits for input.
    """

    run_id: Annotated[str, Meta(description="The run_id from the result of a run.")]
    position: Annotated[int, Meta(ge=0, description="First byte, from zero.")] = 0
    max_bytes: Annotated[int, cut_at(1_048_576, "Most bytes to return.", least=1)] = 262_144
    timeout_ms: MaxWait = 30_000


@operation(
    "send",
    "POST /sessions/{session}/send",
    result=Sent,
    scope=Scope.DRIVE,
    destructive=True,
    types=True,
)
class Send(Operation, frozen=True, kw_only=True):
    """Send text and Enter, wait for the answer, and return what was printed since.

    Returns at the next prompt of a shell or REPL, at a question, or else when the session is quiet,
    but never later than timeout_ms. timeout_ms 0 returns at once.
    """

    session: SessionRef
    text: Annotated[str, Meta(description="Text to send; Enter is added.")]
    timeout_ms: TimeOut = 5000
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
    """Press one key (ctrl+c, enter, up, f5, or a character) and return what was printed since."""

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
    """Get what a session is doing: at its prompt, running, waiting for input (which), ended."""

    session: SessionRef


@operation(
    "wait_for",
    "POST /wait",
    result=WaitOutcome,
    scope=Scope.OBSERVE,
    idempotent=True,
    asks=True,  # the shell, whether a run that nobody waited for is over
)
class WaitFor(Operation, frozen=True, kw_only=True):
    """Wait until a condition is true, in any or all of several sessions.

    Conditions: text or regex on the screen or in new output, quiet, a run has ended, a state, the
    program has exited, the cursor at a position. With after_generation only later output counts,
    also output that has scrolled off the screen since.
    """

    session: SessionRef | None = None
    sessions: (
        Annotated[list[str | int], Meta(description="Several sessions instead of one.")] | None
    ) = None
    match: Annotated[Literal["any", "all"], Meta(description="Wait for any or all of them.")] = (
        "any"
    )
    text: Annotated[str, Meta(min_length=1, description="Wait for this text.")] | None = None
    regex: (
        Annotated[str, Meta(min_length=1, description="Wait for a match of this pattern.")] | None
    ) = None
    quiet_ms: (
        Annotated[int, milliseconds("Wait for no output for this many ms.", deadline=False)] | None
    ) = None
    run_id: Annotated[str, Meta(description="Wait until this run has ended.")] | None = None
    state: (
        Annotated[
            list[Literal["prompt", "running", "needs_input", "exited"]],
            Meta(min_length=1, description="Wait for any of these states."),
        ]
        | None
    ) = None
    exit: Annotated[bool, Meta(description="Wait until the program exits.")] = False
    cursor: Annotated[list[int], Meta(description="Wait for the cursor at [row, col].")] | None = (
        None
    )
    after_generation: (
        Annotated[int, Meta(ge=0, description="Only output after this generation counts.")] | None
    ) = None
    typed: (
        Annotated[
            str,
            Meta(
                description="What you typed: its echo is no match. At a marked prompt no echo is."
            ),
        ]
        | None
    ) = None
    timeout_ms: MaxWait = 30_000


@operation(
    "await_quiesce",
    "POST /sessions/{session}/quiesce",
    result=Quiesced,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class AwaitQuiesce(Operation, frozen=True, kw_only=True):
    """Wait until a session's terminal is idle: no output and no input for timeout_ms."""

    session: SessionRef
    timeout_ms: Quiet = 2000
    max_wait_ms: MaxWait = 30_000
    last_generation: LastGeneration | None = None


@operation(
    "run_command",
    "POST /sessions/{session}/command",
    result=CommandOutcome,
    scope=Scope.DRIVE,
    destructive=True,
    types=True,
    notes=(
        Note(
            "run",
            "{} is the better tool for a command of which only output and exit code matter.",
            "The primary tool for running commands and reading what they print.",
        ),
    ),
)
class RunCommand(Operation, frozen=True, kw_only=True):
    """Type commands or an answer, wait until all of it is through, and read output and screen.

    Ends at the last command's end mark (with its exit code), a prompt or a question; by silence
    only in other programs. Enter is added where a line is read and the input does not end with one.
    Types nothing while a program runs that does not read it, nor a command into an editor or pager.
    """

    session: SessionRef
    input: Annotated[str, Meta(description="The command or text to send.")]
    timeout_ms: Quiet = 2000
    max_wait_ms: MaxWait = 30_000
    format: Format = "styled"
    last_generation: LastGeneration | None = None
    max_chars: MaxChars | None = None
