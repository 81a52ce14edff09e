"""The AI hosts that nacre can be given to: where each keeps its MCP servers, and in which form.

Rule: no I/O. `entry` says what to write, `install.py` writes it.
Sources: each host's own documentation of its MCP servers.
"""

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

NAME = "nacre"  # of the server, in every host

Form = Literal["json", "toml"]


class HostProgram(NamedTuple):
    """An AI host. `table` is the key of its file under which servers are listed."""

    name: str
    title: str
    form: Form
    table: str
    file: str  # below the user's home, on Linux
    file_on_mac: str = ""  # where it differs
    typed: bool = False  # an entry says its transport
    command: str = ""  # the host's own way to add a server
    memory: str = ""  # the file that its model reads first
    own_shell: str = ""  # how to switch its own shell off

    def path(self, home: str, platform: str) -> str:
        file = self.file_on_mac if platform == "darwin" and self.file_on_mac else self.file
        return os.path.join(home, *file.split("/"))

    def entry(self, command: str, args: list[str]) -> dict[str, Any]:
        """Return what the host lists under our name."""
        kind = {"type": "stdio"} if self.typed else {}
        return {**kind, "command": command, "args": args}

    def text(self, command: str, args: list[str]) -> str:
        """Return what a person would paste into the host's file."""
        if self.form == "toml":
            return (
                f"[{self.table}.{NAME}]\ncommand = {json.dumps(command)}\nargs = {json.dumps(args)}"
            )
        return json.dumps({self.table: {NAME: self.entry(command, args)}}, indent=2)


_HOSTS = (
    HostProgram(
        "claude-code",
        "Claude Code",
        "json",
        "mcpServers",
        ".claude.json",
        typed=True,
        command="claude mcp add --scope user nacre -- {command}",
        memory="CLAUDE.md",
        own_shell='in .claude/settings.json: {"permissions": {"deny": ["Bash"]}}',
    ),
    HostProgram(
        "claude-desktop",
        "Claude Desktop",
        "json",
        "mcpServers",
        ".config/Claude/claude_desktop_config.json",
        "Library/Application Support/Claude/claude_desktop_config.json",
    ),
    HostProgram(
        "codex",
        "Codex",
        "toml",
        "mcp_servers",
        ".codex/config.toml",
        command="codex mcp add nacre -- {command}",
        memory="AGENTS.md",
        own_shell="in ~/.codex/config.toml: [features] shell_tool = false",
    ),
    HostProgram(
        "cursor",
        "Cursor",
        "json",
        "mcpServers",
        ".cursor/mcp.json",
        memory=".cursor/rules/nacre.md",
    ),
    HostProgram(
        "vscode",
        "VS Code",
        "json",
        "servers",
        ".config/Code/User/mcp.json",
        "Library/Application Support/Code/User/mcp.json",
        typed=True,
        memory=".github/copilot-instructions.md",
    ),
    HostProgram(
        "gemini",
        "Gemini CLI",
        "json",
        "mcpServers",
        ".gemini/settings.json",
        memory="GEMINI.md",
        own_shell='in .gemini/settings.json: {"tools": {"exclude": ["run_shell_command"]}}',
    ),
)
HOSTS: Mapping[str, HostProgram] = {host.name: host for host in _HOSTS}

# What a host's memory file should say, so that its model takes nacre for the terminal. It is the
# text of docs/hosts.md.
MEMORY = "\n".join(
    (
        "## Terminal",
        "Use the nacre tools for every shell command: `run` for a command, `type` to answer a "
        "question or press keys,",
        "`wait` for what is still running, `read` to search output. Never use another shell tool, "
        "never sleep, never poll.",
        "The first line of each answer is the state. A password is typed by a person, never by "
        "you.",
    )
)


def our_command(arguments: list[str]) -> tuple[str, list[str]]:
    """Return how a host starts us: by our whole path, for hosts do not have a shell's PATH."""
    program = os.path.join(os.path.dirname(sys.executable), "nacre")
    if os.access(program, os.X_OK):
        return program, ["mcp", *arguments]
    return sys.executable, ["-m", "nacre", "mcp", *arguments]
