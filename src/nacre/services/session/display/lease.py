"""Who drives a session.

Rule 1: nobody, mostly: everybody may type. A person who watches a session may take it over; then
what others type waits until it is given back.
Rule 2: whoever leaves gives back: a lease of somebody who is gone would lock a session for ever.
Rule 3: a lease outlives the daemon. The next one keeps it for the person until they are back, for a
while: they still believe to drive.
Rule 4: what the person did is noted by marks and counts, never by what was typed: that may have
been a password.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Protocol

from nacre.core.catalog.caller import Caller
from nacre.core.operations.control import CommandRun, Handover
from nacre.core.operations.follow import ControlEvent
from nacre.core.shell.marks import Mark
from nacre.core.shell.quiet import Until
from nacre.errors import Forbidden
from nacre.services.host.wait import Turn, Waiters, next_of, wait_until
from nacre.services.session.display.news import HandoverNews
from nacre.services.session.output import OutputStream
from nacre.services.session.record import KeptLease


class Shared(Protocol):
    """What a person who drives has to themselves: a session's display."""

    def release(self) -> None:
        """End a capture of keys."""

    def given_back(self, caller: Caller) -> None:
        """Return what this one borrowed: the size."""


class Driven(Protocol):
    """What a lease needs from its session."""

    @property
    def generation(self) -> int: ...

    @property
    def last_line(self) -> str: ...

    @property
    def stream(self) -> OutputStream: ...

    @property
    def display(self) -> Shared: ...

    def require_alive(self) -> object: ...

    def drop_input_of_others(self, key: str) -> int: ...


