"""Everything a caller can ask for, stated once.

Rule: names, parameters and defaults are the documents' (wsh and others); what is added to them is
optional.
"""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.core.caller import Scope
from nacre.core.catalog import CATALOG as CATALOG  # whole once this module is loaded
from nacre.core.catalog import Operation, operation
from nacre.core.catalog import parse_operation as parse_operation
from nacre.core.control_operations import Control as Control
from nacre.core.page_operations import OpenPage as OpenPage
from nacre.core.parameters import (
    Cols,
    Format,
    LastGeneration,
    MaxChars,
    MaxWait,
    PictureFormat,
    Quiet,
    Rows,
    Scale,
    SessionRef,
    SinceGeneration,
)
from nacre.core.past_operations import ExportRecording as ExportRecording
from nacre.core.past_operations import RestoreSessions as RestoreSessions
from nacre.core.past_operations import ScreenAt as ScreenAt
from nacre.core.results import (
    Closed,
    CommandOutcome,
    Output,
    PictureTaken,
    Quiesced,
    Screen,
    Scrollback,
    SessionCreated,
    SessionDetails,
    SessionList,
    SessionStarted,
    Size,
    Status,
    Success,
)
from nacre.core.run_operations import GetSessionStatus as GetSessionStatus
from nacre.core.run_operations import ReadRun as ReadRun
from nacre.core.run_operations import Run as Run
from nacre.core.run_operations import Send as Send
from nacre.core.run_operations import SendKey as SendKey
from nacre.core.run_operations import WaitFor as WaitFor
from nacre.core.visual_operations import AwaitInput as AwaitInput
from nacre.core.visual_operations import PutOverlay as PutOverlay
from nacre.core.visual_operations import PutPanel as PutPanel
from nacre.core.visual_operations import RemoveOverlay as RemoveOverlay
from nacre.core.visual_operations import RemovePanel as RemovePanel
from nacre.core.visual_operations import SetInputMode as SetInputMode
from nacre.core.visual_operations import SetScreenMode as SetScreenMode


@operation("create_session", "POST /sessions", result=SessionCreated, scope=Scope.DRIVE)
class CreateSession(Operation, frozen=True, kw_only=True):
    """Create a new terminal session with an optional name, command, size and working directory.

    Without a command it runs the user's shell. With args, command is a program and args are its
    arguments; without args, command is a line for /bin/sh.
    """

    name: (
        Annotated[str, Meta(description="Session name; made from the folder's name if omitted.")]
        | None
    ) = None
    command: (
        Annotated[str, Meta(description="Program or line to run; default: the shell.")] | None
    ) = None
    args: (
        Annotated[list[str], Meta(description="Arguments: command is then run without a shell.")]
        | None
    ) = None
    rows: Rows = 24
    cols: Cols = 80
    cwd: Annotated[str, Meta(description="Working directory; default: the caller's.")] | None = None
    env: Annotated[dict[str, str], Meta(description="Additional environment variables.")] | None = (
        None
    )
    keep: Annotated[
        bool,
        Meta(description="Keep the session (and a daemon started on demand) when the client goes."),
    ] = False
    tags: Annotated[list[str], Meta(description="Free labels, shown in lists.")] | None = None
    sandbox: (
        Annotated[Literal["off"], Meta(description="Sandbox profile; this version has none.")]
        | None
    ) = None
    policy: (
        Annotated[Literal["open"], Meta(description="Policy preset; this version has one.")] | None
    ) = None


@operation(
    "list_sessions",
    "GET /sessions",
    result=(SessionList, SessionDetails),
    scope=Scope.OBSERVE,
    idempotent=True,
)
class ListSessions(Operation, frozen=True, kw_only=True):
    """List all sessions, or get the details of one."""

    session: SessionRef | None = None


@operation(
    "manage_session",
    "POST /sessions/{session}/manage",
    result=Success,
    scope=Scope.DRIVE,
    destructive=True,
)
class ManageSession(Operation, frozen=True, kw_only=True):
    """Kill a session with everything it started, rename it, or detach everybody who watches it."""

    session: SessionRef
    action: Annotated[Literal["kill", "rename", "detach"], Meta(description="What to do.")]
    new_name: Annotated[str, Meta(description="Required when action is rename.")] | None = None


@operation(
    "send_input",
    "POST /sessions/{session}/input",
    result=Success,
    scope=Scope.DRIVE,
    destructive=True,
    types=True,
)
class SendInput(Operation, frozen=True, kw_only=True):
    """Send keystrokes or text to a session, exactly as given: end a command with \\r for Enter."""

    session: SessionRef
    input: Annotated[str, Meta(description="Text or keystrokes; control characters are keys.")]
    encoding: Annotated[
        Literal["utf8", "base64"], Meta(description="base64: input holds bytes in base64.")
    ] = "utf8"


@operation(
    "press_keys",
    "POST /sessions/{session}/keys",
    result=Success,
    scope=Scope.DRIVE,
    destructive=True,
    types=True,
)
class PressKeys(Operation, frozen=True, kw_only=True):
    """Press named keys, encoded as the program in the session asked for them."""

    session: SessionRef
    keys: Annotated[
        list[str],
        Meta(
            min_length=1,
            description="Key names (enter, ctrl+c, f5, shift+tab) or single characters.",
        ),
    ]


