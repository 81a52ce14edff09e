"""The Terminal Tester's operations: start, watch, type into and end a program.

Rule: sessions are the same as everywhere; what is special about them here is how they are asked
for, read and typed into.
"""

import shlex

from nacre.core.catalog.caller import Caller
from nacre.core.keys.items import Item, UnknownCombination, parse_item
from nacre.core.operations.apps.programs import (
    AppLaunched,
    AppScreen,
    AppStopped,
    CursorPosition,
    GetCursorPosition,
    GetScreenSize,
    LaunchApp,
    ResizeTerminal,
    RestartApp,
    ScreenSize,
    SendKeys,
    StopApp,
    ViewScreen,
)
from nacre.core.operations.results import InputSent, SessionCreated, Size
from nacre.core.operations.sessions import CloseSession, ResizeSession, RestartSession
from nacre.core.operations.steps import LAUNCH
from nacre.core.shell.quiet import Until
from nacre.core.text.pattern import Pattern, compile_pattern, escaped
from nacre.errors import BadParameter, CommandNotFound, Failed, InvalidInput
from nacre.services.apps.shown import ShownScreens
from nacre.services.apps.typing import KeyTyping
from nacre.services.apps.views import (
    facts_of,
    position_of,
    view_output,
    view_rows,
    view_scrollback,
)
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.host.wait import Turn, wait_until
from nacre.services.registry.registry import Registry
from nacre.services.session.session import Session
from nacre.services.sessions.service import Sessions
from nacre.services.waits.new_text import NewText
from nacre.wording import Use


class Apps:
    def __init__(self, registry: Registry, sessions: Sessions, host: Host) -> None:
        self._registry = registry
        self._sessions = sessions
        self._host = host
        self._shown = ShownScreens()
        self.typing = KeyTyping(host)

    def handlers(self) -> Handlers:
        return (
            Handlers()
            .on(LaunchApp, self.launch)
            .on(ViewScreen, self.view)
            .on(SendKeys, self.send_keys)
            .on(GetCursorPosition, self.cursor)
            .on(GetScreenSize, self.size)
            .on(ResizeTerminal, self.resize)
            .on(RestartApp, self.restart)
            .on(StopApp, self.stop)
        )

    # --- life ------------------------------------------------------------------------------

    async def launch(self, caller: Caller, request: LaunchApp) -> AppLaunched:
        """Raises InvalidInput for a program that is not there; for a line it shows the words."""
        self._host.names.check_host(request)
        if not request.command.strip():
            raise BadParameter("command", "is empty", "give the program to start")
        try:
            created = await self._sessions.create(caller, request.as_session())
        except CommandNotFound as error:
            raise _explained(request, error) from error
        return _launched(created)

    async def restart(self, caller: Caller, request: RestartApp) -> AppLaunched:
        session = self._registry.find(request.session)
        if not session.listed:
            raise InvalidInput("this program was stopped, and cannot be restarted", LAUNCH)
        again = RestartSession(session=session.identity.id)
        return _launched(await self._sessions.restart(caller, again))

    async def stop(self, caller: Caller, request: StopApp) -> AppStopped:
        session = self._registry.find(request.session)
        if session.listed:
            await self._sessions.close(caller, CloseSession(session=session.identity.id))
        ending = session.ending
        return AppStopped(
            exit_code=ending.exit_code if ending else None,
            signal=ending.signal if ending else None,
        )

    async def resize(self, caller: Caller, request: ResizeTerminal) -> Size:
        session = self._registry.find(request.session)
        session.require_alive()
        rows = _one_of("rows", request.rows, "height", request.height)
        cols = _one_of("cols", request.cols, "width", request.width)
        if rows is None and cols is None:
            raise BadParameter(("rows", "cols"), "are missing", "give one of them or both")
        display = session.display
        asked = ResizeSession(
            session=session.identity.id, rows=rows or display.rows, cols=cols or display.cols
        )
        return await self._sessions.resize(caller, asked)

    # --- typing ----------------------------------------------------------------------------

    async def send_keys(self, caller: Caller, request: SendKeys) -> InputSent:
        session = self._registry.find(request.session)
        session.require_alive()
        items = _items(request)
        limit = self._host.settings.max_input_bytes
        if sum(len(item.encode(errors="replace")) for item in _given(request)) > limit:
            raise BadParameter(
                "keys", f"must be at most {limit} bytes (max_input_bytes)", "send it in parts"
            )
        self._shown.note(session)
        return InputSent(generation=await self.typing.type(session, items, paste=request.paste))

    # --- reading ---------------------------------------------------------------------------

    async def cursor(self, caller: Caller, request: GetCursorPosition) -> CursorPosition:
        return position_of(self._registry.find(request.session))

    async def size(self, caller: Caller, request: GetScreenSize) -> ScreenSize:
        terminal = self._registry.find(request.session).terminal
        return ScreenSize(rows=terminal.rows, cols=terminal.cols)

    async def view(self, caller: Caller, request: ViewScreen) -> AppScreen:
        session = self._registry.find(request.session)
        matched = await self._wait(session, request)
        budget = self._host.budget(request.max_chars)
        facts = facts_of(session, matched)
        if request.format == "passthrough":
            recorder = session.recorder
            if recorder.folder is None:
                raise Failed("this session has no journal", "the setting journal turns it on")
            await recorder.settled()
            loop = self._host.loop
            return await loop.run_in_executor(None, view_output, recorder.folder, facts, budget)
        now = self._shown.note(session)
        if request.format == "scrollback":
            return view_scrollback(session, facts, budget)
        since = request.since_generation
        before = None if since is None else self._shown.find(session, since)
        return view_rows(session, request, facts, now, before, budget)

    async def _wait(self, session: Session, request: ViewScreen) -> bool | None:
        """Return whether what is waited for came; None if nothing is."""
        text, idle = request.wait_text, request.wait_idle_ms
        if text is None and idle is None:
            return None
        most = self._host.settings.max_pattern_chars
        if text is not None and len(text) > most:
            raise BadParameter(
                "wait_text", f"must be at most {most} characters (max_pattern_chars)"
            )
        wait = _ScreenWait(session, text, idle, request.since_generation)
        deadline = self._host.loop.time() + request.timeout_ms / 1000
        return bool(await wait_until(wait.check, deadline, session.next_change))


