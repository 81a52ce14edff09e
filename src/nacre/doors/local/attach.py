"""The daemon's side of `nacre attach`: events out, keys and sizes in, one per line.

Rule: the status line is drawn again when something happens, never by a timer.
"""

import asyncio
import base64
import time
from typing import Any, Literal, TypeVar

import msgspec

from nacre.core.catalog.catalog import Operation, parse_parameters
from nacre.core.catalog.messages import read_message
from nacre.core.display.statusline import StatusLine, status_line
from nacre.core.operations.control import Control, ControlNow
from nacre.core.operations.follow import (
    ApprovalEvent,
    Follow,
    InputEvent,
    InputModeEvent,
    StateEvent,
    Sync,
    SyncAll,
)
from nacre.core.operations.follow import Event as FollowedEvent
from nacre.core.operations.results import SessionDetails
from nacre.core.operations.safety.approvals import (
    Answer,
    AnswerApproval,
    Approval,
    ApprovalList,
    ListApprovals,
)
from nacre.core.operations.sessions import ListSessions, ResizeSession
from nacre.core.operations.watch import (
    Detached,
    Dropped,
    Find,
    Found,
    Lines,
    Look,
    Numbered,
    Printed,
    Resized,
    Snapshot,
    Taken,
    Typing,
    ViewCols,
    ViewRows,
    Watch,
    WatchEvent,
    WatchSession,
)
from nacre.doors.http.message_log import log_size
from nacre.doors.http.ways import until_one_ends
from nacre.doors.local.socket import Hello, Serve, next_line, send_line
from nacre.errors import InvalidInput, NacreError
from nacre.services.dispatch.dispatch import Dispatch

OperationT = TypeVar("OperationT", bound=Operation)

_STATUS_INTERVAL_MS = 250  # between two updates; people read this line


