"""The hub: all configured servers, the tools that they offer, and who calls them with which values.

Rule 1: the config is looked at before each use, and when the system says that it was written. What
has not changed keeps its connections.
Rule 2: a list is there at once: from what servers listed last. Only those that were never connected
to are waited for, a moment and once; the rest is told as a change.
Rule 3: no MCP library in here: who only lists does not wait for it.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from nacre.core.catalog.caller import Caller
from nacre.core.upstream.names import tool_name
from nacre.core.upstream.servers import Configured, ResolvedServer, ServerTable
from nacre.core.upstream.variables import UnsetVariables
from nacre.errors import UpstreamNotFound, UpstreamUnavailable
from nacre.services.upstream.server import UpstreamServer
from nacre.settings.table import Settings
from nacre.system.folder_watch import FolderWatch
from nacre.system.upstreams.config_file import ServerFile
from nacre.system.upstreams.kept import KeptListing, KeptUpstreams
from nacre.wording import Use

ListKind = Literal["tools", "prompts", "resources"]

_COLLECTS = 0.1  # seconds: many servers that come up at once are one change of the list


_TICK = 0.001  # seconds; uvloop's clock has no smaller step, and may wake who sleeps one early
_RETRIES = 5  # of a server whose list was never seen; with the pauses, half a minute


class NamedTool(NamedTuple):
    """A server's tool and what it is called here."""

    name: str  # without the prefix of a client
    server: str
    tool: dict[str, Any]  # as its server listed it


