"""Cases of the corpus side by side, some ahead of the test that asks for theirs.

Rule: most of a case's time is waiting, so several run at once. Each has services, a home and a
session of its own, and a failure is that of its own test.
"""

import asyncio
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import pytest

from runs.corpus import Case
from runs.driving import PYTHON, Drive, at_work, open_shell, shell_path

SIDE_BY_SIDE = 8

Each = dict[str, tuple[Case, str]]


def in_each_shell(cases: Iterable[Case]) -> Each:
    each: Each = {}
    for case in cases:
        for shell in case.shells:
            name = f"{case.name} [{shell}]"
            assert name not in each, f"two cases have the name {name}: one of them would not run"
            each[name] = (case, shell)
    return each


class Ahead:
    """The cases that run, of those that this file's tests will ask for, in their order."""

    def __init__(self, request: pytest.FixtureRequest, folders: pytest.TempPathFactory) -> None:
        self._request = request
        self._folders = folders
        self._each: Each = request.module.EACH
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
        case, shell = self._each[name]
        folder: Path = self._folders.mktemp("case")
        words = {"@home@": str(folder / "home"), "@python@": PYTHON, "@shell@": shell}
        words["@ash@"] = shell_path("ash", folder)
        if any("@ssh@" in str(step) for step in case.steps):
            words["@ssh@"] = self._request.getfixturevalue("ssh")
        async with at_work(folder) as services:
            session = await open_shell(services, shell, folder, case)
            drive = Drive(services, session, shell, words)
            for step in case.steps:
                await drive.take(step)
