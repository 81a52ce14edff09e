"""Upstream servers, loaded with the first call about them: most daemons have none."""

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.catalog import Operation, Result
from nacre.core.operations.upstream import (
    AddUpstream,
    CallUpstreamTool,
    CompleteUpstreamArgument,
    DescribeUpstreamTool,
    EnableUpstream,
    GatherUpstreamTools,
    GetUpstreamPrompt,
    ImportUpstreams,
    ListUpstreams,
    ListUpstreamTools,
    ReadUpstreamLog,
    ReadUpstreamResource,
    ReadUpstreamResult,
    ReloadUpstreams,
    RemoveUpstream,
    SearchUpstreamTools,
    TestUpstream,
    WatchUpstreamResource,
)
from nacre.services.dispatch.handlers import Handlers
from nacre.services.host.host import Host
from nacre.services.policy.approvals import Approvals, IsInside
from nacre.services.policy.judge import Judge

if TYPE_CHECKING:
    from nacre.services.upstream.hub import Hub
    from nacre.services.upstream.service import Upstreams

_MODULE = "nacre.services.upstream.build"


class LateUpstreams:
    def __init__(
        self,
        host: Host,
        judge: Judge,
        approvals: Approvals,
        is_inside: IsInside,
        *,
        config: str | None,
        state: str | None,
    ) -> None:
        """`config` is the folder of config.toml, `state` the one for what is kept of servers."""
        self._host = host
        self._judge = judge
        self._approvals = approvals
        self._is_inside = is_inside
        self._config = config
        self._state = state
        self._service: Upstreams | None = None
        self._loading: asyncio.Task[Any] | None = None

    def handlers(self) -> Handlers:
        return (
            Handlers()
            .on(ListUpstreams, self._later("configured.list"))
            .on(AddUpstream, self._later("configured.add"))
            .on(RemoveUpstream, self._later("configured.remove"))
            .on(EnableUpstream, self._later("configured.enable"))
            .on(ReloadUpstreams, self._later("configured.reload"))
            .on(TestUpstream, self._later("configured.test"))
            .on(ListUpstreamTools, self._later("list_tools"))
            .on(SearchUpstreamTools, self._later("search"))
            .on(DescribeUpstreamTool, self._later("describe"))
            .on(CallUpstreamTool, self._later("calls.call"))
            .on(ReadUpstreamResult, self._later("calls.read_result"))
            .on(ReadUpstreamLog, self._later("configured.read_log"))
            .on(ImportUpstreams, self._later("configured.import_all"))
            .on(GetUpstreamPrompt, self._later("calls.get_prompt"))
            .on(ReadUpstreamResource, self._later("calls.read_resource"))
            .on(WatchUpstreamResource, self._later("calls.watch_resource"))
            .on(CompleteUpstreamArgument, self._later("calls.complete"))
            .on(GatherUpstreamTools, self._later("gather"))
        )

    def _later(self, name: str) -> Callable[[Caller, Operation], Awaitable[Result]]:
        find = attrgetter(name)

        async def handle(caller: Caller, request: Operation) -> Result:
            service = self._service or await self._load()
            result: Result = await find(service)(caller, request)
            return result

        return handle

    async def _load(self) -> "Upstreams":
        if self._loading is None:
            loading = asyncio.to_thread(importlib.import_module, _MODULE)
            self._loading = asyncio.create_task(loading, name="upstream")
        await asyncio.shield(self._loading)
        return self.now()

    def now(self) -> "Upstreams":
        """Return the service, for whoever cannot wait."""
        if self._service is None:
            from nacre.services.upstream.build import build_upstreams

            self._service = build_upstreams(
                self._host,
                self._judge,
                self._approvals,
                self._is_inside,
                config=self._config,
                state=self._state,
            )
        return self._service

    def hub(self) -> "Hub":
        """Return the hub, for a door that lists its tools."""
        return self.now().hub

    async def end_all(self) -> None:
        if self._service is not None:
            await self._service.end_all()
