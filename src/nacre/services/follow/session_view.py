"""One session as a follower knows it: the screen and state that were sent last.

Rule 1: an event is the difference between that and the session as it is now.
Rule 2: states have no event. They are checked after output or input, and then again after longer
and longer pauses, so that no change stays unseen for long.
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import msgspec

from nacre.core.operations.follow import (
    ChangedEvent,
    CursorEvent,
    DiffEvent,
    Event,
    Follow,
    IdleEvent,
    LineEvent,
    ModeEvent,
    OutputEvent,
    SnapshotEvent,
    StateEvent,
    Sync,
    ThumbnailEvent,
)
from nacre.core.operations.results import Screen
from nacre.core.operations.terminal import GetScreen
from nacre.core.operations.watch import Printed, Snapshot
from nacre.core.screen.screen import Line, ScreenMode
from nacre.core.text.redaction import Redaction, redacting
from nacre.services.host.host import Host
from nacre.services.observe.state import look, question_of
from nacre.services.observe.views import numbered_line, view_screen
from nacre.services.session.session import Session

if TYPE_CHECKING:
    from nacre.services.viewers.viewer import Viewer

# Seconds after the last change at which a state is checked again. Most questions come right after a
# line was printed; a late one is seen within seconds.
_LOOKS = (0.05, 0.25, 1.0, 3.0, 10.0)


class Followed:
    """Calls `due` with the session's id when it must be checked, and `push` with an event."""

    def __init__(
        self,
        session: Session,
        request: Follow,
        host: Host,
        due: Callable[[str], None],
        push: Callable[[Event], None],
        redaction: Redaction | None = None,
    ) -> None:
        """`redaction` is of what the follower may not see."""
        self._redaction = redaction
        self.session = session
        self._request = request
        self._wanted: frozenset[str] = frozenset(request.events)
        self._host = host
        self._due = due
        self._push = push
        self.viewer: Viewer | None = None
        self._generation = -1
        self._screen: Screen | None = None
        self._thumbnail: Screen | None = None  # as it was sent last
        self._mode: tuple[bool, ScreenMode] | None = None
        self._state: tuple[object, ...] | None = None
        self._looks = 0
        self._look_timer: asyncio.TimerHandle | None = None
        self._idle_timer: asyncio.TimerHandle | None = None

    def changed(self) -> None:
        self._looks = 0
        self._due(self.session.identity.id)
        if (idle := self._request.idle_timeout_ms) and self._idle_timer is None:
            self._idle_timer = self._host.loop.call_later(idle / 1000, self._maybe_idle, idle)

    def stop(self) -> None:
        if self.changed in self.session.watchers:
            self.session.watchers.remove(self.changed)
        if self.viewer is not None:
            self.session.viewers.remove(self.viewer)
        for timer in (self._look_timer, self._idle_timer):
            if timer is not None:
                timer.cancel()

    # --- the screen ------------------------------------------------------------------------

    def sync(self) -> Sync:
        session, display = self.session, self.session.display
        self._screen = screen = self._read()
        self._mode = self._modes()
        self.settle()
        if "output" in self._wanted:
            self.viewer = self.viewer or session.viewers.add()
            self.viewer.refresh()
            self._due(session.identity.id)
        return Sync(
            session=session.identity.name,
            session_id=session.identity.id,
            generation=screen.generation,
            screen=screen,
            scrollback_lines=session.terminal.scrollback_total,
            overlays=display.elements.overlays(),
            panels=display.elements.panels(),
            mode=display.elements.mode,
            input_mode=display.keyboard.mode,
            focused_element=display.keyboard.focus,
            driver=display.control.driver,
        )

    def look(self) -> Iterator[Event]:
        """Return the events of the screen that are due now."""
        if "changes" in self._wanted and self.session.generation != self._generation:
            self._generation = self.session.generation
            yield ChangedEvent(generation=self._generation)
        if "output" in self._wanted:
            yield from self._output()
        if "mode" in self._wanted and (mode := self._modes()) != self._mode:
            self._mode = mode
            yield ModeEvent(alternate_active=mode[0], mode=mode[1])
        if self._wanted & {"lines", "cursor", "diffs"}:
            yield from self._differences()
        if "thumbnails" in self._wanted:
            yield from self._thumbnail_now()
        if "states" in self._wanted:
            yield from self._state_now()

    def _thumbnail_now(self) -> Iterator[Event]:
        before, now = self._thumbnail, self._read()
        changed = _changed_lines(before, now)
        if before is not None and not changed and before.cursor == now.cursor:
            return
        self._thumbnail = now
        lines: list[tuple[int, Line]] = [(row, now.lines[row]) for row in changed]  # type: ignore[misc]
        yield ThumbnailEvent(rows=now.rows, cols=now.cols, cursor=now.cursor, lines=lines)

    def _read(self) -> Screen:
        read = GetScreen(session=self.session.identity.id, format=self._request.format)
        # Not remembered, because it would push out the screens that agents refer to.
        with redacting(self._redaction):
            return view_screen(self.session, read, None, handed_out=False)

    def _modes(self) -> tuple[bool, ScreenMode]:
        """Whether the child is on its alternate screen, and the mode of what is shown beside."""
        self.session.display.note_screen()  # without elements nobody else calls it
        return self.session.terminal.alternate, self.session.display.elements.mode

    def _output(self) -> Iterator[Event]:
        happened = [] if self.viewer is None else self.viewer.take()
        if self.viewer is not None and self.viewer.finished:
            # After that, and for a restarted child, it continues with a snapshot.
            self.viewer = None
        if self.viewer is None and self.session.alive:
            self.viewer = self.session.viewers.add()
            happened += self.viewer.take()
        for told in happened:
            if isinstance(told, Printed):
                yield OutputEvent(data=told.data)
            elif isinstance(told, Snapshot):
                yield SnapshotEvent(
                    data=told.data, alternate=told.alternate, rows=told.rows, cols=told.cols
                )

    def _differences(self) -> Iterator[Event]:
        before, now = self._screen, self._read()
        self._screen = now
        changed = _changed_lines(before, now)
        if "lines" in self._wanted:
            for index in changed:
                yield LineEvent(index=index, total_lines=len(now.lines), line=now.lines[index])
        if "cursor" in self._wanted and (before is None or before.cursor != now.cursor):
            cursor = now.cursor
            yield CursorEvent(row=cursor.row, col=cursor.col, visible=cursor.visible)
        if "diffs" in self._wanted and (changed or before is None or before.cursor != now.cursor):
            yield DiffEvent(changed_lines=changed, screen=now, generation=now.generation)

    # --- the state -------------------------------------------------------------------------

    def settle(self) -> None:
        """Note that a sync has sent everything. Check the state again later: it has no event."""
        self._generation = self.session.generation
        if "thumbnails" in self._wanted:
            self._thumbnail = None
            self._due(self.session.identity.id)
        if "states" in self._wanted:
            for _ in self._state_now():
                pass

    def _state_now(self) -> Iterator[Event]:
        session = self.session
        state = look(session)
        last = session.activity.last
        question = question_of(session, state)
        told = (session.last_line, session.stream.title, session.cwd, question, last)
        shown = (state.state, state.asks, *told)
        if shown != self._state:
            self._state = shown
            yield StateEvent(
                state=state.state,
                asks=state.asks,
                last_line=session.last_line,
                title=session.stream.title,
                cwd=session.cwd,
                generation=session.generation,
                question=question,
                last_command=last,
                line=numbered_line(session),
            )
        known = state.state in ("exited", "lost") or session.stream.prompting.phase == "prompt"
        if not known and self._look_timer is None and self._looks < len(_LOOKS):
            pause = _LOOKS[self._looks]
            self._looks += 1
            self._look_timer = self._host.loop.call_later(pause, self._look_again)

    def _look_again(self) -> None:
        self._look_timer = None
        self._due(self.session.identity.id)

    # --- silence ---------------------------------------------------------------------------

    def _maybe_idle(self, idle: int) -> None:
        self._idle_timer = None
        loop, session = self._host.loop, self.session
        left = session.last_output + idle / 1000 - loop.time()
        if left > 0:
            self._idle_timer = loop.call_later(left, self._maybe_idle, idle)
            return
        screen = self._read()
        self._push(
            of_session(
                session,
                IdleEvent(
                    generation=screen.generation,
                    screen=screen,
                    scrollback_lines=session.terminal.scrollback_total,
                ),
            )
        )


def of_session(session: Session, event: Event) -> Event:
    named: Event = msgspec.structs.replace(
        event, session=session.identity.name, session_id=session.identity.id
    )
    return named


def _changed_lines(before: Screen | None, now: Screen) -> list[int]:
    if before is None or len(before.lines) != len(now.lines) or before.cols != now.cols:
        return list(range(len(now.lines)))
    pairs = zip(before.lines, now.lines, strict=True)
    return [index for index, (old, new) in enumerate(pairs) if old != new]
