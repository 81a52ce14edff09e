"""The operations on the past: earlier screens, recordings, what ran, search, lost sessions."""

from typing import Annotated, Literal

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, Result, operation
from nacre.core.catalog.limits import cut_at
from nacre.core.operations.parameters import Format, MaxChars, Scale, SessionRef
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


def _only_looks(request: "ExportRecording") -> bool:
    """Whether a recording shows no more than earlier screens do, and writes no file."""
    return request.path is None and not request.input


@operation(
    "export_recording",
    "POST /sessions/{session}/recording",
    result=Recording,
    scope=Scope.DRIVE,
    observes=_only_looks,
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


class FilmTaken(Result, frozen=True, kw_only=True, omit_defaults=True):
    session: str
    format: Literal["gif", "svg"]
    width: int  # in pixels
    height: int
    frames: int
    omitted_frames: int = 0  # left out evenly: there were more than max_film_frames
    seconds: float  # that it plays
    data: str  # base64 of a GIF file; an SVG file as it is


@operation("film_recording", "POST /sessions/{session}/film", result=FilmTaken, scope=Scope.DRIVE)
class FilmRecording(Operation, frozen=True, kw_only=True):
    """Make a GIF of a live or ended session, or an SVG that moves: all of it or a time span.

    Pauses are cut to 2 seconds.
    """

    session: SessionRef
    format: Annotated[
        Literal["gif", "svg"], Meta(description="gif: pixels; svg: shapes, sharp at any size.")
    ] = "gif"
    since: _Moment | None = None
    until: _Moment | None = None
    scale: Scale = 1


class ActivityEntry(Result, frozen=True, kw_only=True, omit_defaults=True):
    """A command that a session's shell ran, or runs."""

    id: str  # for activity_output; a run's is its run_id
    started: float  # seconds since the epoch
    ended: float | None = None
    running: bool = False
    exit_code: int | None = None
    duration_ms: int | None = None  # None also where its end was not seen
    by: str | None = None  # who ran it, in their own words; None: not known
    person: bool | None = None  # a person, not a program; None: not known
    run_id: str | None = None  # None: it was typed
    line: int | None = None  # the number of its line, as search counts them; None: not known
    generation: int = 0  # when it began: screen_at shows that moment
    last_generation: int | None = None  # when it ended
    command: str = ""  # its beginning, if it is long


class ActivityList(Result, frozen=True, kw_only=True, omit_defaults=True):
    session: str
    session_id: str
    total: int  # that are known, with those that are not listed
    earlier: bool = False  # there were more, which are no longer known
    entries: tuple[ActivityEntry, ...] = ()  # the oldest first


class ActivityOutput(Result, frozen=True, kw_only=True, omit_defaults=True):
    id: str
    lines: int
    omitted_lines: int = 0  # cut out of its middle, to fit max_chars
    incomplete: bool = False  # some of it is gone from the journal
    running: bool = False  # there may be more
    output: str


@operation(
    "list_activity",
    "GET /sessions/{session}/activity",
    result=ActivityList,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class ListActivity(Operation, frozen=True, kw_only=True):
    """List what ran in a session: each command with who ran it, exit code, duration and time.

    Runs of every caller, and what was typed at a shell that prints marks. Also of ended sessions.
    """

    session: SessionRef
    limit: Annotated[int, cut_at(10_000, "Most entries, the newest ones.", least=1)] = 200


@operation(
    "activity_output",
    "GET /sessions/{session}/activity/{id}",
    result=ActivityOutput,
    scope=Scope.OBSERVE,
    idempotent=True,
)
class ReadActivityOutput(Operation, frozen=True, kw_only=True):
    """Read what one command of a session printed, as a person would have seen it."""

    session: SessionRef
    id: Annotated[str, Meta(min_length=1, description="From list_activity.")]
    max_chars: MaxChars | None = None


class SessionHit(Result, frozen=True, kw_only=True, omit_defaults=True):
    """A line that stood on a session's screen, or stands there."""

    session: str
    session_id: str
    time: float  # when it was shown so, in seconds since the epoch
    generation: int  # screen_at shows that moment
    text: str
    start: int  # where in the text it was found, in characters
    end: int
    line: int | None = None  # its number in the session's lines; None on the alternate screen
    row: int | None = None  # of a full-screen program
    run_id: str | None = None  # the run that printed it, if it is still known
    versions: int = 1  # how many texts of this line were found; this is the last
    host: str = ""  # in a cluster: where the session is
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class NotSearched(Result, frozen=True, kw_only=True):
    """A session of which not everything could be searched."""

    session: str
    session_id: str
    reason: str


class SearchResult(Result, frozen=True, kw_only=True, omit_defaults=True):
    """Lines of all sessions in which something was found, the newest first."""

    total: int  # hits, with those that are not listed
    searched_sessions: int
    complete: bool
    searched_since: float | None = None  # what is older was not searched; None: all was
    next_offset: int | None = None  # there are more hits
    hint: str | None = None
    not_searched: tuple[NotSearched, ...] = ()
    hits: tuple[SessionHit, ...] = ()


@operation("search", "POST /search", result=SearchResult, scope=Scope.OBSERVE, idempotent=True)
class SearchSessions(Operation, frozen=True, kw_only=True):
    """Search what sessions showed: all of them or one, ended ones too, and all of their past.

    Also finds what full-screen programs showed and what was drawn over since. A hit has the moment
    at which it was shown.
    """

    text: Annotated[
        str,
        Meta(min_length=1, description="Text to find; without capitals it matches any case."),
    ]
    regex: Annotated[bool, Meta(description="The text is a regular expression (RE2).")] = False
    exact: Annotated[bool, Meta(description="Match the case as written.")] = False
    session: SessionRef | None = None
    since: _Moment | None = None
    until: _Moment | None = None
    context: Annotated[int, cut_at(20, "Lines above and below each hit.")] = 1
    limit: Annotated[int, cut_at(1000, "Most hits of the answer.", least=1)] = 50
    offset: Annotated[int, Meta(ge=0, le=10_000, description="Hits to skip, the newest first.")] = 0
    max_chars: MaxChars | None = None


@operation("restore_sessions", "POST /restore", result=Restored, scope=Scope.DRIVE)
class RestoreSessions(Operation, frozen=True, kw_only=True):
    """Restart lost sessions, with the same name, folder, command and size.

    A session is lost when its daemon and keeper ended without stopping it, as in a reboot.
    """

    session: SessionRef | None = None
