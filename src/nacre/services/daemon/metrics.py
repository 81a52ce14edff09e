"""The daemon's metrics, as Prometheus reads them: sessions, calls, errors, the process.

Rule: a caller that sees some sessions only counts those; of the calls of others nobody sees more
than how many there were.
"""

from collections.abc import Iterator
from typing import Protocol

from nacre.core.catalog.caller import Caller
from nacre.core.catalog.metering import CallCounts, Family, exposition
from nacre.core.operations.daemon import GetMetrics, MetricsText
from nacre.services.dispatch.handlers import Handlers
from nacre.services.registry.registry import Registry
from nacre.system.own_process import process_facts


class MeasuredCluster(Protocol):
    def families(self) -> Iterator[Family]: ...


class Metrics:
    def __init__(
        self, registry: Registry, calls: CallCounts, cluster: MeasuredCluster | None = None
    ) -> None:
        self._registry = registry
        self._cluster = cluster
        self._calls = calls

    def handlers(self) -> Handlers:
        return Handlers().on(GetMetrics, self.get)

    async def get(self, caller: Caller, request: GetMetrics) -> MetricsText:
        return MetricsText(text=exposition(self._families(caller)))

    def _families(self, caller: Caller) -> Iterator[Family]:
        sessions = Family("nacre_sessions", "gauge", "Sessions whose program runs.")
        seen = (one for one in self._registry.all() if caller.sees(one.identity.name))
        sessions.add(sum(one.alive for one in seen))
        yield sessions
        yield from self._calls.families()
        if self._cluster is not None:
            yield from self._cluster.families()
        for fact in process_facts():
            family = Family(fact.name, fact.kind, fact.help)
            family.add(fact.value)
            yield family
