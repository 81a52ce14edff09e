"""Watching a session at one's own screen, and typing there.

Rule: no session is shown in itself, also not through other sessions. Every output would cause new
output without end, and each size would have to be a row less than the other.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING

from nacre.core.catalog.caller import Caller, Scope
from nacre.core.operations.elements import VisualSpan
from nacre.core.operations.results import Success
from nacre.core.operations.watch import (
    Ended,
    Find,
    Found,
    Lines,
    Look,
    Numbered,
    TypeAtScreen,
    Watch,
    WatchEvent,
    WatchSession,
)
from nacre.errors import InvalidInput, NacreError, SessionExited
from nacre.services.dispatch.handlers import Handlers, Type
from nacre.services.dispatch.permit import judge_typing
from nacre.services.host.host import Host
from nacre.services.observe.lines import find_line, read_lines
from nacre.services.people.half_line import erasing
from nacre.services.registry.registry import Registry
from nacre.services.session.session import Session
from nacre.services.viewers.typists import TypingConnection
from nacre.services.viewers.viewer import Viewer

if TYPE_CHECKING:
    from nacre.core.terminal.terminal import Terminal


class Watching:
    def __init__(self, registry: Registry, host: Host) -> None:
        self._registry = registry
        self._host = host
        self._shown: Counter[tuple[str, str]] = Counter()  # which session is shown in which, by ids

    @asynccontextmanager
    async def watch(
        self, caller: Caller, request: WatchSession, type_: Type
    ) -> AsyncIterator[Watch]:
        """Watch while this context is entered; `type_` gets what is typed at that screen.

        Raises SessionNotFound, and InvalidInput for a session that would be shown in itself.
        """
        session = self._registry.find(request.session)
        with self._inside(request.inside, session):
            async with self._watch(session, caller, request, type_) as watch:
                yield watch

    async def type(self, caller: Caller, request: TypeAtScreen) -> Success:
        """Type what came from a screen; captured keys go to the agent that captured them.

        Raises InvalidInput for too much at once, and what send_input raises.
        """
        limit, size = self._host.settings.max_input_bytes, len(request.data)
        if size > limit:
            raise InvalidInput(
                f"{size} bytes at once are over the limit of {limit} (max_input_bytes)",
                "write them to a file",
                "send them in parts",
            )
        session = self._registry.find(request.session)
        data, receipt = request.data, request.receipt
        if not session.display.captures(caller):
            data = await judge_typing(session, data)
            if receipt is not None and data != request.data:
                receipt.begin()
                receipt.exact = False
        session.display.type(caller, data, receipt)
        return Success()

    def handlers(self) -> Handlers:
        return Handlers().on(TypeAtScreen, self.type)

    @contextmanager
    def _inside(self, outer: str | None, session: Session) -> Iterator[None]:
        if outer is None:
            yield
            return
        identity = session.identity
        if outer == identity.id:
            raise InvalidInput(f"this is session {identity.name!r}; it cannot watch itself")
        if outer in self._seen_in(identity.id):
            raise InvalidInput(
                f"session {identity.name!r} already shows this session; they cannot watch each "
                "other",
                "detach there first",
                "attach from a terminal outside of both",
            )
        self._shown[outer, identity.id] += 1
        try:
            yield
        finally:
            self._shown[outer, identity.id] -= 1
            self._shown += Counter()  # removes those with a count of zero

    def _seen_in(self, identifier: str) -> set[str]:
        """Return the sessions that a session shows, and those that are shown in them."""
        seen: set[str] = set()
        new = {identifier}
        while new:
            new = {inner for outer, inner in self._shown if outer in new} - seen
            seen |= new
        return seen

    @asynccontextmanager
    async def _watch(
        self, session: Session, caller: Caller, request: WatchSession, type_: Type
    ) -> AsyncIterator[Watch]:
        fit = None
        if request.rows is not None and request.cols is not None:
            fit = (request.rows, request.cols)
        try:
            with session.viewers.watch(
                fit, composed=request.composed, history=request.history, key=caller.key
            ) as viewer:
                if session.ending is not None:  # send its last screen and its end
                    ending = session.ending
                    viewer.finish(Ended(ending.exit_code, ending.signal, ending.lost))
                session.display.control.came(caller)
                # An attached terminal: the session is to have its size.
                sized = request.composed and fit is not None and caller.scope >= Scope.DRIVE
                if sized:
                    session.display.stay(caller)
                session.announce("watched")
                try:
                    with _typing(session, viewer, request) as numbers:
                        yield _Screen(session, viewer, type_, numbers)
                finally:
                    session.display.control.left(caller, session)
                    if sized:
                        session.display.leave(caller)
        finally:
            session.announce("watched")  # one viewer less


@contextmanager
def _typing(
    session: Session, viewer: Viewer, request: WatchSession
) -> Iterator[TypingConnection | None]:
    if request.typing is None:
        yield None
    else:
        with session.typists.connection(request.typing, viewer.tell) as connection:
            yield connection


class _Screen:
    """The screen on which one caller watches a session and types."""

    def __init__(
        self, session: Session, viewer: Viewer, type_: Type, numbers: TypingConnection | None
    ) -> None:
        self._session = session
        self._viewer = viewer
        self._type = type_
        self._numbers = numbers  # None: the viewer does not number what it types

    def __aiter__(self) -> AsyncIterator[WatchEvent]:
        return self._viewer.__aiter__()

    def fit(self, rows: int, cols: int) -> None:
        self._viewer.fit(rows, cols)

    def refresh(self, history: int | None = None) -> None:
        self._viewer.refresh(history)

    def show_status(self, line: Sequence[VisualSpan]) -> None:
        self._viewer.show_status(line)

    async def type(self, data: bytes, at: Numbered | None = None) -> None:
        if at is None or self._numbers is None:
            if data := self._viewer.for_child(data):
                await self._type(data)
            return
        if self._numbers.follows_half_a_line(at) and (keys := erasing(self._session)):
            with suppress(NacreError):  # nor will it let the rest pass, and say why
                await self._type(keys)
        if (accepted := self._numbers.accept(data, at)) is None:
            return
        new, receipt = accepted
        moved = self._viewer.for_child(new)
        receipt.exact = moved == new
        try:
            if moved:
                await self._type(moved, receipt)
            else:
                receipt.settle()
        except asyncio.CancelledError:
            self._numbers.forget(receipt)
            raise
        except NacreError:  # the viewer is told why, and does not send it again
            receipt.settle()
            raise

    async def look(self, question: Look | Find) -> Lines | Found:
        if isinstance(question, Find):
            return await find_line(self._terminal, question)
        return read_lines(self._terminal(), question)

    def _terminal(self) -> "Terminal":
        if self._viewer.finished:  # its terminal may already be closed
            raise SessionExited(f"session {self._session.identity.name!r} has ended")
        return self._session.terminal
