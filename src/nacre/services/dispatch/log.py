"""Log how a call ended. This is the outermost step: it sees every call, also refused ones.

Rule: dispatch raises only NacreErrors. Want of memory becomes LimitReached, any other exception
Internal, with its traceback in the log.
"""

import asyncio
import logging
import time
from typing import Any

from nacre.errors import Internal, LimitReached, NacreError
from nacre.services.dispatch.call import Call, Onward

_log = logging.getLogger("nacre.dispatch")


class Log:
    async def __call__(self, call: Call, onward: Onward) -> Any:
        started = time.monotonic()
        outcome = "ok"
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
            _log.exception("operation failed", extra={"operation": call.spec.name})
            raise Internal("unexpected error in the daemon", "its log says why") from error
        finally:
            if _log.isEnabledFor(logging.DEBUG):
                _note(call, outcome, time.monotonic() - started)


def _is_shortage(error: Exception) -> bool:
    """Whether the system gave no memory, or no thread."""
    return isinstance(error, MemoryError) or "can't start new thread" in str(error)


def _note(call: Call, outcome: str, seconds: float) -> None:
    _log.debug(
        "operation",
        extra={
            "operation": call.spec.name,
            "door": call.caller.door,
            "outcome": outcome,
            "ms": round(seconds * 1000, 3),
        },
    )
