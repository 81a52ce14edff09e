"""What carries a host's part of the cluster: its connection, its word, asks and streams.

Rule: this only builds. What happens when a host is heard or lost is service.py's.
"""

from typing import NamedTuple

from nacre import __version__
from nacre.core.catalog.caller import Caller
from nacre.core.operations.hosts.piped import EndInput, InputPart, ReadInput
from nacre.services.cluster.asking import Asking
from nacre.services.cluster.credentials import Believing, Vouching, load_key
from nacre.services.cluster.local import LocalSessions
from nacre.services.cluster.member import Member
from nacre.services.cluster.piped.feeding import FedRuns
from nacre.services.cluster.servers.link import ClusterLink
from nacre.services.cluster.serving import HostServing
from nacre.services.cluster.streaming import Streaming
from nacre.services.cluster.viewing import Viewing
from nacre.settings.table import Settings

OURSELVES = Caller(door="cluster", via="itself")


class BetweenHosts(NamedTuple):
    link: ClusterLink
    member: Member
    asking: Asking  # asks go out
    serving: HostServing  # and come in
    viewing: Viewing  # streams come in
    streaming: Streaming  # and go out


def between_hosts(
    name: str, local: LocalSessions, settings: Settings, key_file: str
) -> BetweenHosts:
    """Build it for the host of that name. Raises OSError for a key that cannot be read."""
    link = ClusterLink(settings, name)
    life = settings.cluster_credential_time
    signing = Vouching(name, load_key(key_file), life, settings.policy, settings.sandbox)
    member = Member(name, settings, link, signing.public_key, lambda: local.registry.alive)
    asking = Asking(name, __version__, link, member.hosts, signing, settings, local.is_inside)
    member.clock = signing.now
    believing = Believing(name, member.key_of, life, member.clock_of)

    async def ask_for_input(host: str, request: ReadInput | EndInput) -> InputPart | None:
        answer = await asking.ask(host, OURSELVES, request)
        return answer.result if isinstance(answer.result, InputPart) else None

    fed = FedRuns(ask_for_input)
    window = settings.cluster_window_bytes
    return BetweenHosts(
        link=link,
        member=member,
        asking=asking,
        serving=HostServing(name, member.incarnation, link, believing, settings, fed),
        viewing=Viewing(name, link, asking, signing, settings),
        streaming=Streaming(name, member.incarnation, link, believing, window),
    )
