"""The one path from a door to what is done: authorise, run, record.

Rule: every door calls this and nothing else. Limits, policy, approval and audit are steps of it, so
that no door can leave one out.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from nacre.core.caller import Caller, Scope
from nacre.core.catalog import (
    Operation,
    Result,
    spec_of,
)
from nacre.core.watch import Watch, WatchSession
from nacre.errors import Forbidden, Internal, NacreError

Handler = Callable[[Caller, Any], Awaitable[Result]]
WatchHandler = Callable[[Caller, WatchSession], AbstractAsyncContextManager[Watch]]

_log = logging.getLogger("nacre.dispatch")


class Dispatch:
    def __init__(
        self, handlers: Mapping[type[Operation], Handler], watch: WatchHandler | None = None
    ) -> None:
        self._handlers = handlers
        self._watch = watch

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


def _authorise(caller: Caller, name: str, scope: Scope) -> None:
    if caller.scope < scope:
        raise Forbidden(
            f"{name} needs the scope {scope.name.lower()}; "
            f"this token has {caller.scope.name.lower()}"
        )
