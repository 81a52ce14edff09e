"""The one path from a door to what is done: authorise, run, record.

Rule: every door calls this and nothing else. Limits, policy, approval and audit are steps of it, so
that no door can leave one out.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

from nacre.core.caller import Caller, Scope
from nacre.core.catalog import (
    Operation,
    Result,
    spec_of,
)
from nacre.core.control_operations import Handover
from nacre.core.events import Follow, Stream
from nacre.core.watch import Watch, WatchSession
from nacre.errors import Forbidden, Internal, NacreError

Handler = Callable[[Caller, Any], Awaitable[Result]]
WatchHandler = Callable[[Caller, WatchSession], AbstractAsyncContextManager[Watch]]
FollowHandler = Callable[[Caller, Follow], AbstractAsyncContextManager[Stream]]


class Turns(Protocol):
    """Whose turn it is to type."""

    async def admit(self, caller: Caller, reference: str | int) -> None: ...

    def handover(self, caller: Caller, reference: str | int) -> tuple[str, Handover] | None: ...


_log = logging.getLogger("nacre.dispatch")


class Dispatch:
    def __init__(
        self,
        handlers: Mapping[type[Operation], Handler],
        watch: WatchHandler | None = None,
        follow: FollowHandler | None = None,
        control: Turns | None = None,
    ) -> None:
        self._handlers = handlers
        self._watch = watch
        self._follow = follow
        self._control = control

    async def __call__(self, caller: Caller, operation: Operation) -> Result:
        """Do what the caller asks for.

        Raises Forbidden when the caller's scope does not reach, and what the operation raises;
        anything unforeseen becomes Internal, with its traceback in the log.
        """
        spec = spec_of(operation)
        _authorise(caller, spec.name, spec.scope)
        started = time.monotonic()
        outcome = "ok"
        try:
            session = _session_of(operation)
            if spec.types and self._control is not None and session is not None:
                await self._control.admit(caller, session)
            return await self._handlers[type(operation)](caller, operation)
        except NacreError as error:
            outcome = error.code
            raise
        except asyncio.CancelledError:
            outcome = "given up"
            raise
        except Exception as error:
            outcome = "INTERNAL_ERROR"
            _log.exception("operation failed", extra={"operation": spec.name})
            raise Internal(f"{spec.name} failed inside the daemon; its log says why") from error
        finally:
            if _log.isEnabledFor(logging.DEBUG):
                took = round((time.monotonic() - started) * 1000, 3)
                _log.debug(
                    "operation",
                    extra={
                        "operation": spec.name,
                        "door": caller.door,
                        "outcome": outcome,
                        "ms": took,
                    },
                )

    @asynccontextmanager
    async def watch(self, caller: Caller, request: WatchSession) -> AsyncIterator[Watch]:
        """Watch a session for as long as this is entered.

        Raises Forbidden when the caller's scope does not reach, and SessionNotFound.
        """
        _authorise(caller, "watch", Scope.OBSERVE)
        assert self._watch is not None
        async with self._watch(caller, request) as watch:
            yield watch

    @asynccontextmanager
    async def follow(self, caller: Caller, request: Follow) -> AsyncIterator[Stream]:
        """Follow a session, or all, for as long as this is entered.

        Raises Forbidden when the caller's scope does not reach, SessionNotFound and InvalidInput.
        """
        _authorise(caller, "follow", Scope.OBSERVE)
        assert self._follow is not None
        async with self._follow(caller, request) as stream:
            yield stream

    def handover(self, caller: Caller, operation: Operation) -> tuple[str, Handover] | None:
        """Return what this caller is to be told besides of the session it just asked about.

        A person drove it meanwhile: the session's name, and what they did. Told once.
        """
        session = _session_of(operation)
        if session is None or self._control is None:
            return None
        return self._control.handover(caller, session)


def _session_of(operation: Operation) -> str | int | None:
    """Return the session that an operation is about, as its caller named it."""
    session: str | int | None = getattr(operation, "session", None)
    return session


def _authorise(caller: Caller, name: str, scope: Scope) -> None:
    if caller.scope < scope:
        raise Forbidden(
            f"{name} needs the scope {scope.name.lower()}; "
            f"this token has {caller.scope.name.lower()}"
        )
