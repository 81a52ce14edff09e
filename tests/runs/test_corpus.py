"""The whole corpus, each case in each of its shells."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from runs.corpus import CORPUS, Case
from runs.driving import PYTHON, Drive, at_work, open_shell, ssh_server

pytestmark = pytest.mark.anyio

EACH = [(case, shell) for case in CORPUS for shell in case.shells]


@pytest.fixture(scope="session")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ssh_server(tmp_path_factory.mktemp("ssh")) as command:
        yield command


@pytest.mark.parametrize(
    ("case", "shell"), EACH, ids=[f"{case.name} [{shell}]" for case, shell in EACH]
)
async def test_a_run_gives_exactly_this(
    case: Case, shell: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    words = {"@home@": str(tmp_path / "home"), "@python@": PYTHON, "@shell@": shell}
    if any("@ssh@" in str(step) for step in case.steps):
        words["@ssh@"] = request.getfixturevalue("ssh")
    async with at_work(tmp_path) as services:
        session = await open_shell(services, shell, tmp_path, case)
        drive = Drive(services, session, shell, words)
        for step in case.steps:
            await drive.take(step)
