"""What is remembered of each client: its main session, its runs, and what it was shown.

Rule 1: a client is what is told apart when a hand-over is told (Caller.agent): a connection of the
bridge, an MCP session, else a program with its token.
Rule 2: nothing here is needed to read what there is. A client that was forgotten, or that comes
back to another daemon, finds its main session by a tag, and its runs begin at one again.
Rule 3: bounded: the longest unused client is forgotten, and so is a client's oldest run.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256

from msgspec import Struct, field

from nacre.core.catalog.caller import Caller

_MOST_CLIENTS = 1000  # remembered ones; a daemon has a few at a time
_NAME = 40  # characters of a client's name in a tag
_MOST_RUNS = 1000  # of a client that it can name; as many outputs are kept (max_runs)


class KnownRun(Struct):
    """A run that a client was told of, by its number."""

    number: int
    run_id: str
    session: str  # its id
    began: float  # by the loop's clock
    shown: int | None = 0  # lines that the client has seen, from the first; None: other runs' too
    last_line: str = ""  # the last of them: it may have been completed since
    searched: int = 0  # lines in which a wait has looked for its text
    over: bool = False  # the client was told its end
    native: bool = True  # in the session's own shell, whose folder is known
    program: str | None = None  # the shell or REPL that it has opened


class KnownSession(Struct):
    """A session as one client knows it."""

    id: str
    name: str = ""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # calls of one batch queue
    last: KnownRun | None = None
    around: list[KnownRun] = field(default_factory=list)  # shells and REPLs that were started
    rows: Sequence[str] | None = None  # the screen as it was shown last
    password: bool = False  # the client knows that one is asked for, and a person types it
    since: int | None = None  # the generation after which a wait looks for its text

    def under_way(self) -> KnownRun | None:
        """Return the innermost run of which this client does not know that it has ended."""
        inner = [one for one in (*self.around, self.last) if one is not None and not one.over]
        return inner[-1] if inner else None


class AgentClient:
    def __init__(self, caller: Caller) -> None:
        key = f"{caller.owner}:{caller.agent}"
        self.mark = f"({sha256(key.encode()).hexdigest()[:8]})"  # the end of its tag
        self.tag = f"{_named(caller)} {self.mark}"
        self.prefix = caller.prefix
        self.main: KnownSession | None = None
        self.looked = False  # whether it has a main session from before
        self.making = asyncio.Lock()  # the first calls of a batch make one main session
        self._sessions: dict[str, KnownSession] = {}
        self._runs: OrderedDict[int, KnownRun] = OrderedDict()
        self._count = 0

    def session(self, identifier: str, name: str) -> KnownSession:
        known = self._sessions.setdefault(identifier, KnownSession(identifier))
        known.name = name
        return known

    def forget_session(self, identifier: str) -> None:
        self._sessions.pop(identifier, None)
        if self.main is not None and self.main.id == identifier:
            self.main = None

    def add_run(self, session: KnownSession, run_id: str, began: float) -> KnownRun:
        """Note a run that was started; it gets the next number."""
        if (outer := session.under_way()) is not None:
            # What runs inside of it is its output, too: that is not shown twice.
            outer.shown = None
            session.around = [one for one in session.around if not one.over and one is not outer]
            session.around.append(outer)
        self._count += 1
        run = KnownRun(self._count, run_id, session.id, began)
        self._runs[run.number] = session.last = run
        session.since = None
        if len(self._runs) > _MOST_RUNS:
            self._runs.popitem(last=False)
        return run

    def run(self, number: int) -> KnownRun | None:
        return self._runs.get(number)

    def runs(self) -> list[KnownRun]:
        return list(self._runs.values())


class AgentClients:
    """All clients, the longest unused first."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, AgentClient] = OrderedDict()

    def of(self, caller: Caller) -> AgentClient:
        key = f"{caller.owner}:{caller.agent}"
        client = self._known.get(key)
        if client is None:
            client = self._known[key] = AgentClient(caller)
            if len(self._known) > _MOST_CLIENTS:
                self._known.popitem(last=False)
        client.prefix = caller.prefix
        self._known.move_to_end(key)
        return client


def _named(caller: Caller) -> str:
    """Return what people are shown of a client."""
    name = "".join(letter for letter in caller.client if letter.isprintable())
    return f"agent: {name[:_NAME] or caller.door}"
