"""Long messages come in parts, which cost no more than their bound; outside of a cluster nothing
of it is loaded.
"""

import subprocess
import sys

import pytest

from nacre.services.cluster.servers.link import ClusterLink
from nacre.settings.table import Settings

pytestmark = pytest.mark.anyio
HALF = b"x" * 512 * 1024


async def test_parts_make_a_message_in_any_order_and_twice_once() -> None:
    link = ClusterLink(Settings(), "one")
    assert link._whole("s m 2 3", b"c") is None
    assert link._whole("s m 0 3", b"a") is None
    assert link._whole("s m 0 3", b"a") is None
    assert link._whole("s other 0 2", b"-") is None
    assert link._whole("s m 1 3", b"b") == b"abc"
    for nonsense in ("s m 3 3", "s m -1 3", "s m x y"):
        assert link._whole(nonsense, b"") is None


async def test_parts_of_unfinished_messages_stay_within_their_bytes() -> None:
    link = ClusterLink(Settings(cluster_parts_bytes=1024 * 1024), "one")
    for name in ("first", "second", "third"):
        assert link._whole(f"s {name} 0 2", HALF) is None
    assert link._whole("s first 1 2", HALF) is None  # its first half was dropped
    assert link._whole("s third 1 2", HALF) == HALF * 2
    assert link._undone_bytes <= 1024 * 1024


def test_a_daemon_that_is_alone_loads_nothing_of_a_cluster() -> None:
    """Built as the daemon does it, with all that its services and doors import."""
    script = """
import asyncio, sys
from nacre.services.wiring import build_services
from nacre.settings.table import Settings
import nacre.daemon.serving, nacre.doors.server, nacre.doors.mcp.late, nacre.services.daemon.metrics
async def main():
    services = build_services(Settings(), descriptor_limit=9, home="/", journals="/none/journals")
    services.dispatch()
asyncio.run(main())
found = ("nats", "nkeys", "nacl", "cryptography", "nacre.services.cluster", "nacre.core.cluster")
print([name for name in sys.modules if name.startswith(found)])
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
