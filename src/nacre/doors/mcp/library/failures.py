"""What the library answers to a request that failed, or that it refuses itself."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from nacre.doors.mcp.server import ProtocolError, as_protocol_error
from nacre.errors import InvalidInput, NacreError
from nacre.services.dispatch.log import unexpected
from nacre.wording import Words

_log = logging.getLogger("nacre.mcp")

Context = ServerRequestContext[Any, Any]

_INVALID_PARAMS = -32602
_MOST_WRONG = 3  # problems reported for one request; more often follow from the first


async def explain(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Say what is wrong with a request that the SDK refuses without a reason."""
    try:
        return await call_next(ctx)
    except ProtocolError as error:
        raise MCPError(error.code, error.message, error.data) from error
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'params'}: {one['msg']}"
            for one in error.errors(include_url=False, include_input=False)[:_MOST_WRONG]
        )
        raise _as_mcp_error(
            InvalidInput(f"the parameters of {ctx.method} do not fit: {wrong}")
        ) from error
    except MCPError as error:
        if (error.error.code, error.error.data) != (_INVALID_PARAMS, ""):
            raise
        raise _as_mcp_error(
            InvalidInput(f"{ctx.method} came before the handshake", "send initialize first")
        ) from error


@contextmanager
def as_protocol_errors(method: str, words: Words) -> Iterator[None]:
    """Raise what a request failed with as an error of the protocol."""
    try:
        yield
    except NacreError as error:
        raise as_protocol_error(error, words) from error
    except (ProtocolError, MCPError):
        raise
    except Exception as error:
        raise as_protocol_error(unexpected(_log, "request failed", method=method)) from error


def _as_mcp_error(error: NacreError) -> MCPError:
    told = as_protocol_error(error)
    return MCPError(told.code, told.message, told.data)
