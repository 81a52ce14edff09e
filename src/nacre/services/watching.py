"""Watching a session at a screen of one's own, and typing at it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from nacre.core.caller import Caller, Scope
from nacre.core.visual import VisualSpan
from nacre.core.watch import Ended, Event, Watch, WatchSession
from nacre.errors import Forbidden, InvalidInput
from nacre.services.host import Host
from nacre.services.registry import Registry
from nacre.services.session import Session
from nacre.services.viewers import Viewer


class Watching:
    def __init__(self, registry: Registry, host: Host) -> None:
        self._registry = registry
        self._host = host

    @asynccontextmanager
    async def watch(self, caller: Caller, request: WatchSession) -> AsyncIterator[Watch]:
        """Watch for as long as this is entered. Raises SessionNotFound."""
        session = self._registry.find(request.session)
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
