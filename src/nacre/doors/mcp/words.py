"""How the MCP door words errors: it names only tools that this client has, with their prefix."""

from collections.abc import Mapping
from typing import Any

from nacre.doors.mcp.tools.tool import Tool
from nacre.wording import Takes, Told, Words, with_json

# What the toolset agent has for the steps that others take by operations: its tool's operation, and
# what is added to the parameters that both have.
_SAME: dict[str, tuple[str, dict[str, Any]]] = {
    "list_sessions": ("agent_sessions", {}),
    "create_session": ("agent_sessions", {"action": "start"}),
    "restart_session": ("agent_sessions", {"action": "restart"}),
    "restore_sessions": ("agent_sessions", {"action": "restart"}),
    "close_session": ("agent_sessions", {"action": "close"}),
    "get_screen": ("agent_read", {"what": "screen"}),
    "read_run": ("agent_read", {}),
    "wait_for": ("agent_wait", {}),
    "press_keys": ("agent_type", {}),
    "run": ("agent_run", {}),
}


class ToolWords(Words):
    """The wording for one selection of tools; `called` is the tool that an error is about."""

    def __init__(self, tools: Mapping[str, Tool], called: Tool | None = None) -> None:
        self._tools = tools
        self._called = called
        self._by_operation: dict[str, Tool] = {}
        for tool in tools.values():
            self._by_operation.setdefault(tool.spec.name, tool)

    def about(self, tool: Tool) -> "ToolWords":
        """Return the wording for errors about a call of this tool."""
        return ToolWords(self._tools, tool)

    def name(self, operation: str) -> str | None:
        """Return the name of an operation's tool; None if the client does not have it."""
        tool = self._by_operation.get(operation)
        return None if tool is None else tool.name

    def call(self, operation: str, params: Mapping[str, Any]) -> str | None:
        tool = self._by_operation.get(operation)
        if tool is None and operation in _SAME:
            operation, more = _SAME[operation]
            tool = self._by_operation.get(operation)
            if tool is not None:
                fields = tool.spec.type.__struct_fields__
                params = {
                    **{name: given for name, given in params.items() if name in fields},
                    **more,
                }
        if tool is None:
            return None
        return with_json(tool.name, {tool.parameter(name): given for name, given in params.items()})

    def parameter(self, name: str) -> str:
        return name if self._called is None else self._called.parameter(name)

    def takes(self, step: Takes) -> str | None:
        named = step._replace(operation=self._called.name) if self._called else step
        return super().takes(named)

    def error(self, error: Told) -> dict[str, Any]:
        """Leave the steps out, since the message has them: a model's input is paid by the word."""
        return {"code": error.code, "message": self.message(error), **self.details(error)}
