"""The catalog of commands, loaded with the first call of it: most daemons never need it."""

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import Operation, Result
from nacre.core.operations.commands import (
    CallCommand,
    CancelExecution,
    DescribeCommand,
    EndContext,
    GetExecutionStatus,
    ListCommands,
)
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.system.unfinished import Unfinished

if TYPE_CHECKING:
    from nacre.core.commands.book import CommandBook
    from nacre.services.catalog.service import CommandCatalog
    from nacre.system.command_files import CommandFiles

_MODULE = "nacre.services.catalog.service"


class LateCatalog:
    def __init__(
        self, host: Host, *, config: str | None, home: str, private: tuple[str, ...]
    ) -> None:
        """`config` is the folder of config.toml; the rest is as CommandCatalog takes it."""
        runtime = host.runtime
        self._unfinished = Unfinished(None if runtime is None else f"{runtime}/executions")
        self._host = host
        self._config = config
        self._home = home
        self._private = private
        self._catalog: CommandCatalog | None = None
        self._files: CommandFiles | None = None
        self._loading: asyncio.Task[Any] | None = None

    def handlers(self) -> Handlers:
        return (
            Handlers()
            .on(ListCommands, self._later("list_all"))
            .on(DescribeCommand, self._later("describe"))
            .on(CallCommand, self._later("call"))
            .on(GetExecutionStatus, self._later("status"))
            .on(CancelExecution, self._later("cancel"))
            .on(EndContext, self._later("end_context"))
        )

    def _later(self, name: str) -> Callable[[Caller, Operation], Awaitable[Result]]:
        async def handle(caller: Caller, request: Operation) -> Result:
            catalog = self._catalog or await self.load()
            result: Result = await getattr(catalog, name)(caller, request)
            return result

        return handle

    async def load(self) -> "CommandCatalog":
        """Load it in a thread: the grammar of shells that it judges by takes a while."""
        if self._loading is None:
            loading = asyncio.to_thread(importlib.import_module, _MODULE)
            self._loading = asyncio.create_task(loading, name="catalog")
        module = await asyncio.shield(self._loading)
        if self._catalog is None:
            self._catalog = module.CommandCatalog(
                self._host,
                self._read_files(),
                home=self._home,
                private=self._private,
                unfinished=self._unfinished,
            )
        return self._catalog

    async def recover(self) -> None:
        """End the commands that an earlier daemon left running."""
        if self._unfinished.is_left():
            await self.load()

    def book(self) -> "CommandBook":
        """Return the commands as they are now, for a door that lists them as tools."""
        return self._read_files().book()

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call this whenever the commands have become others; return what ends that."""
        return self._read_files().on_change(listener)

    def _read_files(self) -> "CommandFiles":
        if self._files is None:
            from nacre.core.commands.book import whitelist_of
            from nacre.system.command_files import CommandFiles

            whitelist = whitelist_of(self._host.settings.commands_whitelist)
            self._files = CommandFiles(self._config, whitelist)
        return self._files

    async def end_all(self) -> None:
        if self._files is not None:
            self._files.close()
        if self._catalog is not None:
            await self._catalog.end_all()
