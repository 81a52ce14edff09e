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
    RestoreSessions,
    SendInput,
    SignalSession,
    StartSession,
)
from nacre.core.results import (
    Closed,
    Output,
    Restored,
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
from nacre.services.host import Host, Identity
from nacre.services.input import input_bytes
from nacre.services.launch import Launch, installed_shells, plan_launch, relaunch
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
from nacre.system.ring import Ring


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
            session = self._begin(identity, launch, request)
        except Internal:
            self._registry.give_up(identity)
            raise
        self._registry.add(session)
        return session

    def _begin(self, identity: Identity, launch: Launch, request: CreateSession) -> Session:
        terminal = self._host.engine.new_terminal(request.rows, request.cols)
        try:
            ring = Ring()
        except OSError as error:
            raise Internal(f"no memory for a session: {error.strerror}") from error
        session = Session(identity, launch, terminal, ring, self._host)
        try:
            session.start()
        except Internal:
            session.close()
            raise
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
            session.retire()
        else:
            session.viewers.detach("somebody detached everybody who watched this session")
        return Success()

    async def restart(self, caller: Caller, request: RestartSession) -> SessionCreated:
        session = self._registry.find(request.session)
        if not session.listed:
            raise InvalidInput(
                "a session that was killed or dismissed cannot be restarted; create a new one"
            )
        if session.ending is not None and session.ending.lost:
            session.launch = relaunch(session.launch, caller, self._home)
        await session.restart()
        return _created(session)

    async def restore(self, caller: Caller, request: RestoreSessions) -> Restored:
        """Raises InvalidInput for a session that is not lost."""
        wanted = list(self._registry)
        if request.session is not None:
            wanted = [self._registry.find(request.session)]
            if not (wanted[0].ending and wanted[0].ending.lost):
                raise InvalidInput(
                    f"session {wanted[0].identity.name!r} is not lost; restart_session starts "
                    "one anew that has ended"
                )
        lost = [known for known in wanted if known.ending is not None and known.ending.lost]
        restored = []
        for session in lost:
            again = RestartSession(session=session.identity.id)
            restored.append(await self.restart(caller, again))
        return Restored(sessions=restored)

    async def dismiss(self, caller: Caller, request: DismissSession) -> Success:
        session = self._registry.find(request.session)
        if session.alive:
            raise InvalidInput(
                f"session {session.identity.name!r} is running; kill it with manage_session"
            )
        self._registry.unlist(session)
        await session.end()
        session.retire()
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
        stage = session.stage
        stage.resize(request.rows, request.cols)
        return Size(success=True, rows=stage.rows, cols=stage.cols)

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

    def put_down_all(self) -> None:
        """Write all journals, and nothing after that: who is not ended by it is found again."""
        for session in self._registry.all():
            session.recorder.close()

    async def end_all(self) -> None:
        """End all sessions; those whose journals were not closed before are forgotten."""
        sessions = self._registry.all()
        await end_trees(
            lambda: [session.lives.tree for session in sessions], self._host.settings.kill_grace
        )
        await asyncio.gather(*(session.lives.hang_up() for session in sessions))
        for session in sessions:
            if session.ending is not None and session.ending.lost:
                session.recorder.close()  # it can be restored another day
            session.recorder.remove_unless_closed()


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
