"""Tell a client that asked for it how a call goes on: its time, and the session's last line.

Rule 1: nothing is sent before the first interval is over, and nothing after the answer.
Rule 2: the line comes from the events of the session, which is followed only meanwhile.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol

from nacre.core.agent.tools import MAIN, AgentRun, AgentType, AgentWait, FindMain, MainSession
from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import Operation
from nacre.core.operations.commands import CallCommand
from nacre.core.operations.follow import Event, Follow, LineEvent, Sync
from nacre.core.operations.runs import AwaitQuiesce, Run, RunCommand, WaitFor
from nacre.core.text.budget import shortened
from nacre.errors import NacreError
from nacre.services.dispatch.dispatch import Dispatch

_LONGEST = 200  # characters of a line: hosts show one line of it
_SOONEST = 100  # ms between two looks at a screen that changes all the time

_AGENT = (AgentRun, AgentType, AgentWait)
_TELLING = (Run, RunCommand, WaitFor, AwaitQuiesce, CallCommand, *_AGENT)


class ProgressSink(Protocol):
    """What takes a progress notification: the SDK's session, for one request."""

    async def report_progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None: ...


def tells(operation: Operation) -> bool:
    """Whether a call of this may take so long that it is told of."""
    return isinstance(operation, _TELLING)


@asynccontextmanager
async def progress_told(
    told: ProgressSink, dispatch: Dispatch, caller: Caller, operation: Operation, interval: float
) -> AsyncIterator[None]:
    """Tell of a call that is under way for as long as this is entered."""
    reporting = asyncio.create_task(
        _report(told, dispatch, caller, operation, interval), name="mcp-progress"
    )
    try:
        yield
    finally:
        reporting.cancel()
        # A client that is gone takes no progress; that its call is over is told elsewhere.
        await asyncio.gather(reporting, return_exceptions=True)


async def _session_of(dispatch: Dispatch, caller: Caller, operation: Any) -> str | int | None:
    """Return the session whose last line is told; of several the first."""
    several: list[str | int] = getattr(operation, "sessions", None) or []
    found: str | int | None = getattr(operation, "session", None)
    if several and (found is None or isinstance(operation, _AGENT)):
        found = several[0]
    if isinstance(operation, _AGENT) and found == MAIN:
        answer = await dispatch.ask(caller, FindMain())
        assert isinstance(answer.result, MainSession)
        return answer.result.session_id
    return found


async def _report(
    told: ProgressSink,
    dispatch: Dispatch,
    caller: Caller,
    operation: Operation,
    interval: float,
) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    screen = _LastLine()
    await asyncio.sleep(interval)
    async with asyncio.TaskGroup() as group:
        following: asyncio.Task[None] | None = None
        while True:
            if following is None or following.done():  # the call itself may make the session
                session = await _session_of(dispatch, caller, operation)
                if session is not None:
                    screen.known.clear()
                    follow = _follow(dispatch, caller, session, interval, screen)
                    following = group.create_task(follow)
                    await screen.known.wait()
            elapsed = loop.time() - began
            line = screen.text()
            message = f"{elapsed:.0f} s{f': {line}' if line else ''}"
            await told.report_progress(round(elapsed, 3), None, message)
            await asyncio.sleep(interval)


async def _follow(
    dispatch: Dispatch, caller: Caller, session: str | int, interval: float, screen: "_LastLine"
) -> None:
    every = max(_SOONEST, min(60_000, round(interval * 1000)))
    request = Follow(events=["lines"], session=session, format="plain", interval_ms=every)
    try:
        # A session that is gone ends the call itself, which says so.
        with suppress(NacreError):
            async with dispatch.follow(caller, request) as events:
                async for event in events:
                    screen.note(event)
    finally:
        screen.known.set()


class _LastLine:
    """The last line of a screen that is not empty."""

    def __init__(self) -> None:
        self.known = asyncio.Event()
        self._lines: dict[int, str] = {}

    def note(self, event: Event) -> None:
        if isinstance(event, Sync):
            self._lines = {index: str(line) for index, line in enumerate(event.screen.lines)}
        elif isinstance(event, LineEvent):
            self._lines[event.index] = str(event.line)
        self.known.set()

    def text(self) -> str:
        shown = [index for index, line in self._lines.items() if line.strip()]
        return shortened(self._lines[max(shown)].strip(), _LONGEST) if shown else ""
