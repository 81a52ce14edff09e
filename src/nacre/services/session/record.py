"""What the next daemon must know about a session, beside its screen.

A session has one record and works with it. The ring gets a copy whenever it changes, the disk the
part that may be written to disk, and the next daemon recreates the session from it.

Rule 1: a new field is added here and nowhere else. In `DiskRecord` it is written to disk. In
`SessionRecord` it stays in memory that the keeper holds, as nonces and the environment must.
Rule 2: records of the version before must be readable: a new field has a default, and a field name
never changes its meaning.
"""

import json
import time
from typing import Any, Literal

import msgspec
from msgspec import Struct

from nacre.core.display.layers import KeptElements
from nacre.core.keys.capture import KeptCapture
from nacre.core.operations.control import CommandRun, Handover
from nacre.core.policy.verdicts import Preset
from nacre.core.screen.picture import Size
from nacre.core.text.budget import fitting
from nacre.services.session.activity import RanBy
from nacre.services.session.identity import Identity
from nacre.services.session.launch import Launch
from nacre.services.viewers.sizes import KeptSizes
from nacre.system.processes.exits import Ending


class Secrets(Struct, frozen=True):
    """The secrets by which a session's child is recognised."""

    cookie: str  # is in the environment of all its processes
    nonce: str  # is in its marks
    integrated: bool = False  # a shell has the nonce, and prints marks


class KeptLease(msgspec.Struct, frozen=True, kw_only=True):
    """Who drives, since when, and what they did until now."""

    door: str
    key: str
    label: str
    since: float  # seconds since the epoch
    keys: int
    dropped: int
    commands: list[CommandRun]
    first: int  # the generation that it began at


class KeptNews(msgspec.Struct, frozen=True, kw_only=True):
    """What people did before, and up to which hand-over each agent was told."""

    handovers: list[Handover]
    first: int
    told: dict[str, int]


