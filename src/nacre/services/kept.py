"""What the next daemon must know of a session, beside its screen: written into the ring's records.

Rule: this lies in memory that the keeper holds, never on disk: it has the environment and the
nonces in it. What may lie on disk is `About`.
"""

import json
from typing import Literal, TypeVar

import msgspec

from nacre.services.host import Identity
from nacre.services.launch import Launch
from nacre.services.stage import KeptStage
from nacre.system.exits import Ending

_Kept = TypeVar("_Kept")


class KeptVeil(msgspec.Struct, frozen=True, kw_only=True):
    nonce: str
    shown: bytes
    until: str
    begin: int  # the offset in the terminal's stream from which on it hides


class KeptRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run, also one that is over: its output is read from the journal by its generations."""

    id: str
    nonce: str
    context: Literal["native", "wrapped", "repl"]
    cols: int
    started: float  # seconds since the epoch
    first: int  # the generation after which its output begins
    last: int | None = None  # the one that it ends with
    ended: float | None = None
    exit_code: int | None = None
    ended_by: Literal["mark", "prompt", "exit"] | None = None
    folder: str | None = None
    recording: bool = False
    starts_by_wrapper: bool = False
    started_by_mark: bool = False
    outer: list[str] = []
    kind: str = "sh"
    pid: int | None = None
    program: str | None = None
    shell_id: str = ""
    prompt: str = ""


class Long(msgspec.Struct, frozen=True, kw_only=True):
    """The record that changes with the session's life."""

    identity: Identity
    launch: Launch
    created: float
    cookie: str
    nonce: str
    secret: str | None
    pid: int | None = None
    listed: bool = True
    ended: float | None = None  # seconds since the epoch
    exit_code: int | None = None
    signal: str | None = None
    lost: bool = False  # found on disk by a former daemon, and not restored yet
    stage: KeptStage | None = None


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What lies on disk beside the journal: enough to list a lost session and to start it anew."""

    name: str
    id: str
    port: int
    named: bool
    keep: bool
    tags: list[str]
    argv: list[str]
    command: str
    program: str
    is_shell: bool
    integrated: bool
    cwd: str
    created: float
    ended: float | None = None
    exit_code: int | None = None
    signal: str | None = None


def about(
    identity: Identity,
    launch: Launch,
    created: float,
    ended: float | None = None,
    ending: Ending | None = None,
) -> About:
    return About(
        name=identity.name,
        id=identity.id,
        port=identity.port,
        named=identity.named,
        keep=identity.keep,
        tags=list(identity.tags),
        argv=list(launch.argv),
        command=launch.command,
        program=launch.program,
        is_shell=launch.is_shell,
        integrated=launch.integrated,
        cwd=launch.cwd,
        created=created,
        ended=ended,
        exit_code=ending.exit_code if ending else None,
        signal=ending.signal if ending else None,
    )


def pack_short(veil: KeptVeil | None, runs: list[bytes], limit: int) -> bytes:
    """Return the record that changes with every run: a line for the veil, and one a run.

    The runs come packed, for most of them never change again; the last ones that fit are kept.
    """
    lines = [msgspec.json.encode(veil)]
    left = limit - len(lines[0])
    for run in reversed(runs):
        left -= len(run) + 1
        if left < 0:
            break
        lines.append(run)
    return b"\n".join(lines)


def unpack_short(data: bytes) -> tuple[KeptVeil | None, list[KeptRun]]:
    """Return the veil and the runs, the oldest first. Raises ValueError for what is none."""
    first, *lines = data.split(b"\n")
    veil = msgspec.json.decode(first, type=KeptVeil | None) if first else None
    return veil, [msgspec.json.decode(line, type=KeptRun) for line in reversed(lines)]


def pack(record: object) -> bytes:
    """Not msgspec's own JSON: a folder's name or a variable may be bytes that are no text."""
    return json.dumps(msgspec.to_builtins(record)).encode()


def unpack(data: bytes, kind: type[_Kept]) -> _Kept:
    """Raises ValueError for what is none."""
    return msgspec.convert(json.loads(data), kind)
