"""Sessions on many hosts: which cluster this daemon joins, and as what (docs/cluster.md)."""

from typing import Annotated

from msgspec import Meta

from nacre.settings.groups.chat import ChatSettings


class ClusterSettings(ChatSettings, frozen=True, kw_only=True):
    cluster: Annotated[
        str,
        Meta(
            description=(
                "Addresses of the cluster's NATS servers, separated by commas: "
                "nats://host:4222. Without them the daemon is alone, and loads nothing of it."
            )
        ),
    ] = ""
    cluster_host: Annotated[
        str,
        Meta(
            pattern="^([A-Za-z0-9_-]{1,63})?$",
            description="Name of this host in the cluster. Default: the machine's.",
        ),
    ] = ""
    cluster_labels: Annotated[
        str,
        Meta(description="Labels of this host, separated by commas; callers can ask for them."),
    ] = ""
    cluster_capacity: Annotated[
        int,
        Meta(ge=0, description="Sessions that others may find room for here; 0: max_sessions."),
    ] = 0
    cluster_credentials: Annotated[
        str, Meta(description="File with the credentials of this host (a JWT and its seed).")
    ] = ""
    cluster_nkey: Annotated[str, Meta(description="File with the NKey seed of this host.")] = ""
    cluster_tls_ca: Annotated[
        str, Meta(description="File with the certificate that the servers' are signed by.")
    ] = ""
    cluster_tls_cert: Annotated[
        str, Meta(description="File with this host's certificate, for servers that ask for one.")
    ] = ""
    cluster_tls_key: Annotated[str, Meta(description="File with its key.")] = ""
    cluster_heartbeat: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds between two words of a host. A shorter time finds a lost host sooner, and "
                "costs every host of the cluster a message more."
            ),
        ),
    ] = 0.5
    cluster_lost_time: Annotated[
        float,
        Meta(gt=0, description="Seconds of silence after which a host counts as lost."),
    ] = 2.0
    cluster_retry_time: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds without an answer after which a host is asked again. Nothing is done "
                "twice."
            ),
        ),
    ] = 1.0
    cluster_call_time: Annotated[
        float,
        Meta(gt=0, description="Seconds that the cluster's servers have to answer."),
    ] = 5.0
    cluster_settle_time: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds after which the servers' store is told again what it did not take: names "
                "and sessions of this host. It is a pause between tries, so that servers in "
                "trouble get no flood of them."
            ),
        ),
    ] = 2.0
    cluster_kept_answers: Annotated[
        int,
        Meta(ge=1, description="Answers that are kept for a host that asks again."),
    ] = 20_000
    cluster_asks: Annotated[
        int,
        Meta(ge=1, description="Calls of one other host that are under way here at once."),
    ] = 4096
    cluster_ports: Annotated[
        int,
        Meta(
            ge=0,
            description=(
                "Sessions of other hosts that have a port here, too. The others show port 0: use "
                "their names."
            ),
        ),
    ] = 500
    cluster_kept_bytes: Annotated[
        int,
        Meta(ge=0, description="Bytes of such answers together; the oldest are dropped first."),
    ] = 64 * 1024 * 1024
    cluster_parts_bytes: Annotated[
        int,
        Meta(
            ge=1024 * 1024,
            description=(
                "Bytes of long messages together of which parts are still to come; the oldest are "
                "dropped first, and asked for again."
            ),
        ),
    ] = 128 * 1024 * 1024
    cluster_window_bytes: Annotated[
        int,
        Meta(
            ge=1,
            description=(
                "Bytes of a screen that may be under way to a viewer on another host. A slow one "
                "gets a fresh screen instead of more."
            ),
        ),
    ] = 1024 * 1024
    cluster_known_places: Annotated[
        int,
        Meta(ge=1, description="Sessions and runs of other hosts whose places are remembered."),
    ] = 10_000
    cluster_credential_time: Annotated[
        float,
        Meta(
            gt=0,
            description=(
                "Seconds that what a host signs about a caller holds, by that host's own clock. "
                "Clocks of hosts need not agree."
            ),
        ),
    ] = 300.0
    cluster_replicas: Annotated[
        int,
        Meta(ge=1, le=5, description="Servers that each keep the names of sessions: 3 of three."),
    ] = 1