class KeyNames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line from the attached client.

    It has typed keys, the new size of the screen, or a request: for a fresh screen, to take or give
    back control, or to look back.
    """

    input: str | None = None  # base64
    number: int | None = None  # bytes that were typed before it, if the client numbers them
    go_on: bool = False  # its person knows of what was dropped
    resize: tuple[ViewRows, ViewCols] | None = None
    refresh: bool = False
    control: bool = False
    look: Look | None = None
    find: Find | None = None
    answer_text: str | None = None  # what is typed for a program that asks
    answer: tuple[str, Answer] | None = None  # to what the policy asks: the question's id, and it


_WISHES = ", ".join(KeyNames.__struct_fields__)


def serve_attached(dispatch: Dispatch, hello: Hello, longest: int) -> Serve:
    """Return what serves an attached person: events out, keys and sizes in, one per line.

    A line may have `longest` bytes.
    """
    if hello.session is None:
        raise InvalidInput("the greeting of attach names a session")
    session = hello.session

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _Attached(dispatch, hello, session, reader, writer, longest).serve()
        except NacreError as error:
            send_line(writer, {"error": hello.words.error(error)}, hello.words)
        await writer.drain()

    return serve


class _Attached:
    """A person who is attached to a session with their own terminal."""

    def __init__(
        self,
        dispatch: Dispatch,
        hello: Hello,
        session: str | int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        longest: int,
    ) -> None:
        self._dispatch = dispatch
        self._hello = hello
        self._longest = longest
        self._session = session
        self._reader = reader
        self._writer = writer
        self._caller = hello.caller()
        self._size = hello.size
        self._status: StatusLine | None = None  # as it is shown
        self._question: Approval | None = None  # the oldest one that is open

    async def serve(self) -> None:
        rows, cols = self._size or (None, None)
        request = _parsed(
            WatchSession,
            session=self._session,
            rows=rows,
            cols=cols,
            composed=True,
            inside=self._hello.inside,
            typing=self._hello.typing,
        )
        # By its id from now on: its name may be another session's before the person leaves.
        found = await self._dispatch(self._caller, ListSessions(session=self._session))
        assert isinstance(found, SessionDetails)
        self._session = found.session_id
        request = msgspec.structs.replace(request, session=self._session)
        async with self._dispatch.watch(self._caller, request) as watch:
            await self._resize()  # only now: a refused viewer must not resize the session
            await self._serve(watch)

    async def _serve(self, watch: Watch) -> None:
        taking = asyncio.create_task(self._take_all(watch))
        beside = []
        if not self._hello.read_only:
            beside.append(asyncio.create_task(self._tell_questions(watch)))
        if self._hello.status:
            shown = asyncio.Event()
            # The status may end before the rest: a killed session still has to send its end.
            beside.append(asyncio.create_task(self._tell_status(watch, shown)))
            telling = asyncio.create_task(_tell(watch, self._writer, shown))
        else:
            telling = asyncio.create_task(_tell(watch, self._writer))
        await until_one_ends((taking, telling), beside=beside)

    # --- the person ------------------------------------------------------------------------

    async def _take_all(self, watch: Watch) -> None:
        while line := await next_line(self._reader, self._longest):
            log_size("attach", "received", len(line))
            try:
                await self._take(watch, line)
            except NacreError as error:
                words = self._hello.words
                send_line(self._writer, {"error": words.error(error)}, words)
                await self._writer.drain()

    async def _take(self, watch: Watch, line: bytes) -> None:
        keys = read_message(KeyNames, line, f"a line is one of {_WISHES}")
        try:
            typed = None if keys.input is None else base64.b64decode(keys.input, validate=True)
        except ValueError as error:
            raise InvalidInput(f"a line is one of {_WISHES}; input is not valid base64") from error
        if keys.resize is not None:
            self._size = keys.resize
            watch.fit(*keys.resize)
            await self._resize()
            self._show_status(watch, self._status, anyway=True)
        if keys.refresh:
            watch.refresh()
        if keys.control:
            now = await self._control()
            await self._control("give" if now.yours else "take")
        if typed is not None:
            numbered = None if keys.number is None else Numbered(keys.number, keys.go_on)
            await watch.type(typed, numbered)
        if keys.look is not None:
            await self._answer("look", await watch.look(keys.look))
        if keys.find is not None:
            await self._answer("found", await watch.look(keys.find))
        if keys.answer is not None:
            identifier, answer = keys.answer
            given = AnswerApproval(id=identifier, answer=answer, text=keys.answer_text)
            await self._dispatch(self._caller, given)

    async def _answer(self, kind: str, answer: Lines | Found) -> None:
        send_line(self._writer, {kind: answer}, seen=True)
        await self._writer.drain()  # a client that does not read must wait with its requests too

    async def _resize(self) -> None:
        """Resize the session to the person's terminal, minus the status line."""
        if self._size is None or self._hello.read_only:
            return
        rows, cols = self._size
        rows = max(1, rows - 1) if self._hello.status else rows
        resize = _parsed(ResizeSession, session=self._session, rows=rows, cols=cols)
        await self._dispatch(self._caller, resize)

    async def _control(self, action: Literal["take", "give"] | None = None) -> ControlNow:
        now = await self._dispatch(self._caller, Control(session=self._session, action=action))
        assert isinstance(now, ControlNow)
        return now

    # --- what the policy asks --------------------------------------------------------------

    async def _tell_questions(self, watch: Watch) -> None:
        """Send the oldest open question whenever it changes."""
        async with self._dispatch.follow(self._caller, Follow(events=["approvals"])) as stream:
            async for event in stream:
                if not isinstance(event, SyncAll | ApprovalEvent):
                    continue
                found = await self._dispatch(self._caller, ListApprovals())
                assert isinstance(found, ApprovalList)
                self._ask(watch, next(iter(found.approvals), None))
                await self._writer.drain()

    def _ask(self, watch: Watch, question: Approval | None) -> None:
        if question == self._question:
            return
        self._question = question
        send_line(self._writer, {"approval": question})
        if self._status is not None:
            shown = "" if question is None else question.command
            self._show_status(watch, self._status._replace(question=shown))

    # --- the status line -------------------------------------------------------------------

    async def _tell_status(self, watch: Watch, shown: asyncio.Event) -> None:
        """Show the session's status now and at every event, never by a timer."""
        request = Follow(
            session=self._session,
            events=["states", "control", "input", "sessions"],
            interval_ms=_STATUS_INTERVAL_MS,
        )
        try:
            async with self._dispatch.follow(self._caller, request) as stream:
                async for event in stream:
                    self._show_status(watch, await self._status_after(event))
                    shown.set()
        finally:
            shown.set()

    async def _status_after(self, event: FollowedEvent) -> StatusLine | None:
        before = self._status
        if isinstance(event, Sync) or before is None:
            captured = isinstance(event, Sync) and event.input_mode == "capture"
            return await self._whole_status(captured=captured)
        if isinstance(event, StateEvent):
            return before._replace(state=event.state, asks=event.asks)
        if isinstance(event, InputModeEvent):
            return before._replace(captured=event.mode == "capture")
        if isinstance(event, InputEvent):
            return before
        return await self._whole_status(captured=before.captured)

    async def _whole_status(self, *, captured: bool) -> StatusLine | None:
        try:
            found = await self._dispatch(self._caller, ListSessions(session=self._session))
            control = None if self._hello.read_only else await self._control()
        except NacreError:  # it is gone: the watch reports that
            return self._status
        assert isinstance(found, SessionDetails)
        return StatusLine(
            name=found.name,
            state=found.state,
            asks=found.asks,
            driver=found.driver,
            yours=control is not None and control.yours,
            waited=_time_of_day(control.waiting_since) if control is not None else "",
            captured=captured,
            viewers=found.viewers,
            read_only=self._hello.read_only,
            detach_key=self._hello.detach_key,
            control_key=self._hello.control_key,
            look_back_key=self._hello.look_back_key,
            question="" if self._question is None else self._question.command,
            approve_key=self._hello.approve_key,
        )

    def _show_status(
        self, watch: Watch, status: StatusLine | None, *, anyway: bool = False
    ) -> None:
        if status is not None and (anyway or status != self._status):
            self._status = status
            watch.show_status(status_line(status, self._size[1] if self._size else 80))