@operation(
    "get_screen",
    "GET /sessions/{session}/screen",
    result=Screen,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class GetScreen(Operation, frozen=True, kw_only=True):
    """Read the current screen of a session."""

    session: SessionRef
    format: Format = "styled"
    max_chars: MaxChars | None = None
    since_generation: SinceGeneration | None = None


@operation(
    "screenshot",
    "GET /sessions/{session}/screenshot",
    result=PictureTaken,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class Screenshot(Operation, frozen=True, kw_only=True):
    """Take a picture of a session's screen, with its colours, styles and cursor.

    For what text does not tell: layout, colours, charts, full-screen programs. get_screen costs
    less where the text is enough.
    """

    session: SessionRef
    format: PictureFormat = "png"
    scale: Scale = 2
    show_cursor: Annotated[bool, Meta(description="Draw the cursor where it is visible.")] = True


@operation(
    "get_scrollback",
    "GET /sessions/{session}/scrollback",
    result=Scrollback,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class GetScrollback(Operation, frozen=True, kw_only=True):
    """Read the lines above the screen; offset counts from the oldest, total excludes the screen."""

    session: SessionRef
    offset: Annotated[int, Meta(ge=0, description="First line, from the oldest.")] = 0
    limit: Annotated[int, Meta(ge=0, le=10_000, description="Lines at most.")] = 100
    format: Format = "styled"
    max_chars: MaxChars | None = None
    since_generation: SinceGeneration | None = None


@operation(
    "read_output",
    "GET /sessions/{session}/output",
    result=Output,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class ReadOutput(Operation, frozen=True, kw_only=True):
    """Read the last lines of a session as plain text, scrollback and screen together."""

    session: SessionRef
    lines: Annotated[int, Meta(ge=0, le=100_000, description="Lines at most, from the end.")] = 100
    max_chars: MaxChars | None = None
    since_generation: SinceGeneration | None = None


@operation(
    "await_quiesce",
    "POST /sessions/{session}/quiesce",
    result=Quiesced,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class AwaitQuiesce(Operation, frozen=True, kw_only=True):
    """Wait until a session's terminal is idle: no output for timeout_ms."""

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
)
class RunCommand(Operation, frozen=True, kw_only=True):
    """Send input, wait until the terminal is idle, and read the screen: the loop in one call.

    The primary tool for running commands and reading what they print. Enter is added when the
    input does not end with one.
    """

    session: SessionRef
    input: Annotated[str, Meta(description="The command or text to send.")]
    timeout_ms: Quiet = 2000
    max_wait_ms: MaxWait = 30_000
    format: Format = "styled"
    last_generation: LastGeneration | None = None
    max_chars: MaxChars | None = None


@operation(
    "resize_session",
    "POST /sessions/{session}/resize",
    result=Size,
    scope=Scope.DRIVE,
    idempotent=True,
)
class ResizeSession(Operation, frozen=True, kw_only=True):
    """Change a session's size; the program in it is told (SIGWINCH)."""

    session: SessionRef
    rows: Rows
    cols: Cols


@operation(
    "restart_session",
    "POST /sessions/{session}/restart",
    result=SessionCreated,
    scope=Scope.DRIVE,
    destructive=True,
)
class RestartSession(Operation, frozen=True, kw_only=True):
    """End what runs in a session and start its command anew, under the same name, id and port."""

    session: SessionRef


@operation(
    "signal_session",
    "POST /sessions/{session}/signal",
    result=Success,
    scope=Scope.DRIVE,
    destructive=True,
    types=True,
)
class SignalSession(Operation, frozen=True, kw_only=True):
    """Send a signal to the foreground process group of a session."""

    session: SessionRef
    signal: Annotated[
        str, Meta(description="TERM, INT, HUP, KILL, QUIT, USR1, USR2, STOP, CONT, WINCH …")
    ] = "TERM"


@operation(
    "dismiss_session",
    "POST /sessions/{session}/dismiss",
    result=Success,
    scope=Scope.DRIVE,
    destructive=True,
)
class DismissSession(Operation, frozen=True, kw_only=True):
    """Take an ended session out of the lists and free its name; its id stays readable a while."""

    session: SessionRef


@operation("start_session", "POST /start", result=SessionStarted, scope=Scope.DRIVE)
class StartSession(Operation, frozen=True, kw_only=True):
    """Create a session with a shell, on a port of your choice."""

    port: Annotated[int, Meta(description="Desired port; the next free one if omitted.")] | None = (
        None
    )
    shell: Annotated[str, Meta(description="Shell: bash, zsh, fish, sh …")] | None = None
    name: Annotated[str, Meta(description="Session name; made up if omitted.")] | None = None
    cwd: Annotated[str, Meta(description="Working directory; default: the caller's.")] | None = None


@operation(
    "close_session",
    "POST /sessions/{session}/close",
    result=Closed,
    scope=Scope.DRIVE,
    destructive=True,
)
class CloseSession(Operation, frozen=True, kw_only=True):
    """Close a session: hang up, then end everything it started."""

    session: SessionRef


@operation("status", "GET /status", result=Status, scope=Scope.OBSERVE, idempotent=True)
class GetStatus(Operation, frozen=True, kw_only=True):
    """Tell the daemon's process id, port, number of sessions and version."""


@operation("stop", "POST /stop", result=Success, scope=Scope.ADMIN, destructive=True)
class StopDaemon(Operation, frozen=True, kw_only=True):
    """End all sessions and the daemon."""


@operation("upgrade", "POST /upgrade", result=Success, scope=Scope.ADMIN)
class UpgradeDaemon(Operation, frozen=True, kw_only=True):
    """Replace the daemon by the code that is installed now; sessions do not notice."""
