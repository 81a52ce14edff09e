"""Who drives a session.

Rule 1: nobody, mostly: everybody may type. A person who watches a session may take it over; then
what others type waits until it is given back.
Rule 2: whoever leaves gives back: a lease of somebody who is gone would lock a session for ever.
Rule 3: what the person did is noted by marks and counts, never by what was typed: that may have
been a password.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from nacre.core.caller import Caller
from nacre.core.control_operations import CommandRun, ControlNow, Handover
from nacre.core.control_operations import Control as ControlRequest
from nacre.core.events import ControlEvent
from nacre.core.marks import Mark
from nacre.errors import ControlHeld, Forbidden, SessionNotFound

if TYPE_CHECKING:
    from nacre.services.host import Host
    from nacre.services.registry import Registry
    from nacre.services.session import Session


class Control:
    """Who drives one session, and what came of it: the last commands, `most` of them."""

    def __init__(self, changed: Callable[[], None], most: int) -> None:
        self._changed = changed
        self._most = most
        self._holder: Caller | None = None
        self._free = asyncio.Event()
        self._free.set()
        self._present: Counter[str] = Counter()
        self._begun = 0.0
        self.since: float | None = None
        self._keys = 0
        self._commands: deque[CommandRun] = deque(maxlen=most)
        self._first = 0
        self.last: Handover | None = None
        self._untold: Handover | None = None

    @property
    def driver(self) -> str | None:
        return None if self._holder is None else (self._holder.label or self._holder.door)

    def is_held_by(self, caller: Caller) -> bool:
        return self._holder is not None and bool(caller.key) and self._holder.key == caller.key

    def allows(self, caller: Caller) -> bool:
        return self._holder is None or self.is_held_by(caller)

    # --- who is there ----------------------------------------------------------------------

    def came(self, caller: Caller) -> None:
        self._present[caller.key] += 1

    def left(self, caller: Caller, session: "Session") -> None:
        self._present[caller.key] -= 1
        if self._present[caller.key] <= 0:
            del self._present[caller.key]
            if self.is_held_by(caller):
                self.give(session)

    # --- the lease -------------------------------------------------------------------------

    def take(self, caller: Caller, session: "Session") -> None:
        """Raises Forbidden for who is no person, or does not watch the session."""
        # Who has no key could not be told from others like them, nor ever give it back.
        if not caller.person or not caller.key or not self._present[caller.key]:
            raise Forbidden(
                "only a person who watches the session takes it over: on the web page, or in "
                "nacre attach"
            )
        if self.is_held_by(caller):
            return
        session.require_alive()
        self._settle(session)
        self._holder = caller
        self._free.clear()
        self._begun, self.since = time.monotonic(), round(time.time(), 3)
        self._keys, self._first = 0, session.generation
        self._commands = deque(maxlen=self._most)
        session.stream.taps.append(_Tap(session, self._commands))
        session.stage.release()  # who drives types into the program, not into an agent's menu
        self._changed()

    def give(self, session: "Session") -> None:
        if self._holder is not None:
            self._settle(session)
            self._changed()

    def _settle(self, session: "Session") -> None:
        """End the lease that there is, and note what was done with it."""
        if self._holder is None:
            return
        session.stream.taps[:] = [tap for tap in session.stream.taps if not isinstance(tap, _Tap)]
        self.last = done = Handover(
            driver=self.driver or "",
            seconds=round(time.monotonic() - self._begun, 3),
            keys=self._keys,
            commands=list(self._commands),
            generation_before=self._first,
            generation_after=session.generation,
            last_line=session.last_line,
        )
        self._untold = done if self._untold is None else _both(self._untold, done, self._most)
        self._holder = self.since = None
        self._free.set()

    def note_typed(self, caller: Caller, size: int) -> None:
        if self.is_held_by(caller):
            self._keys += size

    # --- the others ------------------------------------------------------------------------

    async def admit(self, caller: Caller, name: str, patience: float) -> None:
        """Return when this caller may type. Raises ControlHeld when that takes too long."""
        if self.allows(caller):
            return
        driver, since = self.driver, self.since or 0.0
        try:
            async with asyncio.timeout(patience):
                while not self.allows(caller):
                    await self._free.wait()
        except TimeoutError:
            raise ControlHeld(
                f"a person ({driver}) has driven session {name!r} for "
                f"{time.time() - since:.0f} s, and nothing was typed for you; read the screen "
                "meanwhile and try again later, you will be told what they did",
                driver=driver,
            ) from None

    def tell(self) -> Handover | None:
        """Return what an agent has not been told yet; once."""
        told, self._untold = self._untold, None
        return told


def _both(first: Handover, then: Handover, most: int) -> Handover:
    """Tell of two times as of one: the agent has heard of neither."""
    same = first.driver == then.driver or first.driver.endswith(f", {then.driver}")
    return Handover(
        driver=first.driver if same else f"{first.driver}, {then.driver}",
        seconds=round(first.seconds + then.seconds, 3),
        keys=first.keys + then.keys,
        commands=[*first.commands, *then.commands][-most:],
        generation_before=first.generation_before,
        generation_after=then.generation_after,
        last_line=then.last_line,
    )


class _Tap:
    """Notes the commands that start and end meanwhile."""

    def __init__(self, session: "Session", commands: deque[CommandRun]) -> None:
        self._session = session
        self._commands = commands

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


class Controls:
    """The operation, and the step of dispatch that lets others wait."""

    def __init__(self, registry: "Registry", host: "Host") -> None:
        self._registry = registry
        self._host = host

    async def control(self, caller: Caller, request: ControlRequest) -> ControlNow:
        session = self._registry.find(request.session)
        control = session.stage.control
        if request.action == "take":
            control.take(caller, session)
        elif request.action == "give":
            if not control.allows(caller):
                raise Forbidden(f"{control.driver} drives, not you; take over first")
            control.give(session)
        return ControlNow(
            driver=control.driver,
            yours=control.is_held_by(caller),
            since=control.since,
            handover=control.last,
        )

    async def admit(self, caller: Caller, reference: str | int) -> None:
        """Raises ControlHeld, and SessionNotFound."""
        session = self._registry.find(reference)
        if not session.stage.control.allows(caller):
            patience = self._host.settings.control_wait
            await session.stage.control.admit(caller, session.identity.name, patience)

    def handover(self, caller: Caller, reference: str | int) -> tuple[str, Handover] | None:
        """Return what an agent is still to be told of a session, with its name."""
        if caller.person:
            return None
        try:
            session = self._registry.find(reference)
        except SessionNotFound:
            return None
        told = session.stage.control.tell()
        return None if told is None else (session.identity.name, told)


def control_event(control: Control) -> ControlEvent:
    return ControlEvent(driver=control.driver, since=control.since, handover=control.last)
