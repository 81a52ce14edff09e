"""The operations on sessions: one method each, called by dispatch."""

import asyncio
import base64
import binascii

from nacre.core.caller import Caller
from nacre.core.keys import UnknownKey, parse_key
from nacre.core.operations import (
    AwaitQuiesce,
    CreateSession,
    DismissSession,
    GetScreen,
    GetScrollback,
    ListSessions,
    ManageSession,
    PressKeys,
    ReadOutput,
    ResizeSession,
    RestartSession,
    RunCommand,
    SendInput,
    SignalSession,
)
from nacre.core.quiesce import Quiesce
from nacre.core.results import (
    CommandOutcome,
    Output,
    Quiesced,
    Screen,
    Scrollback,
    SessionCreated,
    SessionDetails,
    SessionList,
    Size,
    Success,
)
from nacre.errors import Failed, InvalidInput
from nacre.services.endings import end_trees
from nacre.services.launch import plan_launch
from nacre.services.registry import Registry
from nacre.services.session import Host, Session
from nacre.services.views import (
    position,
    text_since,
    view_details,
    view_output,
    view_screen,
    view_scrollback,
)
from nacre.services.waits import await_quiet
from nacre.system.processes import signal_number


class Sessions:
    def __init__(self, registry: Registry, host: Host, home: str) -> None:
        self._registry = registry
        self._host = host
        self._home = home

    # --- life ------------------------------------------------------------------------------

    async def create(self, caller: Caller, request: CreateSession) -> SessionCreated:
        settings = self._host.settings
        launch = plan_launch(request, caller, default_shell=settings.shell, home=self._home)
        keep = request.keep or caller.person
        await self._host.engine.load()
        # No waiting from here on: a name that was found free must still be so when it is taken.
        identity = self._registry.new_identity(
            request.name, launch.cwd, keep=keep, tags=tuple(request.tags or ())
        )
        session = Session(identity, launch, request.rows, request.cols, self._host)
        self._registry.add(session)
        return _created(session)

    async def list(self, caller: Caller, request: ListSessions) -> SessionList | SessionDetails:
        now = self._host.loop.time()
        if request.session is not None:
            return view_details(self._registry.find(request.session), now)
        return SessionList(sessions=[view_details(known, now) for known in self._registry])

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
        session.write(self._input_bytes(request.input, request.encoding))
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

    def _input_bytes(self, text: str, encoding: str = "utf8") -> bytes:
        limit = self._host.settings.max_input_bytes
        if len(text) > limit * 4 // 3 + 4:
            raise _too_long(len(text), limit)
        try:
            data = base64.b64decode(text, validate=True) if encoding == "base64" else text.encode()
        except (binascii.Error, ValueError) as error:
            # ValueError: base64 that is not ASCII; text with a lone surrogate is a UnicodeError.
            raise InvalidInput(f"input is not valid {encoding}: {error}") from error
        if len(data) > limit:
            raise _too_long(len(data), limit)
        return data

    # --- reading ---------------------------------------------------------------------------

    async def screen(self, caller: Caller, request: GetScreen) -> Screen:
        return view_screen(self._registry.find(request.session), request, self._budget(request))

    async def scrollback(self, caller: Caller, request: GetScrollback) -> Scrollback:
        session = self._registry.find(request.session)
        return view_scrollback(session, request, self._budget(request))

    async def output(self, caller: Caller, request: ReadOutput) -> Output:
        return view_output(self._registry.find(request.session), request, self._budget(request))

    # --- waiting ---------------------------------------------------------------------------

    async def quiesce(self, caller: Caller, request: AwaitQuiesce) -> Quiesced:
        session = self._registry.find(request.session)
        await await_quiet(session, self._wait(request, request.last_generation))
        return Quiesced(generation=session.generation)

    async def run(self, caller: Caller, request: RunCommand) -> CommandOutcome:
        session = self._registry.find(request.session)
        wait = self._wait(request, request.last_generation)
        line, col = position(session), session.terminal.cursor().col
        data = self._input_bytes(request.input)
        has_enter = data.endswith((b"\r", b"\n"))
        session.write(data if has_enter else data + b"\r")
        try:
            await await_quiet(session, wait)
        except Failed as failure:
            # The caller reasons about the failure by what stood on the screen.
            failure.details["screen"] = self._screen_of(session, request)
            failure.details["output"] = text_since(session, line, col)
            raise
        return CommandOutcome(
            screen=self._screen_of(session, request),
            generation=session.generation,
            output=text_since(session, line, col),
            exit_code=None,
            cwd=session.cwd,
            ended_by="quiet",
            hint=None if has_enter else "input did not end with Enter: one was added",
        )

    def _screen_of(self, session: Session, request: RunCommand) -> Screen:
        screen = GetScreen(session=0, format=request.format)
        return view_screen(session, screen, self._budget(request))

    def _budget(self, request: GetScreen | GetScrollback | ReadOutput | RunCommand) -> int:
        if request.max_chars is not None:
            return request.max_chars
        return self._host.settings.max_result_chars

    def _wait(self, request: AwaitQuiesce | RunCommand, after: int | None) -> Quiesce:
        longest = self._host.settings.max_wait
        for name, value in (
            ("timeout_ms", request.timeout_ms),
            ("max_wait_ms", request.max_wait_ms),
        ):
            if value > longest * 1000:
                raise InvalidInput(
                    f"{name} may be at most {round(longest * 1000)} (setting max_wait); "
                    "wait several times with last_generation instead"
                )
        now = self._host.loop.time()
        return Quiesce(
            started=now,
            quiet=request.timeout_ms / 1000,
            max_wait=request.max_wait_ms / 1000,
            after_generation=after,
            # What was silent before a command was sent says nothing about the command.
            since=now if isinstance(request, RunCommand) else float("-inf"),
        )

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


def _too_long(size: int, limit: int) -> InvalidInput:
    return InvalidInput(
        f"input of {size} bytes is over the limit of {limit} (max_input_bytes); "
        "write it to a file, or send it in parts"
    )
