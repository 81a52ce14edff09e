"""The one error tree, and the one table that says what each error is on every wire.

NacreError
├── Refused            the request itself is wrong: nothing ran
│   ├── InvalidInput       INVALID_INPUT
│   │   ├── BadParameter       INVALID_INPUT    about parameters, by their names
│   │   ├── CommandNotFound    INVALID_INPUT    there is no such program
│   │   └── SandboxUnavailable INVALID_INPUT    this machine cannot make that sandbox
│   ├── SessionNotFound    SESSION_NOT_FOUND
│   ├── SessionExists      SESSION_EXISTS
│   ├── OverlayNotFound    OVERLAY_NOT_FOUND
│   ├── PanelNotFound      PANEL_NOT_FOUND
│   ├── UpstreamNotFound   UPSTREAM_NOT_FOUND   no server, or no tool, of that name
│   ├── LimitReached       RESOURCE_LIMIT
│   ├── Forbidden          FORBIDDEN
│   └── UnknownOperation   UNKNOWN_OPERATION
├── Failed             it ran, and this came of it: something to reason about
│   ├── SessionExited      SESSION_DEAD
│   ├── ControlHeld        CONTROL_HELD         a person drives the session
│   ├── PolicyDenied       POLICY_DENIED        the policy, or a person, said no: nothing was typed
│   ├── Busy               BUSY                 another command runs there
│   ├── NotAtPrompt        NOT_AT_PROMPT        nothing there takes a command
│   ├── UpstreamUnavailable UPSTREAM_UNAVAILABLE  the MCP server behind nacre cannot be reached
│   ├── UpstreamTimedOut   UPSTREAM_TIMEOUT     it did not answer in time
│   ├── UpstreamFailed     UPSTREAM_ERROR       it answered with an error of its own
│   ├── HostUnreachable    HOST_UNREACHABLE     the host of the cluster that has it is lost
│   │   └── MayBeDone          HOST_UNREACHABLE     it was lost before it answered
│   └── WaitTimedOut       TIMEOUT
├── Internal           INTERNAL_ERROR
├── DaemonUnreachable  DAEMON_UNREACHABLE   raised by clients of the daemon only
│   └── DaemonRestarted    DAEMON_RESTARTED     it died before it answered; sessions keep running
└── DaemonRunning      DAEMON_RUNNING       raised by a second `nacre server` only

Rule 1: an error is data: its code, what happened, the next steps, and details. Each door words it
in its own way (wording.py).
Rule 2: a message names no tool, command or flag, and a parameter is named by BadParameter alone.
Rule 3: every code is in the table below.
Rule 4: what an error quotes of a request is cut, so that the answer to a huge one is short.
"""

from typing import Any, NamedTuple

from nacre.wording import OPERATIONS, NextStep, quoted


class NacreError(Exception):
    """An error with a stable code.

    `message` says what happened, `next` lists the steps that help; `details` are more facts for
    the caller, as JSON values.
    """

    code = "INTERNAL_ERROR"
    parameters: tuple[str, ...] = ()
    problem = ""

    def __init__(self, message: str, *steps: NextStep, **details: Any) -> None:
        message = quoted(message)
        super().__init__(message)
        self.message = message
        self.next = steps
        self.details = details

    def __str__(self) -> str:
        """Return the whole sentence with the names of operations, for logs."""
        return OPERATIONS.message(self)


class Refused(NacreError):
    code = "INVALID_INPUT"


class InvalidInput(Refused):
    code = "INVALID_INPUT"


class BadParameter(InvalidInput):
    """Wrong parameters; the message is their names and then `problem`."""

    code = "INVALID_INPUT"

    def __init__(
        self, names: str | tuple[str, ...], problem: str, *steps: NextStep, **details: Any
    ) -> None:
        self.parameters = tuple(map(quoted, (names,) if isinstance(names, str) else names))
        self.problem = quoted(problem)
        message = f"{' and '.join(self.parameters)} {problem}"
        super().__init__(message, *steps, parameters=list(self.parameters), **details)


