"""The wizard: look at the MCP servers behind nacre, add, change, test and remove them.

Rule 1: it asks in plain lines, so it works in every terminal, over ssh and from a script's pipe.
Rule 2: nothing is written before the person has seen it and said yes. An empty answer keeps what is
in brackets; Ctrl+D, or the end of the input, leaves.
"""

import shlex
import tomllib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from nacre.cli.output.answers import harmless
from nacre.client.calls import Client
from nacre.client.upstream_values import referenced_values
from nacre.core.upstream.servers import TableProblem, parse_table
from nacre.errors import InvalidInput, NacreError
from nacre.settings.paths import find_paths

Ask = Callable[[str], str]  # prints a question, returns the answer; raises EOFError
Say = Callable[[str], None]

_MENU = "a add · e edit · d delete · n enable or disable · t test · h AI hosts · q quit"


_ASKED = ("transport", "command", "args", "url", "env", "headers", "enabled")
_OF_ALL = ("start_timeout", "call_timeout", "enabled_tools", "disabled_tools")


class ServerForm(NamedTuple):
    """What the person has said about a server."""

    name: str
    transport: str = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    url: str = ""
    env: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    enabled: bool = True
    rest: tuple[tuple[str, Any], ...] = ()  # keys that the wizard does not ask about

    def params(self) -> dict[str, Any]:
        """Return the parameters of add_upstream."""
        common: dict[str, Any] = {
            "name": self.name,
            "transport": self.transport,
            "enabled": self.enabled,
            **{key: value for key, value in self.rest if self._fits(key)},
        }
        if self.transport == "stdio":
            return {
                **common,
                "command": self.command,
                "args": list(self.args),
                "env": dict(self.env) or None,
            }
        return {**common, "url": self.url, "headers": dict(self.headers) or None}

    def _fits(self, key: str) -> bool:
        """Return whether a key is for servers of this transport."""
        return key in _OF_ALL or (key == "cwd") == (self.transport == "stdio")


class HostEntries(Protocol):
    """The AI hosts that nacre can be given to."""

    @property
    def names(self) -> Sequence[str]: ...

    def show(self, name: str) -> None: ...

    def install(self, name: str) -> None: ...


