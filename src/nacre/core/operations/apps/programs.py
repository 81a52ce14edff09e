"""Start, watch, type into and end a program: the Terminal Tester's operations.

Rule: names, parameters, result fields and defaults are the Terminal Tester's; what was added is
optional. A program is never started through a shell here.
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Note, Operation, Result, operation
from nacre.core.operations.parameters import (
    Cols,
    HostWanted,
    Labels,
    MaxChars,
    Quiet,
    Rows,
    SessionRef,
    TimeOut,
)
from nacre.core.operations.results import InputSent, Size, Success
from nacre.core.operations.sessions import CreateSession, SandboxProfile

ViewFormat = Literal["plain", "raw", "ansi", "scrollback", "passthrough"]


class AppLaunched(Result, frozen=True, kw_only=True, omit_defaults=True):
    session_id: str
    success: bool
    host: str | UnsetType = UNSET  # in a cluster: which one took it
    notice: str | None = None  # what is wrong with it, such as a journal that cannot be written


class AppStopped(Success, frozen=True, kw_only=True):
    exit_code: int | None
    signal: str | None


class CursorPosition(Result, frozen=True, kw_only=True):
    row: int
    col: int
    visible: bool


class ScreenSize(Result, frozen=True, kw_only=True):
    rows: int
    cols: int


class AppScreen(Result, frozen=True, kw_only=True, omit_defaults=True):
    """What a program shows; `content` is rows joined by line feeds."""

    cursor: CursorPosition
    rows: int
    cols: int
    generation: int
    alive: bool
    exit_code: int | None = None
    matched: bool | None = None  # with a wait: whether what was waited for came in time
    unchanged: bool = False  # since_generation was current: content is empty
    changed_rows: list[int] | None = None  # with since_generation: content has these rows alone
    omitted_lines: int = 0  # cut from the top by max_chars
    omitted_chars: int = 0  # of passthrough, cut from its beginning
    hint: str | None = None
    content: str


@operation("launch_app", "POST /apps", result=AppLaunched, scope=Scope.DRIVE)
class LaunchApp(Operation, frozen=True, kw_only=True):
    """Start a program in a terminal of its own, without a shell."""

    command: Annotated[str, Meta(description="The program alone: a name in PATH, or a path.")]
    args: Annotated[tuple[str, ...], Meta(description="Its arguments, each as one item.")] = ()
    env: Annotated[dict[str, str], Meta(description="Additional environment variables.")] | None = (
        None
    )
    cwd: Annotated[str, Meta(description="Working directory. Default: the caller's.")] | None = None
    rows: Rows = 24
    cols: Cols = 80
    sandbox: SandboxProfile | None = None
    host: HostWanted | None = None
    labels: Labels | None = None

    def as_session(self) -> CreateSession:
        """Return the session that it asks for: with args, no shell reads the command."""
        return CreateSession(
            command=self.command,
            args=list(self.args),
            env=self.env,
            cwd=self.cwd,
            rows=self.rows,
            cols=self.cols,
            sandbox=self.sandbox,
        )


@operation(
    "view_screen",
    "GET /apps/{session}/screen",
    result=AppScreen,
    scope=Scope.OBSERVE,
    idempotent=True,
    notes=(Note("send_keys", "{} returns the one to wait after."),),
)
class ViewScreen(Operation, frozen=True, kw_only=True):
    """Read a program's screen: line n of content is row n. It can wait first.

    wait_text waits until a text is shown, wait_idle_ms until nothing was printed for so long; with
    both, for one and then the other. With since_generation only what came later counts.
    """

    session: SessionRef
    format: Annotated[
        ViewFormat,
        Meta(
            description="plain: text. raw: with colours (SGR). ansi: as raw, ESC shown as ␛, the "
            "cursor as ▮. scrollback: the lines above, too. passthrough: the program's last bytes."
        ),
    ] = "plain"
    since_generation: (
        Annotated[
            int, Meta(ge=0, description="Generation you saw last; only changed rows are returned.")
        ]
        | None
    ) = None
    max_chars: MaxChars | None = None
    wait_text: Annotated[str, Meta(min_length=1, description="Text to wait for.")] | None = None
    wait_idle_ms: Quiet | None = None
    timeout_ms: TimeOut = 10_000


@operation(
    "send_keys",
    "POST /apps/{session}/keys",
    result=InputSent,
    scope=Scope.DRIVE,
    destructive=True,
    types=True,
)
class SendKeys(Operation, frozen=True, kw_only=True):
    """Press keys and type text, in order, as in ["i", "hello", "Escape", ":wq", "Enter"].

    Keys: Enter, Tab, Backspace, Escape, Space, Up, Down, Left, Right, Home, End, PageUp, PageDown,
    Insert, Delete, F1 to F24, with Ctrl+, Alt+, Shift+ or C-, M-, S-. Anything else is text, in
    which a line feed is Enter. Returns the generation after which its effect will show.
    """

    session: SessionRef
    keys: Annotated[str | list[str], Meta(description="A key or text, or a list of them.")]
    literal: Annotated[bool, Meta(description="Type names of keys as text.")] = False
    paste: Annotated[bool, Meta(description="Paste text instead of typing it.")] = False


@operation(
    "get_cursor_position",
    "GET /apps/{session}/cursor",
    result=CursorPosition,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class GetCursorPosition(Operation, frozen=True, kw_only=True):
    """Tell where the cursor is; rows and columns count from zero."""

    session: SessionRef


@operation(
    "get_screen_size",
    "GET /apps/{session}/size",
    result=ScreenSize,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class GetScreenSize(Operation, frozen=True, kw_only=True):
    """Tell the size of a program's terminal."""

    session: SessionRef


@operation(
    "resize_terminal",
    "POST /apps/{session}/resize",
    result=Size,
    scope=Scope.DRIVE,
    idempotent=True,
    acts=True,
)
class ResizeTerminal(Operation, frozen=True, kw_only=True):
    """Change the size of a program's terminal; what is not given stays."""

    session: SessionRef
    rows: Rows | None = None
    cols: Cols | None = None
    width: Annotated[Cols, Meta(description="The same as cols.")] | None = None
    height: Annotated[Rows, Meta(description="The same as rows.")] | None = None


@operation(
    "restart_app",
    "POST /apps/{session}/restart",
    result=AppLaunched,
    scope=Scope.DRIVE,
    destructive=True,
    acts=True,
)
class RestartApp(Operation, frozen=True, kw_only=True):
    """End a program, if it still runs, and start it again: the same command, size and folder."""

    session: SessionRef


@operation(
    "stop_app",
    "POST /apps/{session}/stop",
    result=AppStopped,
    scope=Scope.DRIVE,
    destructive=True,
    idempotent=True,
    acts=True,
)
class StopApp(Operation, frozen=True, kw_only=True):
    """End a program and everything that it started. Its last screen can be read for a while."""

    session: SessionRef
