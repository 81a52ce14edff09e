"""The cluster in the daemon's metrics: its hosts, and what goes between them and this one."""

from collections import Counter
from collections.abc import Iterator

from nacre.core.catalog.metering import Family
from nacre.core.cluster.hosts import Standing
from nacre.services.cluster.between import BetweenHosts

_STATES: tuple[Standing, ...] = ("up", "suspect", "lost", "left")


def cluster_families(between: BetweenHosts, now: float) -> Iterator[Family]:
    """Return the metrics; `now` is the loop's time."""
    joined = Family("nacre_cluster_joined", "gauge", "Whether this host is in its cluster.")
    joined.add(between.member.joined)
    yield joined
    hosts = Family("nacre_cluster_hosts", "gauge", "Hosts, by state; this one counts as up.")
    standings = Counter(between.member.hosts.all(now).values())
    for state in _STATES:
        hosts.add(standings[state] + (state == "up"), state=state)
    yield hosts
    yield from between.asking.calls.families()
    served = Family("nacre_cluster_served_total", "counter", "Calls that were run for other hosts.")
    served.add(between.serving.served)
    yield served
    serving = Family("nacre_cluster_serving", "gauge", "Calls that run for other hosts now.")
    serving.add(between.serving.count)
    yield serving
    streams = Family(
        "nacre_cluster_streams", "gauge", "Streams from other hosts, and to them, now."
    )
    streams.add(between.viewing.count, way="in")
    streams.add(between.streaming.count, way="out")
    yield streams
    size = Family("nacre_cluster_bytes_total", "counter", "Bytes from other hosts, and to them.")
    size.add(between.link.received, way="in")
    size.add(between.link.sent, way="out")
    yield size
    reconnects = Family(
        "nacre_cluster_reconnects_total", "counter", "Lost connections to NATS that came back."
    )
    reconnects.add(between.link.reconnects)
    yield reconnects
