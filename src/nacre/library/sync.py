"""`nacre.connect()`: a daemon and its sessions for programs without asyncio.

Rule: nothing is said twice, not even a signature. Each method is the one of AsyncClient or
AsyncSession, run over a socket that blocks; parameters, result and text come with it.
"""

import os
from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from nacre.core.operations.follow import Kind
from nacre.library.address import Address, address_of
from nacre.library.blocking import blocking, finish, follow, output
from nacre.library.client import AsyncClient, StreamEvent, as_event, following
from nacre.library.session import AsyncSession

P = ParamSpec("P")
T = TypeVar("T")
SessionMethod = Callable[Concatenate[AsyncSession, P], Coroutine[Any, Any, T]]
ClientMethod = Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]


def _of_session(method: SessionMethod[P, T]) -> "Callable[Concatenate[SyncSession, P], T]":
    @wraps(method)
    def run(self: "SyncSession", /, *args: P.args, **named: P.kwargs) -> T:
        return finish(method(self._session, *args, **named))

    return run


def _of_client(method: ClientMethod[P, T]) -> "Callable[Concatenate[SyncClient, P], T]":
    @wraps(method)
    def run(self: "SyncClient", /, *args: P.args, **named: P.kwargs) -> T:
        return finish(method(self._client, *args, **named))

    return run


def _making(
    method: ClientMethod[P, AsyncSession],
) -> "Callable[Concatenate[SyncClient, P], SyncSession]":
    """The same, for what makes a session."""

    @wraps(method)
    def run(self: "SyncClient", /, *args: P.args, **named: P.kwargs) -> SyncSession:
        return SyncSession(finish(method(self._client, *args, **named)))

    return run


class SyncSession:
    """A session by its id, name or port; AsyncSession says what its methods raise."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    def __repr__(self) -> str:
        return repr(self._session)

    @property
    def id(self) -> str | int:
        return self._session.id

    run = _of_session(AsyncSession.run)
    send = _of_session(AsyncSession.send)
    keys = _of_session(AsyncSession.keys)
    type = _of_session(AsyncSession.type)
    paste = _of_session(AsyncSession.paste)
    mouse = _of_session(AsyncSession.mouse)
    focus = _of_session(AsyncSession.focus)
    wait = _of_session(AsyncSession.wait)
    screen = _of_session(AsyncSession.screen)
    view = _of_session(AsyncSession.view)
    snapshot = _of_session(AsyncSession.snapshot)
    scrollback = _of_session(AsyncSession.scrollback)
    read = _of_session(AsyncSession.read)
    cursor = _of_session(AsyncSession.cursor)
    state = _of_session(AsyncSession.state)
    details = _of_session(AsyncSession.details)
    screenshot = _of_session(AsyncSession.screenshot)
    recording = _of_session(AsyncSession.recording)
    resize = _of_session(AsyncSession.resize)
    signal = _of_session(AsyncSession.signal)
    restart = _of_session(AsyncSession.restart)
    stop = _of_session(AsyncSession.stop)
    kill = _of_session(AsyncSession.kill)


class SyncClient:
    """A connection to a daemon, made with the first call; AsyncClient says how it is found.

    It can be used by several threads: one waits for the other's answer.
    """

    def __init__(self, address: Address, *, person: bool) -> None:
        self._client = AsyncClient.over(address, blocking(address, person=person))

    def __enter__(self) -> "SyncClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    close = _of_client(AsyncClient.close)
    new = _making(AsyncClient.new)
    launch = _making(AsyncClient.launch)
    sessions = _of_client(AsyncClient.sessions)
    read_run = _of_client(AsyncClient.read_run)
    status = _of_client(AsyncClient.status)

    def call(self, operation: str, **params: Any) -> dict[str, Any]:
        """Call any operation of docs/rest.md by its name; return its result as it came."""
        return finish(self._client.call(operation, **params))

    def session(self, reference: str | int) -> SyncSession:
        """Return a session by its name, id or port, without asking whether it is there."""
        return SyncSession(self._client.session(reference))

    def events(
        self, kinds: Sequence[Kind], session: SyncSession | str | int | None = None
    ) -> Iterator[StreamEvent]:
        """Yield what happens from now on: docs/websocket.md has the kinds.

        The first event is a sync, the state at the beginning. It ends when the session is removed.
        """
        request = following(kinds, session.id if isinstance(session, SyncSession) else session)
        for event in follow(finish(self._client.web()), request):
            yield as_event(event)

    def output(self, session: SyncSession | str | int) -> Iterator[bytes]:
        """Yield what a session prints, from its screen now until its program ends."""
        reference = session.id if isinstance(session, SyncSession) else session
        yield from output(finish(self._client.web()), reference)


def connect(
    url: str | None = None,
    token: str | None = None,
    *,
    home: str | os.PathLike[str] | None = None,
    start: bool = True,
    person: bool = False,
) -> SyncClient:
    """Return a connection to a daemon, for programs without asyncio; AsyncClient says which."""
    return SyncClient(address_of(url, token, home, start=start), person=person)
