"""The table of commands: each one's name, module, summary and operation."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

_SESSION = {"session": "SESSION"}


class Command(NamedTuple):
    name: str
    module: str  # of nacre.cli.commands; its add_<name>(parser) adds the arguments
    summary: str
    operation: str | None = None  # what it calls
    # How the operation's parameters are written on the command line, if not as --the-name: as a
    # positional argument, in their order, or as a flag with another name.
    words: Mapping[str, str] = MappingProxyType({})
    implies: Mapping[str, Any] = MappingProxyType({})  # parameters that the command stands for
    also: str | None = None  # another operation that it calls

    def does(self, operation: str, params: Mapping[str, Any]) -> bool:
        """Return whether this command calls the operation with these parameters."""
        implied = all(params.get(name) == value for name, value in self.implies.items())
        return operation in (self.operation, self.also) and implied


ALIASES = MappingProxyType({"ls": "list"})  # other names that fingers know

_SCREEN = {**_SESSION, "text": "--cells", "row": "--cells ROW", "col": "--cells COL"}
_NEW = {
    "name": "NAME",
    "command": "COMMAND",
    "args": "COMMAND",
    "tags": "--tag",
    "labels": "--label",
}
_SEND = {**_SESSION, "input": "TEXT"}
_FOCUS = {**_SESSION, "text": "ELEMENT", "ref": "ELEMENT"}
_KEYS = {**_SESSION, "keys": "KEY"}
_RUN = {**_SESSION, "command": "COMMAND"}

COMMANDS = (
    Command("new", "sessions", "Start a session: a shell, or a command.", "create_session", _NEW),
    Command("list", "listing", "List the sessions.", "list_sessions"),
    Command("send", "input", "Type text and Enter into a session.", "send_input", _SEND),
    Command("keys", "input", "Press named keys in a session.", "press_keys", _KEYS),
    Command(
        "screen",
        "screens",
        "Show a session's screen.",
        "get_screen",
        _SCREEN,
        also="get_cells",
    ),
    Command("snapshot", "apps.snapshot", "Show the parts of a screen.", "snapshot", _SESSION),
    Command("focus", "apps.snapshot", "Move the focus to an element.", "focus", _FOCUS),
    Command("compare", "apps.compare", "Compare two screens of a session or of recordings."),
    Command(
        "screenshot",
        "apps.pictures",
        "Save a picture of a session's screen.",
        "screenshot",
        _SESSION,
    ),
    Command("scrollback", "screens", "Show a session's scrollback.", "get_scrollback", _SESSION),
    Command(
        "read",
        "screens",
        "Show the last lines of a session's output, or all of a run's.",
        "read_output",
        {**_SESSION, "run_id": "--run"},
        also="read_run",
    ),
    Command("cp", "apps.copy", "Copy a file into a session, or out of it.", "get_file"),
    Command("run", "run", "Run a command in a session, with its exit code.", "run", _RUN),
    Command(
        "wait",
        "wait",
        "Wait until a session is quiet or a condition is true.",
        "await_quiesce",
        {**_SESSION, "run_id": "--run"},
        also="wait_for",
    ),
    Command("attach", "attach", "Work in a session yourself, until you detach."),
    Command("web", "web", "Print an address that opens the web page.", "open_page"),
    Command("share", "safety.share", "Print a link that lets somebody watch a session."),
    Command(
        "search",
        "past.search",
        "Search what all sessions showed, now or ever.",
        "search",
        {"text": "TEXT"},
    ),
    Command("events", "past.events", "Show what happened in a session, and who did it."),
    Command("record", "past.record", "Record a session from now on (asciicast)."),
    Command("export", "past.export", "Save what a session showed (asciicast)."),
    Command(
        "replay",
        "past.replay",
        "Play a recording in your terminal.",
        "export_recording",
    ),
    Command(
        "kill",
        "sessions",
        "Kill sessions and everything in them.",
        "manage_session",
        _SESSION,
        {"action": "kill"},
    ),
    Command(
        "rename",
        "sessions",
        "Rename a session.",
        "manage_session",
        {**_SESSION, "new_name": "NEW"},
        {"action": "rename"},
    ),
    Command("resize", "sessions", "Change a session's size.", "resize_session", _SESSION),
    Command("restart", "sessions", "Restart a session's command.", "restart_session", _SESSION),
    Command(
        "restore",
        "past.export",
        "Restart the sessions that a reboot ended.",
        "restore_sessions",
        _SESSION,
    ),
    Command(
        "signal",
        "sessions",
        "Send a signal to the program in a session.",
        "signal_session",
        {**_SESSION, "signal": "SIGNAL"},
    ),
    Command(
        "dismiss", "sessions", "Remove an ended session from the list.", "dismiss_session", _SESSION
    ),
    Command(
        "diff",
        "safety.review",
        "Show what a session in a review sandbox changed.",
        "diff_session",
        _SESSION,
    ),
    Command(
        "apply",
        "safety.review",
        "Apply what a session in a review sandbox changed.",
        "apply_session",
        _SESSION,
    ),
    Command(
        "discard",
        "safety.review",
        "Discard what a session in a review sandbox changed.",
        "discard_session",
        _SESSION,
    ),
    Command(
        "test",
        "testing.scenarios",
        "Test terminal programs: run scenarios, compare golden screens.",
    ),
    Command("server", "server", "Run the daemon in the foreground."),
    Command("status", "daemon", "Show whether the daemon is running, and where."),
    Command("stop", "daemon", "Stop the daemon and all sessions."),
    Command("mcp", "mcp", "Serve an AI host over stdio (MCP)."),
    Command("chat", "ai.chat", "Talk to a model that has terminals and tools."),
    Command("setup", "ai.setup", "Connect AI hosts to nacre, and add MCP servers behind it."),
    Command(
        "approvals",
        "safety.approvals",
        "List and answer questions of the policy and of programs.",
        "answer_approval",
        {"id": "ID", "answer": "ANSWER"},
        also="list_approvals",
    ),
    Command("commands", "catalog", "List, find and run commands of the catalog."),
    Command("upstream", "upstream", "Use MCP servers behind nacre: list, add, test, call."),
    Command(
        "cluster",
        "hosts.cluster",
        "See the hosts of a cluster, and drain them.",
        "drain_host",
        {"host": "HOST"},
        also="cluster_status",
    ),
    Command("config", "config", "Show the settings, or begin a config.toml with all of them."),
    Command("policy", "safety.policy", "Judge command lines by the rules, without running them."),
    Command("audit", "safety.audit", "Verify, show and search the record of who did what."),
    Command("token", "safety.token", "Make, list and revoke tokens for programs and machines."),
    Command("secret", "safety.secret", "Store, list and remove secrets that agents use by name."),
    Command("doctor", "doctor", "Check this machine, and say what to fix."),
    Command("completion", "completion", "Print the code that sets up shell completion."),
)
