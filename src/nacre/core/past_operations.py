"""What a caller can ask of the past: an earlier screen, a recording, sessions that were lost."""

from typing import Annotated

from msgspec import Meta

from nacre.core.caller import Scope
from nacre.core.catalog import Operation, operation
from nacre.core.parameters import Format, MaxChars, SessionRef
from nacre.core.results import EarlierScreen, Recording, Restored

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
    """Read a session's screen as it was at an earlier generation or time, live or ended.

    For what has scrolled away or was drawn over: the frame before an error, a progress as it was.
    """

    session: SessionRef
    generation: Annotated[int, Meta(ge=0, description="Of an earlier answer.")] | None = None
    time: _Moment | None = None
    format: Format = "plain"
    max_chars: MaxChars | None = None


@operation(
    "export_recording", "POST /sessions/{session}/recording", result=Recording, scope=Scope.DRIVE
)
class ExportRecording(Operation, frozen=True, kw_only=True):
    """Export a session as an asciicast (version 3), live or ended, whole or a span.

    With path the recording is written to that file, else it is the answer, if it is short enough.
    """

    session: SessionRef
    path: (
        Annotated[str, Meta(min_length=1, description="A new file on nacre's machine.")] | None
    ) = None
    since: _Moment | None = None
    until: _Moment | None = None
    idle_cap: (
        Annotated[float, Meta(ge=0, description="Seconds that a pause has at most.")] | None
    ) = None
    input: Annotated[bool, Meta(description="With what was typed where it was shown.")] = False
    markers: Annotated[bool, Meta(description="With a marker where each command starts.")] = False
    max_chars: MaxChars | None = None


@operation("restore_sessions", "POST /restore", result=Restored, scope=Scope.DRIVE)
class RestoreSessions(Operation, frozen=True, kw_only=True):
    """Start lost sessions anew, with the same name, folder, command and size.

    Lost are those whose daemon and keeper were gone: after a reboot.
    """

    session: SessionRef | None = None
