"""The one error tree, and the one table that says what each error is on every wire.

NacreError
├── Refused            the request itself is wrong: nothing ran
│   ├── InvalidInput       INVALID_INPUT
│   ├── SessionNotFound    SESSION_NOT_FOUND
│   ├── SessionExists      SESSION_EXISTS
│   ├── OverlayNotFound    OVERLAY_NOT_FOUND
│   ├── PanelNotFound      PANEL_NOT_FOUND
│   ├── LimitReached       RESOURCE_LIMIT
│   ├── Forbidden          FORBIDDEN
│   └── UnknownOperation   UNKNOWN_OPERATION
├── Failed             it ran, and this came of it: something to reason about
│   ├── SessionExited      SESSION_DEAD
│   ├── ControlHeld        CONTROL_HELD         a person drives the session
│   └── WaitTimedOut       TIMEOUT
├── Internal           INTERNAL_ERROR
├── DaemonUnreachable  DAEMON_UNREACHABLE   raised by clients of the daemon only
│   └── DaemonRestarted    DAEMON_RESTARTED     it died before it answered; sessions go on
└── DaemonRunning      DAEMON_RUNNING       raised by a second `nacre server` only

Rule: a message says what happened and the next step.
"""

from typing import Any, NamedTuple


class NacreError(Exception):
    """An error with a stable code; `details` are more facts for the caller, as JSON values."""

    code = "INTERNAL_ERROR"

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def as_dict(self) -> dict[str, Any]:
        """Return the one JSON shape an error has everywhere."""
        return {"code": self.code, "message": self.message, **self.details}


class Refused(NacreError):
    code = "INVALID_INPUT"


class InvalidInput(Refused):
    code = "INVALID_INPUT"


class SessionNotFound(Refused):
    code = "SESSION_NOT_FOUND"


class SessionExists(Refused):
    code = "SESSION_EXISTS"


class OverlayNotFound(Refused):
    code = "OVERLAY_NOT_FOUND"


class PanelNotFound(Refused):
    code = "PANEL_NOT_FOUND"


class LimitReached(Refused):
    code = "RESOURCE_LIMIT"


class Forbidden(Refused):
    code = "FORBIDDEN"


class UnknownOperation(Refused):
    code = "UNKNOWN_OPERATION"


class Failed(NacreError):
    code = "FAILED"


class SessionExited(Failed):
    code = "SESSION_DEAD"


class ControlHeld(Failed):
    code = "CONTROL_HELD"


class WaitTimedOut(Failed):
    code = "TIMEOUT"


class Internal(NacreError):
    code = "INTERNAL_ERROR"


class DaemonUnreachable(NacreError):
    code = "DAEMON_UNREACHABLE"


class DaemonRestarted(DaemonUnreachable):
    code = "DAEMON_RESTARTED"


class DaemonRunning(NacreError):
    code = "DAEMON_RUNNING"


class Wire(NamedTuple):
    """What a code is on each wire. `jsonrpc` None: an MCP result with isError, not an error."""

    http: int
    jsonrpc: int | None
    exit: int


# JSON-RPC: -32602 invalid params, -32601 method not found, -32603 internal error.
# Exit codes: 2 is Unix's usage error, 124 is timeout(1)'s, 70 is EX_SOFTWARE of sysexits.h.
WIRE: dict[str, Wire] = {
    "INVALID_INPUT": Wire(http=400, jsonrpc=-32602, exit=2),
    "SESSION_NOT_FOUND": Wire(http=404, jsonrpc=-32602, exit=3),
    "SESSION_EXISTS": Wire(http=409, jsonrpc=-32602, exit=4),
    "OVERLAY_NOT_FOUND": Wire(http=404, jsonrpc=-32602, exit=3),
    "PANEL_NOT_FOUND": Wire(http=404, jsonrpc=-32602, exit=3),
    "RESOURCE_LIMIT": Wire(http=429, jsonrpc=-32602, exit=5),
    "FORBIDDEN": Wire(http=403, jsonrpc=-32602, exit=8),
    "UNKNOWN_OPERATION": Wire(http=404, jsonrpc=-32601, exit=2),
    "SESSION_DEAD": Wire(http=410, jsonrpc=None, exit=6),
    "CONTROL_HELD": Wire(http=423, jsonrpc=None, exit=10),  # 423: Locked, of RFC 4918
    "TIMEOUT": Wire(http=408, jsonrpc=None, exit=124),
    "FAILED": Wire(http=409, jsonrpc=None, exit=1),
    "INTERNAL_ERROR": Wire(http=500, jsonrpc=-32603, exit=70),
    "DAEMON_UNREACHABLE": Wire(http=503, jsonrpc=-32603, exit=7),
    # Not -32000: the SDKs' own code for a connection that is closed, after which hosts give up.
    "DAEMON_RESTARTED": Wire(http=503, jsonrpc=-32603, exit=7),
    "DAEMON_RUNNING": Wire(http=409, jsonrpc=-32603, exit=9),
}