class Wizard:
    def __init__(
        self, client: Client, config: str, ask: Ask, say: Say, hosts: "HostEntries"
    ) -> None:
        self._client = client
        self._config = config
        self._ask = ask
        self._say = say
        self._hosts = hosts

    def run(self) -> int:
        actions = {
            "a": self._add,
            "e": self._edit,
            "d": self._delete,
            "n": self._switch,
            "t": self._test,
            "h": self._host,
        }
        try:
            self._list()
            while (typed := self._ask(f"{_MENU}\n> ").strip().lower()[:1]) != "q":
                if typed not in actions:
                    continue
                try:
                    actions[typed]()
                except NacreError as error:
                    self._say(f"nacre: {harmless(str(error))}")
        except EOFError:
            self._say("")
        return 0

    def _servers(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._client.ask("list_upstreams")["servers"]
        return found

    def _list(self) -> None:
        servers = self._servers()
        if not servers:
            self._say("No MCP servers are configured.")
        for server in servers:
            state = server["state"] if server["enabled"] else "disabled"
            why = f": {server['error']}" if server["error"] else ""
            self._say(harmless(f"  {server['name']}: {server['target']} ({state}{why})"))

    def _chosen(self) -> dict[str, Any] | None:
        servers = {server["name"]: server for server in self._servers()}
        if not servers:
            self._say("There is none; a adds one.")
            return None
        name = self._ask(f"Which one ({', '.join(servers)})? ").strip()
        if name not in servers:
            self._say(f"There is no {harmless(name)!r}.")
            return None
        return servers[name]

    def _add(self) -> None:
        name = self._ask("Name: ").strip()
        if name in {server["name"] for server in self._servers()}:
            self._say(f"{name} is there already; e edits it.")
            return
        if name:
            self._fill(ServerForm(name), replace=False)

    def _edit(self) -> None:
        if server := self._chosen():
            self._fill(self._configured(server["name"]), replace=True)

    def _configured(self, name: str) -> ServerForm:
        """Return a server as the file has it: the daemon tells no values, which may be secrets."""
        try:
            with open(self._config, "rb") as file:
                told = tomllib.load(file).get("mcp_servers", {}).get(name, {})
        except (OSError, ValueError) as error:
            raise InvalidInput(f"cannot read {self._config}: {error}") from None
        try:
            parse_table(name, told)
        except TableProblem as wrong:
            raise InvalidInput(
                f"its table is wrong: {wrong.problem}", f"{wrong.fix}, in {self._config}"
            ) from None
        return _form(name, told)

    def _fill(self, form: ServerForm, *, replace: bool) -> None:
        """Ask for everything, show it, and write it if the person says so."""
        transport = self._kept("Transport: stdio, http or sse", form.transport)
        if transport not in ("stdio", "http", "sse"):
            self._say("It must be stdio, http or sse.")
            return
        form = form._replace(transport=transport)
        if transport == "stdio":
            before = shlex.join((form.command, *form.args)) if form.command else ""
            line = self._kept("Command with its arguments", before)
            try:
                words = shlex.split(line)
            except ValueError as error:
                raise InvalidInput(f"this is no command: {error}") from None
            if not words:
                self._say("It needs a command.")
                return
            form = form._replace(command=words[0], args=tuple(words[1:]))
            form = form._replace(env=self._pairs("Variable", form.env))
        else:
            form = form._replace(url=self._kept("URL", form.url))
            form = form._replace(headers=self._pairs("Header", form.headers))
        form = form._replace(enabled=self._yes("Enable it", form.enabled))
        params = {name: value for name, value in form.params().items() if value is not None}
        self._say(harmless("  " + ", ".join(f"{name} {value}" for name, value in params.items())))
        if self._yes("Write it", True):
            changed = self._client.call("add_upstream", replace=replace, **params)
            self._say(f"Written to {changed['file']}.")
            if form.enabled and self._yes("Test it now", True):
                self._try(form.name)

    def _pairs(self, kind: str, known: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        """Ask for NAME=VALUE until the answer is empty. $TOKEN stays as it is in the file."""
        pairs = dict(known)
        for name, value in known:
            self._say(harmless(f"  {name}={value}"))
        while typed := self._ask(
            f"{kind} as NAME=VALUE ($TOKEN is filled in later; NAME= removes): "
        ):
            name, equals, value = typed.partition("=")
            if not equals or not name.strip():
                self._say("It must be NAME=VALUE.")
            elif value:
                pairs[name.strip()] = value
            else:
                pairs.pop(name.strip(), None)
        return tuple(pairs.items())

    def _delete(self) -> None:
        if (server := self._chosen()) and self._yes(f"Delete {server['name']}", False):
            self._client.call("remove_upstream", server=server["name"])
            self._say(f"{server['name']} is gone.")

    def _switch(self) -> None:
        if server := self._chosen():
            enabled = not server["enabled"]
            self._client.call("enable_upstream", server=server["name"], enabled=enabled)
            self._say(f"{server['name']} is {'enabled' if enabled else 'disabled'}.")

    def _test(self) -> None:
        if server := self._chosen():
            self._try(server["name"])

    def _try(self, name: str) -> None:
        # A connection of its own: it brings the values of the variables that the file names now.
        with Client.open(values=referenced_values(find_paths())) as client:
            tested = client.call("test_upstream", server=name)
        self._say(f"{name} works: {tested['tools']} tools, {tested['ms']:.0f} ms.")

    def _host(self) -> None:
        """Show what gives nacre to an AI host, and install it if the person says so."""
        name = self._ask(f"Which one ({', '.join(self._hosts.names)})? ").strip().lower()
        if name not in self._hosts.names:
            self._say(f"There is no {harmless(name)!r}.")
            return
        self._hosts.show(name)
        if self._yes("Install it", False):
            self._hosts.install(name)

    def _kept(self, question: str, before: str) -> str:
        shown = f" [{before}]" if before else ""
        return self._ask(f"{question}{shown}: ").strip() or before

    def _yes(self, question: str, default: bool) -> bool:
        typed = self._ask(f"{question} [{'Y/n' if default else 'y/N'}]? ").strip().lower()
        return typed.startswith("y") if typed else default


def _form(name: str, told: dict[str, Any]) -> ServerForm:
    return ServerForm(
        name,
        told.get("transport") or ("http" if "url" in told else "stdio"),
        told.get("command", ""),
        tuple(told.get("args", ())),
        told.get("url", ""),
        tuple(told.get("env", {}).items()),
        tuple(told.get("headers", {}).items()),
        told.get("enabled", True),
        tuple((key, value) for key, value in told.items() if key not in _ASKED),
    )
