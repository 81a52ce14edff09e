"""The AI hosts that nacre can be given to: where each keeps its MCP servers, and in which form.

Rule: no I/O. `entry` says what to write, `install.py` writes it.
Sources: each host's own documentation of its MCP servers.
"""

import json
import os
import shlex
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

NAME = "nacre"  # of the server, in every host
OWN_VARIABLE = "NACRE_HOME"  # the one that an entry of ours sets

Form = Literal["json", "toml"]


class StartCommand(NamedTuple):
    """How a host starts us."""

    command: str
    args: list[str]
    env: Mapping[str, str] = MappingProxyType({})

    @property
    def words(self) -> list[str]:
        return [self.command, *self.args]


class HostProgram(NamedTuple):
    """An AI host. `table` is the key of its file under which servers are listed."""

    name: str
    title: str
    form: Form
    table: str
    file: str  # below the user's home, on Linux
    file_on_mac: str = ""  # where it differs
    folder_variable: str = ""  # names another folder, and the file is right below that
    typed: bool = False  # an entry says its transport
    adds: str = ""  # the host's own way to add a server: {command}, {env}, or {json} for all of it
    memory: str = ""  # the file that its model reads first
    own_shell: str = ""  # how to switch its own shell off
    condition: str = ""  # when it does not use its servers

    def path(self, home: str, platform: str, environ: Mapping[str, str]) -> str:
        if self.folder_variable and (folder := environ.get(self.folder_variable)):
            return os.path.join(os.path.expanduser(folder), os.path.basename(self.file))
        file = self.file_on_mac if platform == "darwin" and self.file_on_mac else self.file
        return os.path.join(home, *file.split("/"))

    def entry(self, ours: StartCommand) -> dict[str, Any]:
        """Return what the host lists under our name."""
        kind = {"type": "stdio"} if self.typed else {}
        env = {"env": dict(ours.env)} if ours.env else {}
        return {**kind, "command": ours.command, "args": ours.args, **env}

    def text(self, ours: StartCommand) -> str:
        """Return what a person would paste into the host's file."""
        if self.form == "toml":
            lines = [f"[{self.table}.{NAME}]", f"command = {json.dumps(ours.command)}"]
            lines.append(f"args = {json.dumps(ours.args)}")
            if ours.env:
                pairs = ", ".join(f"{name} = {json.dumps(ours.env[name])}" for name in ours.env)
                lines.append(f"env = {{ {pairs} }}")
            return "\n".join(lines)
        return json.dumps({self.table: {NAME: self.entry(ours)}}, indent=2)

    def own_way(self, ours: StartCommand) -> str:
        """Return the command line by which the host itself adds us; empty if it has none."""
        env = "".join(f"--env {shlex.quote(f'{name}={ours.env[name]}')} " for name in ours.env)
        whole = shlex.quote(json.dumps({"name": NAME, **self.entry(ours)}))
        return self.adds.format(command=shlex.join(ours.words), env=env, json=whole)


_HOSTS = (
    HostProgram(
        "claude-code",
        "Claude Code",
        "json",
        "mcpServers",
        ".claude.json",
        folder_variable="CLAUDE_CONFIG_DIR",
        typed=True,
        # The name comes before --env, which takes every word up to the next option.
        adds="claude mcp add --scope user nacre {env}-- {command}",
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
        folder_variable="CODEX_HOME",
        adds="codex mcp add nacre {env}-- {command}",
        memory="AGENTS.md",
        own_shell="in ~/.codex/config.toml: [features] shell_tool = false",
    ),
    HostProgram(
        "cursor",
        "Cursor",
        "json",
        "mcpServers",
        ".cursor/mcp.json",
        memory="AGENTS.md",  # a rule in .cursor/rules needs a head of its own, or is left out
    ),
    HostProgram(
        "vscode",
        "VS Code",
        "json",
        "servers",
        ".config/Code/User/mcp.json",
        "Library/Application Support/Code/User/mcp.json",
        typed=True,
        adds="code --add-mcp {json}",
        memory=".github/copilot-instructions.md",
    ),
    HostProgram(
        "gemini",
        "Gemini CLI",
        "json",
        "mcpServers",
        ".gemini/settings.json",
        adds="gemini mcp add --scope user {env}nacre {command}",
        memory="GEMINI.md",
        own_shell='in .gemini/settings.json: {"tools": {"exclude": ["run_shell_command"]}}',
        condition="It connects to its servers only in folders that you trust (/permissions).",
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


def our_command(arguments: list[str], environ: Mapping[str, str]) -> StartCommand:
    """Return how a host starts us: by our whole path, for hosts do not have a shell's PATH.

    They do not hand on a NACRE_HOME either: without it the host would get another daemon.
    """
    home = environ.get(OWN_VARIABLE)
    env = {OWN_VARIABLE: os.path.abspath(os.path.expanduser(home))} if home else {}
    program = os.path.join(os.path.dirname(sys.executable), "nacre")
    if os.access(program, os.X_OK):
        return StartCommand(program, ["mcp", *arguments], env)
    return StartCommand(sys.executable, ["-m", "nacre", "mcp", *arguments], env)
