"""What operations return. The field names are those on the wire, taken from wsh and SILC.

Rule: small fields stand before long ones. Hosts that cut an answer show its beginning.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from nacre.core.catalog.catalog import Result
from nacre.core.screen.screen import Cursor, Line, ScreenMode
from nacre.core.shell.state import State


class Success(Result, frozen=True, kw_only=True):
    success: bool = True


class InputSent(Success, frozen=True, kw_only=True):
    generation: int  # before it was typed: what answers it comes after this


class SessionCreated(Result, frozen=True, kw_only=True, omit_defaults=True):
    session: str
    session_id: str
    port: int
    pid: int
    rows: int
    cols: int
    cwd: str
    host: str | msgspec.UnsetType = msgspec.UNSET  # in a cluster: which one took it
    notice: str | None = None  # what is wrong with it, such as a journal that cannot be written


class SessionBrief(Result, frozen=True, kw_only=True):
    """What is always listed of a session: the fields of wsh and SILC, and what it is doing."""

    name: str
    session_id: str
    port: int
    pid: int
    command: str
    shell: str
    rows: int
    cols: int
    running: bool
    alive: bool
    idle_seconds: int
    state: str
    host: str | msgspec.UnsetType = msgspec.UNSET  # in a cluster: where it is


class SessionShort(SessionBrief, frozen=True, kw_only=True):
    """A session in a list that would be too long with all details."""

    details_left_out: bool = True


class SessionDetails(SessionBrief, frozen=True, kw_only=True):
    """All that is known of a session."""

    cwd: str = ""
    args: list[str] = msgspec.field(default_factory=list)  # what its program was started with
    exit_code: int | None = None
    signal: str | None = None
    created: float = 0.0
    last_active: float = 0.0  # when something was last typed or printed, as created
    generation: int = 0
    title: str = ""
    mode: ScreenMode = "normal"
    keep: bool = False
    sandbox: str = "off"  # the profile of its sandbox
    sandbox_backend: str = ""  # what makes it: bubblewrap or landlock; empty: not tried yet
    cgroup: str = "none"  # what its cgroup limits; none: only each program by itself is limited
    tags: list[str] = msgspec.field(default_factory=list)
    asks: str | None = None
    viewers: int = 0  # how many watch it now
    driver: str | None = None  # the person who has taken it over
    policy: str = "open"  # the preset that applies: its own or the daemon's
    notice: str | None = None  # what its user should know, such as that the journal has stopped


class SessionList(Result, frozen=True, kw_only=True, omit_defaults=True):
    omitted_sessions: int = 0  # for which there was no room
    next_cursor: str | None = None  # there are more: go on with this one
    hint: str | None = None
    sessions: list[SessionDetails]  # of each what there is room for


class ScreenFacts(Result, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of a screen besides its lines."""

    cursor: Cursor
    rows: int
    cols: int
    mode: ScreenMode
    generation: int
    title: str = ""
    unchanged: bool = False  # since_generation was current: lines is empty
    omitted_lines: int = 0  # cut from the top by max_chars
    omitted_styles: bool = False  # all text is there, its styles were too long
    hint: str | None = None


class Screen(ScreenFacts, frozen=True, kw_only=True, omit_defaults=True):
    lines: Sequence[str | Line]


class EarlierScreen(ScreenFacts, frozen=True, kw_only=True, omit_defaults=True):
    time: float | None = None  # when the screen came to look like this
    lines: Sequence[str | Line]


class Recording(Result, frozen=True, kw_only=True, omit_defaults=True):
    session: str
    events: int
    size: int
    path: str | None = None  # where it was written
    recording: str | None = None  # else the asciicast itself
    began: float | None = None  # in seconds since the epoch; its header has whole ones


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
    total: int
    generation: int
    unchanged: bool = False
    omitted_lines: int = 0  # of those asked for: they follow after the last one here
    omitted_styles: bool = False
    hint: str | None = None
    lines: Sequence[str | Line]


class Quiesced(Result, frozen=True, kw_only=True):
    generation: int


class CommandOutcome(Result, frozen=True, kw_only=True):
    exit_code: int | None
    ended_by: Literal["quiet", "mark", "prompt", "needs_input"]
    run_id: str | None
    omitted_lines: int = 0  # cut out between head and tail; read_run has them
    cwd: str | None
    generation: int
    state: State | None = None  # where the session stands when no mark says that it has ended
    hint: str | None = None
    output: str
    screen: Screen


