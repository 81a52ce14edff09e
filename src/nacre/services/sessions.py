"""The operations on sessions: one method each, called by dispatch."""

import asyncio
from collections.abc import Callable

from nacre.core.caller import Caller
from nacre.core.keys import UnknownKey, parse_key
from nacre.core.operations import (
    CloseSession,
    CreateSession,
    DismissSession,
    GetScreen,
    GetScrollback,
    GetSessionStatus,
    ListSessions,
    ManageSession,
    PressKeys,
    ReadOutput,
    ResizeSession,
    RestartSession,
    SendInput,
    SignalSession,
    StartSession,
)
from nacre.core.results import (
    Closed,
    Output,
    Screen,
    Scrollback,
    SessionCreated,
    SessionDetails,
    SessionList,
    SessionStarted,
    SessionState,
    Size,
    Success,
)
from nacre.errors import Internal, InvalidInput
from nacre.services.endings import end_trees
from nacre.services.host import Host
from nacre.services.input import input_bytes
from nacre.services.launch import installed_shells, plan_launch
from nacre.services.registry import Registry
from nacre.services.session import Session
from nacre.services.states import look
from nacre.services.views import (
    view_details,
    view_output,
    view_screen,
    view_scrollback,
)
from nacre.system.processes import signal_number


class Sessions:
    def __init__(
        self, registry: Registry, host: Host, home: str, is_locked: Callable[[Session], bool]
    ) -> None:
        self._registry = registry
        self._host = host
        self._home = home
        self._is_locked = is_locked

    # --- life ------------------------------------------------------------------------------

    async def create(self, caller: Caller, request: CreateSession) -> SessionCreated:
        return _created(await self._create(caller, request, None))

    async def _create(self, caller: Caller, request: CreateSession, port: int | None) -> Session:
        settings = self._host.settings
        launch = plan_launch(request, caller, default_shell=settings.shell, home=self._home)
        keep = request.keep or caller.person
        await self._host.engine.load()
        # No waiting from here on: a name that was found free must still be so when it is taken.
        identity = self._registry.new_identity(
            request.name, launch.cwd, keep=keep, tags=tuple(request.tags or ()), port=port
        )
        try:
            session = Session(identity, launch, request.rows, request.cols, self._host)
        except Internal:
            self._registry.give_up(identity)
            raise
        self._registry.add(session)
        return session

    async def list(self, caller: Caller, request: ListSessions) -> SessionList | SessionDetails:
        now = self._host.loop.time()
        if request.session is not None:
            return view_details(self._registry.find(request.session), now)
        details = []
        for known in self._registry:
            details.append(view_details(known, now))
            await asyncio.sleep(0)  # many sessions take long: others get their turn between
        return SessionList(sessions=details)

    async def manage(self, caller: Caller, request: ManageSession) -> Success:
        session = self._registry.find(request.session)
        if request.new_name is not None and request.action != "rename":
            raise InvalidInput("new_name goes with action rename only")
        if request.action == "rename":
            if request.new_name is None:
                raise InvalidInput("action rename needs new_name")
            self._registry.rename(session, request.new_name)
        elif request.action == "kill":
            # The name is free at once; that everything is gone is true when this returns.
            self._registry.unlist(session)
            await session.end()
        else:
            session.viewers.detach("somebody detached everybody who watched this session")
        return Success()

    async def restart(self, caller: Caller, request: RestartSession) -> SessionCreated:
        session = self._registry.find(request.session)
        await session.restart()
        return _created(session)

    async def dismiss(self, caller: Caller, request: DismissSession) -> Success:
        session = self._registry.find(request.session)
        if session.alive:
            raise InvalidInput(
                f"session {session.identity.name!r} is running; kill it with manage_session"
            )
        self._registry.unlist(session)
        await session.end()
        return Success()

    async def start(self, caller: Caller, request: StartSession) -> SessionStarted:
        shell = request.shell
        if shell is not None and not shell.strip():
            raise InvalidInput("shell is empty; leave it out to get yours")
        create = CreateSession(name=request.name, command=shell, cwd=request.cwd)
        try:
            session = await self._create(caller, create, request.port)
        except InvalidInput as error:
            if shell is not None and "command not found" in error.message:
                raise InvalidInput(
                    f"the shell {shell!r} is not installed; "
                    f"there are: {', '.join(installed_shells())}"
                ) from error
            raise
        identity = session.identity
        return SessionStarted(
            port=identity.port,
            session_id=identity.id,
            shell=session.launch.program,
            name=identity.name,
        )

    async def close(self, caller: Caller, request: CloseSession) -> Closed:
        await self.manage(caller, ManageSession(session=request.session, action="kill"))
        return Closed()

    async def status(self, caller: Caller, request: GetSessionStatus) -> SessionState:
        session = self._registry.find(request.session)
        now = self._host.loop.time()
        lines = [line for line in session.terminal.plain_lines() if line.strip()]
        return SessionState(
            session_id=session.identity.id,
            port=session.identity.port,
            name=session.identity.name,
            alive=session.alive,
            idle_seconds=int(max(0.0, now - max(session.last_output, session.last_input))),
            last_line=lines[-1] if lines else "",
            run_locked=self._is_locked(session),
            state=look(session),
            generation=session.hand_out(),
            exit_code=session.ending.exit_code if session.ending else None,
        )

    async def resize(self, caller: Caller, request: ResizeSession) -> Size:
        session = self._registry.find(request.session)
        session.resize(request.rows, request.cols)
        return Size(success=True, rows=session.terminal.rows, cols=session.terminal.cols)

    async def signal(self, caller: Caller, request: SignalSession) -> Success:
        session = self._registry.find(request.session)
        number = signal_number(request.signal)
        if number is None:
            raise InvalidInput(f"no signal {request.signal!r}; use TERM, INT, HUP, KILL, USR1 …")
        session.signal(number)
        return Success()

    # --- input -----------------------------------------------------------------------------

    async def send(self, caller: Caller, request: SendInput) -> Success:
        session = self._registry.find(request.session)
        limit = self._host.settings.max_input_bytes
        session.write(input_bytes(request.input, request.encoding, limit))
        return Success()

    async def press(self, caller: Caller, request: PressKeys) -> Success:
        session = self._registry.find(request.session)
        session.require_alive()
        try:
            presses = [parse_key(name) for name in request.keys]
        except UnknownKey as error:
            raise InvalidInput(str(error)) from error
        session.write(b"".join(map(session.terminal.encode_key, presses)))
        return Success()

    # --- reading ---------------------------------------------------------------------------

    async def screen(self, caller: Caller, request: GetScreen) -> Screen:
        session = self._registry.find(request.session)
        return view_screen(session, request, self._host.budget(request.max_chars))

    async def scrollback(self, caller: Caller, request: GetScrollback) -> Scrollback:
        session = self._registry.find(request.session)
        return view_scrollback(session, request, self._host.budget(request.max_chars))

    async def output(self, caller: Caller, request: ReadOutput) -> Output:
        session = self._registry.find(request.session)
        return view_output(session, request, self._host.budget(request.max_chars))

    # --- the end ---------------------------------------------------------------------------

    async def end_all(self) -> None:
        sessions = self._registry.all()
        await end_trees(
            lambda: [session.tree for session in sessions], self._host.settings.kill_grace
        )
        await asyncio.gather(*(session.hang_up() for session in sessions))


def _created(session: Session) -> SessionCreated:
    return SessionCreated(
        session=session.identity.name,
        session_id=session.identity.id,
        port=session.identity.port,
        pid=session.pid,
        rows=session.terminal.rows,
        cols=session.terminal.cols,
        cwd=session.launch.cwd,
    )
