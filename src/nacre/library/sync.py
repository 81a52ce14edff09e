"""`nacre.connect()`: a daemon and its sessions for programs without asyncio.

Rule: nothing is said twice but the signatures: each method runs the one of AsyncClient or
AsyncSession over a socket that blocks.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from nacre.core.operations.apps.mouse import MouseUsed
from nacre.core.operations.apps.programs import AppScreen, AppStopped, CursorPosition, ViewFormat
from nacre.core.operations.follow import Kind
from nacre.core.operations.parameters import Sandbox
from nacre.core.operations.results import (
    InputSent,
    Output,
    RunOutcome,
    RunPage,
    Screen,
    Scrollback,
    Sent,
    SessionDetails,
    SessionState,
    Size,
    Status,
    WaitOutcome,
)
from nacre.core.policy.verdicts import Preset
from nacre.library.address import Address, address_of
from nacre.library.blocking import blocking, finish, follow, output
from nacre.library.client import (
    AsyncClient,
    StreamEvent,
    as_event,
    following,
)
from nacre.library.session import NO_LIMIT, AsyncSession


class SyncSession:
    """A session by its id, name or port; AsyncSession says what its methods raise."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    def __repr__(self) -> str:
        return repr(self._session)

    @property
    def id(self) -> str | int:
        return self._session.id

    def run(self, command: str, *, timeout: float = 60.0, max_chars: int = NO_LIMIT) -> RunOutcome:
        """Run a command in the session's shell; return its output and exit code when it has ended.

        After `timeout` the status is "timeout", and the command goes on: wait(run_id=…).
        """
        return finish(self._session.run(command, timeout=timeout, max_chars=max_chars))

    def send(self, text: str, *, timeout: float = 5.0, max_chars: int = NO_LIMIT) -> Sent:
        """Type a line with Enter; return what was printed until the next prompt, or silence."""
        return finish(self._session.send(text, timeout=timeout, max_chars=max_chars))

    def keys(self, *keys: str) -> InputSent:
        """Press keys by their names (Enter, Ctrl+C, F5); anything else is typed as text."""
        return finish(self._session.keys(*keys))

    def type(self, text: str) -> InputSent:
        """Type text as it is; a line feed in it is Enter."""
        return finish(self._session.type(text))

    def paste(self, text: str) -> InputSent:
        """Paste text, in brackets if the program has asked for that."""
        return finish(self._session.paste(text))

    def mouse(
        self,
        action: Literal["click", "double_click", "drag", "scroll"] = "click",
        *,
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
        """Use the mouse at a cell, or at a text on the screen."""
        return finish(
            self._session.mouse(
                action,
                text=text,
                row=row,
                col=col,
                to_text=to_text,
                to_row=to_row,
                to_col=to_col,
                button=button,
                direction=direction,
                amount=amount,
                modifiers=modifiers,
            )
        )

    def wait(
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
        return finish(
            self._session.wait(
                text=text,
                regex=regex,
                quiet=quiet,
                run_id=run_id,
                state=state,
                exit=exit,
                cursor=cursor,
                after=after,
                timeout=timeout,
            )
        )

    def screen(self, *, styled: bool = False, max_chars: int = NO_LIMIT) -> Screen:
        """Read the screen; `lines` are texts, or lists of spans with colours if `styled`."""
        return finish(self._session.screen(styled=styled, max_chars=max_chars))

    def view(
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
        return finish(
            self._session.view(
                format,
                since=since,
                wait_text=wait_text,
                wait_idle=wait_idle,
                timeout=timeout,
                max_chars=max_chars,
            )
        )

    def scrollback(
        self,
        *,
        offset: int = 0,
        limit: int = 100,
        styled: bool = False,
        max_chars: int = NO_LIMIT,
    ) -> Scrollback:
        """Read the lines above the screen; offset 0 is the oldest."""
        return finish(
            self._session.scrollback(offset=offset, limit=limit, styled=styled, max_chars=max_chars)
        )

    def read(self, lines: int = 100, *, max_chars: int = NO_LIMIT) -> Output:
        """Read the last lines of scrollback and screen together."""
        return finish(self._session.read(lines, max_chars=max_chars))

    def cursor(self) -> CursorPosition:
        """Tell where the cursor is, from zero."""
        return finish(self._session.cursor())

    def state(self) -> SessionState:
        """Tell what the session does: at its prompt, running, waiting for input, ended."""
        return finish(self._session.state())

    def details(self) -> SessionDetails:
        """Tell all that is known of the session."""
        return finish(self._session.details())

    def screenshot(
        self,
        format: Literal["png", "svg"] = "png",
        *,
        scale: int = 2,
        cursor: bool = True,
    ) -> bytes:
        """Return a picture of the screen, as the content of a file."""
        return finish(self._session.screenshot(format, scale=scale, cursor=cursor))

    def recording(
        self,
        *,
        since: float | None = None,
        until: float | None = None,
        idle_cap: float | None = None,
        input: bool = False,
        markers: bool = False,
    ) -> str:
        """Return what the session showed, as an asciicast (version 3)."""
        return finish(
            self._session.recording(
                since=since, until=until, idle_cap=idle_cap, input=input, markers=markers
            )
        )

    def resize(self, rows: int, cols: int) -> Size:
        """Change the terminal's size. The program gets SIGWINCH."""
        return finish(self._session.resize(rows, cols))

    def signal(self, name: str = "TERM") -> None:
        """Send a signal to the program in the foreground."""
        finish(self._session.signal(name))

    def restart(self) -> None:
        """End the program if it runs, and start it again: the same command, folder and size."""
        finish(self._session.restart())

    def stop(self) -> AppStopped:
        """End the program and all that it started; return its exit code, or the signal."""
        return finish(self._session.stop())

    def kill(self) -> None:
        """Kill the session and everything in it. Its id can be read for a while."""
        finish(self._session.kill())


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

    def close(self) -> None:
        finish(self._client.close())

    def call(self, operation: str, **params: Any) -> dict[str, Any]:
        """Call any operation of docs/rest.md by its name; return its result as it came."""
        return finish(self._client.call(operation, **params))

    def new(
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
    ) -> SyncSession:
        """Start a session: a shell, a line for /bin/sh, or with `args` a program."""
        asked = self._client.new(
            command,
            args,
            name=name,
            rows=rows,
            cols=cols,
            cwd=cwd,
            env=env,
            keep=keep,
            tags=tags,
            sandbox=sandbox,
            policy=policy,
        )
        return SyncSession(finish(asked))

    def launch(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        rows: int = 24,
        cols: int = 80,
        sandbox: Sandbox | None = None,
    ) -> SyncSession:
        """Start a program in a terminal of its own; no shell reads its arguments."""
        asked = self._client.launch(
            command, args, env=env, cwd=cwd, rows=rows, cols=cols, sandbox=sandbox
        )
        return SyncSession(finish(asked))

    def session(self, reference: str | int) -> SyncSession:
        """Return a session by its name, id or port, without asking whether it is there."""
        return SyncSession(self._client.session(reference))

    def sessions(self) -> list[SessionDetails]:
        return finish(self._client.sessions())

    def read_run(
        self, run_id: str, *, offset: int = 0, limit: int = 1000, find: str | None = None
    ) -> RunPage:
        """Read the whole output of a run, page by page, or the lines that have a text."""
        return finish(self._client.read_run(run_id, offset=offset, limit=limit, find=find))

    def status(self) -> Status:
        return finish(self._client.status())

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