class Output(Result, frozen=True, kw_only=True, omit_defaults=True):
    lines: int
    generation: int
    unchanged: bool = False
    omitted_lines: int = 0
    hint: str | None = None
    output: str


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
    beyond_url: str = ""  # for other machines, if the setting host serves them by a known name
    keeper_pid: int | None = None  # None: the daemon runs without a keeper
    warnings: tuple[str, ...] = ()  # what a person should know, such as a keeper that is gone
    cgroups: str = ""  # what the cgroups of sessions limit, or why there are none
    cgroups_fix: str = ""  # what to do where there are none


# --- runs and waits ------------------------------------------------------------------------


class RunOutcome(Result, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a run: SILC's fields (output, exit_code, status), and how they are known."""

    status: Literal["completed", "timeout", "busy", "error"]
    exit_code: int | None
    run_id: str | None = None
    cwd: str | None = None  # of its shell at the end; null where nobody knows it
    host: str | None = None  # whose folder that is, of a shell that is not the session's own
    duration_ms: int = 0
    context: Literal["native", "wrapped", "repl"] | None = None  # where it ran
    ended_by: Literal["mark", "prompt", "exit", "quiet", "needs_input", "deadline"] | None = None
    changed_before: bool | None = None  # with since_generation: something was shown since then
    omitted_lines: int = 0  # cut out between head and tail, or shown in part
    state: State | None = None  # where the session stands when the run has not ended
    hint: str | None = None
    output: str


class FoundLine(Result, frozen=True, kw_only=True, omit_defaults=True):
    """A line in which something was found, and those around it."""

    line: int  # its number, from zero
    text: str  # of a long line what stands around it
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


class RunPage(Result, frozen=True, kw_only=True, omit_defaults=True):
    """Lines of a run's whole output."""

    run_id: str
    offset: int
    lines: int
    total_lines: int
    finished: bool
    exit_code: int | None = None
    lost_bytes: int = 0  # beyond the quota, and so never written; or lost with a daemon
    next_offset: int | None = None  # with find: where to go on; null when all of it was searched
    hint: str | None = None
    output: str
    matches: list[FoundLine] | None = None  # with find, instead of output


class RunPart(Result, frozen=True, kw_only=True, omit_defaults=True):
    """Bytes of a run's output, as the terminal got them."""

    run_id: str
    position: int  # of the first byte; higher than asked for if what stood there is not kept
    next_position: int
    cols: int  # of the terminal that it was printed for
    finished: bool  # it has ended, and these are its last bytes
    incomplete: bool = False  # some of it is lost: positions count from the first byte that is left
    lost_bytes: int = 0  # about so many of these; 0: it is not known
    started: bool = True  # false: a daemon died before it was sent, or before its start was told
    exit_code: int | None = None
    ended_by: Literal["mark", "prompt", "exit", "quiet"] | None = None
    state: State | None = None  # if it waits for somebody
    hint: str | None = None
    data: str  # in base64


class Sent(Result, frozen=True, kw_only=True, omit_defaults=True):
    lines: int
    alive: bool
    generation: int  # of what is returned: what came later is not in it
    omitted_lines: int = 0  # printed since, and not returned: over the budget, or no longer kept
    state: State | None = None  # where the session stands now
    hint: str | None = None
    output: str


class Pressed(Result, frozen=True, kw_only=True, omit_defaults=True):
    alive: bool
    generation: int  # as in Sent
    omitted_lines: int = 0
    state: State | None = None
    hint: str | None = None
    output: str


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
    host: str | msgspec.UnsetType = msgspec.UNSET  # in a cluster: which one took it


class Closed(Result, frozen=True, kw_only=True):
    status: Literal["closed"] = "closed"


class WaitOutcome(Result, frozen=True, kw_only=True, omit_defaults=True):
    """Which condition is true, and in which session."""

    matched: bool
    session: str | None = None
    condition: str | None = None
    generation: int | None = None
    missed_lines: int = 0  # printed since, but dropped from the scrollback before the search
    matches: list[str] | None = None  # with match=all: the sessions in their order
    state: State | None = None
    match: str | None = None  # the text that was found
    run: RunOutcome | None = None
    hint: str | None = None
