"""The cluster in the daemon's metrics: its hosts, and what goes between them and this one."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from nacre.core.catalog.metering import Family
from nacre.core.cluster.hosts import Standing
from nacre.services.cluster.asking import Asking
from nacre.services.cluster.member import Member
from nacre.services.cluster.servers.link import ClusterLink
from nacre.services.cluster.serving import HostServing
from nacre.services.cluster.streaming import Streaming
from nacre.services.cluster.viewing import Viewing

_STATES: tuple[Standing, ...] = ("up", "suspect", "lost", "left")


class ClusterMeasures(NamedTuple):
    member: Member
    link: ClusterLink
    asking: Asking
    serving: HostServing
    viewing: Viewing
    streaming: Streaming

    def families(self, now: float) -> Iterator[Family]:
        """Return the metrics; `now` is the loop's time."""
        joined = Family("nacre_cluster_joined", "gauge", "Whether this host is in its cluster.")
        joined.add(self.member.joined)
        yield joined
        hosts = Family("nacre_cluster_hosts", "gauge", "Hosts, by state; this one counts as up.")
        standings = Counter(self.member.hosts.all(now).values())
        for state in _STATES:
            hosts.add(standings[state] + (state == "up"), state=state)
        yield hosts
        yield from self.asking.calls.families()
        served = Family(
            "nacre_cluster_served_total", "counter", "Calls that were run for other hosts."
        )
        served.add(self.serving.served)
        yield served
        serving = Family("nacre_cluster_serving", "gauge", "Calls that run for other hosts now.")
        serving.add(self.serving.count)
        yield serving
        streams = Family(
            "nacre_cluster_streams", "gauge", "Streams from other hosts, and to them, now."
        )
        streams.add(self.viewing.count, way="in")
        streams.add(self.streaming.count, way="out")
        yield streams
        size = Family(
            "nacre_cluster_bytes_total", "counter", "Bytes from other hosts, and to them."
        )
        size.add(self.link.received, way="in")
        size.add(self.link.sent, way="out")
        yield size
        reconnects = Family(
            "nacre_cluster_reconnects_total", "counter", "Lost connections to NATS that came back."
        )
        reconnects.add(self.link.reconnects)
        yield reconnects
