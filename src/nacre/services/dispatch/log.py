"""Log how a call ended. This is the outermost step: it sees every call, also refused ones.

Rule 1: dispatch raises only NacreErrors. Want of memory becomes LimitReached, any other exception
Internal, with its traceback in the log, under the id that the caller is told.
Rule 2: every call is counted for the metrics, and has an id in all that is logged for it.
"""

import asyncio
import itertools
import logging
import secrets
import time
from typing import Any

from nacre.core.catalog.metering import CallCounts
from nacre.errors import Internal, LimitReached, NacreError
from nacre.services.dispatch.call import Call, Onward
from nacre.system.logs import REQUEST

_log = logging.getLogger("nacre.dispatch")


_EVERY_RUN = secrets.token_hex(3)  # two daemons, one after the other, have other ids
_numbers = itertools.count(1)


class Log:
    def __init__(self, calls: CallCounts | None = None) -> None:
        self._calls = calls or CallCounts()

    async def __call__(self, call: Call, onward: Onward) -> Any:
        started = time.monotonic()
        self._calls.begun += 1
        outcome = "ok"
        # Another host's call keeps the id that it has there.
        given = REQUEST.get("") if call.caller.via else ""
        around = REQUEST.set(given or f"{_EVERY_RUN}-{next(_numbers)}")
        try:
            return await onward(call)
        except NacreError as error:
            outcome = error.code
            raise
        except asyncio.CancelledError:
            outcome = "given up"
            raise
        except Exception as error:
            if _is_shortage(error):
                outcome = LimitReached.code
                _log.warning("no memory left", extra={"operation": call.spec.name})
                raise LimitReached(
                    "the daemon has no memory left for this", "ask for less, or end sessions"
                ) from error
            outcome = "INTERNAL_ERROR"
            raise unexpected(_log, "operation failed", **_about(call)) from error
        finally:
            seconds = time.monotonic() - started
            failed = outcome not in ("ok", "given up")
            self._calls.note(call.spec.name, seconds, outcome if failed else None)
            if _log.isEnabledFor(logging.DEBUG):
                _note(call, outcome, seconds)
            REQUEST.reset(around)


def _is_shortage(error: Exception) -> bool:
    """Whether the system gave no memory, or no thread."""
    return isinstance(error, MemoryError) or "can't start new thread" in str(error)


def _about(call: Call) -> dict[str, Any]:
    told: dict[str, Any] = {"operation": call.spec.name}
    if call.targets:
        told["session_id"] = ",".join(target.id for target in call.targets)
    return told


def _note(call: Call, outcome: str, seconds: float) -> None:
    _log.debug(
        "operation",
        extra={
            **_about(call),
            "door": call.caller.door,
            "outcome": outcome,
            "ms": round(seconds * 1000, 3),
        },
    )


def unexpected(log: logging.Logger, what: str, **facts: Any) -> Internal:
    """Log the exception that is being handled; return what its caller is told, with the same id."""
    identifier = secrets.token_hex(4)
    log.exception(what, extra={**facts, "error_id": identifier})
    message = f"unexpected error in the daemon (error {identifier})"
    return Internal(message, "its log says why, with this id", error_id=identifier)
