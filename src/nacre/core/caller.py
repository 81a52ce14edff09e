"""Who asks: what a door knows about the other side of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType


class Scope(IntEnum):
    """What a caller may do; each scope includes those below it."""

    OBSERVE = 1
    DRIVE = 2
    ADMIN = 3


@dataclass(frozen=True, slots=True)
class Caller:
    door: str  # "mcp", "rest", "cli" …
    scope: Scope = Scope.ADMIN
    person: bool = False  # a human at a command line or page, not an agent
    client: str = ""  # the name and version that the other side gave itself
    cwd: str | None = None  # where the caller stands: its sessions start there
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    key: str = ""  # the same for all connections of one page or terminal; "" for who has no other
    label: str = ""  # what others are shown of a person: "web page", "attach"
