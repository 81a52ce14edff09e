"""What operations return. The field names are the wire's, and the documents'."""

from collections.abc import Sequence
from typing import Literal

from nacre.core.catalog import Result
from nacre.core.screen import Cursor, Line, ScreenMode
from nacre.core.state import State


class Success(Result, frozen=True, kw_only=True):
    success: bool = True


class SessionCreated(Result, frozen=True, kw_only=True):
    session: str
    session_id: str
    port: int
    pid: int
    rows: int
    cols: int
    cwd: str


class SessionDetails(Result, frozen=True, kw_only=True):
    """The union of what the documents list of a session."""

    name: str
    session_id: str
    port: int
    pid: int
    command: str
    shell: str
    cwd: str
    rows: int
    cols: int
    running: bool
    alive: bool
    exit_code: int | None
    signal: str | None
    idle_seconds: int
    created: float
    generation: int
    title: str
    mode: ScreenMode
    keep: bool
    tags: list[str]
    state: str
    asks: str | None
    viewers: int = 0  # who watch it now
    driver: str | None = None  # a person who has taken it over
    notice: str | None = None  # what its user should know: the journal has stopped


class SessionList(Result, frozen=True, kw_only=True):
    sessions: list[SessionDetails]


class Screen(Result, frozen=True, kw_only=True, omit_defaults=True):
    lines: Sequence[str | Line]
    cursor: Cursor
    rows: int
    cols: int
    mode: ScreenMode
    generation: int
    title: str = ""
    unchanged: bool = False  # since_generation was current: lines is empty
    omitted_lines: int = 0  # cut from the top by max_chars


class EarlierScreen(Screen, frozen=True, kw_only=True, omit_defaults=True):
    time: float | None = None  # when the screen came to look like this


class Recording(Result, frozen=True, kw_only=True, omit_defaults=True):
    session: str
    events: int
    size: int
    path: str | None = None  # where it was written
    recording: str | None = None  # else the asciicast itself


class Restored(Result, frozen=True, kw_only=True):
    sessions: list[SessionCreated]


class PictureTaken(Result, frozen=True, kw_only=True):
    session: str
    generation: int
    format: Literal["png", "svg"]
    width: int  # in pixels
    height: int
    rows: int
    cols: int
    data: str  # base64 of a PNG file; an SVG file as it is


class Scrollback(Result, frozen=True, kw_only=True, omit_defaults=True):
    lines: Sequence[str | Line]
    total: int
    generation: int
    unchanged: bool = False
    omitted_lines: int = 0


class Quiesced(Result, frozen=True, kw_only=True):
    generation: int


class CommandOutcome(Result, frozen=True, kw_only=True):
    screen: Screen
    generation: int
    output: str
    exit_code: int | None
    cwd: str | None
    ended_by: Literal["quiet", "mark", "prompt", "needs_input"]
    state: State | None = None
    hint: str | None = None


class Output(Result, frozen=True, kw_only=True, omit_defaults=True):
    output: str
    lines: int
    generation: int
    unchanged: bool = False
    omitted_lines: int = 0


class Size(Result, frozen=True, kw_only=True):
    success: bool
    rows: int
    cols: int


class Status(Result, frozen=True, kw_only=True):
    """What `nacre status` shows; the paths say where clients find socket and token."""

    pid: int
    port: int
    sessions: int
    version: str
    ephemeral: bool
    uptime: float
    url: str
    socket: str
    token_file: str
    keeper_pid: int | None = None  # of who starts the daemon again when it dies


# --- runs and waits ------------------------------------------------------------------------


class RunOutcome(Result, frozen=True, kw_only=True, omit_defaults=True):
    """What a run gave: the document's three fields, and how they are known."""

    output: str
    exit_code: int | None
    status: Literal["completed", "timeout", "busy", "error"]
    run_id: str | None = None
    cwd: str | None = None
    duration_ms: int = 0
    context: Literal["native", "wrapped", "repl"] | None = None  # where it ran
    ended_by: Literal["mark", "prompt", "exit", "needs_input", "deadline"] | None = None
    omitted_lines: int = 0  # cut out between head and tail; read_run has them
    state: State | None = None  # where the session stands when the run has not ended
    hint: str | None = None


class RunPage(Result, frozen=True, kw_only=True, omit_defaults=True):
    """Lines of a run's whole output."""

    run_id: str
    output: str
    offset: int
    lines: int
    total_lines: int
    finished: bool
    exit_code: int | None = None
    lost_bytes: int = 0  # over the quota: these were never written


class Sent(Result, frozen=True, kw_only=True):
    output: str
    lines: int
    alive: bool


class Pressed(Result, frozen=True, kw_only=True):
    output: str
    alive: bool


class SessionState(Result, frozen=True, kw_only=True, omit_defaults=True):
    session_id: str
    port: int
    name: str
    alive: bool
    idle_seconds: int
    last_line: str
    run_locked: bool
    state: State
    generation: int
    exit_code: int | None = None


class SessionStarted(Result, frozen=True, kw_only=True):
    port: int
    session_id: str
    shell: str
    name: str


class Closed(Result, frozen=True, kw_only=True):
    status: Literal["closed"] = "closed"


class WaitOutcome(Result, frozen=True, kw_only=True, omit_defaults=True):
    """Which condition came true, in which session."""

    matched: bool
    session: str | None = None
    condition: str | None = None
    generation: int | None = None
    match: str | None = None  # the text that was found
    matches: list[str] | None = None  # with match=all: the sessions in their order
    state: State | None = None
    run: RunOutcome | None = None
