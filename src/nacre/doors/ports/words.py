"""How SILC's routes say things: a port names its own routes, and nothing that it does not have."""

from collections.abc import Mapping
from typing import Any

from nacre.doors.http.words import as_request
from nacre.wording import Takes, Told, Words

# On a session's own port; which session is meant follows from the port.
_SESSION = {
    "get_status": "GET /status",
    "read_output": "GET /out",
    "send_input": "POST /in",
    "send_key": "POST /key",
    "run": "POST /run",
    "resize_session": "POST /resize",
    "close_session": "POST /close",
}
# On the daemon's port.
_DAEMON = {
    "start_session": "POST /sessions",
    "close_session": "POST /sessions/{session}/close",
    "restart_session": "POST /sessions/{session}/restart",
    "stop": "POST /shutdown",
}


class _OwnRoutes(Words):
    def error(self, error: Told) -> dict[str, Any]:
        """Leave the steps to the message: as data they name operations, which are unknown here."""
        return {"code": error.code, "message": self.message(error), **self.details(error)}


class PortWords(_OwnRoutes):
    """The words of a session's port."""

    def call(self, operation: str, params: Mapping[str, Any]) -> str | None:
        given = {name: value for name, value in params.items() if name != "session"}
        if operation == "press_keys" and given.get("keys") == ["ctrl+c"]:
            return "POST /interrupt"
        if operation == "manage_session" and given.get("action") == "kill":
            return "POST /close"
        route = _SESSION.get(operation)
        return None if route is None else as_request(route, given)

    def takes(self, step: Takes) -> str | None:
        known = tuple(name for name in step.parameters if name != "session")
        return super().takes(Takes(_SESSION.get(step.operation or ""), known))


class SilcWords(_OwnRoutes):
    """The words of SILC's routes on the daemon's port."""

    def call(self, operation: str, params: Mapping[str, Any]) -> str | None:
        if operation == "list_sessions":
            return as_request("GET /resolve/{session}" if params else "GET /sessions", params)
        if operation == "manage_session" and params.get("action") == "kill":
            killing = {"session": params["session"]} if "session" in params else {}
            return as_request("POST /sessions/{session}/kill", killing)
        route = _DAEMON.get(operation)
        return None if route is None else as_request(route, params)

    def takes(self, step: Takes) -> str | None:
        return super().takes(step._replace(operation=_DAEMON.get(step.operation or "")))


PORT = PortWords()
SILC = SilcWords()
