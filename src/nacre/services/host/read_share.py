"""Share the loop between sessions that print at the same time.

Rule 1: there is a limit for what all busy sessions together take of one turn of the loop, in bytes
that are read and in time to show them. So a caller of another session waits for one turn, however
many sessions run `yes`, and however long it takes to draw what they print.
Rule 2: who finds no time left is first in the next turn, and who could not show all that was read
is behind them. So every session moves.
Rule 3: one step can take far longer than a turn: a new width for a full scrollback, 10 ms and more.
A session that took so much pauses for as long, because an answer takes several turns, and each of
them would wait for such a step.
Rule 4: the next turn comes after those that were woken by what was shown in this one: an answer to
somebody comes before the prompt that follows.
Rule 5: while somebody asks, turns are shorter, and floods are not read at all for a short time
(floods.py). What other sessions print is shown as always.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from nacre.services.host.floods import NEXT_CALL, Floods

# One read mostly returns this much (N_TTY_BUF_SIZE - 1): a smaller share would waste system calls.
_SMALLEST_SHARE = 4095

_OVERDRAWN = 3  # turns; less is within what a slice and its record may take
_LONGEST_PAUSE = 0.1  # seconds
_WHILE_ASKED = 0.2  # of a turn's time: one slice of usual output


class Reader(Protocol):
    def listen(self, *, on: bool) -> None:
        """Have `ready` called when there is output, or not."""

    def take_turn(self, until: float) -> bool:
        """Read and show output until a time of `clock`; return whether some is left to show."""


class AnsweredCall:  # as a generator it would cost each call 2 µs more
    """A call that is being answered in a block."""

    __slots__ = ("_clock", "_floods")

    def __init__(self, floods: Floods, clock: Callable[[], float]) -> None:
        self._floods = floods
        self._clock = clock

    def __enter__(self) -> None:
        self._floods.call_begins(self, self._clock())

    def __exit__(self, *_: object) -> None:
        self._floods.call_ends(self, self._clock())


class ReadShare:
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        budget: int,
        seconds: float,
        floods: Floods,
        clock: Callable[[], float] = time.perf_counter,  # the loop's own stands still in a turn
    ) -> None:
        """`budget` is in bytes and `seconds` in time, each for one turn.

        `floods` knows which sessions wait while somebody asks.
        """
        self._loop = loop
        self._budget = budget
        self._seconds = seconds
        self._clock = clock
        self._until: float | None = None  # None: nobody has read in this turn
        self._floods = floods
        self._held: dict[Reader, None] = {}  # floods that wait for an answer
        self._held_since = 0.0
        # In the order of their turns: who found no time left, and who has more to show.
        self._late: dict[Reader, None] = {}
        self._behind: dict[Reader, None] = {}
        self._paused: set[Reader] = set()
        self._planned = self._serving = False
        self._busy_now = 0
        self._busy_before = 1

    def asked(self) -> "AnsweredCall":
        """Note that a call is being answered, whoever it is of and whatever it asks for."""
        return AnsweredCall(self._floods, self._clock)

    def share(self) -> int:
        """Return how many bytes a session may read in this turn.

        Those that wait for the next turn count, too: where drawing takes long, a turn has time for
        one session, and each read lets its program run, instead of us.
        """
        waiting = 1 + len(self._late) + len(self._behind)
        return max(_SMALLEST_SHARE, self._budget // max(waiting, self._busy_before))

    def spent(self, size: int) -> None:
        """Note what a session read. Sessions that used up their share count as busy."""
        if size < _SMALLEST_SHARE:
            return
        self._begin()
        self._busy_now += 1
        if not self._serving:
            self._plan()

    def ready(self, reader: Reader) -> None:
        """Let a session read whose terminal has output: now, or in the next turn."""
        if reader in self._late or reader in self._behind or reader in self._paused:
            return
        if self._floods.waits(reader, self._clock()):
            self._hold(reader)
        elif self._clock() < self._begin():
            self._serve(reader, self._begin())
        else:
            self._late[reader] = None
            self._plan()

    def at_once(self, reader: Reader) -> None:
        """Let a session read now, because somebody looks at it: the time of one turn at most."""
        self._begin()
        self.resume(reader)
        if self._held.pop(reader, reader) is None:
            reader.listen(on=True)
        self._late.pop(reader, None)
        self._behind.pop(reader, None)
        self._serve(reader, self._clock() + self._seconds)

    def pause(self, reader: Reader) -> None:
        """Let a session not read before `resume`, unless somebody looks at it."""
        if reader not in self._paused:
            self._paused.add(reader)
            self._late.pop(reader, None)
            self._behind.pop(reader, None)
            if self._held.pop(reader, reader) is not None:
                reader.listen(on=False)

    def resume(self, reader: Reader) -> None:
        if reader in self._paused:
            self._paused.discard(reader)
            reader.listen(on=True)
            self._behind[reader] = None  # some may be left to show
            self._plan()

    def is_paused(self, reader: Reader) -> bool:
        return reader in self._paused

    def forget(self, reader: Reader) -> None:
        """Forget a session whose terminal is closed."""
        self._floods.forget(reader)
        self._held.pop(reader, None)

    # --- floods that wait ------------------------------------------------------------------

    def _hold(self, reader: Reader) -> None:
        """Let a flood wait. The loop would tell of its output again and again meanwhile."""
        if not self._held:
            self._held_since = self._clock()
            self._loop.call_later(NEXT_CALL, self._release)
        self._held[reader] = None
        reader.listen(on=False)

    def _release(self) -> None:
        """Read floods again, unless somebody still asks."""
        now = self._clock()
        waited = now - self._held_since
        if waited < self._floods.longest and self._floods.is_asked(now):
            self._loop.call_later(NEXT_CALL, self._release)
            return
        self._floods.paused(waited)
        held, self._held = self._held, {}
        for reader in held:
            reader.listen(on=True)
            self._behind[reader] = None  # some may be left to show
        self._plan()

    # --- turns -----------------------------------------------------------------------------

    def _serve(self, reader: Reader, until: float) -> None:
        begun, busy = self._clock(), self._busy_now
        self._serving = True
        try:
            left = reader.take_turn(until)
        finally:
            self._serving = False
            self._plan()
        if left and reader not in self._paused:
            self._behind[reader] = None
        now = self._clock()
        self._floods.note(reader, now - begun, now, busy=left or self._busy_now > busy)
        overdrawn = now - until
        if overdrawn > _OVERDRAWN * self._seconds and reader not in self._paused:
            self.pause(reader)
            self._loop.call_later(min(overdrawn, _LONGEST_PAUSE), self.resume, reader)

    def _begin(self) -> float:
        """Begin a turn, if this is the first to read in it; return when its time is up."""
        if self._until is None:
            now = self._clock()
            part = _WHILE_ASKED if self._floods.is_asked(now) else 1.0
            self._until = now + part * self._seconds
        return self._until

    def _plan(self) -> None:
        """Have another turn: for who is late or behind, and because this one is over then."""
        if not self._planned:
            self._planned = True
            self._loop.call_soon(self._next_turn)

    def _next_turn(self) -> None:
        self._planned = False
        self._busy_before = max(1, self._busy_now)
        self._busy_now = 0
        self._until = None
        if not (self._late or self._behind):
            return
        self._serve_waiting(self._begin())
        self._plan()

    def _serve_waiting(self, until: float) -> None:
        self._late, self._behind = {**self._late, **self._behind}, {}
        for reader in list(self._late):
            if self._clock() >= until:
                return
            if self._late.pop(reader, reader) is not None:
                continue
            if self._floods.waits(reader, self._clock()):
                self._hold(reader)
            else:
                self._serve(reader, until)
