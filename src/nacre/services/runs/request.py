"""What a run was asked to do: how its command reaches the shell, and how to know its marks."""

import secrets
from typing import Literal

from msgspec import Struct, field

from nacre.core.catalog.caller import Caller
from nacre.core.shell.dialects import SH, Dialect
from nacre.services.session.activity import RanBy
from nacre.system.logs import REQUEST

# native: the session's own shell, with marks; wrapped: another shell; repl: without marks.
Context = Literal["native", "wrapped", "repl"]


def new_nonce() -> str:
    """Return a nonce for one command: no longer than needed, as lines for ash are short."""
    return secrets.token_hex(8)


class RunRequest(Struct):
    context: Context
    started: float  # by the loop's clock
    id: str = field(default_factory=lambda: secrets.token_hex(6))
    nonce: str = field(default_factory=new_nonce)  # in its own marks
    outer: frozenset[str] = frozenset()  # nonces of the runs around it
    typed_ahead: bool = False  # keys were sent between the run before and this one
    tells_start: bool = False  # its shell marks the start of every line that it runs
    more_lines: bool = False  # are to be typed: the end of this one is not the end of the run
    starts_by_wrapper: bool = False  # in the native shell: its line is wrapped, not typed
    dialect: Dialect = SH
    enter: bytes = b"\r"  # what ends a line there
    pid: int | None = None  # the shell that a wrapped command was sent to, if it is local
    program: str | None = None  # its name, or ssh's
    came_with: bytes = b""  # what the run that started its shell had printed last
    prompt: str = ""  # the prompt that the command was sent at
    group: int | None = None  # the foreground processes whose prompt that is
    before: tuple[int | None, str] = (None, "")  # the same two of the run before
    command: str | None = None  # for the audit; None for what is no command
    fed_by: str | None = None  # the file that is its standard input, instead of the terminal
    shown: str | None = None  # what people see instead of a command of nacre's own
    caller: Caller | None = None  # the same; None after a restart of the daemon
    by: RanBy | None = None  # who asked for it, also after a restart
    asked_in: str = field(default_factory=lambda: REQUEST.get(""))  # the id of the call
