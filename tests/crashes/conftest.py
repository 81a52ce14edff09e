"""What the crash tests share: daemons that one test has for itself.

Rule: many things are looked at after one crash; a daemon's start costs most of a test's time.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import Daemon
from crashing import start

Start = Callable[..., Daemon]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Start]:
    """Start daemons that one test has for itself."""
    started: list[Daemon] = []

    def begin_one(**options: object) -> Daemon:
        started.append(start(tmp_path, **options))  # type: ignore[arg-type]  # as they were given
        return started[-1]

    yield begin_one
    for one in started:
        if one.process.poll() is None:
            one.stop()
