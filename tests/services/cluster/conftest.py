"""A server for a test file, and four hosts with a server of their own for all of them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from services.cluster.several_hosts import HostUnderTest, Server, start_host


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("nats"))
    yield started
    started.kill()


@pytest.fixture(scope="package")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("nats"))
    yield started
    started.kill()


@pytest.fixture(scope="package")
def hosts(
    shared_server: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, HostUnderTest]]:
    """Four hosts that know each other: a, b, c, d. The labels of each are its name and `any`."""
    home = tmp_path_factory.mktemp("hosts")

    def start(name: str) -> HostUnderTest:
        return start_host(
            home / name,
            name,
            shared_server.url,
            cluster_labels=f"{name},any",
            progress_interval=0.1,
        )

    with ThreadPoolExecutor(4) as pool:
        made = dict(zip("abcd", pool.map(start, "abcd"), strict=True))
    for one in made.values():
        one.sees(*made)
    yield made
    for one in made.values():
        if one.daemon.process.poll() is None:
            assert one.daemon.stop() == 0
