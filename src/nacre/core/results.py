"""What operations return. The field names are the wire's, and the documents'."""

from collections.abc import Sequence
from typing import Literal

from nacre.core.catalog import Result
from nacre.core.screen import Cursor, Line, ScreenMode


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
    ended_by: Literal["quiet"]
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