class Lease:
    """Who drives one session, and what they did: the last commands, at most `most`."""

    def __init__(
        self,
        changed: Callable[[], None],
        keep: Callable[[], None],
        news: HandoverNews,
        most: int,
        idle: float,
    ) -> None:
        """`changed` is called when another drives or waits, `keep` when there is something to keep.

        Who drives and types nothing for `idle` seconds gives it back; 0: never.
        """
        self._changed = changed
        self._keep = keep
        self._news = news
        self._most = most
        self._idle = idle
        self._typed_at = 0.0  # by the loop's clock: when the holder typed last, or took it
        self._idle_timer: asyncio.TimerHandle | None = None
        self.waiting = 0  # how many want to type, and wait until it is given back
        self.waiting_since: float | None = None  # seconds since the epoch
        self._holder: Caller | None = None
        self._others = Waiters()  # they want to type, and wait until it is given back
        self._present: Counter[str] = Counter()
        self._begun = 0.0
        self.since: float | None = None
        self._keys = self._dropped = 0
        self._commands: deque[CommandRun] = deque(maxlen=most)
        self._first = 0
        self._awaited: asyncio.TimerHandle | None = None  # its holder, after a restart

    @property
    def driver(self) -> str | None:
        return None if self._holder is None else (self._holder.label or self._holder.door)

    @property
    def last(self) -> Handover | None:
        return self._news.last

    def is_held_by(self, caller: Caller) -> bool:
        return self.is_held_by_key(caller.key)

    def is_held_by_key(self, key: str) -> bool:
        return self._holder is not None and bool(key) and self._holder.key == key

    def allows(self, caller: Caller) -> bool:
        return self._holder is None or self.is_held_by(caller)

    # --- who is there ----------------------------------------------------------------------

    def came(self, caller: Caller) -> None:
        self._present[caller.key] += 1
        if self.is_held_by(caller):
            self._await_nobody()

    def left(self, caller: Caller, session: Driven) -> None:
        self._present[caller.key] -= 1
        if self._present[caller.key] <= 0:
            del self._present[caller.key]
            if self.is_held_by(caller):
                self.give(session)

    # --- the lease -------------------------------------------------------------------------

    def take(self, caller: Caller, session: Driven) -> None:
        """Raises Forbidden for a caller that is not a person or does not watch the session."""
        # Without a key we could not recognise the caller when they give the session back.
        if not caller.person or not caller.key or not self._present[caller.key]:
            raise Forbidden("only a person who watches the session at a screen takes it over")
        if self.is_held_by(caller):
            return
        session.require_alive()
        self._settle(session)
        self._holder = caller
        self._begun, self.since = time.monotonic(), round(time.time(), 3)
        self._keys, self._first = 0, session.generation
        self._commands = deque(maxlen=self._most)
        session.stream.taps.append(_Tap(session, self._commands, self._keep))
        session.stream.lift_veil()  # who drives sees all of it
        self._dropped = session.drop_input_of_others(caller.key)
        self._watch_idleness(session)
        session.display.release()  # who drives types into the program, not into an agent's menu
        self._keep()
        self._changed()

    def give(self, session: Driven) -> None:
        if self._holder is not None:
            self._settle(session)
            self._changed()

    def _settle(self, session: Driven) -> None:
        """End the current lease, and note what the person did."""
        if self._holder is None:
            return
        session.stream.taps[:] = [tap for tap in session.stream.taps if not isinstance(tap, _Tap)]
        done = Handover(
            driver=self.driver or "",
            seconds=round(time.monotonic() - self._begun, 3),
            keys=self._keys,
            commands=list(self._commands),
            generation_before=self._first,
            generation_after=session.generation,
            last_line=session.last_line,
            dropped=self._dropped,
        )
        holder, self._holder, self.since = self._holder, None, None
        self._stop_watching()
        self._news.add(done)
        session.display.given_back(holder)
        self._await_nobody()
        self._others.wake()

    def note_typed(self, caller: Caller, size: int) -> None:
        if self.is_held_by(caller):
            self._typed_at = asyncio.get_running_loop().time()
            self._keys += size
            self._keep()

    def _watch_idleness(self, session: Driven) -> None:
        if self._idle:
            loop = asyncio.get_running_loop()
            self._typed_at = loop.time()
            self._idle_timer = loop.call_later(self._idle, self._maybe_idle, session)

    def _maybe_idle(self, session: Driven) -> None:
        loop = asyncio.get_running_loop()
        left = self._typed_at + self._idle - loop.time()
        if left > 0:
            self._idle_timer = loop.call_later(left, self._maybe_idle, session)
        else:
            self.give(session)

    def _stop_watching(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    # --- the next daemon -------------------------------------------------------------------

    def kept(self) -> KeptLease | None:
        if self._holder is None:
            return None
        return KeptLease(
            door=self._holder.door,
            key=self._holder.key,
            label=self._holder.label,
            since=self.since or 0.0,
            keys=self._keys,
            dropped=self._dropped,
            commands=list(self._commands),
            first=self._first,
        )

    def restore(self, kept: KeptLease, session: Driven, patience: float) -> None:
        """Go on with a former daemon's lease; its holder has so many seconds to be back."""
        self._holder = Caller(door=kept.door, person=True, key=kept.key, label=kept.label)
        self.since = kept.since
        self._begun = time.monotonic() - max(0.0, time.time() - kept.since)
        self._keys, self._dropped, self._first = kept.keys, kept.dropped, kept.first
        self._commands = deque(kept.commands, maxlen=self._most)
        session.stream.taps.append(_Tap(session, self._commands, self._keep))
        self._watch_idleness(session)
        loop = asyncio.get_running_loop()
        self._awaited = loop.call_later(patience, self.give, session)

    def _await_nobody(self) -> None:
        if self._awaited is not None:
            self._awaited.cancel()
            self._awaited = None

    # --- the others ------------------------------------------------------------------------

    async def await_turn(self, caller: Caller, patience: float) -> bool:
        """Return whether this caller may type, at once or within so many seconds."""

        async def check(turn: Turn) -> bool | Until:
            return self.allows(caller) or Until()

        if self.allows(caller) or patience <= 0:
            return self.allows(caller)
        deadline = asyncio.get_running_loop().time() + patience
        self._waits(1)
        try:
            return bool(await wait_until(check, deadline, self._next_release))
        finally:
            self._waits(-1)

    def _waits(self, change: int) -> None:
        """One more waits, or one less; who drives is told of the first and of the last."""
        before, self.waiting = self.waiting, self.waiting + change
        if bool(before) != bool(self.waiting):
            self.waiting_since = round(time.time(), 3) if self.waiting else None
            if self._holder is not None:
                self._changed()

    async def _next_release(
        self, until: float, *, output: bool, when: Callable[[], bool] | None = None
    ) -> None:
        await next_of(until, self._others)


class _Tap:
    """Note the commands that start and end during a lease."""

    def __init__(
        self, session: Driven, commands: deque[CommandRun], keep: Callable[[], None]
    ) -> None:
        self._session = session
        self._commands = commands
        self._keep = keep

    def __call__(self, piece: bytes | Mark) -> None:
        if not isinstance(piece, Mark):
            return
        if piece.kind == "C":
            self._commands.append(
                CommandRun(command=self._session.stream.command_line, exit_code=None)
            )
        elif piece.kind == "D" and self._commands and self._commands[-1].exit_code is None:
            last = self._commands[-1]
            self._commands[-1] = CommandRun(command=last.command, exit_code=piece.exit_code)
        else:
            return
        self._keep()


def control_event(control: Lease) -> ControlEvent:
    return ControlEvent(
        driver=control.driver,
        since=control.since,
        handover=control.last,
        waiting_since=control.waiting_since,
    )
