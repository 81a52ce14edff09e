"""The table of toolsets: which operations are tools, and under which names.

Rule: the toolset terminal has wsh's names, parameters and result fields, the toolset shell those of
SILC, the toolset apps those of the Terminal Tester.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from nacre.core.agent.tools import AGENT
from nacre.core.catalog.catalog import Spec
from nacre.core.operations.all import CATALOG


class Entry(NamedTuple):
    """A tool: its operation, and the parameters that have another name in the tool."""

    operation: str
    renamed: Mapping[str, str] = MappingProxyType({})  # the tool's name → the operation's


# In SILC a session is named by its port. The parameter takes a name or an id too.
_BY_PORT = MappingProxyType({"port": "session"})

# The toolset of a model that was written for no other terminal: few tools, and plain text.
PLAIN = "agent"

# In the Terminal Tester by its id; a name or a port will do.
_BY_ID = MappingProxyType({"session_id": "session"})

# toolset → tool
TOOLSETS: dict[str, dict[str, Entry]] = {
    PLAIN: {
        "run": Entry("agent_run"),
        "type": Entry("agent_type"),
        "wait": Entry("agent_wait", MappingProxyType({"for": "pattern"})),
        "read": Entry("agent_read", MappingProxyType({"from": "first"})),
        "sessions": Entry("agent_sessions"),
        "screenshot": Entry("agent_screenshot"),
    },
    "terminal": {
        name: Entry(name)
        for name in (
            "create_session",
            "list_sessions",
            "manage_session",
            "send_input",
            "get_screen",
            "get_scrollback",
            "await_quiesce",
            "run_command",
            "overlay",
            "remove_overlay",
            "panel",
            "remove_panel",
            "input_mode",
            "screen_mode",
            "read_run",  # not the document's: run_command's whole output
        )
    },
    "shell": {
        "send": Entry("send", _BY_PORT),
        "read": Entry("read_output", _BY_PORT),
        "send_key": Entry("send_key", _BY_PORT),
        "run": Entry("run", _BY_PORT),
        "start_session": Entry("start_session"),
        "close_session": Entry("close_session", _BY_PORT),
        "get_status": Entry("get_status", _BY_PORT),
        "list_sessions": Entry("list_sessions"),
    },
    "apps": {
        "launch_app": Entry("launch_app"),
        **{
            name: Entry(name, _BY_ID)
            for name in (
                "view_screen",
                "send_keys",
                "get_cursor_position",
                "get_screen_size",
                "resize_terminal",
                "restart_app",
                "stop_app",
            )
        },
        "list_sessions": Entry("list_sessions"),
    },
    "extra": {
        name: Entry(name)
        for name in (
            "wait_for",
            "read_run",
            "screenshot",
            "restart_session",
            "resize_session",
            "screen_at",
            "search",
            "export_recording",
            "await_input",
            "control",
            "mouse",
            "focus",
            "snapshot",
            "get_cells",
            "screen_hash",
            "screen_diff",
            "put_file",
            "get_file",
            "edit_file",
        )
    },
}
DEFAULT_TOOLSET = PLAIN

# The toolset whose tools are the commands of the catalog (command_tools.py): only for who names it.
COMMANDS = "commands"

# The toolset whose tools are those of MCP servers behind us (upstream/tools.py), in the same way.
UPSTREAM = "upstream"


def spec_named(operation: str) -> Spec:
    """Return the entry of an operation, or of a tool that is composed of some."""
    return AGENT.get(operation) or CATALOG[operation]
