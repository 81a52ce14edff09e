"""What the server says of itself to a model: which tool to take first.

Rule: three sentences, and no tool in them that this client was not given.
"""

from collections.abc import Callable

NameOf = Callable[[str], str | None]  # an operation's name here; None where it is not offered

# What there is besides, in the order in which it is needed.
_BESIDES = (
    ("view_screen", "{} reads the screen and can wait for a text or for silence"),
    ("send_keys", "{} types text and presses keys"),
    ("send_input", r"{} types keys (\r is Enter, \u0003 Ctrl+C)"),
    ("send", "{} types a line into whatever runs there"),
    ("send_key", "{} presses a key (ctrl+c)"),
    ("get_screen", "{} reads the screen"),
    ("get_scrollback", "{} the lines above it"),
    ("read_output", "{} reads the last lines"),
    ("get_status", "{} tells what it is doing"),
    ("wait_for", "{} waits for text, a state or an end"),
    ("await_quiesce", "{} waits for silence"),
    ("read_run", "{} reads a long output"),
    ("screenshot", "{} shows it as a picture"),
)


_COMMANDS = (
    "nacre runs commands without a shell: each takes its arguments by name, and none reads pipes, "
    "globs or variables. The working directory stays between calls: cd changes it. What takes long "
    "goes on and answers with an execution_id."
)


# With the tools of other servers alone, whose instructions are theirs to give.
_UPSTREAM = (
    "nacre passes these calls on to other MCP servers: mcp_<server>_<tool> is a tool of a server. "
    "What it does, its own description says. A result that is too long is kept, and the answer "
    "says how to read the rest."
)


_AGENT = (
    "nacre gives you real terminals that keep their state and that a person can watch. Use {run} "
    "for every shell command, in place of a shell tool of your host: the first call starts your "
    "session in your folder. The first line of each answer is the state: "
    "[exit 0 · 0.1s · ~/app · run 1], [asks …], [running …], [editor vim …].\n"
    "- [asks …]: {type} answers. A password is typed by a person, never by you: {wait} for it.\n"
    "- [running …]: {wait} goes on with it and returns what is new. {run} with wait 0 starts a "
    'server, {wait} with for="ready|error" returns when it says so. Never sleep or poll.\n'
    "- Output that was cut is kept: {read} searches it. Do not run a command again to see more.\n"
    '- Another session by its name runs beside the first: {run} with session="server".\n'
    "Not for reading or editing files where your host has tools of its own for that."
)
_AGENT_TOOLS = ("run", "type", "wait", "read")


def instruct(name_of: NameOf) -> str:
    named = {name: name_of(f"agent_{name}") for name in _AGENT_TOOLS}
    if all(named.values()):
        return _AGENT.format(**named)
    sessions = ("run", "run_command", "wait_for")
    if name_of("call_command") and not any(name_of(one) for one in sessions):
        return _COMMANDS
    first = _first(name_of)
    if first is None:
        return _UPSTREAM
    return " ".join([_begin(name_of), first, _besides(name_of)])


def _begin(name_of: NameOf) -> str:
    create = name_of("create_session") or name_of("start_session") or name_of("launch_app")
    start = f": {create} starts one, and it is called by its name, id or port" if create else ""
    return f"nacre gives you real terminals that keep their state between calls{start}."


def _first(name_of: NameOf) -> str | None:
    """Return which tool to take first; None where there is none that works in a terminal."""
    if run := name_of("run"):
        screen = name_of("run_command")
        also = f"; {screen} also returns the screen" if screen else ""
        return (
            f"For a command take {run} first: it returns output and exit code when the command has "
            f"ended{also}."
        )
    if command := name_of("run_command"):
        return (
            f"For a command take {command} first: it returns output, exit code and screen when the "
            "command has ended."
        )
    if launch := name_of("launch_app"):
        return f"For a program take {launch} first: it runs in a terminal of its own, by its id."
    if wait := name_of("wait_for"):
        return f"Take {wait} first: it returns when what you wait for has come true."
    return None


def _besides(name_of: NameOf) -> str:
    told = [text.format(name) for of, text in _BESIDES if (name := name_of(of)) is not None]
    return f"Besides, {', '.join(told)}."
