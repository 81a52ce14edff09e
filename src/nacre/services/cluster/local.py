"""What a cluster needs to know of its own host: its sessions, runs, ports and people."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from nacre.core.catalog.caller import Caller
from nacre.services.dispatch.recovered import Recovering
from nacre.services.policy.approvals import Approvals
from nacre.services.registry.ports import PortPool
from nacre.services.registry.registry import Registry
from nacre.services.runs.ledger import Ledger


@dataclass(frozen=True, slots=True)
class LocalSessions:
    registry: Registry
    ledger: Ledger
    recovering: Recovering
    ports: PortPool
    approvals: Approvals
    is_inside: Callable[[Caller], Awaitable[bool]]  # tells of a caller in a session

    async def has(self, reference: str | int) -> bool:
        """Tell whether a session is here; one of an earlier daemon is waited for."""
        if not self.recovering.is_over:
            await self.recovering.session(reference)
        return self.registry.has(reference)

    def has_run(self, run_id: str) -> bool:
        return self.ledger.session_of(run_id) is not None

    def has_question(self, identifier: str) -> bool:
        """Tell whether people are asked this here."""
        return self.approvals.is_open(identifier)

    def names(self) -> frozenset[str]:
        return frozenset(one.identity.name for one in self.registry)
