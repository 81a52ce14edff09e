"""The operations on the past: earlier screens, recordings, lost sessions."""

from typing import Annotated

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, operation
from nacre.core.operations.parameters import Format, MaxChars, SessionRef
from nacre.core.operations.results import EarlierScreen, Recording, Restored

_Moment = Annotated[
    float, Meta(description="Seconds since the epoch; negative: seconds before now.")
]


@operation(
    "screen_at",
    "GET /sessions/{session}/screen_at",
    result=EarlierScreen,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class ScreenAt(Operation, frozen=True, kw_only=True):
    """Read the screen of a live or ended session as it was at an earlier generation or time.

    For what has scrolled away or was drawn over: the screen before an error, earlier progress.
    """

    session: SessionRef
    generation: Annotated[int, Meta(ge=0, description="From an earlier answer.")] | None = None
    time: _Moment | None = None
    format: Format = "plain"
    max_chars: MaxChars | None = None


@operation(
    "export_recording", "POST /sessions/{session}/recording", result=Recording, scope=Scope.DRIVE
)
class ExportRecording(Operation, frozen=True, kw_only=True):
    """Export a live or ended session as an asciicast (version 3), all of it or a time span.

    With path, the recording is written to that file. Without, it is returned if it is not too long.
    """

    session: SessionRef
    path: Annotated[str, Meta(min_length=1, description="New file on nacre's machine.")] | None = (
        None
    )
    since: _Moment | None = None
    until: _Moment | None = None
    idle_cap: (
        Annotated[float, Meta(ge=0, description="Shorten longer pauses to this (seconds).")] | None
    ) = None
    input: Annotated[bool, Meta(description="Include typed input where it was shown.")] = False
    markers: Annotated[bool, Meta(description="Add a marker where each command starts.")] = False
    max_chars: MaxChars | None = None


@operation("restore_sessions", "POST /restore", result=Restored, scope=Scope.DRIVE)
class RestoreSessions(Operation, frozen=True, kw_only=True):
    """Restart lost sessions, with the same name, folder, command and size.

    A session is lost when its daemon and keeper ended without stopping it, as in a reboot.
    """

    session: SessionRef | None = None
