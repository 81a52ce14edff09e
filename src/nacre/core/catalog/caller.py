"""Who asks: what a door knows about the caller."""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType

from msgspec import Struct

from nacre.core.policy.verdicts import Preset, Sandbox


class Scope(IntEnum):
    """What a caller may do. Each scope includes the ones before it."""

    OBSERVE = 1
    DRIVE = 2
    ADMIN = 3


_NONE: Mapping[str, str] = MappingProxyType({})
_SECRET = frozenset({"values"})  # fields that are never shown


class Caller(Struct, frozen=True):
    door: str  # "mcp", "rest", "cli" …
    scope: Scope = Scope.ADMIN
    person: bool = False  # a human at a command line or page, not an agent
    client: str = ""  # the name and version that the other side gave itself
    cwd: str | None = None  # the caller's folder: its sessions start there
    env: Mapping[str, str] = _NONE
    # Of the variables that upstream servers' tables refer to. Never shown: these are secrets.
    values: Mapping[str, str] = _NONE
    key: str = ""  # the same for all connections of one page or terminal; "" for who has no other
    patience: float | None = None  # seconds that the other side waits for an answer, if it is known
    label: str = ""  # what others are shown of a person: "web page", "attach"
    pid: int | None = None  # its process, if the door knows that from the kernel
    sessions: frozenset[str] | None = None  # names of the only ones that it sees; None: all
    token: str = ""  # the id of the token that it came with, if people made that
    token_name: str = ""
    owner: str = ""  # whose executions it reaches: those of all who came in by the same right
    told_as: str = ""  # by what it is told apart from other agents, when a hand-over is told
    alike: bool = False  # others may come under the same: the door cannot tell them apart
    prefix: str = ""  # what stands before the names of its tools
    via: str = ""  # the host of the cluster whose door it came in at; "": this one's
    policy: Preset = "open"  # of that host: no session is laxer for this caller
    sandbox: Sandbox = "off"  # of that host, for new sessions
    inside: bool = False  # its process runs in a session of that host, which says so

    def sees(self, name: str) -> bool:
        """Tell whether a session of this name exists for this caller."""
        return self.sessions is None or name in self.sessions

    def __repr__(self) -> str:
        shown = [name for name in self.__struct_fields__ if name not in _SECRET]
        return f"Caller({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    @property
    def agent(self) -> str:
        """Who is told of hand-overs, once; "" for a person, who sees them."""
        return self.told_as or ("" if self.person else self.key or self.door)
