"""The stream of events of one session, or of all sessions.

Rule 1: events of the screen are made when they are taken, from the current screen, so a slow reader
gets the newest state and nothing queues up. Other events queue up to a limit; a follower that falls
behind gets a `lagged` event and then the whole state.
Rule 2: the first change after a pause is sent at once, the next ones together after the interval.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import msgspec

from nacre.core.catalog.caller import Caller
from nacre.core.operations.follow import (
    OF_ALL,
    DaemonEvent,
    Event,
    EventStream,
    Follow,
    LaggedEvent,
    SyncAll,
)
from nacre.core.text.redaction import redacted
from nacre.errors import InvalidInput
from nacre.services.dispatch.answers.neutralise import clean_event
from nacre.services.follow.session_view import Followed, of_session
from nacre.services.host.host import Host
from nacre.services.observe.views import summarise
from nacre.services.registry.registry import Registry
from nacre.services.session.session import Session

_SCREEN = frozenset({"output", "lines", "cursor", "mode", "diffs", "changes", "thumbnails"})


class Following:
    def __init__(self, registry: Registry, host: Host) -> None:
        self._registry = registry
        self._host = host

    @asynccontextmanager
    async def follow(self, caller: Caller, request: Follow) -> AsyncIterator[EventStream]:
        """Follow while this context is entered. Raises SessionNotFound and InvalidInput."""
        session = None if request.session is None else self._registry.find(request.session)
        if session is None and (alone := sorted(set(request.events) - OF_ALL)):
            raise InvalidInput(
                f"these events need one session: {', '.join(alone)}", "name it in session"
            )
        follower = Follower(caller, request, session, self._registry, self._host)
        follower.begin()
        try:
            yield follower
        finally:
            follower.end()


class Follower:
    """One follower: an iterator of events."""

    def __init__(
        self,
        caller: Caller,
        request: Follow,
        session: Session | None,
        registry: Registry,
        host: Host,
    ) -> None:
        self._caller = caller
        self._redaction = host.secrets.redaction_for(caller)
        self._wanted: frozenset[str] = frozenset(request.events)
        self.kinds = self._wanted | {"sessions"}  # to know when sessions come and go
        if "mode" in self._wanted:
            self.kinds |= {"visuals"}  # the alternate layer is entered and left without output
        self._request = request
        self._one = session
        self._registry = registry
        self._host = host
        self._interval = request.interval_ms / 1000
        if "thumbnails" in self._wanted:
            self._interval = max(self._interval, host.settings.wall_interval)
        self._queue: deque[Event] = deque()
        self._dropped = 0
        self._stale = True  # a sync is due
        self._ready = asyncio.Event()
        self._ready.set()
        # A killed session can be read for a while, but nothing more will happen to it.
        self._gone = session is not None and not session.listed
        self._seq = 0
        self._followed: dict[str, Followed] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._due: set[str] = set()  # ids of sessions whose screens have changed
        self._next = 0.0

    def begin(self) -> None:
        self._host.events.add(self)
        if "daemon" in self._wanted:
            self._host.warnings.add(self._warned)
        for session in [self._one] if self._one is not None else self._seen():
            self._take_up(session)

    @property
    def _sees_all(self) -> bool:
        return self._caller.sessions is None

    def _seen(self) -> Iterator[Session]:
        """The sessions that the caller's token is not kept from."""
        return (one for one in self._registry if self._caller.sees(one.identity.name))

    def end(self) -> None:
        self._host.events.remove(self)
        if "daemon" in self._wanted:
            self._host.warnings.remove(self._warned)
        if self._timer is not None:
            self._timer.cancel()
        for followed in list(self._followed.values()):
            self._let_go(followed)

    # --- what sessions do ------------------------------------------------------------------

    def happened(self, kind: str, session: Session | None, event: Event) -> None:
        if not (self._caller.sees(session.identity.name) if session else self._sees_all):
            self._lose(session)
            return
        if session is None or (kind == "approvals" and kind in self._wanted):
            # Who follows one session can answer for the others, too.
            if kind in self._wanted:
                self.push(event if session is None else of_session(session, event))
            return
        if self._one is not None and session is not self._one:
            return
        if kind == "sessions":
            self._come_or_go(session, event)
        if kind in self._wanted:
            self._push(of_session(session, event))
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
        followed = Followed(
            session, self._request, self._host, self.changed, self.push, self._redaction
        )
        self._followed[session.identity.id] = followed
        if self._wanted & (_SCREEN | {"states"}) or self._request.idle_timeout_ms:
            session.watchers.append(followed.changed)
        if "thumbnails" in self._wanted:
            followed.changed()

    def _let_go(self, followed: Followed) -> None:
        del self._followed[followed.session.identity.id]
        self._due.discard(followed.session.identity.id)
        followed.stop()

    def _lose(self, session: Session | None) -> None:
        """Follow a session no longer that has got a name which this caller does not see."""
        if session is not None and (known := self._followed.get(session.identity.id)) is not None:
            self._let_go(known)
            self._stale = True  # the sync that follows is without it
            self._ready.set()

    def _touch(self, identifier: str) -> None:
        if (followed := self._followed.get(identifier)) is not None:
            followed.changed()

    def changed(self, identifier: str) -> None:
        """Note that the screen of a session has changed."""
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
            return  # the pending sync includes it
        self._queue.append(event)
        if len(self._queue) > self._host.settings.event_queue:
            self._dropped = len(self._queue)
            self._queue.clear()
            self._stale = True

    def push(self, event: Event) -> None:
        self._push(event)
        self._ready.set()

    def _warned(self) -> None:
        self.push(DaemonEvent(warnings=self._host.warnings()))

    # --- what the follower does ------------------------------------------------------------

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            await self._ready.wait()
            self._ready.clear()
            if self._stale:
                for event in self._sync():
                    yield await self._numbered(event)
                if "daemon" in self._wanted:
                    yield await self._numbered(DaemonEvent(warnings=self._host.warnings()))
            while self._queue:
                yield await self._numbered(self._queue.popleft())
            if self._due and self._host.loop.time() >= self._next:
                due, self._due = self._due, set()
                self._next = self._host.loop.time() + self._interval
                for number, identifier in enumerate(due):
                    if number and "thumbnails" in self._wanted:
                        await asyncio.sleep(0)  # many screens: others have their turns between
                    for event in self._look_at(identifier):
                        yield await self._numbered(event)
            elif self._due and self._timer is None:
                self._timer = self._host.loop.call_at(self._next, self._time_is_up)
            if self._gone and not self._queue:
                return

    async def _numbered(self, event: Event) -> Event:
        if self._redaction is not None:
            event = redacted(event, self._redaction)
        if self._host.settings.neutralise_output:
            event = await clean_event(event)
        numbered: Event = msgspec.structs.replace(event, seq=self._seq)
        self._seq += 1
        return numbered

    def _sync(self) -> Iterator[Event]:
        if self._dropped:
            yield LaggedEvent(dropped=self._dropped)
        # Now, not earlier: the sync includes what happened while it was made.
        self._stale, self._dropped = False, 0
        self._queue.clear()
        now = self._host.loop.time()
        if self._one is None:
            for followed in self._followed.values():
                followed.settle()
            yield SyncAll(sessions=[summarise(session, now) for session in self._seen()])
            return
        if (one := self._followed.get(self._one.identity.id)) is not None:
            yield one.sync()

    def _look_at(self, identifier: str) -> Iterator[Event]:
        if (followed := self._followed.get(identifier)) is not None:
            for event in followed.look():
                yield of_session(followed.session, event)