class _ScreenWait:
    """A wait for a text, for silence, or for one and then the other."""

    def __init__(
        self, session: Session, text: str | None, idle_ms: int | None, since: int | None
    ) -> None:
        self._session = session
        self._pattern: Pattern | None = None if text is None else compile_pattern(escaped(text))
        self._new = NewText(session, since, None)
        self._idle = None if idle_ms is None else idle_ms / 1000
        self._since = since

    async def check(self, turn: Turn) -> bool | Until:
        session = self._session
        if self._since is not None and session.generation <= self._since:
            return Until() if session.alive else False
        if self._pattern is not None:
            found = await self._new.search_earlier(self._pattern, last=turn.last)
            if found is None and self._new.is_behind:
                return Until(turn.now)
            if (found or self._new.search(self._pattern)) is None:
                return Until() if session.alive else False
            self._pattern = None
        if self._idle is None or not session.alive:
            return True
        quiet_at = session.last_active + self._idle
        return True if turn.now >= quiet_at else Until(quiet_at)


def _items(request: SendKeys) -> list[Item]:
    given = _given(request)
    if not any(given):
        raise BadParameter("keys", "are empty", "give a key, a text, or a list of them")
    try:
        return [parse_item(item, literal=request.literal) for item in given if item]
    except UnknownCombination as error:
        raise InvalidInput(f"{error}; nothing was typed", "type it as text with literal") from error


def _given(request: SendKeys) -> list[str]:
    return [request.keys] if isinstance(request.keys, str) else request.keys


def _one_of(name: str, value: int | None, other: str, same: int | None) -> int | None:
    if value is not None and same is not None and value != same:
        raise BadParameter((name, other), "are the same here", "give one of them")
    return same if value is None else value


def _explained(request: LaunchApp, error: CommandNotFound) -> InvalidInput:
    """Return the error for a program that is not there, or for a whole line in its place."""
    words = _words(request.command)
    if len(words) < 2:
        return error
    apart = {"command": words[0], "args": [*words[1:], *request.args]}
    return BadParameter(
        "command",
        f"{request.command!r} is a line, and no shell reads it here",
        Use("launch_app", "start it", apart),
    )


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:  # an open quote
        return line.split()


def _launched(created: SessionCreated) -> AppLaunched:
    return AppLaunched(session_id=created.session_id, success=True, notice=created.notice)
