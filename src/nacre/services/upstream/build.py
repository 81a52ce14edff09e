"""Put the service of upstream servers together."""

import os

from nacre.services.host.host import Host
from nacre.services.policy.approvals import Approvals, IsInside
from nacre.services.policy.judge import Judge
from nacre.services.policy.tool_calls import ToolCalls
from nacre.services.upstream.hub import Hub
from nacre.services.upstream.service import Upstreams
from nacre.system.upstreams.config_file import ServerFile
from nacre.system.upstreams.kept import KeptUpstreams


def build_upstreams(
    host: Host,
    judge: Judge,
    approvals: Approvals,
    is_inside: IsInside,
    *,
    config: str | None,
    state: str | None,
) -> Upstreams:
    """Without `config` there are no servers, without `state` nothing is kept."""
    path = os.path.join(config, "config.toml") if config is not None else os.devnull
    kept = KeptUpstreams(None if state is None else os.path.join(state, "upstream"))
    calls = ToolCalls(judge, approvals, host, is_inside, kept)
    hub = Hub(host.settings, ServerFile(path), kept, os.path.expanduser("~"))
    return Upstreams(hub, calls, host)
