"""Runs go through the loop that the daemon runs, and some through ssh."""

from collections.abc import AsyncIterator, Iterator

import pytest

from runs.ahead import Ahead
from runs.driving import ssh_server


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(scope="session")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ssh_server(tmp_path_factory.mktemp("ssh")) as command:
        yield command


@pytest.fixture(scope="module")
async def ahead(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, anyio_backend: str
) -> AsyncIterator[Ahead]:
    running = Ahead(request, tmp_path_factory)
    yield running
    await running.end()
