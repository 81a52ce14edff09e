"""The operations on the cluster: its hosts, and which of them take new sessions."""

from typing import Annotated

from msgspec import Meta

from nacre.core.catalog.caller import Scope
from nacre.core.catalog.catalog import Operation, Result, operation, unlisted
from nacre.core.operations.results import Success

HostName = Annotated[str, Meta(min_length=1, max_length=63, description="Name of a host.")]


class ClusterHost(Result, frozen=True, kw_only=True):
    host: str
    state: str  # up, suspect, lost, left
    here: bool = False  # it is the one that answers
    sessions: int  # that run
    capacity: int
    draining: bool
    labels: list[str]
    version: str
    compatible: bool = True  # with the one that answers


class ClusterState(Result, frozen=True, kw_only=True):
    clustered: bool  # whether this daemon is in a cluster at all
    host: str | None = None  # the name of the one that answers
    joined: bool = False
    problem: str | None = None  # why it is not
    hosts: list[ClusterHost]


@operation(
    "cluster_status", "GET /cluster", result=ClusterState, scope=Scope.OBSERVE, idempotent=True
)
class GetCluster(Operation, frozen=True, kw_only=True):
    """List the hosts of the cluster: how they stand, and how many sessions they have room for."""


@operation(
    "drain_host",
    "POST /cluster/hosts/{host}/drain",
    result=Success,
    scope=Scope.ADMIN,
    idempotent=True,
)
class DrainHost(Operation, frozen=True, kw_only=True):
    """Let a host take no new sessions, or let it take them again. Its sessions stay."""

    host: HostName
    draining: Annotated[bool, Meta(description="False: it takes new sessions again.")] = True


class FoundRun(Result, frozen=True, kw_only=True):
    found: bool


@unlisted("find_run", scope=Scope.OBSERVE, result=FoundRun)
class FindRun(Operation, frozen=True, kw_only=True):
    """Tell whether a run is on this host; other hosts ask for it."""

    run_id: str


class GivenUp(Result, frozen=True, kw_only=True):
    given_up: bool


@unlisted("give_up_name", scope=Scope.OBSERVE, result=GivenUp)
class GiveUpName(Operation, frozen=True, kw_only=True):
    """Give the name of an ended session up, for a new one on another host."""

    name: str
