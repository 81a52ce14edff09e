"""Following sessions: the request and the events.

Not in the catalog: a stream is not a call with one answer. The fields are those of the WebSocket.
Where wsh has the same event, its names are kept.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any, Literal, Protocol

import msgspec
from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, unlisted
from nacre.core.operations.control import Handover
from nacre.core.operations.display import InputMode, ParsedKey
from nacre.core.operations.elements import Overlay, Panel
from nacre.core.operations.hosts.cluster import ClusterHost
from nacre.core.operations.parameters import Format
from nacre.core.operations.recordings import ActivityEntry
from nacre.core.operations.results import Screen, SessionDetails
from nacre.core.operations.safety.approvals import Approval
from nacre.core.screen.screen import Cursor, Line, ScreenMode

Kind = Literal[
    "output",
    "lines",
    "cursor",
    "mode",
    "diffs",
    "input",
    "runs",
    "states",
    "sessions",
    "visuals",
    "control",
    "changes",
    "daemon",
    "approvals",
    "thumbnails",
    "hosts",
]

# What can be followed of all sessions at once.
OF_ALL: frozenset[str] = frozenset(
    {
        *("runs", "states", "sessions", "control", "changes"),
        *("daemon", "approvals", "thumbnails", "hosts"),
    }
)


@unlisted("follow", scope=Scope.OBSERVE)
class Follow(Operation, frozen=True, kw_only=True):
    """Follow one session, or all of them, from now on. The first event is a sync."""

    events: Annotated[list[Kind], Meta(min_length=1)]
    session: str | int | None = None
    interval_ms: Annotated[int, Meta(ge=0, le=60_000)] = 100  # between events of the screen
    format: Format = "styled"
    idle_timeout_ms: Annotated[int, Meta(ge=0)] = 0  # send an idle event when quiet; 0: none


class LastCommand(msgspec.Struct, frozen=True, kw_only=True):
    """The command that a session's shell ran last, or runs."""

    command: str
    started: float  # seconds since the epoch
    ended: float | None = None  # None: it runs
    exit_code: int | None = None


class Summary(SessionDetails, frozen=True, kw_only=True):
    """A session in a list for people."""

    last_line: str
    question: str | None = None  # what its program asks: the text left of the cursor
    last_command: LastCommand | None = None  # that this daemon saw
    ended: float | None = None  # when its program ended, in seconds since the epoch
    line: int | None = None  # the number of the cursor's line; None in a full-screen program


class Event(msgspec.Struct, kw_only=True, tag_field="event"):
    session: str | None = None  # its name
    session_id: str | None = None
    seq: int = 0  # counts the events of one stream


class Sync(Event, kw_only=True, tag="sync"):
    """The whole state, at the start and again after events were dropped."""

    generation: int
    screen: Screen
    scrollback_lines: int
    overlays: list[Overlay]
    panels: list[Panel]
    mode: ScreenMode  # of overlays and panels
    input_mode: InputMode
    focused_element: str | None
    driver: str | None


class SyncAll(Event, kw_only=True, tag="sync"):
    sessions: list[Summary]


class OutputEvent(Event, kw_only=True, tag="output"):
    data: bytes  # base64 in JSON


class SnapshotEvent(Event, kw_only=True, tag="snapshot"):
    data: bytes
    alternate: bool
    rows: int
    cols: int


class LineEvent(Event, kw_only=True, tag="line"):
    index: int
    total_lines: int
    line: str | Line


class CursorEvent(Event, kw_only=True, tag="cursor"):
    row: int
    col: int
    visible: bool


class ModeEvent(Event, kw_only=True, tag="mode"):
    alternate_active: bool
    mode: ScreenMode


class DiffEvent(Event, kw_only=True, tag="diff"):
    changed_lines: list[int]
    screen: Screen
    generation: int


class IdleEvent(Event, kw_only=True, tag="idle"):
    generation: int
    screen: Screen
    scrollback_lines: int


class ChangedEvent(Event, kw_only=True, tag="changed"):
    generation: int


class ThumbnailEvent(Event, kw_only=True, tag="thumbnail"):
    """The rows of a screen that changed, with their styles; all of them at first."""

    rows: int
    cols: int
    cursor: Cursor
    lines: list[tuple[int, Line]]


class InputEvent(Event, kw_only=True, tag="input"):
    mode: InputMode
    raw: list[int]
    parsed: ParsedKey | None
    focused_element: str | None
    number: int


class InputModeEvent(Event, kw_only=True, tag="mode"):
    mode: InputMode
    focused_element: str | None


class RunEvent(Event, kw_only=True, tag="run"):
    status: Literal["started", "ended"]
    run_id: str | None = None
    command: str | None = None
    exit_code: int | None = None
    duration_ms: int | None = None
    entry: ActivityEntry | None = None  # as list_activity has it


class ApprovalEvent(Event, kw_only=True, tag="approval"):
    """A question to people: asked, answered, expired, or left by the call that asked."""

    status: Literal["asked", "answered", "expired", "left"]
    approval: Approval


class StateEvent(Event, kw_only=True, tag="state"):
    state: str
    asks: str | None
    last_line: str
    title: str
    cwd: str
    generation: int
    question: str | None = None
    last_command: LastCommand | None = None
    line: int | None = None


Change = Literal[
    "created", "ended", "renamed", "restarted", "removed", "resized", "watched", "notice"
]


class SessionEvent(Event, kw_only=True, tag="session"):
    change: Change
    details: Summary | None


class VisualsEvent(Event, kw_only=True, tag="visuals"):
    overlays: Sequence[Overlay]
    panels: Sequence[Panel]
    mode: ScreenMode


class ControlEvent(Event, kw_only=True, tag="control"):
    driver: str | None
    since: float | None
    handover: Handover | None
    waiting_since: float | None = None  # since when others wait to type; None: nobody does


class DaemonEvent(Event, kw_only=True, tag="daemon"):
    """What people must know about the daemon itself; after each sync, and when it changes."""

    warnings: tuple[str, ...]


class HostsEvent(Event, kw_only=True, tag="hosts"):
    """The hosts of the cluster: after the first sync, and when one comes, goes or drains."""

    hosts: list[ClusterHost]


class LaggedEvent(Event, kw_only=True, tag="lagged"):
    """Events were dropped because the follower did not read them; a sync follows."""

    dropped: int


class EventStream(Protocol):
    """Events, until the followed session is removed."""

    def __aiter__(self) -> AsyncIterator[Event]: ...


def as_wire(event: Event) -> dict[str, Any]:
    """Return an event for JSON. The sync of all sessions has no session fields."""
    built: dict[str, Any] = msgspec.to_builtins(event)
    if event.session is None:
        del built["session"], built["session_id"]
    return built
