"""The stream of events of one session, or of all.

Rule 1: events of the screen are made when they are taken, from the screen as it is then: a slow
reader gets the newest and nothing queues up for it. Others queue up to a bound; who falls behind
that is told so, and then everything anew.
Rule 2: the first change after a pause is told at once, the next ones together after the interval.
Rule 3: states have no event. They are looked at when something was printed or typed, and then
again after ever longer pauses until nothing can have changed unseen for long.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import msgspec

from nacre.core.caller import Caller
from nacre.core.events import (
    OF_ALL,
    ChangedEvent,
    CursorEvent,
    DiffEvent,
    Event,
    Follow,
    IdleEvent,
    LaggedEvent,
    LineEvent,
    ModeEvent,
    OutputEvent,
    SnapshotEvent,
    StateEvent,
    Stream,
    Sync,
    SyncAll,
)
from nacre.core.operations import GetScreen
from nacre.core.results import Screen
from nacre.core.screen import ScreenMode
from nacre.core.watch import Output, Snapshot
from nacre.errors import InvalidInput
from nacre.services.host import Host
from nacre.services.registry import Registry
from nacre.services.session import Session
from nacre.services.states import look
from nacre.services.views import summarise, view_screen

if TYPE_CHECKING:
    from nacre.services.viewers import Viewer

_SCREEN = frozenset({"output", "lines", "cursor", "mode", "diffs", "changes"})
# Seconds after the last change at which a state is looked at again: most questions are asked
# right after a line was printed, a late one is seen within seconds.
_LOOKS = (0.05, 0.25, 1.0, 3.0, 10.0)


class Following:
    def __init__(self, registry: Registry, host: Host) -> None:
        self._registry = registry
        self._host = host
        host.events.summarise = lambda session: summarise(session, host.loop.time())

    @asynccontextmanager
    async def follow(self, caller: Caller, request: Follow) -> AsyncIterator[Stream]:
        """Follow for as long as this is entered. Raises SessionNotFound and InvalidInput."""
        session = None if request.session is None else self._registry.find(request.session)
        if session is None and (alone := sorted(set(request.events) - OF_ALL)):
            raise InvalidInput(f"{', '.join(alone)}: these are of one session; name it by session")
        follower = Follower(request, session, self._registry, self._host)
        follower.begin()
        try:
            yield follower
        finally:
            follower.end()


class Follower:
    """One who follows: an iterator of events."""

    def __init__(
        self, request: Follow, session: Session | None, registry: Registry, host: Host
    ) -> None:
        self._wanted: frozenset[str] = frozenset(request.events)
        self.kinds = self._wanted | {"sessions"}  # who comes and goes must be known
        if "mode" in self._wanted:
            self.kinds |= {"visuals"}  # the layer is entered and left without output
        self._request = request
        self._one = session
        self._registry = registry
        self._host = host
        self._interval = request.interval_ms / 1000
        self._queue: deque[Event] = deque()
        self._dropped = 0
        self._stale = True  # a sync is due
        self._ready = asyncio.Event()
        self._ready.set()
        # One that was killed is readable for a while, but nothing more will happen to it.
        self._gone = session is not None and not session.listed
        self._seq = 0
        self._followed: dict[str, _Followed] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._due: set[str] = set()  # ids of sessions whose screens have changed
        self._next = 0.0

    def begin(self) -> None:
        self._host.events.add(self)
        for session in [self._one] if self._one is not None else self._registry:
            self._take_up(session)

    def end(self) -> None:
        self._host.events.remove(self)
        if self._timer is not None:
            self._timer.cancel()
        for followed in list(self._followed.values()):
            self._let_go(followed)

    # --- what sessions do ------------------------------------------------------------------

    def happened(self, kind: str, session: Session, event: Event) -> None:
        if self._one is not None and session is not self._one:
            return
        if kind == "sessions":
            self._come_or_go(session, event)
        if kind in self._wanted:
            self._push(_of(session, event))
        if kind in ("input", "control", "visuals"):
            self._touch(session.identity.id)
        self._ready.set()

    def _come_or_go(self, session: Session, event: Event) -> None:
        change = getattr(event, "change", None)
        known = self._followed.get(session.identity.id)
        if change == "removed":
            if known is not None:
                self._let_go(known)
            if self._one is not None:
                self._gone = True
        elif known is None and self._one is None:
            self._take_up(session)
        elif known is not None:
            known.changed()

    def _take_up(self, session: Session) -> None:
        followed = _Followed(session, self)
        self._followed[session.identity.id] = followed
        if self._wanted & (_SCREEN | {"states"}) or self._request.idle_timeout_ms:
            session.watchers.append(followed.changed)

    def _let_go(self, followed: "_Followed") -> None:
        del self._followed[followed.session.identity.id]
        self._due.discard(followed.session.identity.id)
        followed.stop()

    def _touch(self, identifier: str) -> None:
        if (followed := self._followed.get(identifier)) is not None:
            followed.changed()

    def changed(self, identifier: str) -> None:
        """The screen of a session is another than before."""
        if identifier in self._due:
            return
        self._due.add(identifier)
        now = self._host.loop.time()
        if now >= self._next:
            self._ready.set()
        elif self._timer is None:
            self._timer = self._host.loop.call_at(self._next, self._time_is_up)

    def _time_is_up(self) -> None:
        self._timer = None
        self._ready.set()

    def _push(self, event: Event) -> None:
        if self._stale:
            self._dropped += bool(self._dropped)
            return  # the sync that is due tells it all
        self._queue.append(event)
        if len(self._queue) > self._host.settings.event_queue:
            self._dropped = len(self._queue)
            self._queue.clear()
            self._stale = True

    def push(self, event: Event) -> None:
        self._push(event)
        self._ready.set()

    # --- what the follower does ------------------------------------------------------------

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            await self._ready.wait()
            self._ready.clear()
            if self._stale:
                for event in self._sync():
                    yield self._numbered(event)
            while self._queue:
                yield self._numbered(self._queue.popleft())
            if self._due and self._host.loop.time() >= self._next:
                due, self._due = self._due, set()
                self._next = self._host.loop.time() + self._interval
                for identifier in due:
                    for event in self._look_at(identifier):
                        yield self._numbered(event)
            elif self._due and self._timer is None:
                self._timer = self._host.loop.call_at(self._next, self._time_is_up)
            if self._gone and not self._queue:
                return

    def _numbered(self, event: Event) -> Event:
        numbered: Event = msgspec.structs.replace(event, seq=self._seq)
        self._seq += 1
        return numbered

    def _sync(self) -> Iterator[Event]:
        if self._dropped:
            yield LaggedEvent(dropped=self._dropped)
        # Now, not before: what happened while that was read is in the sync as well.
        self._stale, self._dropped = False, 0
        self._queue.clear()
        now = self._host.loop.time()
        if self._one is None:
            for followed in self._followed.values():
                followed.settle()
            yield SyncAll(sessions=[summarise(session, now) for session in self._registry])
            return
        if (one := self._followed.get(self._one.identity.id)) is not None:
            yield one.sync(self._request)

    def _look_at(self, identifier: str) -> Iterator[Event]:
        if (followed := self._followed.get(identifier)) is not None:
            for event in followed.look(self._wanted, self._request):
                yield _of(followed.session, event)


class _Followed:
    """What a follower was last told of one session."""

    def __init__(self, session: Session, follower: Follower) -> None:
        self.session = session
        self._follower = follower
        self.viewer: Viewer | None = None
        self._generation = -1
        self._screen: Screen | None = None
        self._mode: tuple[bool, ScreenMode] | None = None
        self._state: tuple[object, ...] | None = None
        self._looks = 0
        self._look_timer: asyncio.TimerHandle | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._host = follower._host

    def changed(self) -> None:
        self._looks = 0
        self._follower.changed(self.session.identity.id)
        if (idle := self._follower._request.idle_timeout_ms) and self._idle_timer is None:
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

    def sync(self, request: Follow) -> Sync:
        session, stage = self.session, self.session.stage
        self._screen = screen = self._read(request)
        self._mode = self._modes()
        self.settle()
        if "output" in request.events:
            self.viewer = self.viewer or session.viewers.add()
            self.viewer.refresh()
            self._follower.changed(session.identity.id)
        return Sync(
            session=session.identity.name,
            session_id=session.identity.id,
            generation=screen.generation,
            screen=screen,
            scrollback_lines=session.terminal.scrollback_total,
            overlays=stage.elements.overlays(),
            panels=stage.elements.panels(),
            mode=stage.elements.mode,
            input_mode=stage.keyboard.mode,
            focused_element=stage.keyboard.focus,
            driver=stage.control.driver,
        )

    def look(self, wanted: frozenset[str], request: Follow) -> Iterator[Event]:
        """Return what is to be told of the screen now."""
        if "changes" in wanted and self.session.generation != self._generation:
            self._generation = self.session.generation
            yield ChangedEvent(generation=self._generation)
        if "output" in wanted:
            yield from self._output()
        if "mode" in wanted and (mode := self._modes()) != self._mode:
            self._mode = mode
            yield ModeEvent(alternate_active=mode[0], mode=mode[1])
        if wanted & {"lines", "cursor", "diffs"}:
            yield from self._differences(wanted, request)
        if "states" in wanted:
            yield from self._state_now()

    def _read(self, request: Follow) -> Screen:
        read = GetScreen(session=self.session.identity.id, format=request.format)
        # Remembered for nobody: it would push out the screens that agents refer to.
        budget = self._host.settings.max_result_chars
        return view_screen(self.session, read, budget, handed_out=False)

    def _modes(self) -> tuple[bool, ScreenMode]:
        """Whether the child is on its alternate screen, and the mode of what is shown beside."""
        self.session.stage.note_screen()  # without elements nobody else has
        return self.session.terminal.alternate, self.session.stage.elements.mode

    def _output(self) -> Iterator[Event]:
        happened = [] if self.viewer is None else self.viewer.take()
        if self.viewer is not None and self.viewer.finished:
            # After that, and for a child that was started anew, it goes on with a snapshot.
            self.viewer = None
        if self.viewer is None and self.session.alive:
            self.viewer = self.session.viewers.add()
            happened += self.viewer.take()
        for told in happened:
            if isinstance(told, Output):
                yield OutputEvent(data=told.data)
            elif isinstance(told, Snapshot):
                yield SnapshotEvent(
                    data=told.data, alternate=told.alternate, rows=told.rows, cols=told.cols
                )

    def _differences(self, wanted: frozenset[str], request: Follow) -> Iterator[Event]:
        before, now = self._screen, self._read(request)
        self._screen = now
        changed = _changed_lines(before, now)
        if "lines" in wanted:
            for index in changed:
                yield LineEvent(index=index, total_lines=len(now.lines), line=now.lines[index])
        if "cursor" in wanted and (before is None or before.cursor != now.cursor):
            cursor = now.cursor
            yield CursorEvent(row=cursor.row, col=cursor.col, visible=cursor.visible)
        if "diffs" in wanted and (changed or before is None or before.cursor != now.cursor):
            yield DiffEvent(changed_lines=changed, screen=now, generation=now.generation)

    # --- the state -------------------------------------------------------------------------

    def settle(self) -> None:
        """Take all as told, by a sync; but look again, for nobody says when a state changes."""
        self._generation = self.session.generation
        if "states" in self._follower.kinds:
            for _ in self._state_now():
                pass

    def _state_now(self) -> Iterator[Event]:
        session = self.session
        state = look(session)
        shown = (state.state, state.asks, session.last_line, session.terminal.title, session.cwd)
        if shown != self._state:
            self._state = shown
            yield StateEvent(
                state=state.state,
                asks=state.asks,
                last_line=session.last_line,
                title=session.terminal.title,
                cwd=session.cwd,
                generation=session.generation,
            )
        known = state.state in ("exited", "lost") or session.stream.prompting.phase == "prompt"
        if not known and self._look_timer is None and self._looks < len(_LOOKS):
            pause = _LOOKS[self._looks]
            self._looks += 1
            self._look_timer = self._host.loop.call_later(pause, self._look_again)

    def _look_again(self) -> None:
        self._look_timer = None
        self._follower.changed(self.session.identity.id)

    # --- silence ---------------------------------------------------------------------------

    def _maybe_idle(self, idle: int) -> None:
        self._idle_timer = None
        loop, session = self._host.loop, self.session
        left = session.last_output + idle / 1000 - loop.time()
        if left > 0:
            self._idle_timer = loop.call_later(left, self._maybe_idle, idle)
            return
        screen = self._read(self._follower._request)
        self._follower.push(
            _of(
                session,
                IdleEvent(
                    generation=screen.generation,
                    screen=screen,
                    scrollback_lines=session.terminal.scrollback_total,
                ),
            )
        )


def _of(session: Session, event: Event) -> Event:
    named: Event = msgspec.structs.replace(
        event, session=session.identity.name, session_id=session.identity.id
    )
    return named


def _changed_lines(before: Screen | None, now: Screen) -> list[int]:
    if before is None or len(before.lines) != len(now.lines) or before.cols != now.cols:
        return list(range(len(now.lines)))
    pairs = zip(before.lines, now.lines, strict=True)
    return [index for index, (old, new) in enumerate(pairs) if old != new]
