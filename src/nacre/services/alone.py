"""A daemon that is in no cluster: what it says when it is asked for one.

Rule: nothing of a cluster is loaded for it.
"""

from nacre.core.catalog.caller import Caller
from nacre.core.operations.hosts.cluster import ClusterState, DrainHost, GetCluster
from nacre.core.operations.results import Success
from nacre.errors import InvalidInput
from nacre.services.dispatch.handlers import Handlers

ALONE = "this daemon is in no cluster"
JOIN = "start it with the setting cluster to join one"


class Alone:
    def handlers(self) -> Handlers:
        return Handlers().on(GetCluster, self.status).on(DrainHost, self.drain)

    async def status(self, caller: Caller, request: GetCluster) -> ClusterState:
        return ClusterState(clustered=False, hosts=[])

    async def drain(self, caller: Caller, request: DrainHost) -> Success:
        raise InvalidInput(ALONE, JOIN)
