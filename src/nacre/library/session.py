"""One session, as a program with asyncio uses it.

Rule 1: times are seconds here, as everywhere in Python; milliseconds are the wire's.
Rule 2: answers are whole unless `max_chars` says otherwise: a program reads them, not a model.
Rule 3: SyncSession (sync.py) is made from these methods, each by its name; a test compares them.
"""

import base64
from collections.abc import Sequence
from typing import Any, Literal

from nacre.core.operations.apps.focus import FocusMoved
from nacre.core.operations.apps.mouse import MouseUsed
from nacre.core.operations.apps.programs import AppScreen, AppStopped, CursorPosition, ViewFormat
from nacre.core.operations.apps.seeing import ScreenSnapshot
from nacre.core.operations.results import (
    InputSent,
    Output,
    Recording,
    RunOutcome,
    Screen,
    Scrollback,
    Sent,
    SessionDetails,
    SessionState,
    Size,
    WaitOutcome,
)
from nacre.library.answers import DaemonSocket, typed

NO_LIMIT = 1 << 31  # characters


class AsyncSession:
    """A session by its id, name or port. Nothing is asked of the daemon until a method is called.

    Methods raise SessionNotFound, SessionExited (for what needs a living program), PolicyDenied,
    ControlHeld, InvalidInput, and DaemonUnreachable or DaemonRestarted.
    """

    def __init__(self, socket: DaemonSocket, reference: str | int) -> None:
        self._socket = socket
        self.id = reference

    def __repr__(self) -> str:
        return f"<session {self.id}>"

    async def _read(self, operation: str, **params: Any) -> dict[str, Any]:
        return await self._socket.ask(operation, self._given(params), reads=True)

    async def _do(self, operation: str, **params: Any) -> dict[str, Any]:
        return await self._socket.ask(operation, self._given(params), reads=False)

    def _given(self, params: dict[str, Any]) -> dict[str, Any]:
        given = {name: value for name, value in params.items() if value is not None}
        return {"session": self.id, **given}

    # --- commands --------------------------------------------------------------------------

    async def run(
        self, command: str, *, timeout: float = 60.0, max_chars: int = NO_LIMIT
    ) -> RunOutcome:
        """Run a command in the session's shell; return its output and exit code when it has ended.

        After `timeout` the status is "timeout", and the command goes on: wait(run_id=…).
        """
        answer = await self._do(
            "run", command=command, timeout_ms=_ms(timeout), max_chars=max_chars
        )
        return typed(answer, RunOutcome)

    async def send(self, text: str, *, timeout: float = 5.0, max_chars: int = NO_LIMIT) -> Sent:
        """Type a line with Enter; return what was printed until the next prompt, or silence."""
        answer = await self._do("send", text=text, timeout_ms=_ms(timeout), max_chars=max_chars)
        return typed(answer, Sent)

    # --- typing ----------------------------------------------------------------------------

    async def keys(self, *keys: str) -> InputSent:
        """Press keys by their names (Enter, Ctrl+C, F5); anything else is typed as text."""
        return typed(await self._do("send_keys", keys=list(keys)), InputSent)

    async def type(self, text: str) -> InputSent:
        """Type text as it is; a line feed in it is Enter."""
        return typed(await self._do("send_keys", keys=[text], literal=True), InputSent)

    async def paste(self, text: str) -> InputSent:
        """Paste text, in brackets if the program has asked for that."""
        return typed(await self._do("send_keys", keys=[text], literal=True, paste=True), InputSent)

    async def mouse(
        self,
        action: Literal["click", "double_click", "drag", "scroll"] = "click",
        *,
        ref: str | None = None,
        text: str | None = None,
        row: int | None = None,
        col: int | None = None,
        to_text: str | None = None,
        to_row: int | None = None,
        to_col: int | None = None,
        button: Literal["left", "middle", "right"] | None = None,
        direction: Literal["up", "down", "left", "right"] | None = None,
        amount: int | None = None,
        modifiers: Sequence[Literal["ctrl", "alt", "shift"]] = (),
    ) -> MouseUsed:
        """Use the mouse at a cell, at a text on the screen, or at an element of a snapshot."""
        answer = await self._do(
            "mouse",
            action=action,
            ref=ref,
            text=text,
            row=row,
            col=col,
            to_text=to_text,
            to_row=to_row,
            to_col=to_col,
            button=button,
            direction=direction,
            amount=amount,
            modifiers=list(modifiers),
        )
        return typed(answer, MouseUsed)

    # --- waiting ---------------------------------------------------------------------------

    async def focus(
        self, text: str | None = None, *, ref: str | None = None, timeout: float = 10.0
    ) -> FocusMoved:
        """Move the focus to an element by its text or label, or by its ref in a snapshot.

        Raises Failed if the screen does not show it there in the end.
        """
        answer = await self._do("focus", text=text, ref=ref, timeout_ms=_ms(timeout))
        return typed(answer, FocusMoved)

    async def wait(
        self,
        *,
        text: str | None = None,
        regex: str | None = None,
        quiet: float | None = None,
        run_id: str | None = None,
        state: Sequence[Literal["prompt", "running", "needs_input", "exited"]] | None = None,
        exit: bool = False,
        cursor: tuple[int, int] | None = None,
        after: int | None = None,
        timeout: float = 30.0,
    ) -> WaitOutcome:
        """Wait until one of the conditions is true; `matched` says whether one came in time.

        With `after`, a generation, only what was printed later counts.
        """
        answer = await self._read(
            "wait_for",
            text=text,
            regex=regex,
            quiet_ms=None if quiet is None else _ms(quiet),
            run_id=run_id,
            state=None if state is None else list(state),
            exit=exit or None,
            cursor=None if cursor is None else list(cursor),
            after_generation=after,
            timeout_ms=_ms(timeout),
        )
        return typed(answer, WaitOutcome)

    # --- reading ---------------------------------------------------------------------------

    async def screen(self, *, styled: bool = False, max_chars: int = NO_LIMIT) -> Screen:
        """Read the screen; `lines` are texts, or lists of spans with colours if `styled`."""
        answer = await self._read("get_screen", format=_format(styled), max_chars=max_chars)
        return typed(answer, Screen)

    async def view(
        self,
        format: ViewFormat = "plain",
        *,
        since: int | None = None,
        wait_text: str | None = None,
        wait_idle: float | None = None,
        timeout: float = 10.0,
        max_chars: int = NO_LIMIT,
    ) -> AppScreen:
        """Read a program's screen as one text, after a wait if one is asked for.

        With `since`, a generation, only changed rows are returned, and only later output counts.
        """
        answer = await self._read(
            "view_screen",
            format=format,
            since_generation=since,
            wait_text=wait_text,
            wait_idle_ms=None if wait_idle is None else _ms(wait_idle),
            timeout_ms=_ms(timeout),
            max_chars=max_chars,
        )
        return typed(answer, AppScreen)

    async def snapshot(self, *, max_chars: int = NO_LIMIT) -> ScreenSnapshot:
        """Read what stands on the screen: boxes, buttons, entries, fields; which are selected."""
        return typed(await self._read("snapshot", max_chars=max_chars), ScreenSnapshot)

    async def scrollback(
        self,
        *,
        offset: int = 0,
        limit: int = 100,
        styled: bool = False,
        max_chars: int = NO_LIMIT,
    ) -> Scrollback:
        """Read the lines above the screen; offset 0 is the oldest."""
        answer = await self._read(
            "get_scrollback",
            offset=offset,
            limit=limit,
            format=_format(styled),
            max_chars=max_chars,
        )
        return typed(answer, Scrollback)

    async def read(self, lines: int = 100, *, max_chars: int = NO_LIMIT) -> Output:
        """Read the last lines of scrollback and screen together."""
        return typed(await self._read("read_output", lines=lines, max_chars=max_chars), Output)

    async def cursor(self) -> CursorPosition:
        """Tell where the cursor is, from zero."""
        return typed(await self._read("get_cursor_position"), CursorPosition)

    async def state(self) -> SessionState:
        """Tell what the session does: at its prompt, running, waiting for input, ended."""
        return typed(await self._read("get_status"), SessionState)

    async def details(self) -> SessionDetails:
        """Tell all that is known of the session."""
        return typed(await self._read("list_sessions"), SessionDetails)

    async def screenshot(
        self,
        format: Literal["png", "svg"] = "png",
        *,
        scale: int = 2,
        cursor: bool = True,
    ) -> bytes:
        """Return a picture of the screen, as the content of a file."""
        answer = await self._read("screenshot", format=format, scale=scale, show_cursor=cursor)
        data: str = answer["data"]
        return base64.b64decode(data) if format == "png" else data.encode()

    async def recording(
        self,
        *,
        since: float | None = None,
        until: float | None = None,
        idle_cap: float | None = None,
        input: bool = False,
        markers: bool = False,
    ) -> str:
        """Return what the session showed, as an asciicast (version 3)."""
        answer = await self._do(
            "export_recording",
            since=since,
            until=until,
            idle_cap=idle_cap,
            input=input,
            markers=markers,
            max_chars=NO_LIMIT,
        )
        return typed(answer, Recording).recording or ""

    # --- life ------------------------------------------------------------------------------

    async def resize(self, rows: int, cols: int) -> Size:
        """Change the terminal's size. The program gets SIGWINCH."""
        return typed(await self._do("resize_session", rows=rows, cols=cols), Size)

    async def signal(self, name: str = "TERM") -> None:
        """Send a signal to the program in the foreground."""
        await self._do("signal_session", signal=name)

    async def restart(self) -> None:
        """End the program if it runs, and start it again: the same command, folder and size."""
        await self._do("restart_session")

    async def stop(self) -> AppStopped:
        """End the program and all that it started; return its exit code, or the signal."""
        return typed(await self._do("stop_app"), AppStopped)

    async def kill(self) -> None:
        """Kill the session and everything in it. Its id can be read for a while."""
        await self._do("manage_session", action="kill")


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _format(styled: bool) -> str:
    return "styled" if styled else "plain"
