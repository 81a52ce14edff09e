"""Slash commands: what a person asks of the chat itself, not of the model.

Rule: `/mcp` does what `nacre upstream` does, by the same code; only its list has a form of its own.
"""

import asyncio
import json
import shlex
import sys
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, Protocol

from nacre.cli.chat.desk import Desk
from nacre.cli.chat.face import Face
from nacre.cli.chat.permission import shown
from nacre.client.calls import Client
from nacre.errors import InvalidInput, NacreError

MCP_ACTIONS = ("list", "tools", "enable", "disable", "reload", "test", "add", "remove")
_PATTERN_ACTIONS = ("list", "add", "rm", "clear")


class Talk(Protocol):
    """What slash commands need of the chat."""

    @property
    def model(self) -> str: ...

    def change_model(self, name: str) -> None: ...

    def usage(self) -> str: ...

    async def compact(self) -> None: ...

    def start_again(self) -> None: ...

    def leave(self) -> None: ...


class Slash(NamedTuple):
    usage: str
    summary: str
    do: Callable[["SlashCommands", str], Awaitable[bool]]


class SlashCommands:
    def __init__(self, face: Face, desk: Desk, talk: Talk) -> None:
        self._face = face
        self._desk = desk
        self._talk = talk

    async def run(self, line: str) -> bool:
        """Do what a line that begins with / says; return whether it went well."""
        name, _, rest = line[1:].strip().partition(" ")
        if name not in SLASH:
            self._face.complain(f"there is no /{name}; /help lists what there is")
            return False
        try:
            return await SLASH[name].do(self, rest.strip())
        except NacreError as error:
            self._face.complain(str(error))
            return False

    async def _help(self, _: str) -> bool:
        width = max(len(slash.usage) for slash in SLASH.values())
        for slash in SLASH.values():
            self._face.say(f"{slash.usage:{width}}  {slash.summary}")
        self._face.say("Everything else goes to the model.")
        return True

    async def _mcp(self, rest: str) -> bool:
        words = _words(rest)
        action = words[0] if words else ""
        if action not in MCP_ACTIONS:
            raise InvalidInput(f"/mcp takes {', '.join(MCP_ACTIONS)}")
        if action == "list":
            return await self._mcp_list()
        code, printed = await _command_line("upstream", *words)
        for text in printed.splitlines():
            self._face.say(text)
        self._desk.forget_tools()
        return code == 0

    async def _mcp_list(self) -> bool:
        servers = await asyncio.to_thread(_servers)
        for server in servers:
            state = "enabled" if server["enabled"] else "disabled"
            self._face.say(f"{server['name']}: {server['target']} ({state})")
        if not servers:
            self._face.say("no MCP servers; add one with: /mcp add NAME -- COMMAND ARGS")
        return True

    async def _tools(self, rest: str) -> bool:
        found = [tool for tool in await self._desk.tools() if rest in tool.name]
        for tool in found:
            first = tool.description.strip().splitlines()[0] if tool.description.strip() else ""
            self._face.say(f"{tool.name}  {first}")
        return bool(found)

    async def _call(self, rest: str) -> bool:
        name, _, given = rest.partition(" ")
        if not name:
            raise InvalidInput(
                'give a tool, and its arguments as JSON: /call run {"command": "ls"}'
            )
        outcome = await self._desk.call_freely(name, _arguments(given))
        self._face.say(outcome.text)
        for image in outcome.images:
            self._face.say(f"[{image.media_type}, {len(image.data) * 3 // 4} bytes]")
        return not outcome.failed

    async def _model(self, rest: str) -> bool:
        if rest:
            self._talk.change_model(rest)
        self._face.say(self._talk.model or "no model is set (chat_model)")
        return True

    async def _patterns(self, rest: str) -> bool:
        action, _, pattern = rest.partition(" ")
        pattern = pattern.strip()
        permissions = self._desk.permissions
        if action not in _PATTERN_ACTIONS or (action in ("add", "rm") and not pattern):
            raise InvalidInput("/patterns takes list, add PATTERN, rm PATTERN or clear")
        if action == "add":
            permissions.allow(pattern)
        elif action == "rm" and not permissions.remove(pattern):
            raise InvalidInput(f"there is no pattern {pattern}; /patterns list shows them")
        elif action == "clear":
            permissions.clear()
        elif action == "list":
            for one, count in permissions.counts.items():
                self._face.say(f"{one}  {_counted(count)}")
            for one, count in permissions.exact.items():
                self._face.say(f"exactly {shown(one)}  {_counted(count)}")
            if not permissions.counts and not permissions.exact:
                self._face.say("no patterns in this chat")
        return True

    async def _usage(self, _: str) -> bool:
        self._face.say(self._talk.usage())
        return True

    async def _compact(self, _: str) -> bool:
        await self._talk.compact()
        return True

    async def _clear(self, _: str) -> bool:
        self._talk.start_again()
        return True

    async def _exit(self, _: str) -> bool:
        self._talk.leave()
        return True


SLASH = {
    "help": Slash("/help", "Show this.", SlashCommands._help),
    "mcp": Slash(
        "/mcp list|tools|enable|disable|reload|test|add|remove",
        "Look at the MCP servers behind nacre, and change them.",
        SlashCommands._mcp,
    ),
    "tools": Slash(
        "/tools [TEXT]",
        "List the tools, or those with this text in their name.",
        SlashCommands._tools,
    ),
    "call": Slash("/call TOOL [JSON]", "Call a tool yourself.", SlashCommands._call),
    "patterns": Slash(
        "/patterns list|add|rm|clear",
        "What the model may call in this chat without a question: 'run: git *', 'mcp_github_*'.",
        SlashCommands._patterns,
    ),
    "model": Slash("/model [NAME]", "Show the model, or take another.", SlashCommands._model),
    "usage": Slash("/usage", "Show how many tokens the chat has.", SlashCommands._usage),
    "compact": Slash(
        "/compact", "Go on from a summary, in place of all that was said.", SlashCommands._compact
    ),
    "clear": Slash("/clear", "Begin a new chat.", SlashCommands._clear),
    "exit": Slash("/exit", "Leave. So does Ctrl+D.", SlashCommands._exit),
}


def _counted(matches: int) -> str:
    return f"{matches} {'match' if matches == 1 else 'matches'}"


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InvalidInput(f"cannot read these words: {error}") from None


def _arguments(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"the arguments are no JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise InvalidInput('the arguments must be a JSON object: {"command": "ls"}')
    return arguments


async def _command_line(*words: str) -> tuple[int, str]:
    """Run a command of nacre's; return its exit code and what it printed."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "nacre", *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    printed, _ = await process.communicate()
    return process.returncode or 0, printed.decode(errors="replace")


def _servers() -> list[dict[str, Any]]:
    with Client.open(start=True) as client:
        listed: list[dict[str, Any]] = client.ask("list_upstreams")["servers"]
        return listed