class Hub:
    def __init__(
        self, settings: Settings, file: ServerFile, kept: KeptUpstreams, home: str
    ) -> None:
        self.file = file
        self.kept = kept
        self.version = 0  # grows when the list of tools, prompts or resources has changed
        self._settings = settings
        self.home = home
        self._read: dict[str, Configured] | None = None
        self._servers: dict[str, UpstreamServer] = {}
        self._starts = asyncio.Semaphore(settings.max_upstream_starts)
        self._held: dict[str, str] = {}  # values for callers that have no environment
        self._tools: dict[str, NamedTool] | None = None
        self._shown: dict[ListKind, object] = {}
        self._listeners: dict[ListKind, list[Callable[[], None]]] = {
            "tools": [],
            "prompts": [],
            "resources": [],
        }
        self._untold: set[ListKind] = set()  # lists that have changed
        self._update_listeners: list[Callable[[str, str], None]] = []
        self._watch: FolderWatch | None = None
        self._telling: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self._trying: set[asyncio.Task[None]] = set()
        self._retrying: dict[str, asyncio.Task[None]] = {}  # by the server's name

    # --- servers ---------------------------------------------------------------------------

    def servers(self) -> dict[str, UpstreamServer]:
        """Return the servers as they are configured now."""
        configured = self.file.read()
        if configured is not self._read:
            self._read = configured
            self._take(configured)
        return self._servers

    def server(self, name: str) -> UpstreamServer:
        """Raises UpstreamNotFound."""
        found = self.servers().get(name)
        if found is None:
            known = ", ".join(self._servers) or "there are none"
            raise UpstreamNotFound(
                f"no upstream server named {name!r} (there are: {known})",
                Use("list_upstreams", "list them"),
            )
        return found

    def _take(self, configured: dict[str, Configured]) -> None:
        before = self._servers
        self._servers = {}
        for name, table in configured.items():
            known = before.get(name)
            if known is not None and known.configured == table:
                self._servers[name] = known
                continue
            made = UpstreamServer(
                table, self._settings, self.kept, self._starts, self.note_change, self._note_update
            )
            if known is not None:
                made.statistics, made.log = known.statistics, known.log
            self._servers[name] = made
        for name, known in before.items():
            if self._servers.get(name) is not known:
                self._end_later(known)
        if before:
            tables = [one for one in configured.values() if isinstance(one, ServerTable)]
            self.kept.forget_others({one.fingerprint for one in tables})
        self.note_change()

    def _end_later(self, server: UpstreamServer) -> None:
        task = asyncio.create_task(server.end(), name=f"end-{server.name}")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def settle(self) -> None:
        """Return when the processes of servers that are no longer wanted have ended."""
        if self._ending:
            await asyncio.wait(self._ending)

    async def end_all(self) -> None:
        if self._watch is not None:
            self._watch.close()
        if self._telling is not None:
            self._telling.cancel()
        for task in (*self._trying, *self._retrying.values()):
            task.cancel()
        await asyncio.gather(*(one.end() for one in self._servers.values()))
        await self.settle()

    # --- values ----------------------------------------------------------------------------

    def hold(self, values: Mapping[str, str]) -> None:
        """Keep the values that a person handed over, for callers that have none (HTTP)."""
        self._held = dict(values)

    def values_of(self, caller: Caller) -> Mapping[str, str]:
        # Who came by the socket of this machine has an environment, be it empty; others have none.
        return caller.values if caller.pid is not None else self._held

    def resolve(self, server: UpstreamServer, caller: Caller) -> ResolvedServer:
        """Return the server with the caller's values. Raises UpstreamUnavailable."""
        table = server.table
        values = self.values_of(caller)
        try:
            resolved = table.resolve(values, self.home)
        except UnsetVariables as unset:
            plural = "variables" if len(unset.names) > 1 else "variable"
            raise UpstreamUnavailable(
                f"{table.name} was not started: the {plural} {unset} of its table "
                f"{'are' if len(unset.names) > 1 else 'is'} not set for this caller",
                "set it where you start nacre mcp or the command line; for callers over HTTP, "
                "reload the upstream servers where it is set",
                server=table.name,
                variables=list(unset.names),
            ) from unset
        if table.transport == "stdio":
            path = caller.env.get("PATH") or os.environ.get("PATH", os.defpath)
            return resolved._replace(path=path)
        return resolved

    # --- tools -----------------------------------------------------------------------------

    def tools(self) -> dict[str, NamedTool]:
        """Return all tools by their names; the same object until something has changed."""
        servers = self.servers()
        if self._tools is None:
            self._tools = {}
            for server in (one for one in servers.values() if one.is_used):
                for tool in server.tools():
                    name = tool_name(server.name, str(tool["name"]), servers)
                    self._tools.setdefault(name, NamedTool(name, server.name, tool))
        return self._tools

    def tool(self, server: str, name: str) -> NamedTool:
        """Return a tool by its own name or by ours.

        Raises UpstreamNotFound; UpstreamUnavailable where its server is disabled or misconfigured.
        """
        _ = self.server(server).table
        found = next(
            (
                one
                for one in self.tools().values()
                if one.server == server and name in (one.tool["name"], one.name)
            ),
            None,
        )
        if found is None:
            raise UpstreamNotFound(
                f"{server} has no tool {name!r}", Use("list_upstream_tools", "list its tools")
            )
        return found

    def note_change(self) -> None:
        """Take note that lists or states may have changed; tell listeners if lists have."""
        self._tools = None
        shown = _shown([one for one in self._servers.values() if one.is_used])
        changed = {kind for kind, what in shown.items() if self._shown.get(kind) != what}
        if not changed:
            return
        self._shown = shown
        self._untold |= changed
        self.version += 1
        if self._telling is None:
            loop = asyncio.get_running_loop()
            self._telling = loop.call_later(_COLLECTS, self._tell)

    def _tell(self) -> None:
        self._telling = None
        changed, self._untold = self._untold, set()
        for kind in changed:
            for listener in list(self._listeners[kind]):
                listener()

    def on_change(
        self, listener: Callable[[], None], kind: ListKind = "tools"
    ) -> Callable[[], None]:
        """Call this whenever a list has changed; return what ends that."""
        self._begin_watch()
        self._listeners[kind].append(listener)
        return lambda: self._listeners[kind].remove(listener)

    def _note_update(self, server: str, uri: str) -> None:
        for listener in list(self._update_listeners):
            listener(server, uri)

    def on_update(self, listener: Callable[[str, str], None]) -> Callable[[], None]:
        """Call this with server and URI whenever a watched resource has changed."""
        self._update_listeners.append(listener)
        return lambda: self._update_listeners.remove(listener)

    def _begin_watch(self) -> None:
        if self._watch is None:
            self._watch = FolderWatch(asyncio.get_running_loop(), lambda: void(self.servers()))
            self._watch.folders(any_change=(os.path.dirname(self.file.path),))

    async def gather_tools(self, caller: Caller) -> None:
        """Wait a moment for the lists of servers that were never connected to, once each."""
        now = asyncio.get_running_loop().time()
        until = now
        tasks = []
        for server in self.servers().values():
            if not server.is_used or server.listing is not None:
                continue
            task = asyncio.create_task(self._try(server, caller), name=f"list-{server.name}")
            self._trying.add(task)
            task.add_done_callback(self._trying.discard)
            if server.waited_until is None:
                server.waited_until = now + self._settings.upstream_list_wait
            if server.state != "failed" and server.waited_until > now:
                until = max(until, server.waited_until)
                tasks.append(task)
        # What is not there by then goes on, and is told as a change. Nobody waits again for a
        # server that was waited for, or that has failed: its list may never come.
        if tasks:
            await asyncio.wait(tasks, timeout=until - now)

    async def _try(self, server: UpstreamServer, caller: Caller) -> None:
        with suppress(UpstreamUnavailable):
            resolved = self.resolve(server, caller)
            try:
                await server.connection(resolved, self.values_of(caller))
            except UpstreamUnavailable:
                if self._listeners["tools"] and server.name not in self._retrying:
                    self._retry_later(server, resolved, caller)

    def _retry_later(
        self, server: UpstreamServer, resolved: ResolvedServer, caller: Caller
    ) -> None:
        """Try a few times more to get the list of a server, for who would be told of it."""

        async def retry() -> None:
            for _ in range(_RETRIES):
                await asyncio.sleep(server.pause_left(resolved) + _TICK)
                if self._servers.get(server.name) is not server or server.listing is not None:
                    return
                with suppress(UpstreamUnavailable):
                    await server.connection(resolved, self.values_of(caller))
                    return

        self._retrying[server.name] = task = asyncio.create_task(retry(), name="upstream-retry")
        task.add_done_callback(lambda _: self._retrying.pop(server.name, None))

    def listings(self) -> dict[str, KeptListing]:
        """Return what enabled servers offer beside tools, by their names."""
        return {
            name: one.listing
            for name, one in self.servers().items()
            if one.listing is not None and one.is_used
        }


def _shown(servers: list[UpstreamServer]) -> dict[ListKind, object]:
    """Return what clients see of each list, to compare it with what they saw before."""
    known = [(one.configured, one.listing) for one in servers]
    return {
        "tools": [(table, listing and listing.tools) for table, listing in known],
        "prompts": [(table.name, listing.prompts) for table, listing in known if listing],
        "resources": [
            (table.name, listing.resources, listing.templates)
            for table, listing in known
            if listing
        ],
    }


def void(_: object) -> None:
    return None
