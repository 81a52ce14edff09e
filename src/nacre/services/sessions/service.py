"""The operations on sessions: one method each, called by dispatch."""

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Sequence

import msgspec

from nacre.core.catalog.caller import Caller
from nacre.core.keys.names import UnknownKey, parse_key
from nacre.core.operations.recordings import RestoreSessions
from nacre.core.operations.results import (
    Closed,
    InputSent,
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
from nacre.core.operations.runs import GetSessionStatus
from nacre.core.operations.sessions import (
    CloseSession,
    CreateSession,
    DismissSession,
    ListSessions,
    ManageSession,
    ResizeSession,
    RestartSession,
    SignalSession,
    StartSession,
)
from nacre.core.operations.steps import CREATE, kill, restart
from nacre.core.operations.terminal import (
    GetScreen,
    GetScrollback,
    PressKeys,
    ReadOutput,
    SendInput,
)
from nacre.core.policy.verdicts import stricter
from nacre.core.shell.state import State
from nacre.errors import BadParameter, CommandNotFound, InvalidInput, NacreError
from nacre.services.dispatch.handlers import Handlers
from nacre.services.dispatch.permit import type_into
from nacre.services.host.host import Host
from nacre.services.observe.first_prompt import after_first_prompt
from nacre.services.observe.lists import ListPlace, fit_details, fit_list, fit_page, read_cursor
from nacre.services.observe.state import look
from nacre.services.observe.views import (
    view_details,
    view_output,
    view_screen,
    view_scrollback,
)
from nacre.services.registry.registry import Registry
from nacre.services.session.input_queue import input_bytes
from nacre.services.session.launch import (
    installed_shells,
)
from nacre.services.session.session import Session
from nacre.services.sessions.maker import SessionMaker
from nacre.services.sessions.undecided import keep_undecided
from nacre.system.processes.ending import end_trees
from nacre.system.processes.tree import signal_number
from nacre.system.sandbox.landlock import NOTICE
from nacre.wording import Omit


class Sessions:
    def __init__(
        self,
        registry: Registry,
        host: Host,
        home: str,
        run_locked: Callable[[Session, State], bool],
    ) -> None:
        self._registry = registry
        self._host = host
        self._maker = SessionMaker(registry, host, home)
        self._run_locked = run_locked

    def handlers(self) -> Handlers:
        return (
            Handlers()
            .on(CreateSession, self.create)
            .on(ListSessions, self.list)
            .on(ManageSession, self.manage)
            .on(RestartSession, self.restart)
            .on(DismissSession, self.dismiss)
            .on(ResizeSession, self.resize)
            .on(SignalSession, self.signal)
            .on(SendInput, self.send)
            .on(PressKeys, self.press)
            .on(RestoreSessions, self.restore)
            .on(GetScreen, self.screen)
            .on(GetScrollback, self.scrollback)
            .on(ReadOutput, self.output)
            .on(GetSessionStatus, self.status)
            .on(StartSession, self.start)
            .on(CloseSession, self.close)
        )

    # --- life ------------------------------------------------------------------------------

    async def create(self, caller: Caller, request: CreateSession) -> SessionCreated:
        self._host.names.check_host(request)
        session = await self._maker.make(caller, request, None)
        created = _created(session)
        told = [created.notice]
        applies = stricter(self._host.settings.policy, request.policy or "open")
        if request.policy not in (None, applies):
            told.append(
                f"the policy of this session is {applies}, as the daemon's: it cannot be laxer"
            )
        if session.supervisor.sandbox_backend == "landlock":
            told.append(NOTICE)
        return msgspec.structs.replace(created, notice="; ".join(filter(None, told)) or None)

    async def list(self, caller: Caller, request: ListSessions) -> SessionList | SessionDetails:
        now = self._host.loop.time()
        if request.session is not None:
            details = view_details(self._registry.find(request.session), now)
            return fit_details(details, self._host.budget(request.max_chars))
        budget = self._host.budget(request.max_chars)
        chosen, more = self._chosen(caller, request)
        listed = []
        for known in chosen:
            listed.append(view_details(known, now))
            await asyncio.sleep(0)  # many sessions take long: let others run in between
        if listed and (request.limit is not None or request.cursor is not None):
            return fit_page(listed, budget, more=more)
        return fit_list(listed, budget)

    def _chosen(self, caller: Caller, request: ListSessions) -> tuple[Sequence[Session], bool]:
        """Return which are asked for, and whether there are more. Raises BadParameter."""
        seen = [known for known in self._registry if caller.sees(known.identity.name)]
        if request.limit is None and request.cursor is None:
            return seen, False
        order = sorted(seen, key=_place)
        if request.cursor is not None:
            after = read_cursor(request.cursor)._replace(host="")
            order = order[bisect_right(order, after, key=_place) :]
        limit = request.limit or len(order)
        return order[:limit], len(order) > limit

    async def manage(self, caller: Caller, request: ManageSession) -> Success:
        session = self._registry.find(request.session)
        _check_management(request)
        if request.action == "rename":
            assert request.new_name is not None
            await self._rename(session, request.new_name)
        elif request.action == "restart":
            await self.restart(caller, RestartSession(session=request.session))
        elif request.action == "dismiss":
            await self.dismiss(caller, DismissSession(session=request.session))
        elif request.action == "resize":
            display = session.display
            rows, cols = request.rows or display.rows, request.cols or display.cols
            display.resize(rows, cols, caller)
        elif request.action == "kill":
            # The name is free at once; everything is gone when this returns.
            self._registry.unlist(session)
            await session.end()
            session.retire()
        else:
            session.viewers.detach("somebody detached everybody who watched this session")
        return Success()

    async def _rename(self, session: Session, name: str) -> None:
        others, before = self._host.names.others, session.identity.name
        if others is None or name == before:
            self._registry.rename(session, name)
            return
        await others.claim(name, "")
        try:
            self._registry.rename(session, name)
        except NacreError:
            others.release(name)
            raise
        others.release(before, promised=False)

    async def restart(self, caller: Caller, request: RestartSession) -> SessionCreated:
        session = self._registry.find(request.session)
        if not session.listed:
            raise InvalidInput("a session that was killed or dismissed cannot be restarted", CREATE)
        await session.restart(await self._maker.plan_again(caller, session))
        return _created(session)

    async def restore(self, caller: Caller, request: RestoreSessions) -> Restored:
        """Raises InvalidInput for a session that is not lost."""
        wanted = list(self._registry)
        if request.session is not None:
            wanted = [self._registry.find(request.session)]
            if not (wanted[0].ending and wanted[0].ending.lost):
                name = wanted[0].identity.name
                if wanted[0].alive:
                    raise InvalidInput(f"session {name!r} is running: there is nothing to restore")
                raise InvalidInput(f"session {name!r} has ended, but is not lost", restart(name))
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
                f"session {session.identity.name!r} is running",
                kill(session.identity.name),
            )
        self._registry.unlist(session)
        await session.end()
        session.retire()
        return Success()

    async def start(self, caller: Caller, request: StartSession) -> SessionStarted:
        self._host.names.check_host(request)
        shell = request.shell
        if shell is not None and not shell.strip():
            raise BadParameter("shell", "is empty", Omit(("shell",), "to get yours"))
        create = CreateSession(
            name=request.name,
            command=shell,
            cwd=request.cwd,
            policy=request.policy,
            sandbox=request.sandbox,
        )
        try:
            session = await self._maker.make(caller, create, request.port)
        except CommandNotFound as error:
            raise InvalidInput(
                f"the shell {shell!r} is not installed (there are: {', '.join(installed_shells())})"
            ) from error
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
        state = look(session)
        return SessionState(
            session_id=session.identity.id,
            port=session.identity.port,
            name=session.identity.name,
            alive=session.alive,
            idle_seconds=int(max(0.0, now - session.last_active)),
            last_line=lines[-1] if lines else "",
            run_locked=self._run_locked(session, state),
            state=state,
            generation=session.hand_out(),
            exit_code=session.ending.exit_code if session.ending else None,
        )

    async def resize(self, caller: Caller, request: ResizeSession) -> Size:
        session = self._registry.find(request.session)
        display = session.display
        display.resize(request.rows, request.cols, caller)
        return Size(success=True, rows=display.rows, cols=display.cols)

    async def signal(self, caller: Caller, request: SignalSession) -> Success:
        session = self._registry.find(request.session)
        number = signal_number(request.signal)
        if number is None:
            raise InvalidInput(f"no signal {request.signal!r}", "use TERM, INT, HUP, KILL, USR1 …")
        session.signal(number)
        return Success()

    # --- input -----------------------------------------------------------------------------

    async def send(self, caller: Caller, request: SendInput) -> InputSent:
        session = self._registry.find(request.session)
        limit = self._host.settings.max_input_bytes
        return await self._type(session, input_bytes(request.input, request.encoding, limit))

    async def press(self, caller: Caller, request: PressKeys) -> InputSent:
        session = self._registry.find(request.session)
        session.require_alive()
        try:
            presses = [parse_key(name) for name in request.keys]
        except UnknownKey as error:
            raise InvalidInput(str(error)) from error
        return await self._type(session, b"".join(map(session.terminal.encode_key, presses)))

    async def _type(self, session: Session, data: bytes) -> InputSent:
        async with after_first_prompt(session, data, self._host):
            generation = session.hand_out()
            await type_into(session, data)
        return InputSent(generation=generation)

    # --- reading ---------------------------------------------------------------------------

    async def screen(self, caller: Caller, request: GetScreen) -> Screen:
        session = self._registry.find(request.session)
        return view_screen(session, request, self._host.budget(request.max_chars))

    async def scrollback(self, caller: Caller, request: GetScrollback) -> Scrollback:
        session = self._registry.find(request.session)
        return await view_scrollback(session, request, self._host.budget(request.max_chars))

    async def output(self, caller: Caller, request: ReadOutput) -> Output:
        session = self._registry.find(request.session)
        return await view_output(session, request, self._host.budget(request.max_chars))

    # --- the end ---------------------------------------------------------------------------

    def put_down_all(self) -> None:
        """Write and close all journals.

        Sessions that are not ended afterwards can be found again.
        """
        for session in self._registry.all():
            session.recorder.close()

    async def end_all(self) -> None:
        """End all sessions. Those whose journals were not closed before are removed from disk."""
        sessions = self._registry.all()
        await end_trees(
            lambda: [session.supervisor.tree for session in sessions],
            self._host.settings.kill_grace,
        )
        await asyncio.gather(*(session.supervisor.hang_up() for session in sessions))
        kept = await keep_undecided(sessions, self._host)
        for session in sessions:
            lost = session.ending is not None and session.ending.lost
            if lost or session.identity.id in kept:
                session.recorder.close()  # so it can be restored later
            if session.listed:
                session.recorder.remove_unless_closed()
            else:  # it was killed or dismissed: no later daemon knows it
                session.recorder.remove()


def _check_management(request: ManageSession) -> None:
    """Raises InvalidInput for parameters that do not go with the action."""
    sized = request.rows is not None or request.cols is not None
    if request.new_name is not None and request.action != "rename":
        raise BadParameter(
            "new_name", "goes with action rename only", Omit(("new_name",), "for the others")
        )
    if sized and request.action != "resize":
        name = "rows" if request.rows is not None else "cols"
        raise BadParameter(
            name, "goes with action resize only", Omit(("rows", "cols"), "for the others")
        )
    if request.action == "rename" and request.new_name is None:
        raise BadParameter("new_name", "is missing for action rename", "give the new name")
    if request.action == "resize" and not sized:
        raise BadParameter("rows", "is missing for action resize", "give rows, cols or both")


def _created(session: Session) -> SessionCreated:
    return SessionCreated(
        session=session.identity.name,
        session_id=session.identity.id,
        port=session.identity.port,
        pid=session.pid,
        rows=session.terminal.rows,
        cols=session.terminal.cols,
        cwd=session.launch.cwd,
        notice=session.notice and f"{session.notice} ({session.recorder.folder})",
    )


def _place(session: Session) -> ListPlace:
    return ListPlace("", round(session.created, 3), session.identity.id)
