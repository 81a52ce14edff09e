"""The operations that create, list, change and end sessions."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, operation
from nacre.core.operations.parameters import (
    Cols,
    HostWanted,
    Labels,
    MaxChars,
    Rows,
    SessionRef,
)
from nacre.core.operations.results import (
    Closed,
    SessionCreated,
    SessionDetails,
    SessionList,
    SessionStarted,
    Size,
    Success,
)
from nacre.core.policy.verdicts import Preset, Sandbox

SandboxProfile = Annotated[
    Sandbox,
    Meta(
        description=(
            "What the program may do. off: all that its user may. readonly: read. workspace: "
            "write in cwd. strict: also see little else. review: write in a copy of cwd. But for "
            "off, no network and an empty home. Default: the daemon's."
        )
    ),
]


@operation("create_session", "POST /sessions", result=SessionCreated, scope=Scope.DRIVE)
class CreateSession(Operation, frozen=True, kw_only=True):
    """Create a new terminal session with an optional name, command, size and working directory.

    Without a command it runs the user's shell. With args, command is a program and args are its
    arguments. Without args, command is a command line for /bin/sh.
    """

    name: (
        Annotated[str, Meta(description="Session name. Default: derived from the folder's name.")]
        | None
    ) = None
    command: (
        Annotated[str, Meta(description="Program or command line. Default: the shell.")] | None
    ) = None
    args: (
        Annotated[list[str], Meta(description="Arguments; command then runs without a shell.")]
        | None
    ) = None
    rows: Rows = 24
    cols: Cols = 80
    cwd: Annotated[str, Meta(description="Working directory. Default: the caller's.")] | None = None
    env: Annotated[dict[str, str], Meta(description="Additional environment variables.")] | None = (
        None
    )
    keep: Annotated[
        bool,
        Meta(description="Keep the session, and the daemon, running after the client leaves."),
    ] = False
    tags: (
        Annotated[list[str], Meta(description="Labels of your choice, shown in lists.")] | None
    ) = None
    sandbox: SandboxProfile | None = None
    policy: (
        Annotated[
            Preset,
            Meta(description="Policy preset; it can only be stricter than the daemon's."),
        ]
        | None
    ) = None
    host: HostWanted | None = None
    labels: Labels | None = None


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
    max_chars: MaxChars | None = None
    limit: Annotated[int, Meta(ge=1, description="Most sessions of a page.")] | None = None
    cursor: (
        Annotated[str, Meta(max_length=200, description="next_cursor of the page before.")] | None
    ) = None


@operation(
    "manage_session",
    "POST /sessions/{session}/manage",
    result=Success,
    scope=Scope.DRIVE,
    destructive=True,
    acts=lambda request: request.action in ("kill", "detach", "restart", "resize"),
)
class ManageSession(Operation, frozen=True, kw_only=True):
    """Kill a session and everything it started, rename it, or detach everyone who watches it.

    Or restart its command under the same name, resize its terminal, or dismiss an ended session.
    """

    session: SessionRef
    action: Annotated[
        Literal["kill", "rename", "detach", "restart", "resize", "dismiss"],
        Meta(description="What to do."),
    ]
    new_name: Annotated[str, Meta(description="Required when action is rename.")] | None = None
    rows: Annotated[Rows, Meta(description="For resize; as it is if omitted.")] | None = None
    cols: Annotated[Cols, Meta(description="For resize; as it is if omitted.")] | None = None


@operation(
    "resize_session",
    "POST /sessions/{session}/resize",
    result=Size,
    scope=Scope.DRIVE,
    idempotent=True,
    acts=True,
)
class ResizeSession(Operation, frozen=True, kw_only=True):
    """Change a session's size. Its program gets SIGWINCH."""

    session: SessionRef
    rows: Rows
    cols: Cols


@operation(
    "restart_session",
    "POST /sessions/{session}/restart",
    result=SessionCreated,
    scope=Scope.DRIVE,
    destructive=True,
    acts=True,
)
class RestartSession(Operation, frozen=True, kw_only=True):
    """Kill what runs in a session and start its command again, with the same name, id and port."""

    session: SessionRef


@operation(
    "signal_session",
    "POST /sessions/{session}/signal",
    result=Success,
    scope=Scope.DRIVE,
    destructive=True,
    acts=True,
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
    """Remove an ended session from the lists and free its name. Its id can be read for a while."""

    session: SessionRef


@operation("start_session", "POST /start", result=SessionStarted, scope=Scope.DRIVE)
class StartSession(Operation, frozen=True, kw_only=True):
    """Create a session with a shell, on a port of your choice."""

    port: Annotated[int, Meta(description="Desired port. Default: the next free one.")] | None = (
        None
    )
    shell: Annotated[str, Meta(description="Shell: bash, zsh, fish, sh …")] | None = None
    name: Annotated[str, Meta(description="Session name. Default: derived.")] | None = None
    cwd: Annotated[str, Meta(description="Working directory. Default: the caller's.")] | None = None
    policy: (
        Annotated[
            Preset,
            Meta(description="Policy preset; it can only be stricter than the daemon's."),
        ]
        | None
    ) = None
    sandbox: SandboxProfile | None = None
    host: HostWanted | None = None
    labels: Labels | None = None


@operation(
    "close_session",
    "POST /sessions/{session}/close",
    result=Closed,
    scope=Scope.DRIVE,
    destructive=True,
    acts=True,
)
class CloseSession(Operation, frozen=True, kw_only=True):
    """Close a session: hang up, then kill everything it started."""

    session: SessionRef
