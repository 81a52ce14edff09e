"""Watching a session at a screen of one's own, and typing at it.

Rule: no session is shown in itself, not by way of others either: what it shows would change what it
shows, for ever, and each size would be a row less than the other's.
"""

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from nacre.core.caller import Caller, Scope
from nacre.core.visual import VisualSpan
from nacre.core.watch import Ended, Event, Find, Found, Lines, Look, Watch, WatchSession
from nacre.errors import Forbidden, InvalidInput, SessionExited
from nacre.services.history import find_line, read_lines
from nacre.services.host import Host
from nacre.services.registry import Registry
from nacre.services.session import Session
from nacre.services.viewers import Viewer

if TYPE_CHECKING:
    from nacre.core.terminal import Terminal


class Watching:
    def __init__(self, registry: Registry, host: Host) -> None:
        self._registry = registry
        self._host = host
        self._shown: Counter[tuple[str, str]] = Counter()  # in which session which is, by ids

    @asynccontextmanager
    async def watch(self, caller: Caller, request: WatchSession) -> AsyncIterator[Watch]:
        """Watch for as long as this is entered.

        Raises SessionNotFound, and InvalidInput for a session that would be shown in itself.
        """
        session = self._registry.find(request.session)
        with self._inside(request.inside, session):
            async with self._watch(session, caller, request) as watch:
                yield watch

    @contextmanager
    def _inside(self, outer: str | None, session: Session) -> Iterator[None]:
        if outer is None:
            yield
            return
        identity = session.identity
        if outer == identity.id:
            raise InvalidInput(f"this is session {identity.name!r} itself: it cannot watch itself")
        if outer in self._seen_in(identity.id):
            raise InvalidInput(
                f"session {identity.name!r} shows the session that this is: they cannot watch each "
                "other; detach there first, or attach from a terminal outside of both"
            )
        self._shown[outer, identity.id] += 1
        try:
            yield
        finally:
            self._shown[outer, identity.id] -= 1
            self._shown += Counter()  # without those that are none any more

    def _seen_in(self, identifier: str) -> set[str]:
        """Return the sessions that one shows, and those that they show."""
        seen: set[str] = set()
        new = {identifier}
        while new:
            new = {inner for outer, inner in self._shown if outer in new} - seen
            seen |= new
        return seen

    @asynccontextmanager
    async def _watch(
        self, session: Session, caller: Caller, request: WatchSession
    ) -> AsyncIterator[Watch]:
        fit = None
        if request.rows is not None and request.cols is not None:
            fit = (request.rows, request.cols)
        try:
            with session.viewers.watch(
                fit, composed=request.composed, history=request.history
            ) as viewer:
                if session.ending is not None:  # its last screen, and that it has ended
                    viewer.finish(Ended(session.ending.exit_code, session.ending.signal))
                session.stage.control.came(caller)
                session.announce("watched")
                try:
                    yield _Screen(session, caller, viewer, self._host.settings.max_input_bytes)
                finally:
                    session.stage.control.left(caller, session)
        finally:
            session.announce("watched")  # one fewer does


class _Screen:
    """Where one caller sees a session and types."""

    def __init__(self, session: Session, caller: Caller, viewer: Viewer, limit: int) -> None:
        self._session = session
        self._caller = caller
        self._viewer = viewer
        self._limit = limit

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._viewer.__aiter__()

    def fit(self, rows: int, cols: int) -> None:
        self._viewer.fit(rows, cols)

    def refresh(self, history: int | None = None) -> None:
        self._viewer.refresh(history)

    def show_status(self, line: Sequence[VisualSpan]) -> None:
        self._viewer.show_status(line)

    async def type(self, data: bytes) -> None:
        if self._caller.scope < Scope.DRIVE:
            raise Forbidden("typing needs the scope drive; you only look")
        if len(data) > self._limit:
            raise InvalidInput(
                f"{len(data)} bytes at once are over the limit of {self._limit} "
                "(max_input_bytes); write them to a file, or send them in parts"
            )
        if data := self._viewer.for_child(data):
            await self._session.stage.type(self._caller, data)

    async def look(self, question: Look | Find) -> Lines | Found:
        if isinstance(question, Find):
            return await find_line(self._terminal, question)
        return read_lines(self._terminal(), question)

    def _terminal(self) -> "Terminal":
        if self._viewer.finished:  # its terminal may be closed by now
            raise SessionExited(f"session {self._session.identity.name!r} has ended")
        return self._session.terminal