class CommandNotFound(InvalidInput):
    code = "INVALID_INPUT"


class SandboxUnavailable(InvalidInput):
    code = "INVALID_INPUT"


class SessionNotFound(Refused):
    code = "SESSION_NOT_FOUND"


class SessionExists(Refused):
    code = "SESSION_EXISTS"


class OverlayNotFound(Refused):
    code = "OVERLAY_NOT_FOUND"


class PanelNotFound(Refused):
    code = "PANEL_NOT_FOUND"


class UpstreamNotFound(Refused):
    code = "UPSTREAM_NOT_FOUND"


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


class PolicyDenied(Failed):
    code = "POLICY_DENIED"


class Busy(Failed):
    code = "BUSY"


class NotAtPrompt(Failed):
    code = "NOT_AT_PROMPT"


class UpstreamUnavailable(Failed):
    code = "UPSTREAM_UNAVAILABLE"


class UpstreamTimedOut(Failed):
    code = "UPSTREAM_TIMEOUT"


class UpstreamFailed(Failed):
    """An upstream server's own error; `upstream` has its code and data, as it sent them."""

    code = "UPSTREAM_ERROR"


class HostUnreachable(Failed):
    code = "HOST_UNREACHABLE"


class MayBeDone(HostUnreachable):
    """A host got what was asked for, and did not answer: nobody else may be asked for it."""

    code = "HOST_UNREACHABLE"


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
    """What a code is on each wire.

    `jsonrpc` None: an MCP result with isError, not an error. `http` None: it never comes there.
    """

    http: int | None
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
    "UPSTREAM_NOT_FOUND": Wire(http=404, jsonrpc=-32602, exit=3),
    "RESOURCE_LIMIT": Wire(http=429, jsonrpc=-32602, exit=5),
    "FORBIDDEN": Wire(http=403, jsonrpc=-32602, exit=8),
    "UNKNOWN_OPERATION": Wire(http=404, jsonrpc=-32601, exit=2),
    "SESSION_DEAD": Wire(http=410, jsonrpc=None, exit=6),
    "CONTROL_HELD": Wire(http=423, jsonrpc=None, exit=10),  # 423: Locked, of RFC 4918
    "POLICY_DENIED": Wire(http=403, jsonrpc=None, exit=77),  # 77: EX_NOPERM of sysexits.h
    # How a run ends that was not begun: a result with its status everywhere but in MCP.
    "BUSY": Wire(http=None, jsonrpc=None, exit=75),  # 75: EX_TEMPFAIL of sysexits.h
    "NOT_AT_PROMPT": Wire(http=None, jsonrpc=None, exit=1),
    "UPSTREAM_UNAVAILABLE": Wire(http=503, jsonrpc=None, exit=1),
    "UPSTREAM_TIMEOUT": Wire(http=504, jsonrpc=None, exit=1),
    "UPSTREAM_ERROR": Wire(http=502, jsonrpc=None, exit=1),
    "HOST_UNREACHABLE": Wire(http=503, jsonrpc=None, exit=7),
    "TIMEOUT": Wire(http=408, jsonrpc=None, exit=124),
    "FAILED": Wire(http=409, jsonrpc=None, exit=1),
    "INTERNAL_ERROR": Wire(http=500, jsonrpc=-32603, exit=70),
    "DAEMON_UNREACHABLE": Wire(http=None, jsonrpc=-32603, exit=7),
    # Not -32000: the SDKs' own code for a connection that is closed, after which hosts give up.
    "DAEMON_RESTARTED": Wire(http=None, jsonrpc=-32603, exit=7),
    "DAEMON_RUNNING": Wire(http=None, jsonrpc=-32603, exit=9),
}


def http_status(code: str) -> int:
    """Return an error's HTTP status; 500 for one that must not come there."""
    return WIRE[code].http or 500
