"""The whole corpus, each case in each of its shells.

Rule: cases run side by side, some ahead of the test that asks for theirs: most of a case's time is
waiting. Each has services, a home and a session of its own, and a failure is that of its own test.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from pathlib import Path

import pytest

from runs.corpus import CORPUS
from runs.corpus_frameworks import FRAMEWORKS
from runs.corpus_marks import MARKS
from runs.driving import PYTHON, Drive, at_work, open_shell, ssh_server
from runs.repl_corpus import REPL_CORPUS
from runs.state_corpus import STATE_CORPUS

pytestmark = pytest.mark.anyio

CASES = (*CORPUS, *MARKS, *FRAMEWORKS, *REPL_CORPUS, *STATE_CORPUS)
EACH = {f"{case.name} [{shell}]": (case, shell) for case in CASES for shell in case.shells}
SIDE_BY_SIDE = 8


@pytest.fixture(scope="session")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ssh_server(tmp_path_factory.mktemp("ssh")) as command:
        yield command


class Ahead:
    """The cases that run, of those that this file's tests will ask for, in their order."""

    def __init__(self, request: pytest.FixtureRequest, folders: pytest.TempPathFactory) -> None:
        self._request = request
        self._folders = folders
        own = (item for item in request.session.items if item.path == request.path)
        self._names = [item.callspec.params["name"] for item in own]  # type: ignore[attr-defined]
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def result(self, name: str) -> None:
        """Return when a case is through; raises what it failed by."""
        later = islice(self._names, self._names.index(name), None)
        for next_name in islice(later, SIDE_BY_SIDE):
            if next_name not in self._tasks:
                self._tasks[next_name] = asyncio.create_task(self._run(next_name))
        await self._tasks.pop(name)

    async def end(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _run(self, name: str) -> None:
        case, shell = EACH[name]
        folder: Path = self._folders.mktemp("case")
        words = {"@home@": str(folder / "home"), "@python@": PYTHON, "@shell@": shell}
        if any("@ssh@" in str(step) for step in case.steps):
            words["@ssh@"] = self._request.getfixturevalue("ssh")
        async with at_work(folder) as services:
            session = await open_shell(services, shell, folder, case)
            drive = Drive(services, session, shell, words)
            for step in case.steps:
                await drive.take(step)


@pytest.fixture(scope="module")
async def ahead(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, anyio_backend: str
) -> AsyncIterator[Ahead]:
    running = Ahead(request, tmp_path_factory)
    yield running
    await running.end()


@pytest.mark.parametrize("name", EACH)
async def test_a_run_gives_exactly_this(name: str, ahead: Ahead) -> None:
    await ahead.result(name)
