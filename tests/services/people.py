"""People at a session, and agents who show them something: what tests of the display do.

Rule: nothing here sleeps; a wait ends with what it waits for, and PATIENCE only bounds a failure.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from nacre.core.catalog.caller import Caller
from nacre.core.operations.all import parse_operation
from nacre.core.operations.follow import Event, EventStream, Follow
from nacre.core.operations.watch import TypeAtScreen, Watch, WatchSession
from nacre.services.dispatch.call import HandedOver
from nacre.services.dispatch.dispatch import Dispatch
from nacre.services.session.session import Session
from nacre.services.wiring import Services

from services.living import CALLER, PATIENCE, living

AGENT = CALLER
ANNA = Caller(door="web", person=True, key="anna", label="Anna")
BERT = Caller(door="cli", person=True, key="bert", label="Bert")

# Prints its size at the start and at each SIGWINCH: what a full-screen program redraws by.
WINCH = """
import os, signal, termios
modes = termios.tcgetattr(1)
modes[1] &= ~termios.OPOST  # or the kernel would hand over a line's end apart from the line
termios.tcsetattr(1, termios.TCSANOW, modes)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])
while True:
    size = os.get_terminal_size()
    os.write(1, b"%dx%d\\r\\n" % (size.lines, size.columns))
    signal.sigwait([signal.SIGWINCH])
"""

# Prints each line that it is given, as printf(1) understands it.
PRINTF = 'stty -echo; echo ready; while IFS= read -r line; do printf "$line"; done'
ENTER_ALTERNATE, LEAVE_ALTERNATE = b"\\033[?1049h\n", b"\\033[?1049l\n"


class House:
    """Services, and the one way to ask them for something."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.dispatch: Dispatch = services.dispatch()

    async def __call__(self, operation: str, caller: Caller = AGENT, /, **parameters: Any) -> Any:
        return await self.dispatch(caller, parse_operation(operation, parameters))

    async def type_as(self, caller: Caller, session: Session, keys: bytes) -> None:
        """Type at a screen, as a page or attach does."""
        await self.dispatch(caller, TypeAtScreen(session=session.identity.id, data=keys))

    async def told(self, caller: Caller, session: Session) -> HandedOver | None:
        """Ask about a session by a door that tells of hand-overs; return what it told."""
        question = parse_operation("get_screen", {"session": session.identity.name})
        return (await self.dispatch.ask(caller, question)).told

    @asynccontextmanager
    async def watch(self, who: Caller, session: Session, **more: Any) -> AsyncIterator[Watch]:
        request = WatchSession(session=session.identity.id, **more)
        async with self.dispatch.watch(who, request) as watch:
            yield watch

    @asynccontextmanager
    async def follow(
        self, session: Session | None, *kinds: str, **more: Any
    ) -> "AsyncIterator[Told]":
        more.setdefault("interval_ms", 0)
        name = None if session is None else session.identity.id
        request = Follow(session=name, events=list(kinds), **more)  # type: ignore[arg-type]
        async with self.dispatch.follow(AGENT, request) as stream:
            yield Told(stream)


class Told:
    """What a follower is told, one event after the other."""

    def __init__(self, stream: EventStream) -> None:
        self.stream: Any = stream
        self._events = aiter(stream)
        self.seen: list[Event] = []

    async def next(self) -> Any:
        async with asyncio.timeout(PATIENCE):
            event = await anext(self._events)
        self.seen.append(event)
        return event

    async def until(self, holds: Callable[[Any], bool]) -> Any:
        """Return the first event from now on for which something holds."""
        while True:
            if holds(event := await self.next()):
                return event

    async def of(self, kind: type, **fields: Any) -> Any:
        """Return the next event of a kind that has these fields."""
        return await self.until(
            lambda event: (
                isinstance(event, kind)
                and all(getattr(event, name) == value for name, value in fields.items())
            )
        )

    async def rest(self) -> list[Event]:
        """Return what comes until the stream ends."""
        async with asyncio.timeout(PATIENCE):
            return [event async for event in self._events]


@asynccontextmanager
async def house(
    runtime: Path | None = None, journals: Path | None = None, **settings: Any
) -> AsyncIterator[House]:
    async with living(runtime, journals, **settings) as services:
        yield House(services)
