"""What the daemon and the process that searches for it say to each other."""

import msgspec

LENGTH = 8  # bytes of a frame's length, little endian


class SearchTask(msgspec.Struct, frozen=True, kw_only=True):
    journals: list[tuple[str, str]]  # id and folder of each session
    text: str
    regex: bool
    exact: bool
    since: float | None
    until: float | None
    most: int  # hits
    context: int  # lines above and below each
    seconds: float
    memory: int  # bytes of text that are kept for the next search
    scrollback: int
    secrets: dict[str, str] | None  # what this reader is not shown; None: a person reads


class RawHit(msgspec.Struct, frozen=True, kw_only=True):
    session: str  # its id
    time: float
    generation: int
    alternate: bool
    line: int
    text: str
    start: int
    end: int
    versions: int
    before: list[str]
    after: list[str]


class SearchAnswer(msgspec.Struct, frozen=True, kw_only=True):
    hits: list[RawHit]  # the newest first
    total: int
    searched_since: float | None  # what is older was not searched; None: everything was
    failed: dict[str, str]  # ids of sessions of which a part could not be read, and why


def frame(message: SearchTask | SearchAnswer) -> bytes:
    data = msgspec.msgpack.encode(message)
    return len(data).to_bytes(LENGTH, "little") + data
