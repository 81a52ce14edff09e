"""`nacre.Client`: a daemon, as a program with asyncio uses it."""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple

from nacre.core.operations.follow import Kind
from nacre.core.operations.results import RunPage, SessionDetails, SessionList, Status
from nacre.core.policy.verdicts import Preset, Sandbox
from nacre.library.address import Address, LocalAddress, WebAddress, address_of
from nacre.library.answers import DaemonSocket, typed
from nacre.library.session import NO_LIMIT, AsyncSession
from nacre.library.streaming import follow, output, streaming


class StreamEvent(NamedTuple):
    """Something that happened: docs/websocket.md has the kinds and their fields."""

    kind: str
    session: str | None  # its name
    session_id: str | None
    fields: Mapping[str, Any]


class AsyncClient:
    """A connection to a daemon, made with the first call.

    Without a url it is this user's daemon (or that of the NACRE_HOME `home`), and is started if
    none runs, unless `start` is False. With a url, `token` opens it. `person`: what is typed and
    asked is a person's, as on the command line; else a program's, which waits while a person
    drives.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        home: str | os.PathLike[str] | None = None,
        start: bool = True,
        person: bool = False,
    ) -> None:
        self._address = address_of(url, token, home, start=start)
        self._socket: DaemonSocket = streaming(self._address, person=person)

    @classmethod
    def over(cls, address: Address, socket: DaemonSocket) -> "AsyncClient":
        """Return a client with a connection of another kind."""
        client = cls.__new__(cls)
        client._address, client._socket = address, socket
        return client

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._socket.close()

    async def call(self, operation: str, **params: Any) -> dict[str, Any]:
        """Call any operation of docs/rest.md by its name; return its result as it came."""
        given = {name: value for name, value in params.items() if value is not None}
        return await self._socket.ask(operation, given, reads=False)

    # --- sessions --------------------------------------------------------------------------

    async def new(
        self,
        command: str | None = None,
        args: Sequence[str] | None = None,
        *,
        name: str | None = None,
        rows: int = 24,
        cols: int = 80,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        keep: bool = False,
        tags: Sequence[str] = (),
        sandbox: Sandbox | None = None,
        policy: Preset | None = None,
    ) -> AsyncSession:
        """Start a session: a shell, a line for /bin/sh, or with `args` a program."""
        made = await self._socket.ask(
            "create_session",
            new_session(command, args, name, rows, cols, cwd, env, keep, tags, sandbox, policy),
            reads=False,
        )
        return AsyncSession(self._socket, made["session_id"])

    async def launch(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        rows: int = 24,
        cols: int = 80,
        sandbox: Sandbox | None = None,
    ) -> AsyncSession:
        """Start a program in a terminal of its own; no shell reads its arguments."""
        made = await self._socket.ask(
            "launch_app", new_app(command, args, env, cwd, rows, cols, sandbox), reads=False
        )
        return AsyncSession(self._socket, made["session_id"])

    def session(self, reference: str | int) -> AsyncSession:
        """Return a session by its name, id or port, without asking whether it is there."""
        return AsyncSession(self._socket, reference)

    async def sessions(self) -> list[SessionDetails]:
        answer = await self._socket.ask("list_sessions", {"max_chars": NO_LIMIT}, reads=True)
        return typed(answer, SessionList).sessions

    async def read_run(
        self, run_id: str, *, offset: int = 0, limit: int = 1000, find: str | None = None
    ) -> RunPage:
        """Read the whole output of a run, page by page, or the lines that have a text."""
        params = {"run_id": run_id, "offset": offset, "limit": limit, "max_chars": NO_LIMIT}
        if find is not None:
            params["find"] = find
        return typed(await self._socket.ask("read_run", params, reads=True), RunPage)

    # --- the daemon ------------------------------------------------------------------------

    async def status(self) -> Status:
        return typed(await self._socket.ask("status", {}, reads=True), Status)

    async def events(
        self, kinds: Sequence[Kind], session: AsyncSession | str | int | None = None
    ) -> AsyncIterator[StreamEvent]:
        """Yield what happens from now on: docs/websocket.md has the kinds.

        The first event is a sync, the state at the beginning. It ends when the session is removed.
        """
        request = following(kinds, session.id if isinstance(session, AsyncSession) else session)
        async for event in follow(await self.web(), request):
            yield as_event(event)

    async def output(self, session: AsyncSession | str | int) -> AsyncIterator[bytes]:
        """Yield what a session prints, from its screen now until its program ends."""
        reference = session.id if isinstance(session, AsyncSession) else session
        async for data in output(await self.web(), reference):
            yield data

    async def web(self) -> WebAddress:
        """Return the daemon's address for events."""
        if isinstance(self._address, LocalAddress):
            return self._address.web((await self.status()).url)
        return self._address


# --- what both faces send and read ---------------------------------------------------------------


def new_session(
    command: str | None,
    args: Sequence[str] | None,
    name: str | None,
    rows: int,
    cols: int,
    cwd: str | os.PathLike[str] | None,
    env: Mapping[str, str] | None,
    keep: bool,
    tags: Sequence[str],
    sandbox: Sandbox | None,
    policy: Preset | None,
) -> dict[str, Any]:
    more = {"name": name, "args": None if args is None else list(args), "policy": policy}
    return _given(
        **_started(command, env, cwd, rows, cols, sandbox), keep=keep, tags=list(tags), **more
    )


def new_app(
    command: str,
    args: Sequence[str],
    env: Mapping[str, str] | None,
    cwd: str | os.PathLike[str] | None,
    rows: int,
    cols: int,
    sandbox: Sandbox | None,
) -> dict[str, Any]:
    return _given(**_started(command, env, cwd, rows, cols, sandbox), args=list(args))


def _started(
    command: str | None,
    env: Mapping[str, str] | None,
    cwd: str | os.PathLike[str] | None,
    rows: int,
    cols: int,
    sandbox: Sandbox | None,
) -> dict[str, Any]:
    return {
        "command": command,
        "env": None if env is None else dict(env),
        "cwd": None if cwd is None else os.path.abspath(cwd),
        "rows": rows,
        "cols": cols,
        "sandbox": sandbox,
    }


def _given(**params: Any) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}


def following(kinds: Sequence[Kind], session: str | int | None) -> dict[str, Any]:
    return _given(events=list(kinds), session=session)


def as_event(event: dict[str, Any]) -> StreamEvent:
    known = ("event", "session", "session_id", "subscription")
    fields = {name: value for name, value in event.items() if name not in known}
    return StreamEvent(event["event"], event.get("session"), event.get("session_id"), fields)
