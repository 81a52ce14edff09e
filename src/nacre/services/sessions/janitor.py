"""End idle sessions, remove old ones, compress the scrollback of quiet ones, give memory back.

Rule: it sleeps until a session can be due, or until one ends; it does not poll.
"""

import asyncio
import logging
from collections.abc import Callable

from nacre.services.host.host import Host
from nacre.services.host.wait import set_by
from nacre.services.registry.registry import Registry
from nacre.services.session.session import Session
from nacre.services.sessions.idleness import waits_for_input
from nacre.system.memory import Memory

_log = logging.getLogger("nacre.janitor")

_LEAST_SLEEP = 1.0  # seconds: sessions that are due shortly after each other share one round
_MOST_SLEEP = 60.0  # seconds: a session that is created meanwhile is checked within this time


class Janitor:
    def __init__(
        self, registry: Registry, host: Host, when_forgotten: Callable[[str], None]
    ) -> None:
        """`when_forgotten` gets the id of a session that can no longer be read."""
        self._registry = registry
        self._host = host
        self._when_forgotten = when_forgotten
        self._ended = asyncio.Event()
        self._memory = Memory()
        self._calls = -1  # that there were at the last round
        host.events.on_end(self._ended.set)

    async def run(self) -> None:
        self._memory.begin(self._host.loop)
        try:
            while True:
                self._ended.clear()
                due = await self.sweep()
                await self._memory.settle(quiet=self._is_quiet())
                pause = due - self._host.loop.time()
                pause = min(max(pause, _LEAST_SLEEP), _MOST_SLEEP)
                await set_by(self._ended, self._host.loop.time() + pause)
        finally:
            self._memory.end()

    def _is_quiet(self) -> bool:
        """Return whether nobody has asked for anything since the last round."""
        before, self._calls = self._calls, self._host.calls.begun
        return self._calls == before

    async def sweep(self) -> float:
        """Do what is due now. Return when the next thing is due."""
        now = self._host.loop.time()
        due = [now + _MOST_SLEEP]
        for session in self._registry.all():
            if session.alive:
                due.append(await self._sweep_alive(session, now))
            else:
                due.append(await self._sweep_ended(session, now))
        await self._forget_surplus()
        return min(due)

    async def _sweep_alive(self, session: Session, now: float) -> float:
        settings = self._host.settings
        active = session.last_active
        due = now + _MOST_SLEEP
        if settings.compress_after and not session.screen.is_compressed:
            due = active + settings.compress_after
            if now >= due:
                await session.screen.compress()
        if settings.idle_timeout and not _is_wanted(session):
            idle_at = active + settings.idle_timeout
            if now >= idle_at and await waits_for_input(session):
                _log.info("session was idle and is ended", extra={"session": session.identity.name})
                await session.end()
            due = min(due, idle_at if idle_at > now else due)
        return due

    async def _sweep_ended(self, session: Session, now: float) -> float:
        ended = session.ended_at if session.ended_at is not None else now
        settings, ending = self._host.settings, session.ending
        keep = settings.lost_keep if ending is not None and ending.lost else settings.ended_keep
        aged_out = ended + keep
        if now >= aged_out:
            await self._forget(session)
        elif not session.screen.is_compressed:
            await session.screen.compress()
        return aged_out

    async def _forget_surplus(self) -> None:
        ended = [session for session in self._registry.all() if not session.alive]
        ended.sort(key=lambda session: session.ended_at or 0.0)
        for session in ended[: max(0, len(ended) - self._host.settings.max_ended)]:
            await self._forget(session)

    async def _forget(self, session: Session) -> None:
        self._registry.forget(session)
        await session.end()  # also kills what it left in the background
        self._when_forgotten(session.identity.id)
        session.close()


def _is_wanted(session: Session) -> bool:
    """Somebody named it, keeps it, or watches it."""
    return session.identity.named or session.identity.keep or bool(session.viewers)