def _time_of_day(moment: float | None) -> str:
    return "" if moment is None else time.strftime("%H:%M:%S", time.localtime(moment))


def _parsed(cls: type[OperationT], **params: Any) -> OperationT:
    """Build an operation from the client's parameters, which checks the sizes."""
    operation = parse_parameters(cls, params)
    assert isinstance(operation, cls)
    return operation


async def _tell(
    watch: Watch, writer: asyncio.StreamWriter, begin: asyncio.Event | None = None
) -> None:
    if begin is not None:  # the first picture has everything
        await begin.wait()
    async for event in watch:
        send_line(writer, _message(event), seen=True)
        # This waits for a client that does not read; what queues up for it is bounded.
        await writer.drain()


def _message(event: WatchEvent) -> dict[str, Any]:
    if isinstance(event, Printed):
        return {"output": base64.b64encode(event.data).decode()}
    if isinstance(event, Snapshot):
        painted = base64.b64encode(event.data).decode()
        return {"snapshot": painted, "alternate": event.alternate}
    if isinstance(event, Resized):
        who = {} if event.by is None else {"by": event.by, "given_back": event.given_back}
        return {"resized": [event.rows, event.cols], **who}
    if isinstance(event, Typing | Dropped):
        return {type(event).__name__.lower(): event}
    if isinstance(event, Taken):
        return {"taken": event.number}
    if isinstance(event, Detached):
        return {"detached": event.message}
    ended = {"exit_code": event.exit_code, "signal": event.signal}
    return {"ended": {**ended, "lost": True} if event.lost else ended}