class KeptDisplay(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What people see beside the screen, whose keys they are, and who drives."""

    rows: int
    cols: int
    elements: KeptElements
    lease: KeptLease | None = None
    news: KeptNews | None = None
    capture: KeptCapture | None = None
    sizes: KeptSizes | None = None


class DiskRecord(msgspec.Struct, kw_only=True):
    """Enough to list a lost session and to restart it."""

    identity: Identity
    launch: Launch  # on disk without its environment
    policy: Preset | None = None  # its own preset; the daemon's may be stricter
    created: float = msgspec.field(default_factory=time.time)  # seconds since the epoch
    ended: float | None = None  # the same; unknown for a lost session
    exit_code: int | None = None
    signal: str | None = None
    own_size: Size | None = None  # what its next program gets, if somebody has borrowed the size


class SessionRecord(DiskRecord, kw_only=True):
    """The whole record, as it is in the ring."""

    cookie: str = ""
    nonce: str = ""
    # Not None: its shell prints marks. Earlier versions had the path of the nonce's file here.
    secret: str | None = None
    pid: int | None = None  # of the last child
    since: int = 0  # when that was started, or one before it; see Tree
    listed: bool = True
    lost: bool = False  # nobody saw its end: the daemon and its keeper were gone
    display: KeptDisplay | None = msgspec.field(default=None, name="stage")

    @property
    def secrets(self) -> Secrets:
        return Secrets(self.cookie, self.nonce, self.secret is not None)

    @secrets.setter
    def secrets(self, known: Secrets) -> None:
        self.cookie, self.nonce = known.cookie, known.nonce
        self.secret = "pipe" if known.integrated else None

    @property
    def alive(self) -> bool:
        return self.ended is None and not self.lost

    @property
    def ending(self) -> Ending | None:
        """How the child ended; None while it runs."""
        return None if self.alive else Ending(self.exit_code, self.signal, self.lost)

    def end(self, ending: Ending, ended: float) -> None:
        self.exit_code, self.signal, self.lost = ending.exit_code, ending.signal, ending.lost
        self.ended = None if ending.lost else ended

    def begin(self) -> None:
        """Note that a child runs; how the one before it ended no longer matters."""
        self.ended = self.exit_code = self.signal = None
        self.lost = False


# --- in the ring and on disk -------------------------------------------------------------------


def pack(record: SessionRecord) -> bytes:
    return _as_json(msgspec.to_builtins(record))


def unpack(data: bytes) -> SessionRecord:
    """Raises ValueError for what is none."""
    return msgspec.convert(json.loads(data), SessionRecord)


def pack_for_disk(record: SessionRecord) -> bytes:
    """Pack without what must not be on disk; nested fields are flat there."""
    everything = msgspec.to_builtins(record)
    flat = {name: everything[name] for name in DiskRecord.__struct_encode_fields__}
    identity, launch = flat.pop("identity"), flat.pop("launch")
    del launch["env"]
    return _as_json({**identity, **launch, **flat})


def unpack_from_disk(data: bytes) -> SessionRecord:
    """Raises ValueError for what is none."""
    flat = json.loads(data)
    if not isinstance(flat, dict):
        raise ValueError("this is no record of a session")
    known = {name: flat[name] for name in DiskRecord.__struct_encode_fields__ if name in flat}
    nested = {**known, "identity": flat, "launch": {**flat, "env": {}}}
    return msgspec.convert(nested, SessionRecord)


def _as_json(built: Any) -> bytes:
    """Encode without msgspec: a folder's name or a variable may be bytes that are not text."""
    return json.dumps(built).encode()


# --- what changes with every run ---------------------------------------------------------------


class KeptVeil(msgspec.Struct, frozen=True, kw_only=True):
    nonce: str
    shown: bytes
    until: str
    begin: int  # the offset in the terminal's stream where it begins to hide


class KeptRun(msgspec.Struct, frozen=True, kw_only=True):
    """A running or finished run; its output is read from the journal by its generations."""

    id: str
    nonce: str
    context: Literal["native", "wrapped", "repl"]
    cols: int
    started: float  # seconds since the epoch
    first: int  # the generation after which its output begins
    last: int | None = None  # the generation that it ends with
    # Where the terminal's stream stood when it began and ended, to the read; -1: not known.
    begun: int = -1
    over: int = -1
    ended: float | None = None
    exit_code: int | None = None
    ended_by: Literal["mark", "prompt", "exit", "quiet"] | None = None
    folder: str | None = None
    host: str | None = None
    recording: bool = False
    starts_by_wrapper: bool = False
    started_by_mark: bool = False
    outer: list[str] = []
    kind: str = "sh"
    pid: int | None = None
    program: str | None = None
    shell_id: str = ""
    prompt: str = ""
    command: str | None = None  # its beginning, while it runs: the ring has little room
    by: RanBy | None = None  # who asked for it, while it runs


def pack_short(veil: KeptVeil | None, runs: list[bytes], limit: int) -> bytes:
    """Return the ring's short record: a line for the veil, and one for each run.

    The runs are packed already, since most never change again; the last ones that fit are kept.
    """
    first = msgspec.json.encode(veil)
    left = limit - len(first)
    # A run is put down three times, and mostly all fit: add them up without a loop of our own.
    if sum(map(len, runs)) + len(runs) > left:
        runs = runs[len(runs) - fitting((len(run) + 1 for run in reversed(runs)), left) :]
    return b"\n".join((first, *runs[::-1]))


def unpack_short(data: bytes) -> tuple[KeptVeil | None, list[KeptRun]]:
    """Return the veil and the runs, the oldest first. Raises ValueError for what is none."""
    first, *lines = data.split(b"\n")
    veil = msgspec.json.decode(first, type=KeptVeil | None) if first else None
    return veil, [msgspec.json.decode(line, type=KeptRun) for line in reversed(lines)]
